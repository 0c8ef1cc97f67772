"""Learning that continues after an interruption, or learns several sizes, changes no result."""

from __future__ import annotations

import random
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework._internal._core import LearningLog
from piecework.errors import ArgumentError, FormatError, TrainingError, TrainingWarning
from piecework.train import (
    LEARNERS,
    BPETrainer,
    Learner,
    Merges,
    SentencePieceTrainer,
    UnigramTrainer,
    WordPieceTrainer,
    learn_spec,
    learn_specs,
)
from piecework.train.checkpoints import LearningCheckpoint
from piecework.train.plan import Plan
from tests.laws.counting import compared, compares_some
from tests.laws.interruptions import continues_after_any_merge
from tests.laws.strategies import Words, pruning_settings, train_settings, word_counts

MERGING = ["pmi", "likelihood", "frequency", "bpe"]
CHOOSING = [name for name, kind in LEARNERS.items() if not kind._merges_pairs]
COUNTS = pw.Counts(
    ["hug", "hugs", "hugging", "bug", "bugs", "pug", "pugs", "bugging", "gnu", "gnus"],
    [9, 8, 7, 6, 6, 5, 5, 4, 3, 2],
    first=list(range(10)),
)


def counts_of(words: Words) -> pw.Counts:
    names, numbers = zip(*words, strict=True)
    return pw.Counts(list(names), list(numbers), first=list(range(len(names))))


def trainer_of(score: str, how: dict[str, Any]) -> Any:
    if score != "bpe":
        return WordPieceTrainer(**how, unk_token="[UNK]")
    names = ("vocab_size", "min_frequency", "limit_alphabet", "initial_alphabet", "special_tokens")
    more = {"continuing_subword_prefix", "max_token_length"}
    return BPETrainer(**{name: how[name] for name in {*names, *more}}, unk_token="[UNK]")


class StopError(KeyboardInterrupt):
    """Ctrl-C at a chosen moment."""


def interrupted_after(
    merges: int, folder: Path, counts: pw.Counts, trainer: Any, learned: Any
) -> None:
    """Leave the checkpoint of a run that was interrupted after so many merges."""
    run = LearningCheckpoint(folder, counts, trainer)
    ids = {entry: id for id, entry in enumerate(learned.entries)}
    rows = [
        (ids[merge.left], ids[merge.right], ids[merge.token], merge.pair_count, merge.score)
        for merge in learned.merges[:merges]
    ]

    class Log:
        def merges(self) -> tuple[Any, ...]:
            import numpy as np

            columns = zip(*rows, strict=True) if rows else [(), (), (), (), ()]
            kinds = (np.uint32, np.uint32, np.uint32, np.uint64, np.float64)
            return tuple(
                np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)
            )

    run.log = Log()  # type: ignore[assignment]
    run.write()


def assert_it_continues(
    folder: Path, data: st.DataObject, counts: pw.Counts, trainer: Any, expected: Any
) -> None:
    """Assert that a run interrupted at a drawn merge continues to the same result."""
    merges = data.draw(st.integers(0, len(expected.merges)))
    interrupted_after(merges, folder, counts, trainer, expected)
    assert trainer.learn_vocabulary(counts, checkpoint=folder) == expected
    assert not list(folder.iterdir()), "a finished run leaves no checkpoint"


@pytest.mark.parametrize("score", MERGING)
@given(data=st.data(), words=word_counts())
@settings(max_examples=60)
def test_a_run_interrupted_at_any_merge_continues_to_the_same_result(
    tmp_path_factory: pytest.TempPathFactory, score: str, data: st.DataObject, words: Words
) -> None:
    how = data.draw(train_settings("frequency" if score == "bpe" else score))
    trainer, counts = trainer_of(score, how), counts_of(words)
    try:
        expected = trainer.learn_vocabulary(counts)
    except TrainingError:
        return
    folder = tmp_path_factory.mktemp("checkpoint")
    assert_it_continues(folder, data, counts, trainer, expected)


@pytest.mark.parametrize("score", MERGING)
@given(data=st.data(), words=word_counts())
@settings(max_examples=60)
def test_every_size_of_one_pass_equals_a_run_of_its_own(
    score: str, data: st.DataObject, words: Words
) -> None:
    how = data.draw(train_settings("frequency" if score == "bpe" else score))
    trainer, counts = trainer_of(score, {**how, "vocab_size": 60}), counts_of(words)
    try:
        largest = trainer.learn_vocabulary(counts)
    except TrainingError:
        return
    for size in range(1, 64):
        try:
            expected = trainer_of(score, {**how, "vocab_size": size}).learn_vocabulary(counts)
        except TrainingError:
            assert size < largest._first_size()
            continue
        if size <= 60:
            assert largest.prefix(size) == expected, size


