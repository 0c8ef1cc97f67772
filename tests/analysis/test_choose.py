"""Choosing a size and a learner: what is held out, figures against naive ones, the verdict, bad input."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.analysis import choose
from piecework.analysis.choice import Candidate, Choice, Estimate

# The package has the function under the name of the module.
module = sys.modules[choose.__module__]


def made_up(documents: int, seed: int = 1, alphabet: str = "abcdefgh") -> list[str]:
    """Return documents of different lengths, of words with common beginnings and ends."""
    chance = random.Random(seed)
    parts = ["".join(chance.choices(alphabet, k=chance.randint(1, 4))) for _ in range(60)]
    words = ["".join(chance.choices(parts, k=chance.randint(1, 3))) for _ in range(400)]
    weights = [1 / (rank + 3) for rank in range(400)]
    return [
        " ".join(chance.choices(words, weights, k=chance.randint(2, 40))) for _ in range(documents)
    ]


TEXTS = made_up(400)
SIZES = [60, 90, 120]
HOW: dict[str, Any] = {"preset": "bert-cased", "learners": ["pruning", "frequency"]}


@pytest.fixture(scope="module")
def found() -> Choice:
    return choose(TEXTS, SIZES, **HOW, min_uses=20, model_size=100_000, width=64)


def held_out(texts: Sequence[str], seed: int = 0, share: float = 0.1) -> list[str]:
    documents = module._Documents({None: texts}, share, seed, {})
    return [text for text in texts if documents.part(text) == module._HELD_OUT]


# ---- what is held out


def test_the_text_of_a_document_decides_and_not_its_place(found: Choice) -> None:
    shuffled = random.Random(2).sample(TEXTS, len(TEXTS))
    assert sorted(held_out(TEXTS)) == sorted(held_out(shuffled))
    assert choose(shuffled, SIZES, **HOW, min_uses=20, model_size=100_000, width=64) == found
    assert 0.05 < len(held_out(TEXTS)) / len(TEXTS) < 0.16
    assert held_out(TEXTS, seed=1) != held_out(TEXTS, seed=2)
    assert {*held_out(TEXTS, share=0.1)} < {*held_out(TEXTS, share=0.3)}


def test_no_learner_sees_a_held_out_document(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{text} only{number}" for number, text in enumerate(TEXTS)] * 2
    learned_from: list[pw.Counts] = []

    def learn_specs(counts: pw.Counts, *arguments: Any, **how: Any) -> Any:
        learned_from.append(counts)
        return pw.train.learn_specs(counts, *arguments, **how)

    monkeypatch.setattr(module, "learn_specs", learn_specs)
    found = choose(texts, [70], preset="bert-cased", learners=["frequency"])
    total, half = ({word for word in one.words if "only" in word} for one in learned_from)
    held = {text.split()[-1] for text in held_out(texts)}
    assert found.held_out == 2 * len(held)
    assert total == {f"only{number}" for number in range(len(TEXTS))} - held
    # Both copies of a document are in one half.
    assert half < total
    assert 0.4 < len(half) / len(total) < 0.6


# ---- figures


def test_the_figures_equal_naive_ones(found: Choice) -> None:
    held = held_out(TEXTS)
    learned_from = [text for text in TEXTS if text not in set(held)]
    words = [len(text.split()) for text in held]
    assert (found.documents, found.held_out) == (len(TEXTS), len(held))
    assert (found.words, found.bytes) == (sum(words), sum(map(len, held)))
    tokens = {}
    for learner in (pw.train.Pruning(), pw.train.Merges("frequency")):
        trainer = pw.WordPieceTrainer(learner=learner)
        counts = pw.count_texts(learned_from, preset="bert-cased")
        for size, spec in pw.train.learn_specs(counts, trainer, SIZES, "bert-cased").items():
            tokenizer = pw.Tokenizer.from_spec(spec)
            name = getattr(learner, "score", learner.name)
            tokens[size, name] = sum(len(tokenizer.tokenize(text)) for text in held)
            [one] = (
                one for one in found.candidates if (one.vocab_size, one.learner) == (size, name)
            )
            assert (one.tokens, one.entries, one.unknown_share) == (tokens[size, name], size, 0)
            assert one.tokens_per_word == one.tokens / found.words
            assert one.tokens_per_byte == one.tokens / found.bytes
            uses = pw.analysis.token_counts(tokenizer, learned_from)
            assert one.rare_share == np.count_nonzero(uses[5:] < 20) / (size - 5)
            assert one.embedding_share == pytest.approx(size * 64 / 100_000)
            distinct = {word for text in held for word in text.split()}
            whole = sum(len(tokenizer.tokenize(word)) == 1 for word in distinct)
            assert one.single_token_rate == whole / len(distinct)
    for one in found.candidates:
        fewest = min(count for (size, _), count in tokens.items() if size == one.vocab_size)
        assert one.more.share == pytest.approx(one.tokens / fewest - 1)
        if one.vocab_size == SIZES[-1]:
            assert one.gain is None
            continue
        assert one.gain is not None
        saved = 1 - tokens[one.vocab_size + 30, one.learner] / one.tokens
        assert one.gain.share == pytest.approx(saved * 1000 / 30)


def test_unknown_words_cost_their_bytes() -> None:
    # A word of letters that no other document has, at the end of one held-out document.
    held = held_out([f"{text} ěščř" for text in TEXTS])[0]
    texts = [held, *TEXTS]
    assert held in held_out(texts)
    found = choose(texts, [60], preset="bert-cased", learners=["frequency"])
    [one] = found.candidates
    assert one.unknown_share == len("ěščř".encode()) / found.bytes
    tokenizer_cost = one.tokens - len("ěščř".encode())
    assert tokenizer_cost < one.tokens_per_byte * found.bytes


def test_intervals_equal_those_of_a_paired_bootstrap() -> None:
    texts = made_up(2500, seed=5)
    found = choose(texts, [60, 90], preset="bert-cased", learners=["frequency", "pruning"])
    held = held_out(texts)
    learned_from = [text for text in texts if text not in set(held)]
    counts = pw.count_texts(learned_from, preset="bert-cased")
    lengths = {}
    for name, learner in (
        ("frequency", pw.train.Merges("frequency")),
        ("pruning", pw.train.Pruning()),
    ):
        trainer = pw.WordPieceTrainer(learner=learner)
        for size, spec in pw.train.learn_specs(counts, trainer, [60, 90], "bert-cased").items():
            batch = pw.Tokenizer.from_spec(spec).encode_batch(held, add_special_tokens=False)
            lengths[size, name] = np.asarray(batch.lengths)
    drawn = np.random.default_rng(3).integers(0, len(held), (3000, len(held)))
    sums = {key: tokens[drawn].sum(axis=1) for key, tokens in lengths.items()}
    words = np.array([len(text.split()) for text in held])[drawn].sum(axis=1)
    by_name = {(one.vocab_size, one.learner): one for one in found.candidates}
    first = by_name[60, "frequency"]
    assert first.gain is not None
    for interval, values in (
        (first.more.interval, sums[60, "frequency"] / sums[60, "pruning"] - 1),
        (first.gain.interval, (1 - sums[90, "frequency"] / sums[60, "frequency"]) * 1000 / 30),
        (first.word_interval, sums[60, "frequency"] / words),
    ):
        assert interval is not None
        expected = np.quantile(values, [0.025, 0.975])
        width = expected[1] - expected[0]
        assert np.abs(np.array(interval) - expected).max() < 0.12 * width


def test_parity_is_the_most_tokens_per_byte_of_a_source_divided_by_the_fewest() -> None:
    sources = {"one": TEXTS, "two": made_up(300, seed=9, alphabet="mnopqrstuvw")}
    found = choose(sources, [80, 120], preset="bert-cased", learners=["frequency"])
    assert found.sources == ("one", "two")
    learned_from = [
        text for texts in sources.values() for text in texts if text not in set(held_out(texts))
    ]
    counts = pw.count_texts(learned_from, preset="bert-cased")
    trainer = pw.WordPieceTrainer(learner=pw.train.Merges("frequency"))
    for one, spec in zip(
        found.candidates,
        pw.train.learn_specs(counts, trainer, [80, 120], "bert-cased").values(),
        strict=True,
    ):
        tokenizer = pw.Tokenizer.from_spec(spec)
        costs = []
        for texts in sources.values():
            held = held_out(texts)
            tokens = sum(len(tokenizer.tokenize(text)) for text in held)
            costs.append(tokens / sum(map(len, held)))
        assert one.parity == pytest.approx(max(costs) / min(costs))
    assert "parity" in str(found)


def test_other_tokenizers_are_shown_beside_and_change_nothing(found: Choice) -> None:
    lower = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}), normalizer=pw.spec.Lowercase())
    settings = {**HOW, "min_uses": 20, "model_size": 100_000, "width": 64}
    beside = choose(TEXTS, SIZES, **settings, against={"letters": lower})
    assert beside.candidates == found.candidates
    [own, other] = beside.losses
    assert own == found.losses[0]
    assert (own.name, own.round_trip.lost_chars) == ("pruning 120", 0)
    # Each byte is a token: a letter that is known, or one that is not.
    assert other.tokens_per_byte == 1
    characters = "".join(held_out(TEXTS)).replace(" ", "")
    assert other.round_trip.lost_chars == len(characters) - characters.count("a")
    assert "letters" not in beside.verdict


@pytest.mark.parametrize("model", module.LEARNERS_OF_MODELS)
def test_every_model_has_figures_for_every_learner(model: str) -> None:
    sizes = [300, 320] if model.startswith("byte") else [60, 80]
    found = choose(made_up(120), sizes, model=model)
    names = tuple(module.LEARNERS_OF_MODELS[model])
    assert found.learners == (names[:3] if model == "wordpiece" else names)
    assert [one.vocab_size for one in found.candidates] == sorted(sizes * len(found.learners))
    assert all(one.gain for one in found.candidates if one.vocab_size == sizes[0])
    assert all(0 < one.tokens_per_byte <= 1 for one in found.candidates)


# ---- the verdict


def estimate(share: float, margin: float | None = 0.001, of_half: float | None = None) -> Estimate:
    interval = None if margin is None else (share - margin, share + margin)
    return Estimate(share, interval, share if of_half is None else of_half)


def choice(rows: dict[int, dict[str, tuple[Estimate, Estimate | None]]], **how: Any) -> Choice:
    """Return a choice with these differences from the fewest tokens, and gains, by size and learner."""
    candidates = tuple(
        Candidate(
            learner=learner,
            vocab_size=size,
            entries=size,
            tokens=1000,
            tokens_per_word=1.5,
            word_interval=None,
            tokens_per_byte=0.3,
            byte_interval=None,
            more=more,
            gain=gain,
            unknown_share=0.0,
            single_token_rate=0.5,
            rare_share=0.1,
            embedding_share=None,
            parity=None,
        )
        for size, learners in rows.items()
        for learner, (more, gain) in learners.items()
    )
    figures = {"documents": 400, "held_out": 40, "words": 900, "bytes": 4000, "replacements": 0}
    settings = {"min_uses": 100, "least_gain": 0.005, "sources": (), **figures, **how}
    return Choice("wordpiece", "bert-cased", candidates=candidates, losses=(), **settings)


NONE = estimate(0, 0)


@pytest.mark.parametrize(
    ("gains", "pays_to", "stops_at", "says"),
    [
        (
            (0.05, 0.02),
            4000,
            None,
            "more entries pay up to 4,000, the largest size: they save more than",
        ),
        ((0.05, 0.002), 2000, 2000, "more than 2,000 entries stop paying: they save less than"),
        ((0.003, 0.002), 1000, 1000, "more than 1,000 entries stop paying: they save less than"),
        ((0.05, 0.0052), 2000, None, "more than 2,000 entries save"),
        ((0.0052, 0.001), 1000, 2000, "more than 1,000 entries save"),
        ((0.001, 0.05), 1000, None, "more than 1,000 entries save"),
        ((0.05, None), 2000, None, "more than 2,000 entries save"),
    ],
)
def test_where_more_entries_stop_paying(
    gains: Sequence[float | None], pays_to: int, stops_at: int | None, says: str
) -> None:
    steps = [None if gain is None else estimate(gain) for gain in gains]
    sizes = dict(zip((1000, 2000, 4000), (*steps, None), strict=True))
    found = choice({size: {"frequency": (NONE, gain)} for size, gain in sizes.items()})
    assert (found.pays_to, found.stops_at) == (pays_to, stops_at)
    expected = f"{says} 0.5 % of the tokens for each thousand entries"
    if stops_at != pays_to != 4000:
        expected = f"whether {expected} cannot be told up to {stops_at or 4000:,}"
    assert found.verdict == f"Only frequency was measured; {expected}."


def test_the_learner_with_the_fewest_tokens_is_named_and_ties_are_open() -> None:
    gain = estimate(0.05)
    rows = {
        1000: {"pruning": (NONE, gain), "frequency": (estimate(0.02), gain)},
        2000: {"pruning": (NONE, None), "frequency": (estimate(0.0005), None)},
    }
    found = choice(rows)
    assert found.fewest == (("pruning",), ("pruning", "frequency"))
    assert found.verdict.startswith(
        "pruning takes the fewest tokens at 1,000 entries; pruning and frequency cannot be told apart at "
        "2,000 entries; more entries pay up to 2,000, the largest size"
    )
    rows[2000]["frequency"] = (estimate(0.002), None)
    assert choice(rows).verdict.startswith("pruning takes the fewest tokens at every size; ")


def test_a_step_is_told_if_it_is_for_all_learners_that_can_have_the_fewest() -> None:
    rows = {
        1000: {"a": (NONE, estimate(0.02)), "b": (estimate(0.0005), estimate(0.002))},
        2000: {"a": (NONE, None), "b": (estimate(0.0005), None)},
    }
    assert (choice(rows).pays_to, choice(rows).stops_at) == (1000, None)
    rows[1000]["b"] = rows[2000]["b"] = (estimate(0.03), estimate(0.002))
    assert (choice(rows).pays_to, choice(rows).stops_at) == (2000, None)


def test_a_trend_with_more_text_leaves_a_conclusion_open() -> None:
    still = estimate(0.0035, of_half=0.0035)
    rising, falling = estimate(0.0035, of_half=0.0025), estimate(0.0065, of_half=0.0075)
    found = [choice({1: {"a": (NONE, one)}, 2: {"a": (NONE, None)}}) for one in (still, rising)]
    assert [one.stops_at for one in found] == [1, None]
    open_again = choice({1: {"a": (NONE, falling)}, 2: {"a": (NONE, None)}})
    assert open_again.pays_to == 1
    assert rising.range is not None
    assert rising.interval is not None
    assert rising.range[0] == rising.interval[0] < rising.interval[1] < rising.range[1]
    assert falling.range is not None
    assert falling.interval is not None
    assert falling.range[1] == falling.interval[1] > falling.interval[0] > falling.range[0]
    assert estimate(0.5, None).range is None
    assert Estimate(0.5, (0.4, 0.6), None).range is None


def test_few_documents_are_not_measured() -> None:
    found = choose(TEXTS[:60], [60, 90], **HOW)
    assert found.held_out < 10
    many = f"{found.held_out} held-out documents"
    assert found.verdict.startswith(f"Not measured: {many} give no interval, so nothing can be")
    assert found.fewest == (("pruning", "frequency"),) * 2
    assert "±" not in str(found).partition("An unknown word")[0]


def test_the_default_of_the_least_gain_is_the_share_of_parameters_that_entries_add() -> None:
    assert choose(TEXTS, [60], **HOW).least_gain == 0.005
    assert choose(TEXTS, [60], **HOW, model_size=10**8, width=500).least_gain == 0.005
    assert choose(TEXTS, [60], **HOW, model_size=10**8, width=1000).least_gain == 0.01
    assert choose(TEXTS, [60], **HOW, least_gain=0.02).least_gain == 0.02


# ---- what is printed


def test_tables_fit_into_100_columns_and_all_of_it_is_json(found: Choice) -> None:
    assert max(map(len, str(found).splitlines())) <= 100
    data = json.loads(json.dumps(found.to_dict()))
    assert data["verdict"] == found.verdict
    assert data["fewest"] == [list(names) for names in found.fewest]
    assert len(data["candidates"]) == 6
    drawn = found.chart.to_svg()
    assert drawn.count("<circle") == 6
    assert all(f">{name}<" in drawn for name in found.learners)
    assert all(f">{size}<" in drawn for size in SIZES)


# ---- bad input


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"sizes": [60, 60]}, "sizes: must be distinct sizes, at least one"),
        ({"sizes": []}, "sizes: must be distinct sizes, at least one"),
        ({"sizes": [10]}, r"vocab_size: must be at least 21 .* not 10"),
        ({"sizes": [3]}, "vocab_size: must be more than 5"),
        ({"sizes": [0]}, r"sizes\[0\]: must be an integer of at least 1"),
        ({"learners": ["prunning"]}, "learners: .*'prunning'.*pruning"),
        ({"learners": ["merges"]}, "learners: .*'merges'"),
        ({"learners": []}, "learners: must be distinct names"),
        ({"learners": ["pruning", "pruning"]}, "learners: must be distinct names"),
        ({"model": "word", "preset": None}, "model: .*'word'"),
        ({"preset": "t5"}, "model: .*'sentencepiece'"),
        ({"hold_out": 0}, "hold_out: must be a number above 0"),
        ({"hold_out": 1.0}, "corpus: has no words to learn from"),
        ({"hold_out": 1e-6}, "corpus: has 400 documents, none of which is held out; hold out a larger"),
        ({"width": 64}, "model_size: is missing"),
        ({"model_size": 64}, "width: is missing"),
        ({"model_size": 0, "width": 64}, "model_size: must be a number greater than 0"),
        ({"least_gain": 0}, "least_gain: must be a number greater than 0"),
        ({"min_uses": 0}, "min_uses: must be an integer of at least 1"),
        ({"checkpoint": "state"}, "checkpoint: needs texts of files"),
        ({"texts": []}, "corpus: has no texts"),
        ({"texts": ["", " \n"]}, "corpus: has no texts"),
        ({"texts": ["hug pug"]}, "corpus: has 1 document, none of which is held out"),
        ({"texts": {"one": TEXTS, "two": ["a"]}}, "source 'two': has 1 document, none of which"),
        ({"texts": {}}, "texts: must have at least one name"),
        ({"texts": "hug"}, "texts: must be an iterable of str"),
        ({"texts": pw.corpus.read_corpus("-")}, "texts: must be files, which are read twice"),
    ],
)  # fmt: skip
def test_bad_input_is_an_error(how: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"texts": TEXTS, "sizes": SIZES, **HOW, **how}
    with pytest.raises(pw.PieceworkError, match=says):
        choose(given.pop("texts"), given.pop("sizes"), **given)


def test_sizes_in_any_order_are_sorted(found: Choice) -> None:
    settings = {**HOW, "min_uses": 20, "model_size": 100_000, "width": 64}
    assert choose(iter(TEXTS), SIZES[::-1], **settings) == found


# ---- runs that are interrupted


def test_an_interrupted_run_continues(
    found: Choice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, state = tmp_path / "corpus.txt", tmp_path / "state"
    file.write_text("\n".join(TEXTS))
    corpus = pw.corpus.read_corpus(file)
    settings = {**HOW, "min_uses": 20, "model_size": 100_000, "width": 64, "checkpoint": state}
    calls: list[str] = []

    def learn_specs(counts: pw.Counts, trainer: Any, *arguments: Any, **how: Any) -> Any:
        calls.append(trainer.learner.name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return pw.train.learn_specs(counts, trainer, *arguments, **how)

    monkeypatch.setattr(module, "learn_specs", learn_specs)
    with pytest.raises(KeyboardInterrupt):
        choose(corpus, SIZES, **settings)
    with pytest.raises(pw.errors.ArgumentError, match="checkpoint: .* has a run with other files"):
        choose(corpus, [60], **settings)
    with pytest.raises(pw.errors.ArgumentError, match="checkpoint: .* has a run with other files"):
        choose(pw.corpus.read_corpus(file, document="file"), SIZES, **settings)
    calls[:] = ["", "", ""]
    monkeypatch.setattr(module._Documents, "_half", None)  # nothing is counted again
    assert choose(corpus, SIZES, **settings) == found
    assert calls[3:] == ["merges", "merges"]
    assert not state.exists()
