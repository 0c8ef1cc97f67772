"""What we train, `sentencepiece` loads and agrees with, and what it trains itself we learn too.

BPE, word and character models are the very same: pieces, order, ids and scores. Unigram models make new
text likelier, for every setting.
"""

from __future__ import annotations

import io
import itertools
import os
import random
import struct
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.train import SentencePieceTrainer
from tests.data import corpora_dir, missing
from tests.differential.test_sentencepiece import CORPUS, HARD_TEXTS, assert_same

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
TYPES = ("unigram", "bpe", "word", "char")
RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
FLAGS: list[dict[str, Any]] = [
    {},
    {"split_by_unicode_script": False},
    {"split_by_number": False},
    {"split_digits": True},
    {"split_by_whitespace": False},
    {"treat_whitespace_as_suffix": True},
    {"treat_whitespace_as_suffix": True, "split_by_whitespace": False},
    {"remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    {
        "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
        "treat_whitespace_as_suffix": True,
    },
    {"add_dummy_prefix": False},
    {"pretokenization_delimiter": "an"},
    {"user_defined_symbols": ("<x>", "▁the", "an"), "control_symbols": ("<c>", "fox")},
    {"byte_fallback": True, "user_defined_symbols": ("<x>", "<s>")},
    {"unk_id": 5, "bos_id": -1, "eos_id": 0, "pad_id": 7, "unk_piece": "[?]", "unk_surface": "?"},
    {"character_coverage": 0.98, "required_chars": "ö猫名"},
    {"max_sentencepiece_length": 5},
    {"max_sentence_length": 76},
]
COMBINATIONS = list(itertools.product(TYPES, RULES, range(len(FLAGS))))
SOME = COMBINATIONS if FULL else COMBINATIONS[::7]


def options(kind: str, rules: str, flags: int) -> dict[str, Any]:
    taken = dict(FLAGS[flags])
    if kind in ("word", "char"):
        taken.pop("pretokenization_delimiter", None)
    size = 380 if taken.get("byte_fallback") else 120
    return {"model_type": kind, "normalization_rule_name": rules, "vocab_size": size, **taken}


@pytest.mark.filterwarnings("ignore:.*left out. longer than")
def learned(texts: list[str], settings: dict[str, Any]) -> pw.Tokenizer:
    trainer = SentencePieceTrainer(hard_vocab_limit=False, **settings)
    return pw.Tokenizer.train_from_iterator(texts, trainer)


def loaded(tokenizer: pw.Tokenizer, folder: Path) -> Any:
    path = folder / "ours.model"
    tokenizer.save(path)
    assert pw.Tokenizer.load(path) == tokenizer
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def theirs(texts: list[str], settings: dict[str, Any]) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **{
            name: list(value) if isinstance(value, tuple) else value
            for name, value in settings.items()
        },
    )
    return model.getvalue()


def pieces_of(processor: Any) -> list[tuple[str, float, str]]:
    types = ("unknown", "control", "unused", "byte")
    return [
        (
            processor.id_to_piece(id),
            processor.get_score(id),
            next((type for type in types if getattr(processor, f"is_{type}")(id)), "found"),
        )
        for id in range(len(processor))
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*left out. longer than")
@pytest.mark.parametrize(("kind", "rules", "flags"), SOME)
def test_both_libraries_encode_alike_with_a_trained_model(
    kind: str, rules: str, flags: int, tmp_path: Path
) -> None:
    ours = learned(CORPUS, options(kind, rules, flags))
    rng = random.Random(flags)
    letters = "abnd aaa  <x>\t漢é.1▁ﬁ<y z>"
    drawn = ["".join(rng.choices(letters, k=rng.randrange(60))) for _ in range(100)]
    assert_same(ours, loaded(ours, tmp_path), [*CORPUS[:6], *HARD_TEXTS, *drawn], seed=flags)


@cache
def in_memory(kind: str) -> tuple[pw.Tokenizer, Any]:
    ours = learned(CORPUS, options(kind, "nmt_nfkc", 0))
    from piecework._internal._core import write_sentencepiece

    model = write_sentencepiece(ours._core)
    return ours, sentencepiece.SentencePieceProcessor(model_proto=model)


@pytest.mark.parametrize("kind", TYPES)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=80))
@settings(max_examples=2000 if FULL else 200)
def test_any_text_is_segmented_alike(kind: str, text: str) -> None:
    ours, processor = in_memory(kind)
    assert ours.encode(text).ids == processor.encode(text)


@pytest.mark.filterwarnings("ignore:.*left out. longer than")
@pytest.mark.parametrize(("kind", "rules", "flags"), [row for row in SOME if row[0] != "unigram"])
def test_counting_models_are_the_same(kind: str, rules: str, flags: int, tmp_path: Path) -> None:
    settings = options(kind, rules, flags)
    ours = pieces_of(loaded(learned(CORPUS, settings), tmp_path))
    expected = theirs(CORPUS, settings)
    assert ours == pieces_of(sentencepiece.SentencePieceProcessor(model_proto=expected))


