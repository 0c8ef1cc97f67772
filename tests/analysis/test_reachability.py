"""Entries that no text gives: each kind of proof with a hard negative, and texts that give the others."""

from __future__ import annotations

from typing import Any

import pytest

import piecework as pw
from piecework.analysis.entry_bytes import PLAIN_TEXT, vocabulary_entries
from piecework.analysis.pattern_automaton import automaton_of
from piecework.analysis.reachability import completed, reachability
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE as PRINTABLE
from piecework.spec.patterns import Regex
from piecework.spec.split_patterns import PATTERNS
from tests.data import need

SPLIT = "the pre-tokenizer always splits it or splits it off"


def ids(tokens: str) -> dict[str, int]:
    return {token: id for id, token in enumerate(tokens.split())}


def proofs(tok: pw.Tokenizer) -> dict[str, str]:
    """Return token -> reason, after each text was encoded again."""
    entries = vocabulary_entries(tok)
    found = reachability(tok, entries)
    for id, text in found.texts.items():
        assert id in tok.encode(text, **PLAIN_TEXT).ids
    assert not found.unfound
    return {entry.token: found.proofs[entry.id] for entry in entries if entry.id in found.proofs}


# ---- models


def test_a_piece_gets_a_text_that_no_longer_match_takes() -> None:
    # "ab", "cb" and "abb" are entries, so ##b follows only what has no longer match with b.
    model = pw.spec.WordPiece(ids("? a ab abb c cb cbb ##b ##bb ?b"), "?")
    tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.BertPreTokenizer())
    found = reachability(tok, vocabulary_entries(tok))
    assert tok.encode(found.texts[7]).tokens[-1] == "##b"


def test_pieces_longer_than_the_words_of_the_model() -> None:
    model = pw.spec.WordPiece(ids("? ab abc ##c ##bc"), "?", max_input_chars_per_word=2)
    reason = "it is longer than the words that the model segments"
    found = proofs(pw.Tokenizer(model))
    assert found["abc"] == found["##bc"] == reason
    assert "ab" not in found


def test_merges_that_make_others_of_the_characters() -> None:
    # b c comes first, so that abc is a bc; abd has the merges in the right order.
    merges = (("b", "c"), ("a", "b"), ("ab", "c"), ("ab", "d"))
    vocab = ids("a b c d bc ab abc abd")
    found = proofs(pw.Tokenizer(pw.spec.BPE(vocab, merges)))
    assert found == {"abc": "its own characters do not merge to it: 'a' 'bc'"}
    whole = pw.Tokenizer(pw.spec.BPE(vocab, merges, ignore_merges=True))
    assert proofs(whole) == {}