def choices_of(trainer: WordPieceTrainer, counts: pw.Counts, **arguments: Any) -> Any:
    """Return all choices of an undisturbed run."""
    log = LearningLog()
    trainer._run(counts, 1, progress=None, log=log, **arguments)
    return log.choices()


@compares_some
@given(data=st.data(), words=word_counts(), learner=st.sampled_from(CHOOSING))
@settings(max_examples=150)
def test_a_run_interrupted_after_any_choice_continues_to_the_same_result(
    tmp_path_factory: pytest.TempPathFactory, learner: str, data: st.DataObject, words: Words
) -> None:
    how = data.draw(pruning_settings() if learner == "pruning" else train_settings(learner))
    trainer, counts = WordPieceTrainer(**how, unk_token="[UNK]"), counts_of(words)
    try:
        expected = trainer.learn_vocabulary(counts)
    except TrainingError:
        return
    choices = choices_of(trainer, counts)
    made = data.draw(st.integers(0, len(choices)))
    log = LearningLog(choices=choices[:made])
    (learned,) = trainer._run(counts, 1, progress=None, log=log)
    assert (tuple(learned.vocab), learned.stopped_early) == (
        expected.entries,
        expected.stopped_early,
    )
    assert log.choices().tolist() == choices.tolist()
    compared()


@compares_some
@given(data=st.data(), words=word_counts(), how=pruning_settings())
@settings(max_examples=150)
def test_every_size_of_one_pruning_run_equals_a_run_with_the_same_seeds(
    data: st.DataObject, words: Words, how: dict[str, Any]
) -> None:
    counts = counts_of(words)
    largest = WordPieceTrainer(**how, unk_token="[UNK]")
    sizes = data.draw(st.lists(st.integers(1, largest.vocab_size), unique=True, max_size=3))
    sizes.append(largest.vocab_size)
    sizes = data.draw(st.permutations(list(dict.fromkeys(sizes))))
    seeds = largest.learner.seed_vocab_size or 8 * largest.vocab_size
    learner = replace(largest.learner, seed_vocab_size=seeds)
    expected = {}
    for size in sizes:
        alone = replace(largest, vocab_size=size, learner=learner)
        try:
            expected[size] = alone.learn(counts)
        except TrainingError:
            with pytest.raises(TrainingError):
                largest._learn_models(counts, sizes)
            return
    assert largest._learn_models(counts, sizes) == expected
    choices = choices_of(largest, counts, sizes=sizes)
    made = data.draw(st.integers(0, len(choices)))
    log = LearningLog(choices=choices[:made])
    learned = largest._run(counts, 1, progress=None, sizes=sizes, log=log)
    assert [list(one.vocab) for one in learned] == [list(one.vocab) for one in expected.values()]
    compared()


@given(words=word_counts(), data=st.data())
@settings(max_examples=30)
def test_unigram_continues_after_any_round(
    tmp_path_factory: pytest.TempPathFactory, words: Words, data: st.DataObject
) -> None:
    counts = counts_of(words)
    specials = ("<unk>",)
    size = data.draw(st.integers(3, 12))
    trainer = UnigramTrainer(vocab_size=size, special_tokens=specials, shrinking_factor=0.5)
    try:
        expected = trainer.learn_pieces(counts)
    except TrainingError:
        return
    folder = tmp_path_factory.mktemp("checkpoint")
    run = LearningCheckpoint(folder, counts, trainer)
    learned = trainer.learn_pieces(counts, run.progress(lambda *_: None))
    assert learned == expected
    # The core keeps the last round; a run that stops after it continues from there.
    from piecework._internal._core import learn_unigram

    def learn(**more: Any) -> Any:
        return learn_unigram(
            counts._raw,
            {
                "vocab_size": len(expected.pieces),
                "special_tokens": specials,
                "user_defined_symbols": (),
                "byte_fallback": False,
                "character_coverage": trainer.character_coverage,
                "initial_alphabet": "",
                "seed_size": 16 * size,
                "count_exponent": 1.0,
                "max_piece_length": trainer.max_piece_length,
                "shrinking_factor": 0.5,
                "num_sub_iterations": trainer.num_sub_iterations,
                "hard_limit": True,
                "only_given_characters": False,
                "seeds": None,
            },
            num_threads=1,
            progress=None,
            **more,
        )

    learn(log=run.log)
    run.write()
    assert trainer.learn_pieces(counts, checkpoint=folder) == expected


# ---- SentencePiece


