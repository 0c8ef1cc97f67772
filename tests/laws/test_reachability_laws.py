"""Texts that give an entry and proofs that none does agree with brute force over all short texts."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis.entry_bytes import PLAIN_TEXT, vocabulary_entries
from piecework.analysis.reachability import Proofs, Reachability, Search, reachability
from piecework.spec import ScoredPiece
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from piecework.spec.patterns import Regex
from piecework.spec.split_patterns import PATTERNS
from tests.charsmaps import charsmap

ALPHABET = "abAé\u0301 #!1▁中"
PART = st.text("abAé\u0301#!1▁中", min_size=1, max_size=3)
LENGTH = 4 if os.environ.get("PIECEWORK_FULL") else 3
RULES = charsmap({"A": "a", "a!": "b", "é": "e", "1": "1 "})
patiently = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=20, deadline=None)


def brute_force(tok: pw.Tokenizer, alphabet: str, length: int) -> set[int]:
    """Return the ids of the encodings of all texts up to a length."""
    texts = ["".join(chars) for n in range(1, length + 1) for chars in product(alphabet, repeat=n)]
    return set(tok.encode_batch(texts, **PLAIN_TEXT).ids.tolist())


def check(tok: pw.Tokenizer, alphabet: str = ALPHABET, length: int = LENGTH) -> Reachability:
    entries = vocabulary_entries(tok)
    found = reachability(tok, entries)
    for id, text in found.texts.items():
        assert id in tok.encode(text, **PLAIN_TEXT).ids
    given_ids = brute_force(tok, alphabet, length)
    names = {entry.id: entry.token for entry in entries}
    wrong = {names[id]: reason for id, reason in found.proofs.items() if id in given_ids}
    assert not wrong
    # Proofs are tried for the entries without a text; here for all, so that a wrong one shows.
    unknown = tok.spec.model.unk_token
    judged = [e for e in entries if e not in found.outside and e.token != unknown]
    proofs = Proofs(tok, entries, Search(tok)).run(judged)
    reached = given_ids | found.texts.keys()
    wrong = {names[id]: reason for id, reason in proofs.items() if id in reached}
    assert not wrong
    unfound = {entry.id for entry in found.unfound}
    outside = {entry.id for entry in found.outside}
    added = {entry.id for entry in entries if entry.is_added}
    answers = [found.texts.keys(), found.proofs.keys(), unfound, outside, added]
    assert sum(map(len, answers)) == len(entries) == len(set().union(*answers))
    return found


# ---- stages


def normalizers() -> st.SearchStrategy[Any]:
    spec = pw.spec
    stages = st.sampled_from(
        [
            spec.Lowercase(),
            spec.NFC(),
            spec.NFD(),
            spec.StripAccents(),
            spec.BertNormalizer(),
            spec.BertNormalizer(lowercase=False),
            spec.Strip(),
            spec.Replace("a", "b"),
            spec.Replace(Regex("[a1]"), "#"),
            spec.Replace(" ", "▁"),
            spec.Prepend("▁"),
            spec.Precompiled(RULES),
        ]
    )
    chains = st.sampled_from(
        [
            (spec.NFD(), spec.StripAccents(), spec.Lowercase()),
            (spec.Replace("é", ""), spec.NFC()),
            (spec.NFKC(), spec.Replace(Regex(" {2,}"), " ")),
            (spec.Prepend("▁"), spec.Replace(" ", "▁")),
            (spec.BertNormalizer(), spec.Replace("!", "A")),
        ]
    )
    return st.none() | stages | chains.map(spec.SequenceNormalizer)


PIECES = (
    r"\p{L}+|\p{N}|[^\s\p{L}\p{N}]+",
    r"(?i:'s|a!)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"a+(?!b)|ab",
    r"[ab]{2}|!",
    "a",
)


def pre_tokenizers() -> st.SearchStrategy[Any]:
    spec = pw.spec
    behaviors = st.sampled_from(["removed", "isolated", "merged_with_next", "contiguous"])
    patterns = st.sampled_from(PIECES).map(Regex)
    splits = st.builds(spec.Split, patterns, behaviors, st.booleans())
    others = st.sampled_from(
        [
            spec.BertPreTokenizer(),
            spec.Whitespace(),
            spec.WhitespaceSplit(),
            spec.Digits(),
            spec.Digits(individual_digits=True),
            spec.Punctuation(),
            spec.Punctuation("merged_with_previous"),
            spec.Punctuation("contiguous"),
            spec.CharDelimiterSplit("a"),
            spec.Metaspace(),
            spec.Metaspace(prepend_scheme="never"),
            spec.Metaspace(split=False),
            spec.UnicodeScripts(),
            spec.FixedLength(2),
        ]
    )
    stages: st.SearchStrategy[Any] = splits | others
    several = st.lists(stages, min_size=2, max_size=3)
    chain = several.map(lambda members: spec.SequencePreTokenizer(tuple(members)))
    return st.none() | stages | chain


def numbered(tokens: list[str]) -> dict[str, int]:
    return {token: id for id, token in enumerate(dict.fromkeys(tokens))}


@st.composite
def stages(draw: st.DrawFn) -> dict[str, Any]:
    return {"normalizer": draw(normalizers()), "pre_tokenizer": draw(pre_tokenizers())}


@st.composite
def entry_lists(draw: st.DrawFn, prefix: str = "", suffix: str = "") -> list[str]:
    """Characters and random entries, with or without prefix and suffix."""
    affixes = st.tuples(st.sampled_from(["", prefix]), PART, st.sampled_from(["", suffix]))
    letters = draw(st.lists(st.sampled_from(ALPHABET.replace(" ", "")), max_size=8))
    return [*letters, *("".join(parts) for parts in draw(st.lists(affixes, max_size=10)))]


# ---- models


@given(entry_lists(prefix="##"), stages(), st.sampled_from(["word", "char"]), st.booleans())
@patiently
def test_wordpiece(tokens: list[str], parts: dict[str, Any], unk: Any, is_short: bool) -> None:
    model = pw.spec.WordPiece(
        numbered(["[UNK]", *tokens]),
        unk=unk,
        max_input_chars_per_word=2 if is_short else 100,
    )
    check(pw.Tokenizer(model, **parts))


@st.composite
def bpe_models(draw: st.DrawFn) -> pw.spec.BPE:
    """Merges of random pairs, and entries that no merge makes."""
    prefix, suffix = draw(st.sampled_from([("", ""), ("##", ""), ("", "</w>"), ("##", "</w>")]))
    letters = sorted(set(draw(st.lists(st.sampled_from(ALPHABET), min_size=2, max_size=8))))
    symbols = [p + c + s for c in letters for p in {"", prefix} for s in {"", suffix}]
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 8))):
        left, right = draw(st.sampled_from(symbols)), draw(st.sampled_from(symbols))
        if right.startswith(prefix) and not (suffix and left.endswith(suffix)):
            merges.append((left, right))
            symbols.append(left + right[len(prefix) :])
    extra = draw(st.lists(PART, max_size=3))
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)] if draw(st.booleans()) else []
    return pw.spec.BPE(
        numbered([*symbols, *extra, *bytes_, "?"]),
        tuple(dict.fromkeys(merges)),
        unk_token=draw(st.sampled_from([None, "?"])),
        continuing_subword_prefix=prefix or None,
        end_of_word_suffix=suffix or None,
        ignore_merges=draw(st.booleans()),
        byte_fallback=bool(bytes_),
        fuse_unk=draw(st.booleans()),
    )


@given(bpe_models(), stages())
@patiently
def test_bpe(model: pw.spec.BPE, parts: dict[str, Any]) -> None:
    check(pw.Tokenizer(model, **parts))


BYTES = "aé中😀 !'s"
BYTE_PATTERNS = [*PATTERNS["cl100k"], *PATTERNS["o200k"], *PATTERNS["gpt2"]]


@given(st.data(), st.sampled_from([None, *BYTE_PATTERNS]), st.booleans())
@patiently
def test_byte_level_bpe(data: st.DataObject, pattern: str | None, is_looked_up: bool) -> None:
    used = sorted({CHARACTER_OF_BYTE[byte] for byte in BYTES.encode()})
    symbols = list(CHARACTER_OF_BYTE) if data.draw(st.booleans()) else used
    of_text = list(used)
    merges = []
    for _ in range(data.draw(st.integers(0, 12))):
        left, right = data.draw(st.sampled_from(of_text)), data.draw(st.sampled_from(of_text))
        merges.append((left, right))
        of_text.append(left + right)
    model = pw.spec.BPE(
        numbered([*symbols, *of_text]), tuple(dict.fromkeys(merges)), ignore_merges=is_looked_up
    )
    bytes_ = pw.spec.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    split = () if pattern is None else (pw.spec.Split(Regex(pattern), "isolated"),)
    tok = pw.Tokenizer(
        model,
        normalizer=data.draw(st.sampled_from([None, pw.spec.NFC(), pw.spec.NFD()])),
        pre_tokenizer=pw.spec.SequencePreTokenizer((*split, bytes_)),
        decoder=pw.spec.ByteLevelDecoder(),
    )
    check(tok, BYTES)


SCORES = st.sampled_from([-1.0, -2.0, -3.0, -4.5, -4.75, -0.25])


@given(entry_lists(), stages(), st.data(), st.booleans())
@patiently
def test_unigram(
    tokens: list[str], parts: dict[str, Any], data: st.DataObject, has_bytes: bool
) -> None:
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)] if has_bytes else []
    names = numbered(["<unk>", *tokens, *bytes_])
    pieces = tuple((token, data.draw(SCORES) if token in tokens else -9.0) for token in names)
    check(pw.Tokenizer(pw.spec.Unigram(pieces, unk_id=0, byte_fallback=has_bytes), **parts))


@given(entry_lists(), st.data(), st.sampled_from(["unigram", "bpe", "word", "char"]), st.booleans())
@patiently
def test_sentencepiece(tokens: list[str], data: st.DataObject, kind: Any, has_bytes: bool) -> None:
    types: st.SearchStrategy[Any] = st.sampled_from(
        ["normal"] * 6 + ["user_defined", "unused", "control"]
    )
    pieces = [ScoredPiece("<unk>", 0.0, "unknown")]
    pieces += [ScoredPiece(t, data.draw(SCORES), data.draw(types)) for t in numbered(tokens)]
    if has_bytes:
        pieces += [ScoredPiece(f"<0x{byte:02X}>", 0.0, "byte") for byte in range(256)]
    symbols = tuple(piece.text for piece in pieces if piece.type == "user_defined")
    normalizer = pw.spec.SentencePieceNormalizer(
        charsmap=data.draw(st.sampled_from([b"", RULES])),
        add_dummy_prefix=data.draw(st.booleans()),
        remove_extra_whitespaces=data.draw(st.booleans()),
        escape_whitespaces=data.draw(st.booleans()),
        user_defined_symbols=symbols,
    )
    model = pw.spec.SentencePiece(tuple(pieces), kind=kind, byte_fallback=has_bytes)
    check(pw.Tokenizer(model, normalizer=normalizer))


@given(entry_lists(), stages(), st.booleans())
@patiently
def test_words_and_characters(tokens: list[str], parts: dict[str, Any], is_char: bool) -> None:
    kind = pw.spec.Char if is_char else pw.spec.WordLevel
    check(pw.Tokenizer(kind(numbered(["[UNK]", *tokens])), **parts))


@pytest.mark.parametrize("pattern", PIECES)
@pytest.mark.parametrize("behavior", ["isolated", "removed"])
@pytest.mark.parametrize("inverted", [False, True])
def test_every_short_word_of_each_pattern(pattern: str, behavior: Any, inverted: bool) -> None:
    words = ["".join(chars) for n in range(1, 4) for chars in product("ab!1 ", repeat=n)]
    model = pw.spec.WordLevel(numbered(["[UNK]", *words]))
    split = pw.spec.Split(Regex(pattern), behavior, inverted)
    found = check(pw.Tokenizer(model, pre_tokenizer=split), "ab!1 ", 4)
    if behavior == "removed" and inverted and "(?!" not in pattern:
        assert not any(len(entry.token) > 1 for entry in found.unfound)
