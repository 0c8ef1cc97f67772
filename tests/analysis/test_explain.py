"""Explanations show the stages of a text, and their merges end at the tokens that encoding gives."""

from __future__ import annotations

import gzip
import json
import math
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
from piecework.analysis.displayed import as_text
from piecework.analysis.explain import ExplainedWord, Explainer
from piecework.analysis.readable import is_byte_level, text_of_bytes
from piecework.analysis.word_steps import MAX_CHARS, MergeTable
from tests.data import need
from tests.laws.strategies import wordpieces
from tests.processes import POSIX

HUG = pw.spec.BPE(
    {token: id for id, token in enumerate("b g h n p s u ug un hug".split())},
    (("u", "g"), ("u", "n"), ("h", "ug")),
)


def last_symbols(word: ExplainedWord) -> list[str]:
    symbols = list(word.symbols)
    for step in word.merges or ():
        assert symbols[step.at : step.at + 2] == [step.left, step.right]
        symbols = step.apply_to(symbols)
    return symbols


# ---- the merges


def test_the_tables_of_a_model_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    class Counted(MergeTable):
        def __init__(self, model: pw.spec.BPE) -> None:
            built.append(model)
            super().__init__(model)

    monkeypatch.setattr(sys.modules[Explainer.__module__], "MergeTable", Counted)
    tok, other = (
        pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, token: 2}, (tuple(token),)))
        for token in ("hu", "uh")
    )
    steps = [explain(tok, text).words[0].merges for text in ("hu", "hu", "uh")]
    assert len(built) == 1
    assert [len(each or ()) for each in steps] == [1, 1, 0]
    assert len(explain(other, "uh").words[0].merges or ()) == 1
    assert len(built) == 2


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
    steps = table.steps(word)
    assert steps is not None
    for step in steps:
        symbols = step.apply_to(symbols)
    is_whole = table.note(word) is not None
    assert pw.Tokenizer(model).encode(word).tokens == ([word] if is_whole else symbols)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gpt2", "roberta-base", "clip", "qwen2.5", "deepseek-v3", "falcon"]
)
def test_merges_end_at_the_tokens_of_published_models(name: str) -> None:
    path = need(f"vocab/{name}/tokenizer.json.gz")
    tok = pw.Tokenizer.from_str(gzip.decompress(path.read_bytes()).decode())
    lines = need("corpora/blns.txt").read_text(encoding="utf-8").split("\n")
    explainer = Explainer(tok)
    names = {token.content for token in tok.added_tokens}
    compared = 0
    for line in filter(None, lines if "PIECEWORK_FULL" in os.environ else lines[:120]):
        found = explainer.explain(line)
        if any(word.merges is None for word in found.words):
            continue
        ends = [symbol for word in found.words if word.symbols for symbol in last_symbols(word)]
        tokens = [t.token for t in found.tokens if t.word is not None and t.token not in names]
        assert ends == tokens, line
        compared += 1
    assert compared > 100


