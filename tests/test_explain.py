"""Explanations show the stages of a text, and their merges end at the tokens that encoding gives."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis import explain
from piecework.analysis.merge_steps import MAX_SYMBOLS, MergeTable
from piecework.analysis.readable_tokens import is_byte_level, text_of_bytes
from tests.data import need

HUG = pw.spec.BPE(
    {token: id for id, token in enumerate("b g h n p s u ug un hug".split())},
    (("u", "g"), ("u", "n"), ("h", "ug")),
)


def last_symbols(word: pw.analysis.ExplainedWord) -> list[str]:
    symbols = list(word.symbols)
    for step in word.merges or ():
        assert symbols[step.at : step.at + 2] == [step.left, step.right]
        symbols = step.apply_to(symbols)
    return symbols


# ---- the merges


def test_merges_of_the_worked_example() -> None:
    [word] = explain(pw.Tokenizer(HUG), "hugs").words
    assert word.symbols == ("h", "u", "g", "s")
    steps = [(step.rank, step.left, step.right, step.token) for step in word.merges or ()]
    assert steps == [(0, "u", "g", "ug"), (2, "h", "ug", "hug")]
    assert last_symbols(word) == ["hug", "s"]


@st.composite
def bpe_models(draw: st.DrawFn) -> pw.spec.BPE:
    """Draw models over three letters with merges in any order and any of the model's options."""
    prefix = draw(st.sampled_from([None, "##"]))
    suffix = draw(st.sampled_from([None, "</w>"]))
    letters = draw(st.sampled_from(["ab", "abc"]))
    forms = {
        (start + letter + end)
        for letter in letters
        for start in ("", prefix or "")
        for end in ("", suffix or "")
    }
    entries = sorted(forms)
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 8))):
        left, right = draw(st.sampled_from(entries)), draw(st.sampled_from(entries))
        is_end = bool(suffix) and left.endswith(suffix or "")
        is_start = bool(prefix) and not right.startswith(prefix or "")
        if is_end or is_start or (left, right) in merges:
            continue
        merges.append((left, right))
        joined = left + right.removeprefix(prefix or "")
        entries += [joined] * (joined not in entries)
    byte_fallback = draw(st.booleans())
    unk = draw(st.sampled_from([None, "[UNK]"]))
    entries += [unk] if unk else []
    entries += [f"<0x{byte:02X}>" for byte in "é".encode()] if byte_fallback else []
    return pw.spec.BPE(
        {entry: id for id, entry in enumerate(entries)},
        tuple(merges),
        unk_token=unk,
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        fuse_unk=draw(st.booleans()),
        byte_fallback=byte_fallback,
        ignore_merges=draw(st.booleans()),
    )


@settings(max_examples=300)
@given(bpe_models(), st.text("abcdé", min_size=1, max_size=12))
def test_merges_end_where_the_model_does(model: pw.spec.BPE, word: str) -> None:
    table = MergeTable(model)
    symbols = table.symbols(word)
    steps = table.steps(symbols)
    assert steps is not None
    for step in steps:
        symbols = step.apply_to(symbols)
    assert symbols == pw.Tokenizer(model).encode(word).tokens


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gpt2", "roberta-base", "clip", "qwen2.5", "deepseek-v3", "falcon"]
)
def test_merges_end_at_the_tokens_of_published_models(name: str) -> None:
    path = need(f"vocab/{name}/tokenizer.json.gz")
    tok = pw.Tokenizer.from_json(gzip.decompress(path.read_bytes()).decode())
    lines = need("corpora/blns.txt").read_text(encoding="utf-8").split("\n")
    compared = 0
    for line in filter(None, lines if "PIECEWORK_FULL" in os.environ else lines[:120]):
        found = explain(tok, line)
        if any(word.merges is None for word in found.words):
            continue
        names = {token.content for token in tok.added_tokens}
        ends = [symbol for word in found.words if word.symbols for symbol in last_symbols(word)]
        tokens = [t.token for t in found.tokens if t.word is not None and t.token not in names]
        assert ends == tokens, line
        compared += 1
    assert compared > 100


def test_a_word_too_long_for_steps_is_said_to_be(tmp_path: Path) -> None:
    [word] = explain(pw.Tokenizer(HUG), "u" * (MAX_SYMBOLS + 1)).words
    assert word.merges is None
    assert len(word.symbols) == MAX_SYMBOLS + 1
    [word] = explain(pw.Tokenizer(HUG), "hu" * (MAX_SYMBOLS // 2)).words
    assert word.merges == ()


# ---- the other stages


def test_other_models_have_no_merges() -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    found = explain(tok, "hugs")
    assert found.words == (pw.analysis.ExplainedWord("hugs", (0, 4)),)
    assert [(token.token, token.span, token.score) for token in found.tokens] == [
        ("hug", (0, 3), None),
        ("##s", (3, 4), None),
    ]


def test_unigram_pieces_have_their_scores() -> None:
    model = pw.spec.Unigram((("<unk>", 0.0), ("hug", -2.5), ("s", -1.25)), unk_id=0)
    found = explain(pw.Tokenizer(model), "hugsx")
    assert [(token.token, token.score) for token in found.tokens] == [
        ("hug", -2.5),
        ("s", -1.25),
        ("<unk>", None),
    ]


def test_added_tokens_stand_apart() -> None:
    tok = pw.Tokenizer(HUG).with_added_tokens(["<name>"], special=True)
    found = explain(tok, "hug<name>bun")
    assert found.added_tokens == ((3, 9),)
    assert [word.word for word in found.words if word.word] == ["hug", "<name>", "bun"]


@pytest.mark.parametrize(
    ("token", "text"),
    [("Ġthe", " the"), ("ĊĊ", "\n\n"), ("æĹ¥", "日"), ("æĹ", r"\xe6\x97"), ("日", "日"), ("", "")],
)
def test_byte_level_tokens_are_read_as_text(token: str, text: str) -> None:
    assert text_of_bytes(token) == text


def test_the_decoder_tells_that_tokens_are_bytes() -> None:
    spec = pw.TokenizerSpec(HUG)
    assert not is_byte_level(spec)
    decoder = pw.spec.ByteLevelDecoder()
    assert is_byte_level(replace(spec, decoder=decoder))
    assert is_byte_level(replace(spec, decoder=pw.spec.SequenceDecoder((decoder,))))


# ---- colours


@pytest.mark.skipif(os.name == "nt", reason="POSIX terminals")
@pytest.mark.parametrize(
    ("environment", "is_colored"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_tokens_are_colored_on_a_terminal_that_wants_it(
    tmp_path: Path, environment: dict[str, str], is_colored: bool
) -> None:
    import pty

    pw.Tokenizer(HUG).save(tmp_path / "t.json")
    parent, child = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    subprocess.run(
        [sys.executable, "-m", "piecework", "explain", str(tmp_path / "t.json"), "hugs"],
        stdout=child,
        stderr=subprocess.PIPE,
        env=clean | environment,
        check=True,
        timeout=60,
    )
    os.close(child)
    shown = os.read(parent, 1 << 16).decode()
    os.close(parent)
    last = shown.rstrip().splitlines()[-1]
    assert ("\x1b[" in shown) == is_colored
    assert ("hug|s" in last) != is_colored
