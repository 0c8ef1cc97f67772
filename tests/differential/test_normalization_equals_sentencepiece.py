"""Normalization rules against sentencepiece: the rules it names, every code point, rules of one's own.

The rules that models carry come from older Unicode versions; they are read and applied as they are.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
import tokenizers

from piecework.train import NormalizationRules
from tests.data import data_dir

sentencepiece = pytest.importorskip("sentencepiece", reason="the test extra has sentencepiece")

NAMES = [name for name in NormalizationRules.NAMES if name != "identity"]
FULL = os.environ.get("PIECEWORK_FULL") == "1"
TEXTS = 20_000 if FULL else 500


def peer_of(**source: object) -> sentencepiece.SentencePieceNormalizer:
    """Their normalizer without any handling of spaces."""
    return sentencepiece.SentencePieceNormalizer(
        **source,
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=False,
    )


def peer_with_charsmap(charsmap: bytes) -> sentencepiece.SentencePieceNormalizer:
    """Their normalizer, given compiled rules: field 2 of a normalizer specification."""
    return peer_of(normalizer_spec=b"\x12" + varint(len(charsmap)) + charsmap)


def varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def characters() -> list[str]:
    """Every character but NUL, which ends a text for one of the two, and the surrogates."""
    return [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]


def texts_of(rules: Mapping[str, str], seed: int) -> Iterator[str]:
    """Random texts of characters that rules have, of others, and of whole sources."""
    chance = random.Random(seed)
    sources = list(rules)
    touched = sorted(
        {c for source in chance.sample(sources, min(3000, len(sources))) for c in source}
    )
    for _ in range(TEXTS):
        parts = (
            lambda: chance.choice(touched),
            lambda: chance.choice(sources),
            lambda: chr(chance.randrange(1, 0xD800)),
            lambda: chance.choice(" aeiouABC\u0301\u0327\u1161\u11a8"),
        )
        yield "".join(chance.choice(parts)() for _ in range(chance.randrange(1, 30)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_named_rules_equal_those_of_sentencepiece(name: str) -> None:
    theirs = dict(peer_of(rule_name=name).Decompile())
    assert NormalizationRules.named(name).to_mapping() == theirs


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_code_point_is_normalized_as_in_sentencepiece(name: str) -> None:
    rules, peer = NormalizationRules.named(name), peer_of(rule_name=name)
    given = characters()
    assert [rules.normalize(c) for c in given] == peer.Normalize(given)


@pytest.mark.parametrize("name", NAMES)
def test_random_texts_are_normalized_as_in_sentencepiece_with_offsets(name: str) -> None:
    rules, peer = NormalizationRules.named(name), peer_of(rule_name=name)
    for text in texts_of(rules.to_mapping(), seed=len(name)):
        normalized, spans = rules.normalize_with_offsets(text)
        theirs, starts = peer.Normalize(text, with_offsets=True)
        assert normalized == theirs == rules.normalize(text)
        assert [start for start, _ in spans] == list(starts[:-1]), ascii(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_sentencepiece_reads_compiled_rules(name: str) -> None:
    rules = NormalizationRules.named(name)
    peer = peer_with_charsmap(rules.charsmap)
    assert dict(peer.Decompile()) == rules.to_mapping()
    sample = [*characters()[:: 1 if FULL else 17], *texts_of(rules.to_mapping(), seed=1)]
    assert peer.Normalize(sample) == [rules.normalize(text) for text in sample]


@pytest.mark.parametrize("name", NAMES)
def test_tokenizers_reads_compiled_rules(name: str) -> None:
    ours = tokenizers.normalizers.Precompiled(NormalizationRules.named(name).charsmap)
    theirs = tokenizers.normalizers.Precompiled(charsmap_of_theirs(name))
    for c in characters()[:: 1 if FULL else 17]:
        assert ours.normalize_str(c) == theirs.normalize_str(c), hex(ord(c))


def charsmap_of_theirs(name: str) -> bytes:
    home = Path(sentencepiece.__file__).parent / "package_data" / f"{name}.bin"
    return home.read_bytes()


@pytest.mark.parametrize("seed", range(200 if FULL else 30))
def test_random_rules_are_applied_as_in_sentencepiece(seed: int) -> None:
    chance = random.Random(seed)
    alphabet = [
        "a",
        "b",
        " ",
        "é",
        "\u0301",
        "漢",
        "字",
        "😀",
        "\U0010ffff",
        chr(chance.randrange(1, 0xD800)),
    ]

    def text(low: int, high: int) -> str:
        return "".join(chance.choices(alphabet, k=chance.randint(low, high)))

    pairs = [(text(1, 4), text(0, 3)) for _ in range(chance.randint(1, 60))]
    # It refuses rules that change nothing.
    mapping = {old: new for old, new in pairs if old != new}
    rules = NormalizationRules.from_mapping(mapping)
    here = peer_with_charsmap(rules.charsmap)
    there = peer_of(norm_map=list(mapping.items()))
    assert dict(there.Decompile()) == dict(here.Decompile()) == rules.to_mapping() == mapping
    for _ in range(50):
        given = text(0, 40)
        assert rules.normalize(given) == there.Normalize(given) == here.Normalize(given)


def test_a_rule_file_of_ours_is_read_by_sentencepiece(tmp_path: Path) -> None:
    mapping = {"I'm": "I am", "\n": "", "\t": " ", "😀": ":)", "…": "..."}
    NormalizationRules.from_mapping(mapping).save_tsv(tmp_path / "rules.tsv")
    peer = peer_of(rule_tsv=str(tmp_path / "rules.tsv"))
    assert dict(peer.Decompile()) == mapping


@pytest.mark.parametrize("nested", [31, 32])
def test_as_many_nested_rules_are_rejected_as_in_sentencepiece(nested: int) -> None:
    mapping = {"n" * length: "" for length in range(1, nested + 1)}
    outcomes = set()
    for build in (
        NormalizationRules.from_mapping,
        lambda rules: peer_of(norm_map=list(rules.items())),
    ):
        try:
            build(mapping)
            outcomes.add("compiled")
        except (ValueError, RuntimeError):
            outcomes.add("refused")
    assert outcomes == {"compiled" if nested == 31 else "refused"}


def models() -> list[Path]:
    root = data_dir()
    return sorted(root.glob("vocab/*/*.model")) if root else []


@pytest.mark.slow
@pytest.mark.parametrize("path", models(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_rules_of_models_are_read(path: Path) -> None:
    assert_same_rules(charsmap_of(peer_of(model_file=str(path)).serialized_normalizer_spec()))


@cache  # many models have the rules that SentencePiece chooses if none are named
def assert_same_rules(charsmap: bytes) -> None:
    peer = peer_with_charsmap(charsmap)
    rules = NormalizationRules(charsmap)
    mapping = rules.to_mapping()
    assert mapping == dict(peer.Decompile())
    assert NormalizationRules.from_mapping(mapping).to_mapping() == mapping
    sample = [*characters()[:: 1 if FULL else 101], *texts_of(mapping, seed=2)]
    assert [rules.normalize(text) for text in sample] == peer.Normalize(sample)


def charsmap_of(specification: bytes) -> bytes:
    """Take field 2 of a normalizer specification, which follows field 1, the name."""
    name_length = specification[1]
    rest = specification[2 + name_length :]
    assert rest[0] == 0x12
    length, shift, at = 0, 0, 1
    while True:
        length |= (rest[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if rest[at - 1] < 128:
            return rest[at : at + length]