def sentencepiece_trainer(draw: st.DataObject, model_type: Any) -> SentencePieceTrainer:
    return SentencePieceTrainer(
        model_type=model_type,
        vocab_size=draw.draw(st.integers(6, 40)),
        hard_vocab_limit=False,
        character_coverage=1.0,
        max_sentencepiece_length=draw.draw(st.integers(2, 16)),
        split_by_unicode_script=draw.draw(st.booleans()),
        split_by_whitespace=draw.draw(st.booleans()),
        user_defined_symbols=tuple(draw.draw(st.sampled_from([(), ("ab",), ("▁a", "ba")]))),
        shrinking_factor=0.5,
    )


@compares_some
@given(words=word_counts(), data=st.data())
@settings(max_examples=100)
def test_sentencepiece_bpe_continues_after_any_merge(words: Words, data: st.DataObject) -> None:
    continues_after_any_merge(sentencepiece_trainer(data, "bpe"), counts_of(words), data)


@compares_some
@given(words=word_counts(), data=st.data(), model_type=st.sampled_from(["unigram", "bpe"]))
@settings(max_examples=100)
def test_sentencepiece_continues_from_a_file(
    tmp_path_factory: pytest.TempPathFactory, words: Words, data: st.DataObject, model_type: str
) -> None:
    trainer, counts = sentencepiece_trainer(data, model_type), counts_of(words)
    try:
        expected = trainer.learn_pieces(counts)
    except TrainingError:
        return
    folder = tmp_path_factory.mktemp("checkpoint")
    run = LearningCheckpoint(folder, counts, trainer)
    trainer._run(counts, 1, progress=None, log=run.log)
    run.write()
    is_resumed = LearningCheckpoint(folder, counts, trainer).is_resumed
    assert trainer.learn_pieces(counts, checkpoint=folder) == expected
    assert not list(folder.iterdir())
    if is_resumed:
        compared()


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_an_interrupt_of_sentencepiece_leaves_a_checkpoint(tmp_path: Path, model_type: Any) -> None:
    draw = random.Random(1)
    words = sorted({"▁" + "".join(draw.choices("abcdefgh", k=12)) for _ in range(60_000)})
    counts = pw.Counts(words, [1 + i % 97 for i in range(len(words))])
    trainer = SentencePieceTrainer(model_type=model_type, vocab_size=12_000)
    expected = trainer.learn(counts)

    def stop(done: int, total: int) -> None:
        if 0 < done < total:
            raise StopError

    with pytest.raises(StopError):
        trainer.learn(counts, stop, checkpoint=tmp_path)
    assert LearningCheckpoint(tmp_path, counts, trainer).is_resumed
    assert trainer.learn(counts, checkpoint=tmp_path) == expected
    assert not list(tmp_path.iterdir())


SENTENCEPIECE_COUNTS = pw.Counts(
    [
        f"▁{a}{b}{c}"
        for a in ("hug", "bug", "pug")
        for b in ("gi", "su", "")
        for c in ("ng", "s", "")
    ],
    list(range(3, 30)),
)
SENTENCEPIECE = {
    # Fewer pieces than seeds, so that Unigram prunes at least once.
    "unigram": SentencePieceTrainer(model_type="unigram", vocab_size=14, shrinking_factor=0.5),
    "bpe": SentencePieceTrainer(model_type="bpe", vocab_size=16),
}


def sentencepiece_checkpoint(folder: Path, trainer: SentencePieceTrainer) -> Path:
    run = LearningCheckpoint(folder, SENTENCEPIECE_COUNTS, trainer)
    trainer._run(SENTENCEPIECE_COUNTS, 1, progress=None, log=run.log)
    run.write()
    (path,) = folder.iterdir()
    return path


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_sentencepiece_refuses_a_checkpoint_of_other_settings(
    tmp_path: Path, model_type: str
) -> None:
    trainer = SENTENCEPIECE[model_type]
    sentencepiece_checkpoint(tmp_path, trainer)
    other = replace(trainer, max_sentencepiece_length=3)
    with pytest.raises(
        ArgumentError, match=r"max_sentencepiece_length=16, and this run .*length=3"
    ):
        other.learn(SENTENCEPIECE_COUNTS, checkpoint=tmp_path)
    with pytest.raises(ArgumentError, match="1 distinct words"):
        trainer.learn(pw.Counts(["hug"], [3]), checkpoint=tmp_path)
    kind = {"unigram": "bpe", "bpe": "unigram"}[model_type]
    with pytest.raises(ArgumentError, match=f"model_type='{model_type}', and this run .*'{kind}'"):
        replace(trainer, model_type=kind).learn(SENTENCEPIECE_COUNTS, checkpoint=tmp_path)  # type: ignore[arg-type]