def test_explain_names_a_word_too_long_for_steps(tmp_path: Path) -> None:
    [word] = explain(pw.Tokenizer(HUG), "u" * (MAX_CHARS + 1)).words
    assert word.merges is None
    assert len(word.symbols) == MAX_CHARS + 1
    [word] = explain(pw.Tokenizer(HUG), "hu" * (MAX_CHARS // 2)).words
    assert word.merges == ()


@settings(max_examples=200)
@given(st.data(), st.text("abc", min_size=1, max_size=9))
def test_merges_of_sentencepiece_end_where_the_model_does(data: st.DataObject, text: str) -> None:
    joined = st.text("abc", min_size=2, max_size=4)
    texts = [*"abc", *data.draw(st.lists(joined, unique=True, max_size=8))]
    pieces = [pw.spec.ScoredPiece(text, -float(at % 5)) for at, text in enumerate(texts)]
    unknown = pw.spec.ScoredPiece("<unk>", 0.0, "unknown")
    tok = pw.Tokenizer(pw.spec.SentencePiece((unknown, *pieces), "bpe"))
    [word] = explain(tok, text).words
    assert last_symbols(word) == tok.encode(text).tokens


WHOLE = "an entry: the encoder takes it whole (ignore_merges)"


def test_words_taken_whole_are_explained() -> None:
    model = replace(HUG, ignore_merges=True)
    [word] = explain(pw.Tokenizer(model), "hug").words
    assert word.note == f"{WHOLE}, without these merges"
    assert (word.symbols, [step.token for step in word.merges or ()]) == (
        tuple("hug"),
        ["ug", "hug"],
    )
    assert explain(pw.Tokenizer(model), "g").words[0].note is None
    assert explain(pw.Tokenizer(model), "hugs").words[0].note is None
    entries = {**model.vocab, "hugs": len(model.vocab)}
    [word] = explain(pw.Tokenizer(replace(model, vocab=entries)), "hugs").words
    assert word.note == f"{WHOLE}; merges would give hug s"
    assert last_symbols(word) == ["hug", "s"]


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_the_words_of_the_survey_are_built_merge_by_merge(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tiktoken._educational import bpe_encode

    monkeypatch.setenv("PIECEWORK_TIKTOKEN_DIR", str(need("vocab/tiktoken")))
    tok = pw.Tokenizer.load(name)
    ranks = {token: id for id, token in pw.vocabulary.vocab_bytes(tok).items()}
    for word in explain(tok, "hello world").words:
        assert word.note == f"{WHOLE}, without these merges"
        capsys.readouterr()
        bpe_encode(ranks, text_of_bytes(word.word).encode(), visualise="simple")
        printed = capsys.readouterr().out.split("\n")
        assert [shown for shown in printed if shown] == list(map(str, symbols_at_each_step(word)))


def symbols_at_each_step(word: ExplainedWord) -> list[list[bytes]]:
    """Return the symbols of a word as bytes, first and after each merge."""
    symbols, found = list(word.symbols), [list(word.symbols)]
    for step in word.merges or ():
        symbols = step.apply_to(symbols)
        found.append(symbols)
    return [[text_of_bytes(symbol).encode() for symbol in one] for one in found]


# ---- the search of WordPiece


PRINTED = {t: id for id, t in enumerate("[UNK] b h p ##g ##n ##s ##u ##gs hu hug".split())}


@pytest.mark.parametrize(
    ("word", "tokens", "reason"),
    [
        ("hugs", ["hug", "##s"], None),
        ("bugs", ["b", "##u", "##gs"], None),
        ("pugs", ["p", "##u", "##gs"], None),
        ("mug", ["[UNK]"], "no prefix of 'mug' at position 0 is an entry"),
        ("bum", ["[UNK]"], "no prefix of 'm' at position 2 is an entry"),
        ("h" * 101, ["[UNK]"], "101 characters are more than the limit of 100"),
    ],
)
def test_longest_match_searches_equal_the_course(
    word: str, tokens: list[str], reason: str | None
) -> None:
    search = explain(pw.Tokenizer(pw.spec.WordPiece(PRINTED)), word).words[0].search
    assert search is not None
    assert (list(search.tokens), search.unknown_because) == (tokens, reason)


def test_each_prefix_is_tried_longest_first() -> None:
    search = explain(pw.Tokenizer(pw.spec.WordPiece(PRINTED)), "bugs").words[0].search
    assert search is not None
    assert [(one.start, one.tried, one.match) for one in search.positions] == [
        (0, ("bugs", "bug", "bu", "b"), "b"),
        (1, ("##ugs", "##ug", "##u"), "##u"),
        (2, ("##gs",), "##gs"),
    ]


def test_fewest_tokens_are_shown_beside_longest_match() -> None:
    vocab = {t: id for id, t in enumerate("[UNK] ab a ##c ##d ##bcd".split())}
    found = explain(pw.Tokenizer(pw.spec.WordPiece(vocab)), "abcd")
    assert "longest match: ab ##c ##d; fewest tokens: a ##bcd" in str(found)


@settings(max_examples=300)
@given(wordpieces(), st.text("ab#", min_size=1, max_size=9), st.sampled_from(["word", "char"]))
def test_the_search_ends_where_the_model_does(
    model: pw.spec.WordPiece, word: str, unk: str
) -> None:
    for segmentation in ("greedy", "shortest"):
        changed = replace(model, unk=unk, segmentation=segmentation)
        tok = pw.Tokenizer(changed)
        search = explain(tok, word).words[0].search
        assert search is not None
        assert list(search.tokens) == tok.encode(word).tokens
        is_unknown = changed.unk_token in search.tokens
        assert is_unknown or search.unknown_because is None
        if segmentation == "greedy" and search.unknown_because is None:
            matches = [one.match for one in search.positions]
            assert matches == list(search.tokens)


def test_a_very_long_word_has_no_search() -> None:
    model = pw.spec.WordPiece({"[UNK]": 0, "a": 1, "##a": 2}, max_input_chars_per_word=10_000)
    [word] = explain(pw.Tokenizer(model), "a" * 501).words
    assert word.search is None


# ---- the lattice of Unigram


def test_the_lattice_lists_the_segmentations_of_the_published_example() -> None:
    counts = {"h": 15, "u": 36, "g": 20, "s": 5, "ug": 20, "hug": 15}
    pieces = tuple((piece, math.log(count / 111)) for piece, count in counts.items())
    lattice = explain(pw.Tokenizer(pw.spec.Unigram(pieces)), "hugs").words[0].lattice
    assert lattice is not None
    assert [pieces for pieces, _ in lattice.segmentations] == [
        ("hug", "s"),
        ("h", "ug", "s"),
        ("h", "u", "g", "s"),
    ]
    assert [edge.piece for edge in lattice.edges if edge.is_best] == ["hug", "s"]
    assert len(lattice.edges) == 6


@st.composite
def scored_pieces(draw: st.DrawFn) -> list[tuple[str, float]]:
    texts = draw(
        st.lists(st.text("abc", min_size=1, max_size=4), unique=True, min_size=1, max_size=12)
    )
    return [(text, -float(draw(st.integers(1, 64))) / 8) for text in texts]


@settings(max_examples=200)
@given(scored_pieces(), st.text("abcx", min_size=1, max_size=9))
def test_the_best_path_is_the_encoding(pieces: list[tuple[str, float]], word: str) -> None:
    unigram = pw.spec.Unigram((("<unk>", 0.0), *pieces), unk_id=0)
    scored = tuple(pw.spec.ScoredPiece(text, score) for text, score in pieces)
    unknown = pw.spec.ScoredPiece("<unk>", 0.0, "unknown")
    for model in (unigram, pw.spec.SentencePiece((unknown, *scored), "unigram")):
        tok = pw.Tokenizer(model)
        lattice = explain(tok, word).words[0].lattice
        assert lattice is not None
        known = [piece for piece, _ in pieces]
        best = ["<unk>" if piece not in known else piece for piece in lattice.best]
        fused = [
            token
            for at, token in enumerate(best)
            if token != "<unk>" or best[at - 1 : at] != ["<unk>"]
        ]
        assert fused == tok.encode(word).tokens
        assert "".join(lattice.best) == word
        assert all(word[edge.start : edge.end] == edge.piece for edge in lattice.edges)


@pytest.mark.parametrize("name", ["xlnet/spiece.model", "sentencepiece-tests/test_model.model"])
def test_native_models_have_a_lattice(name: str) -> None:
    tok = pw.Tokenizer.load(need(f"vocab/{name}")).with_post_processor(None)
    for text in ("Hello world.", "Transformers are great, isn't it?", "unbelievable 日本"):
        found = explain(tok, text)
        lattice = found.words[0].lattice
        assert lattice is not None
        pieces = [token.token for token in found.tokens if token.score is not None]
        assert [piece for piece in lattice.best if piece in pieces] == pieces
        assert found.tokens[0].score is not None


# ---- text, JSON and HTML


HOSTILE = "<script>alert(1)</script> \x1b[31m &amp; <img/src=x>"


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_hostile_text_is_escaped(kind: str) -> None:
    characters = sorted(set(HOSTILE))
    models = {
        "wordpiece": pw.spec.WordPiece({"[UNK]": 0, "<script>": 1}),
        "bpe": pw.spec.BPE({c: id for id, c in enumerate(characters)}, ()),
        "unigram": pw.spec.Unigram((("<unk>", 0.0), ("<script>", -1.0)), unk_id=0),
    }
    found = explain(pw.Tokenizer(models[kind]), HOSTILE)
    html = found._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "\x1b" not in html + str(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["text"] == HOSTILE


@pytest.mark.parametrize("width", [80, 120])
def test_text_fits_the_width(width: int) -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece(PRINTED), pre_tokenizer=pw.spec.WhitespaceSplit())
    shown = as_text(explain(tok, "hugs bugs " + "hugsbugsbums" * 5).blocks(), width)
    assert max(map(len, shown.splitlines())) <= width


# ---- the other stages


def test_other_models_have_no_merges() -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    found = explain(tok, "hugs")
    [word] = found.words
    assert (word.symbols, word.merges, word.lattice) == ((), (), None)
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


def test_added_tokens_are_shown_as_tokens_of_their_own() -> None:
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


@POSIX
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
    pw.Tokenizer(HUG).save(tmp_path / "t.json")
    shown = shown_on_terminal(environment, "explain", str(tmp_path / "t.json"), "hugs")
    last = shown.rstrip().splitlines()[-1]
    assert ("\x1b[" in shown) == is_colored
    assert ("hug|s" in last) != is_colored
    [after_ug] = [line for line in shown.splitlines() if "u g -> ug" in line]
    assert ("h ug s" in after_ug) != is_colored


@POSIX
def test_every_merge_of_training_shows_its_words_in_colors() -> None:
    arguments = ("explain-training", "--example", "hugs", "--steps", "all")
    shown = shown_on_terminal({"TERM": "xterm-256color"}, *arguments)
    for symbols in (["h", "##u", "##g"], ["h", "##u", "##gs"], ["hu", "##g"], ["hugs"]):
        colors = ((30, 106), (30, 103), (30, 102))
        pairs = zip(symbols, colors, strict=False)
        styled = (f"\x1b[{text};{back}m{token}\x1b[0m" for token, (text, back) in pairs)
        assert " ".join(styled) in shown


def shown_on_terminal(environment: dict[str, str], *arguments: str) -> str:
    """Return what a command writes to a terminal."""
    import pty

    parent, child = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    command = [sys.executable, "-m", "piecework", *arguments]
    with subprocess.Popen(command, stdout=child, env=clean | environment) as process:
        os.close(child)
        shown = b""
        try:
            while more := os.read(parent, 1 << 16):
                shown += more
        except OSError:  # Linux: the end
            pass
    os.close(parent)
    assert process.returncode == 0
    return shown.decode()