# ---- larger corpora


def corpora() -> list[Any]:
    folder = corpora_dir()
    if folder is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason=missing("corpora")))]
    names = ("botchan.txt", "tinyshakespeare.txt", "wagahaiwa_nekodearu.txt")
    files = sorted(path for path in folder.rglob("*.txt") if path.name in names)
    return [pytest.param(path, id=path.name) for path in (files if FULL else files[:1])]


def lines_of(corpus: Path) -> list[str]:
    text = corpus.read_text(encoding="utf-8", errors="replace")
    return text[: None if FULL else 300_000].splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("corpus", corpora())
@pytest.mark.parametrize("flags", range(len(FLAGS)))
def test_merges_of_a_book_are_the_same(corpus: Path, flags: int, tmp_path: Path) -> None:
    settings = options("bpe", "nmt_nfkc", flags) | {"vocab_size": 4000}
    lines = lines_of(corpus)
    ours = pieces_of(loaded(learned(lines, settings), tmp_path))
    expected = theirs(lines, settings)
    assert ours == pieces_of(sentencepiece.SentencePieceProcessor(model_proto=expected))


@pytest.mark.slow
@pytest.mark.parametrize("corpus", corpora())
@pytest.mark.parametrize("flags", range(len(FLAGS)) if FULL else (0, 4, 9, 11))
def test_unigram_pieces_make_new_text_likelier(corpus: Path, flags: int, tmp_path: Path) -> None:
    settings = options("unigram", "nmt_nfkc", flags) | {"vocab_size": 4000 if FULL else 2000}
    lines = lines_of(corpus)
    training = [line for row, line in enumerate(lines) if row % 10]
    ours = loaded(learned(training, settings), tmp_path)
    other = sentencepiece.SentencePieceProcessor(model_proto=theirs(training, settings))
    likelihood, their_likelihood = likelihoods(ours, other, [line for line in lines[::10] if line])
    assert likelihood > their_likelihood


def likelihoods(one: Any, two: Any, lines: list[str]) -> tuple[float, float]:
    """Return the sums over the lines in which neither knows something unknown."""
    rows = [(one.encode(line), two.encode(line)) for line in lines]
    known = [row for row in rows if one.unk_id() not in row[0] and two.unk_id() not in row[1]]
    assert 4 * len(known) > len(rows)
    first = sum(one.get_score(id) for ids, _ in known for id in ids)
    second = sum(two.get_score(id) for _, ids in known for id in ids)
    return first, second


# ---- what the file says


def test_the_settings_are_written_as_they_were(tmp_path: Path) -> None:
    settings = options("bpe", "nfkc", 12) | {
        "split_digits": True,
        "pad_id": 3,
        "required_chars": "Æ",
        "character_coverage": 0.99,
        "accept_language": ("en", "de"),
    }
    loaded(learned(CORPUS, settings), tmp_path)
    ours = fields_of((tmp_path / "ours.model").read_bytes())
    expected = fields_of(theirs(CORPUS, settings))
    run = {7, 16}  # the format of the input, the number of threads
    trainer = {
        number: values for number, values in fields_of(expected[2][0]).items() if number not in run
    }
    written = fields_of(ours[2][0])
    assert {number: written.get(number) for number in trainer} == trainer
    assert fields_of(ours[3][0])[1] == fields_of(expected[3][0])[1]


def fields_of(message: bytes) -> dict[int, list[Any]]:
    """Read a protobuf: the values of each field."""
    found: dict[int, list[Any]] = {}
    stream = io.BytesIO(message)
    while stream.tell() < len(message):
        number, kind = divmod(varint(stream), 8)
        if kind == 0:
            value: Any = varint(stream)
        elif kind == 5:
            value = struct.unpack("<f", stream.read(4))[0]
        else:
            value = stream.read(varint(stream))
        found.setdefault(number, []).append(value)
    return found


def varint(stream: io.BytesIO) -> int:
    value = 0
    for shift in itertools.count(0, 7):
        byte = stream.read(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value


def test_the_vocab_file_equals_that_of_sentencepiece(tmp_path: Path) -> None:
    for scores in (True, False):
        settings = options("bpe", "nmt_nfkc", 0) | {"vocabulary_output_piece_score": scores}
        learned(CORPUS, settings).save(tmp_path / "ours.vocab")
        (tmp_path / "corpus.txt").write_text("\n".join(CORPUS), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(tmp_path / "corpus.txt"),
            model_prefix=str(tmp_path / "theirs"),
            minloglevel=2,
            **settings,
        )
        assert (tmp_path / "ours.vocab").read_bytes() == (tmp_path / "theirs.vocab").read_bytes()