def test_sentencepiece_compares_seeds_by_their_content(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text("".join(f"{piece}\t9\n" for piece in ["hug", "ug", "gs", "ing", "bu", "pu"]))
    trainer = replace(
        SENTENCEPIECE["unigram"], seed_sentencepieces_file=seeds, hard_vocab_limit=False
    )
    state = tmp_path / "state"
    run = LearningCheckpoint(state, SENTENCEPIECE_COUNTS, trainer)
    run._round = ([("g", -1.0), ("u", -2.0)], [(9, -30.0)])
    run.write()
    seeds.write_text("hug\t9\n")
    with pytest.raises(ArgumentError, match=r"file='6 seeds.*file='1 seeds"):
        replace(trainer).learn(SENTENCEPIECE_COUNTS, checkpoint=state)


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@given(data=st.data())
@settings(max_examples=40)
def test_a_damaged_checkpoint_of_sentencepiece_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, model_type: str, data: st.DataObject
) -> None:
    trainer = SENTENCEPIECE[model_type]
    path = sentencepiece_checkpoint(tmp_path_factory.mktemp("checkpoint"), trainer)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        at = data.draw(st.integers(content.index(b"\n"), len(content) - 1))
        content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content))
    with pytest.raises(FormatError, match="checkpoint"):
        trainer.learn(SENTENCEPIECE_COUNTS, checkpoint=path.parent)


def test_a_round_that_the_counts_do_not_yield_is_refused(tmp_path: Path) -> None:
    for number, pieces in enumerate([[("xyz", -1.0)], [("g", float("nan"))]]):
        folder = tmp_path / str(number)
        run = LearningCheckpoint(folder, SENTENCEPIECE_COUNTS, SENTENCEPIECE["unigram"])
        run._round = (pieces, [])
        run.write()
        with pytest.raises(ArgumentError, match="pieces of the checkpoint"):
            SENTENCEPIECE["unigram"].learn(SENTENCEPIECE_COUNTS, checkpoint=folder)


def test_word_and_character_models_say_that_they_have_no_checkpoint(tmp_path: Path) -> None:
    texts = ["hug pug hug"]
    for model_type in ("word", "char"):
        trainer = SentencePieceTrainer(model_type=model_type, use_all_vocab=True)  # type: ignore[arg-type]
        counts = pw.count_texts(texts, preset=trainer.pipeline, sentences=trainer.sentences)
        with pytest.warns(TrainingWarning, match="no checkpoint: a sentencepiece run"):
            learn_spec(counts, trainer, checkpoint=tmp_path)


# ---- files


def checkpoint_of(folder: Path, trainer: Any, merges: int = 3) -> Path:
    interrupted_after(merges, folder, COUNTS, trainer, trainer.learn_vocabulary(COUNTS))
    (path,) = folder.iterdir()
    return path


def test_a_checkpoint_of_other_counts_is_refused_with_both_named(tmp_path: Path) -> None:
    trainer = WordPieceTrainer(vocab_size=24, learner=Merges())
    checkpoint_of(tmp_path, trainer)
    other = pw.Counts(["hug"], [3], first=[0])
    with pytest.raises(ArgumentError, match="10 distinct words.*1 distinct words"):
        trainer.learn_vocabulary(other, checkpoint=tmp_path)


def test_a_checkpoint_of_other_settings_is_refused_with_both_named(tmp_path: Path) -> None:
    trainer = WordPieceTrainer(vocab_size=24, min_frequency=3, learner=Merges())
    checkpoint_of(tmp_path, trainer)
    with pytest.raises(ArgumentError, match="min_frequency=3, and this run .*min_frequency=1"):
        replace(trainer, min_frequency=1).learn_vocabulary(COUNTS, checkpoint=tmp_path)


@given(data=st.data())
@settings(max_examples=60)
def test_a_damaged_checkpoint_is_an_error_that_says_so(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    trainer = WordPieceTrainer(vocab_size=24, learner=Merges())
    path = checkpoint_of(tmp_path_factory.mktemp("checkpoint"), trainer)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        at = data.draw(st.integers(content.index(b"\n"), len(content) - 1))
        content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content))
    with pytest.raises(FormatError, match="checkpoint"):
        trainer.learn_vocabulary(COUNTS, checkpoint=path.parent)


