"""Counts by source, the bad ones among them, and tokenizers that treat sources alike."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.analysis import compare
from piecework.errors import (
    ArgumentError,
    CorpusError,
    InputTypeError,
    TrainingError,
    TrainingWarning,
)
from piecework.train import (
    ByteBPETrainer,
    Counts,
    SourceCounts,
    count_sources,
    learn_spec,
)
from piecework.train.learn import fit_to_memory
from piecework.train.trainer import by_characters
from tests.laws.test_resumed_learning_laws import interrupted_after

# Much English, little Czech; the Czech text says the same as the English one.
ENGLISH = [
    "the miller's daughter walked to the river every morning",
    "she carried two buckets of water and sang an old song",
    "in the evening her brother repaired the roof of the mill",
]
CZECH = [
    "mlynářova dcera chodila každé ráno k řece",
    "nosila dvě vědra vody a zpívala starou píseň",
    "večer její bratr opravoval střechu mlýna",
]


def counted(texts: list[str], preset: str = "gpt2", source: int = 0) -> Counts:
    return pw.count_texts(texts, preset=preset, source=source)


@pytest.fixture
def counts() -> SourceCounts:
    return SourceCounts(
        {"en": counted(ENGLISH * 40), "cs": counted(CZECH * 2)},
        parallel={"en": counted(ENGLISH), "cs": counted(CZECH)},
    )


PARITY = ByteBPETrainer(vocab_size=360, parity=True)


def test_the_costs_of_languages_even_out(counts: SourceCounts) -> None:
    plain = pw.Tokenizer.train_from_counts(counts, ByteBPETrainer(vocab_size=360))
    fair = pw.Tokenizer.train_from_counts(counts, PARITY)
    found = compare({"plain": plain, "fair": fair}, {"en": ENGLISH, "cs": CZECH})
    before, after = found.token_costs
    assert before.gini > 0.2
    assert after.gini < 0.01
    assert plain.get_vocab_size() == fair.get_vocab_size() == 360


def test_the_saved_file_equals_that_of_byte_level_bpe(counts: SourceCounts) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok = pw.Tokenizer.train_from_counts(counts, PARITY)
    theirs = tokenizers.Tokenizer.from_str(tok.to_str())
    texts = [*ENGLISH, *CZECH, "žluťoučký kůň 123", " \n\t", "".join(map(chr, range(0x20, 0x2000)))]
    for text in texts:
        assert tok.encode(text).ids == theirs.encode(text).ids


def test_a_merge_has_its_count_in_all_sources_and_in_the_source_that_chose_it() -> None:
    counts = SourceCounts({"one": Counts(["ab"], [9]), "two": Counts(["abcd", "cd"], [1, 1])})
    trainer = pw.BPETrainer(7, special_tokens=(), unk_token=None, parity=True, parity_unit="bytes")
    merges = trainer.learn_vocabulary(counts).merges
    assert [(merge.token, merge.pair_count, merge.score) for merge in merges][:2] == [
        ("ab", 10, 9.0),
        ("cd", 2, 2.0),
    ]


def test_learning_does_not_depend_on_threads_or_positions(counts: SourceCounts) -> None:
    spec = learn_spec(counts, PARITY, num_threads=1)
    assert learn_spec(counts, PARITY, num_threads=7) == spec
    shifted = SourceCounts(
        {
            name: counted(texts, source=5)
            for name, texts in (("en", ENGLISH * 40), ("cs", CZECH * 2))
        },
        parallel=counts.parallel,
    )
    assert learn_spec(shifted, PARITY) == spec


def test_other_trainers_learn_from_the_sum(counts: SourceCounts) -> None:
    for trainer in (ByteBPETrainer(vocab_size=300), pw.train.WordLevelTrainer(vocab_size=9)):
        sources = counts if isinstance(trainer, ByteBPETrainer) else words_by_source()
        assert learn_spec(sources, trainer) == learn_spec(sources.merged(), trainer)


def words_by_source() -> SourceCounts:
    return SourceCounts(
        {"en": counted(ENGLISH, "whitespace"), "cs": counted(CZECH, "whitespace", source=1)}
    )


# ---- counts with sources as values


def test_a_sum_keeps_the_sources_of_both(counts: SourceCounts) -> None:
    once, twice = counted(CZECH), counted(CZECH * 2)
    one = SourceCounts({"en": counted(ENGLISH), "cs": once})
    two = SourceCounts({"en": counted(ENGLISH), "cs": once})
    total = one + two
    assert isinstance(total, SourceCounts)
    assert total.sources["cs"] == twice
    assert sum([one, two]) == total
    assert type(one + once) is Counts
    assert one + once == one.merged() + once


def test_sources_pickle_copy_and_compare(counts: SourceCounts) -> None:
    for same in (pickle.loads(pickle.dumps(counts)), copy.copy(counts), copy.deepcopy(counts)):
        assert isinstance(same, SourceCounts)
        assert same == counts
        assert same.parallel == counts.parallel
    assert counts != SourceCounts(counts.sources)
    assert counts == counts.merged()
    assert counts != "counts"
    assert repr(counts).endswith("in total; with parallel texts)")


def test_a_file_has_no_sources(counts: SourceCounts, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="save the counts of each of `sources`"):
        counts.save(tmp_path / "counts.tsv")
    with pytest.raises(ArgumentError, match="save the counts of each of `sources`"):
        counts.write_tsv(io.BytesIO())
    for name, of_source in counts.sources.items():
        of_source.save(tmp_path / f"{name}.tsv")
    loaded = {name: Counts.load(tmp_path / f"{name}.tsv") for name in counts.sources}
    assert learn_spec(SourceCounts(loaded, parallel=counts.parallel), PARITY) == learn_spec(
        counts, PARITY
    )


def test_rare_words_are_dropped_from_each_source_and_kept_in_parallel_texts() -> None:
    rare = Counts([f"{number:09}-rare" for number in range(300_000)], [1] * 300_000)
    counts = SourceCounts(
        {"a": rare + Counts(["frequent"], [9]), "b": Counts(["frequent", "rare"], [9, 1])},
        parallel={"a": Counts(["once"], [1]), "b": Counts(["once"], [1])},
    )
    trainer = pw.BPETrainer(40, parity=True)
    needed = pw.train.estimated_memory(counts, trainer)
    with pytest.warns(TrainingWarning, match="less than 9 times were dropped"):
        reduced = fit_to_memory(counts, trainer, needed - 10_000_000)
    assert isinstance(reduced, SourceCounts)
    assert [one.words for one in reduced.sources.values()] == [["frequent"], ["frequent"]]
    assert reduced.parallel == counts.parallel


def test_files_are_counted_by_source(tmp_path: Path) -> None:
    for name, texts in (("en", ENGLISH), ("cs", CZECH)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
        (tmp_path / f"{name}-parallel.txt").write_text(texts[0] + "\n", encoding="utf-8")
    paths = {name: tmp_path / f"{name}.txt" for name in ("en", "cs")}
    parallel = {name: tmp_path / f"{name}-parallel.txt" for name in ("en", "cs")}
    counts = count_sources(
        paths, parallel=parallel, preset="gpt2", checkpoint=tmp_path / "state", keep_checkpoint=True
    )
    assert counts.sources["cs"] == pw.count_files(paths["cs"], preset="gpt2")
    assert counts.parallel["cs"] == pw.count_files(parallel["cs"], preset="gpt2")
    assert counts.first is not None, "the files of sources have numbers of their own"
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == [
        f"source-{number}" for number in range(4)
    ]
    pw.train.count_checkpoint.delete_count_checkpoint(tmp_path / "state")
    assert not (tmp_path / "state").exists()
    trained = pw.Tokenizer.train(
        list(paths.values()),
        model="byte-bpe",
        vocab_size=300,
        parity=True,
        parity_unit="characters",
        checkpoint=tmp_path / "state",
    )
    sources = {str(path): pw.count_files(path, preset="gpt2") for path in paths.values()}
    trainer = ByteBPETrainer(vocab_size=300, parity=True, parity_unit="characters")
    expected = pw.Tokenizer.train_from_counts(SourceCounts(sources), trainer)
    assert trained.to_str() == expected.to_str()
    assert not (tmp_path / "state").exists()


# ---- bad input


def test_counts_without_sources_say_how_to_count(counts: SourceCounts) -> None:
    lost = "counts: have no sources, which parity needs; sums and files of counts lose them: count each"
    with pytest.raises(ArgumentError, match=lost):
        PARITY.learn(counts.merged())
    with pytest.raises(ArgumentError, match=lost):
        learn_spec(counts + counts.merged(), PARITY)
    with pytest.raises(
        ArgumentError, match="needs sources, and an iterator has none: pass count_s"
    ):
        pw.Tokenizer.train_from_iterator(ENGLISH, PARITY)


def test_costs_need_parallel_texts_or_a_unit(counts: SourceCounts) -> None:
    with pytest.raises(ArgumentError, match="have no parallel texts: give a text in each language"):
        PARITY.learn(SourceCounts(counts.sources))
    trainer = ByteBPETrainer(vocab_size=360, parity=True, parity_unit="words")
    with pytest.raises(
        ArgumentError, match="parity_unit: 'words' does not apply to counts with parallel"
    ):
        trainer.learn(counts)


@pytest.mark.parametrize(
    ("sources", "parallel", "error", "message"),
    [
        (["en"], [], InputTypeError, "sources: must be a mapping from names to Counts, not list"),
        ({"en": ["hug"]}, {}, InputTypeError, r"sources\['en'\]: must be Counts"),
        ({"": Counts(["a"], [1])}, {}, ArgumentError, "has the name ''"),
        ({}, {}, ArgumentError, "sources: has 0: with one source, train without parity"),
        ({"en": Counts(["a"], [1])}, {}, ArgumentError, "sources: has 1: .*one CORPUS argument"),
        (
            {"en": Counts(["a"], [1]), "dz": Counts([], [])},
            {},
            CorpusError,
            r"sources\['dz'\]: has no words; leave the language out",
        ),
        (
            {"en": Counts(["a"], [1]), "cs": Counts(["b"], [1])},
            {"en": Counts(["a"], [1])},
            ArgumentError,
            "parallel: has no text for cs; give one for each of en, cs",
        ),
        (
            {"en": Counts(["a"], [1]), "cs": Counts(["b"], [1])},
            {"en": Counts(["a"], [1]), "cs": Counts(["b"], [1]), "sk": Counts(["b"], [1])},
            ArgumentError,
            "parallel: has the text of no source: sk",
        ),
        (
            {"en": counted(["a"]), "cs": counted(["b"], "whitespace")},
            {},
            ArgumentError,
            r"sources\['cs'\]: has counts of another pipeline",
        ),
    ],
)
def test_bad_sources_are_named(
    sources: Any, parallel: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        SourceCounts(sources, parallel=parallel)


def test_settings_of_parity_need_parity() -> None:
    for settings in ({"parity_unit": "bytes"}, {"parity_window": 9}, {"global_merges": 1}):
        with pytest.raises(ArgumentError, match=" needs parity$"):
            ByteBPETrainer(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("changed", ["sources", "parallel"])
def test_a_checkpoint_of_another_language_is_refused(
    counts: SourceCounts, tmp_path: Path, changed: str
) -> None:
    trainer = by_characters(PARITY)
    interrupted_after(3, tmp_path, counts, trainer, trainer.learn_vocabulary(counts))
    groups = {"sources": dict(counts.sources), "parallel": dict(counts.parallel)}
    groups[changed]["cs"] = counted([*CZECH, "a jezera"])
    other = SourceCounts(groups["sources"], parallel=groups["parallel"])
    with pytest.raises(ArgumentError, match="use the same counts and settings"):
        trainer.learn(other, checkpoint=tmp_path)
    assert trainer.learn(counts, checkpoint=tmp_path) == trainer.learn(counts)


def test_a_vocabulary_too_small_for_the_alphabet_of_all_sources_says_so(
    counts: SourceCounts,
) -> None:
    with pytest.raises(TrainingError, match="at least 257"):
        ByteBPETrainer(vocab_size=256, parity=True).learn(counts)
    by_source = SourceCounts({"en": Counts(["ab"], [1]), "el": Counts(["αβ"], [1])})
    with pytest.raises(TrainingError, match="at least 5"):
        pw.BPETrainer(vocab_size=4, parity=True, parity_unit="words").learn(by_source)


def test_weights_do_not_apply_to_sources(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="source_weights"):
        count_sources({"en": tmp_path / "a", "cs": tmp_path / "b"}, source_weights=[1, 2])


def test_steps_of_parity_are_not_shown(counts: SourceCounts) -> None:
    with pytest.raises(ArgumentError, match="parity: has no steps to show"):
        pw.analysis.explain_training(counts, PARITY)


def test_a_source_without_frequent_pairs_leaves_the_turns_to_the_others() -> None:
    counts = SourceCounts({"en": Counts(["hugs"], [9]), "x": Counts(["zy"], [1])})
    trainer = pw.BPETrainer(30, parity=True, parity_unit="words")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = trainer.learn(counts)
    assert "hugs" in model.vocab
    assert "zy" not in model.vocab