def test_segmentations_that_score_higher_and_ties() -> None:
    pieces = (("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -2.0), ("ba", -2.5))
    found = proofs(pw.Tokenizer(pw.spec.Unigram(pieces, unk_id=0)))
    assert found == {"ba": "another segmentation always scores higher: 'b' 'a', by 0.5"}


@pytest.mark.parametrize(("margin", "is_proof"), [(0.0005, False), (0.002, True)])
def test_a_margin_that_sums_of_floats_can_round_away_proves_nothing(
    margin: float, is_proof: bool
) -> None:
    pieces = (("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -2.0 - margin))
    tok = pw.Tokenizer(pw.spec.Unigram(pieces, unk_id=0))
    assert (3 in reachability(tok, vocabulary_entries(tok)).proofs) == is_proof


def test_user_defined_pieces_are_no_argument() -> None:
    # "b" is split off before "ab" could win, but only where no other symbol takes it first.
    piece = pw.spec.ScoredPiece
    pieces = (
        piece("<unk>", 0, "unknown"),
        piece("a", -1),
        piece("b", 0, "user_defined"),
        piece("ab", -9),
    )
    model = pw.spec.SentencePiece(pieces)
    tok = pw.Tokenizer(model, normalizer=pw.spec.SentencePieceNormalizer(add_dummy_prefix=False))
    assert reachability(tok, vocabulary_entries(tok)).proofs == {}


# ---- stages


@pytest.mark.parametrize(
    ("normalizer", "token", "is_output"),
    [
        (pw.spec.Lowercase(), "A", False),
        (pw.spec.Lowercase(), "a", True),
        (pw.spec.NFC(), "e\u0301", False),
        (pw.spec.NFC(), "é", True),
        (pw.spec.NFD(), "é", False),
        (pw.spec.NFKC(), "ﬁ", False),
        (pw.spec.Replace("a", "b"), "a", False),
        (pw.spec.Replace("aa", "b"), "a", True),
        # NFC composes what the replacement did not see.
        (pw.spec.SequenceNormalizer((pw.spec.Replace("é", ""), pw.spec.NFC())), "é", True),
        # Only this replacement outputs a capital letter, after a text that no other entry has.
        (pw.spec.SequenceNormalizer((pw.spec.Lowercase(), pw.spec.Replace("qq", "B"))), "B", True),
        (pw.spec.SequenceNormalizer((pw.spec.Lowercase(), pw.spec.Replace("q", "b"))), "B", False),
        (pw.spec.BertNormalizer(cleaning="original"), "ς", True),
        (pw.spec.BertNormalizer(), "\ue000", False),
    ],
)
def test_what_normalizers_never_output(normalizer: Any, token: str, is_output: bool) -> None:
    tok = pw.Tokenizer(pw.spec.WordLevel({"[UNK]": 0, token: 1}), normalizer=normalizer)
    found = reachability(tok, vocabulary_entries(tok))
    assert (1 not in found.proofs) == is_output


@pytest.mark.parametrize(
    ("pre_tokenizer", "split", "whole"),
    [
        (pw.spec.BertPreTokenizer(), ["a.", "a b", ".."], ["ab", "."]),
        (pw.spec.Whitespace(), ["a.", "a b"], ["..", "a1"]),
        (pw.spec.Digits(), ["a1"], ["11", "a."]),
        (pw.spec.Digits(individual_digits=True), ["11"], ["a."]),
        (pw.spec.Metaspace(), ["a▁b", "▁▁"], ["▁a"]),
        (pw.spec.Split(Regex(r"\p{L}+|\p{N}"), "isolated"), ["a1", "11"], ["ab", ".."]),
        (pw.spec.Split(Regex(r"\p{L}+|\p{N}"), "removed"), ["a.", "1"], [".."]),
        (pw.spec.Split(Regex(r"\p{L}+|\p{N}"), "removed", invert=True), [".", "11"], ["ab"]),
        (pw.spec.Split(Regex(r"a(?=b)|[bc]"), "isolated"), ["ab", "bc"], ["a", "aa"]),
    ],
)
def test_what_pre_tokenizers_always_split(
    pre_tokenizer: Any, split: list[str], whole: list[str]
) -> None:
    vocab = {token: id for id, token in enumerate(["[UNK]", *split, *whole])}
    tok = pw.Tokenizer(pw.spec.WordLevel(vocab), pre_tokenizer=pre_tokenizer)
    assert proofs(tok) == dict.fromkeys(split, SPLIT)


def test_ideographs_between_spaces() -> None:
    model = pw.spec.WordPiece(ids("[UNK] a 中 ##中 a中 ##é"))
    parts: dict[str, Any] = {"pre_tokenizer": pw.spec.BertPreTokenizer()}
    found = proofs(
        pw.Tokenizer(model, normalizer=pw.spec.BertNormalizer(strip_accents=False), **parts)
    )
    assert found == {"##中": SPLIT, "a中": SPLIT}
    apart = pw.spec.BertNormalizer(strip_accents=False, handle_chinese_chars=False)
    assert proofs(pw.Tokenizer(model, normalizer=apart, **parts)) == {}


def test_a_pattern_is_read_without_its_lookarounds() -> None:
    [cl100k] = PATTERNS["cl100k"]
    automaton = automaton_of(cl100k)
    assert automaton is not None
    assert all(map(automaton.accepts, (" hug", "'S", "123")))
    assert not any(map(automaton.accepts, ("1234", "หมู", "a b")))
    assert all(map(automaton.always_matches, " \u0e39"))


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", r"(?<x>a)", "a*", r"\X", "(?i:ß)", "a{2}+", "(?x) a"]
)
def test_patterns_that_are_not_read_prove_nothing(pattern: str) -> None:
    assert automaton_of(pattern) is None


# ---- bytes


def byte_level(tokens: list[str], merges: tuple[tuple[str, str], ...]) -> pw.Tokenizer:
    return pw.Tokenizer(
        pw.spec.BPE({token: id for id, token in enumerate([*PRINTABLE, *tokens])}, merges),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
    )


def test_parts_of_characters_get_the_bytes_that_complete_them() -> None:
    assert completed(b"\xa9 a\xc3", 4)[0].encode()[1:5] == b"\xa9 a\xc3"
    assert completed(b"\x80\x80", 9)
    assert completed(b"\xc0", 9) == completed(b"\x80\x80\x80\x80", 9) == []
    tok = byte_level(["ãĢ"], (("ã", "Ģ"),))
    assert set(proofs(tok)) == {PRINTABLE[byte] for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}


def test_a_part_of_a_character_is_not_looked_up_as_a_whole_word() -> None:
    tok = byte_level(["ãĢ"], ())
    whole = pw.Tokenizer(
        pw.spec.BPE(tok.spec.model.vocab, (), ignore_merges=True),
        pre_tokenizer=tok.spec.pre_tokenizer,
        decoder=tok.spec.decoder,
    )
    assert proofs(whole)["ãĢ"] == "its own characters do not merge to it: 'ã' 'Ģ'"


def test_a_lead_byte_that_each_continuation_merges_with() -> None:
    lead = PRINTABLE[0xC3]
    merges = tuple((lead, PRINTABLE[byte]) for byte in range(0x80, 0xC0))
    both = ["".join(merge) for merge in merges]
    assert "completes a character" in proofs(byte_level(both, merges))[lead]
    # One continuation is left: é stays two bytes.
    rest = tuple(merge for merge in merges if merge[1] != PRINTABLE[0xA9])
    assert lead not in proofs(byte_level(["".join(merge) for merge in rest], rest))


def test_bytes_of_characters_that_have_entries() -> None:
    piece = pw.spec.ScoredPiece
    pieces = [piece("<unk>", 0, "unknown"), piece("A", -1), piece("▁", -1)]
    pieces += [piece(f"<0x{byte:02X}>", 0, "byte") for byte in range(256)]
    tok = pw.Tokenizer(
        pw.spec.SentencePiece(tuple(pieces), byte_fallback=True),
        normalizer=pw.spec.SentencePieceNormalizer(),
        decoder=pw.spec.SentencePieceDecoder(byte_fallback=True),
    )
    found = proofs(tok)
    assert found["<0x41>"] == found["<0x20>"] == "every character that has its byte has an entry"
    assert found["<0xF5>"] == "no UTF-8 text contains its byte"
    assert "<0x42>" not in found


# ---- published


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("bert-base-uncased/vocab.txt", {SPLIT: 1331}),
        ("gpt2/tokenizer.json.gz", {"no UTF-8 text contains its bytes": 13}),
        ("t5-small/tokenizer.json.gz", {"another segmentation always scores higher": 2}),
        (
            "qwen2.5/tokenizer.json.gz",
            {
                SPLIT: 1661,
                "the normalizer never outputs a character of it": 236,
                "the normalizer always changes it": 12,
                "no UTF-8 text contains its bytes": 13,
                "no word contains it with a character that its last bytes begin": 7,
            },
        ),
    ],
)
def test_published_vocabularies(name: str, counts: dict[str, int]) -> None:
    tok = pw.Tokenizer.load(need(f"vocab/{name}"))
    found: dict[str, int] = {}
    for reason in reachability(tok, vocabulary_entries(tok)).proofs.values():
        cause = reason.partition(": ")[0]
        found[cause] = found.get(cause, 0) + 1
    assert found == counts