def test_merges_that_the_counts_do_not_yield_are_refused() -> None:
    import numpy as np

    from piecework._internal._core import learn_bpe

    wrong = tuple(
        np.array([value], kind)
        for value, kind in zip((2, 3, 9, 77, 1.0), ("u4", "u4", "u4", "u8", "f8"), strict=True)
    )
    for columns in (wrong, (np.array([2**32 - 1], "u4"), *wrong[1:])):
        with pytest.raises(ArgumentError, match="merge 1 of the checkpoint"):
            learn_bpe(
                COUNTS._raw,
                {
                    "vocab_size": 24,
                    "min_frequency": 1,
                    "limit_alphabet": None,
                    "initial_alphabet": "",
                    "special_tokens": (),
                    "continuing_subword_prefix": "",
                    "end_of_word_suffix": "",
                    "max_token_length": None,
                    "alphabet_order": "sorted",
                    "ties": "lowest-ids",
                },
                progress=None,
                log=LearningLog(merges=columns),
            )


@given(data=st.data())
@settings(max_examples=100)
def test_a_changed_choice_is_refused_or_another_vocabulary(data: st.DataObject) -> None:
    learner = LEARNERS[data.draw(st.sampled_from(CHOOSING))]()
    trainer = WordPieceTrainer(vocab_size=24, learner=learner, min_frequency=1)
    choices = choices_of(trainer, COUNTS).astype("u8").copy()
    assume(len(choices))
    at = data.draw(st.integers(0, len(choices) - 1))
    choices[at] = data.draw(st.integers(2, 2**64 - 2))
    with suppress(ArgumentError):  # other choices can be possible ones
        trainer._run(COUNTS, 1, progress=None, log=LearningLog(choices=choices))


@pytest.mark.parametrize("wrong", [[0], [2**64 - 1], [2**64 - 2], [1 << 32], [2**32 - 1] * 9])
def test_a_wrong_choice_is_named(wrong: list[int]) -> None:
    import numpy as np

    trainer = WordPieceTrainer(vocab_size=24, min_frequency=1)
    log = LearningLog(choices=np.array(wrong, np.uint64))
    with pytest.raises(ArgumentError, match="choice 1 of the checkpoint"):
        trainer._run(COUNTS, 1, progress=None, log=log)
    more = np.append(choices_of(trainer, COUNTS), np.uint64(2**64 - 1))
    with pytest.raises(ArgumentError, match=f"choice {len(more)} of the checkpoint"):
        trainer._run(COUNTS, 1, progress=None, log=LearningLog(choices=more))


@pytest.mark.parametrize(
    "learner",
    [Merges("frequency") if kind is Merges else kind() for kind in LEARNERS.values()],
    ids=str,
)
def test_an_interrupt_leaves_a_checkpoint_from_which_the_next_run_continues(
    tmp_path: Path, learner: Learner
) -> None:
    # Enough words that learning calls back in the middle.
    draw = random.Random(1)
    words = list({"".join(draw.choices("abcdefgh", k=12)) for _ in range(120_000)})
    words.sort()
    counts = pw.Counts(
        words, [1 + i % 97 for i in range(len(words))], first=list(range(len(words)))
    )
    trainer = WordPieceTrainer(vocab_size=30_000, learner=learner, min_frequency=1)
    expected = trainer.learn_vocabulary(counts)
    calls = 0

    def stop(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if 0 < done < total:
            raise StopError

    with pytest.raises(StopError):
        trainer.learn_vocabulary(counts, stop, checkpoint=tmp_path)
    assert list(tmp_path.iterdir()), calls
    assert LearningCheckpoint(tmp_path, counts, trainer).is_resumed
    assert trainer.learn_vocabulary(counts, checkpoint=tmp_path) == expected


# ---- several sizes


@pytest.mark.parametrize("model", ["merges", "top-down", "bpe", "byte-bpe", "unigram", "word"])
def test_specifications_of_several_sizes_equal_separate_runs(model: str) -> None:
    texts = ["hug hugs hugging bug bugs pug pugs bugging gnu gnus žába"] * 7
    kind = "wordpiece" if model in ("merges", "top-down") else model
    how: dict[str, Any] = {"learner": LEARNERS[model]()} if kind != model else {}
    sizes = {"byte-bpe": [257, 260, 270], "word": [3, 6]}.get(model, [30, 32, 33])
    plan = Plan.of(model=kind, **how)
    counts = pw.count_texts(texts, preset=plan.pipeline)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        specs = learn_specs(counts, plan.trainer, sizes, plan.preset)
        for size in sizes:
            one = Plan.of(model=kind, **{**how, "vocab_size": size})
            assert specs[size] == learn_spec(counts, one.trainer, one.preset)


def test_a_size_below_the_alphabet_is_refused() -> None:
    with pytest.raises(TrainingError, match="at least"):
        learn_specs(COUNTS, WordPieceTrainer(), [6, 24])
