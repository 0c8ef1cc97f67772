"""Wrong files of lines and ranks: each is refused by its line, or warned of and read as by its owner."""

from __future__ import annotations

import base64
import gzip
import json
import re
import warnings
from pathlib import Path

import pytest
import tokenizers

import piecework as pw
from piecework.errors import FormatError, FormatWarning, PieceworkError, VocabularyError
from tests import data

LINES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "hug", "##s"]


def written(folder: Path, content: bytes | str, name: str = "vocab.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# ---- vocab.txt

TEXT = "\n".join([*LINES, ""])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbf" + TEXT.encode(), "line 1: found the byte order mark of UTF-8"),
        (TEXT.encode("utf-16"), "byte 0: found the byte order mark of UTF-16"),
        (TEXT.encode("utf-32"), "byte 0: found the byte order mark of UTF-32"),
        (TEXT + "a\0b\n", "line 7: found NUL at byte 1"),
        (TEXT + "a\rb\n", "line 7: found a carriage return at byte 1"),
        (TEXT + "hug\n", 'line 7: found "hug", which line 5 has too'),
        (TEXT + "hug \n", 'line 7: found "hug", which line 5 has too'),
        (TEXT + "\na\n\n", "line 9: found a blank line, as line 7 is"),
        (TEXT + "x" * ((1 << 20) + 1), "line 7: found a token of 1048577 bytes"),
        (TEXT.encode() + b"\xff\n", "byte 32: found bytes that are not UTF-8"),
    ],
    ids=["bom", "utf-16", "utf-32", "nul", "cr", "twice", "space", "blank", "long", "latin-1"],
)
def test_a_vocabulary_of_lines_names_the_line_at_fault(
    content: bytes | str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=rf"vocab\.txt: {re.escape(message)}") as caught:
        pw.Tokenizer.load(written(tmp_path, content))
    assert caught.value.expected
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("blank", "line"), [(0, 1), (5, 6), (6, 7)], ids=["first", "middle", "last"]
)
@pytest.mark.parametrize("text", ["", " ", " \t"])
def test_a_blank_line_is_warned_of_and_keeps_its_id(
    blank: int, line: int, text: str, tmp_path: Path
) -> None:
    lines = [*LINES[:blank], text, *LINES[blank:], ""]
    path = written(tmp_path, "\n".join(lines))
    with pytest.warns(
        FormatWarning, match=rf"vocab\.txt: line {line}: found a blank line"
    ) as caught:
        tok = pw.Tokenizer.load(path)
    assert caught[0].filename == __file__
    theirs = tokenizers.models.WordPiece.from_file(str(path))
    assert tok.encode("hugs").ids[1] == theirs.tokenize("hugs")[0].id
    assert tok.get_vocab()["hug"] == lines.index("hug")


def test_a_line_of_other_whitespace_is_not_a_mistake(tmp_path: Path) -> None:
    """Line 344 of bert-base-chinese is a line separator, U+2028."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok = pw.Tokenizer.load(written(tmp_path, TEXT + "\u2028\nb\n"))
    assert tok.get_vocab()["b"] == 7


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    plain = pw.Tokenizer.load(written(tmp_path, TEXT)).get_vocab()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pw.Tokenizer.load(written(tmp_path, TEXT.replace("\n", "\r\n"))).get_vocab() == plain


# ---- ranks


def ranks(longer: list[bytes]) -> list[str]:
    tokens = [bytes([byte]) for byte in range(256)] + longer
    return [f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate(tokens)]


RANKS = ranks([b"in", b"ing"])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*RANKS, " 258"], 'line 259: found "258"'),
        ([*RANKS, "== 258"], 'line 259: found "== 258"'),
        ([*RANKS, "= 258", "= 259"], "line 259: found an empty token with rank 258"),
        ([*RANKS, "= 258", "aW5u 259"], "line 259: found an empty token with rank 258"),
        ([*RANKS, "aW4= 258"], 'line 259: found the token "in", which line 257 has too'),
        ([*RANKS, "aW5u 257"], "line 259: found rank 257, which line 258 has too"),
        ([*RANKS, "aW5u"], 'line 259: found "aW5u"'),
        ([*RANKS, "aW5u 258 x"], 'line 259: found "aW5u 258 x"'),
        ([*RANKS, "aW5u 4294967296"], 'line 259: found "aW5u 4294967296"'),
        ([*RANKS, "garbage at the end"], 'line 259: found "garbage at the end"'),
        (RANKS[:65] + RANKS[66:], "tokens: found no token for the byte 0x41"),
    ],
)
def test_ranks_name_the_line_at_fault(lines: list[str], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(lines), "a.tiktoken")
    with pytest.raises(FormatError, match=re.escape(f"a.tiktoken: {message}")):
        pw.Tokenizer.load(path, pattern="gpt2")


def test_a_gap_between_ranks_is_warned_of_unless_a_special_token_fills_it(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join([*RANKS, "aW5u 259", "aW5ubg== 263"]), "a.tiktoken")
    with pytest.warns(FormatWarning, match="ranks: found no token with rank 258, expected ranks"):
        pw.Tokenizer.load(path, pattern="gpt2")
    special = {"<|end|>": 258}
    with pytest.warns(FormatWarning, match="ranks: found no tokens with the ranks 260 to 262"):
        tok = pw.Tokenizer.load(path, pattern="gpt2", special_tokens=special)
    assert tok.encode("inn").ids == [259]
    special |= {f"<|{id}|>": id for id in range(260, 263)} | {"<|last|>": 300}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pw.Tokenizer.load(path, pattern="gpt2", special_tokens=special)


def test_an_empty_token_among_ranks_is_read_as_openai_writes_it(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join([*RANKS, "= 258"]), "a.tiktoken")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok = pw.Tokenizer.load(path, pattern="gpt2")
    assert tok.get_vocab()[""] == 258


# ---- vocabularies with merges

ENTRIES = {"a": 0, "b": 1, "ab": 2, "": 3}


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ("a b\na b\n", "line 2: found the merge of line 1 again"),
        ("a b\n b\n", 'line 2: found " b", expected two entries'),
        ("a b\na \n", 'line 2: found "a ", expected two entries'),
        ("a b\na  b\n", 'line 2: found "a  b", expected two entries'),
        ("a b\na\n", 'line 2: found "a", expected two entries'),
        ("a b\nb a\n", 'line 2: found "ba", which is not in the vocabulary'),
        ("\ufeff", None),
    ],
)
def test_merges_name_the_line_at_fault(merges: str, message: str | None, tmp_path: Path) -> None:
    vocab = written(tmp_path, json.dumps(ENTRIES), "vocab.json")
    path = written(tmp_path, merges, "merges.txt")
    if message is None:
        pw.Tokenizer.load(vocab, merges=path, pattern="gpt2")
        return
    with pytest.raises(FormatError, match=re.escape(f"merges.txt: {message}")):
        pw.Tokenizer.load(vocab, merges=path, pattern="gpt2")


def test_a_vocabulary_for_merges_names_the_entry_at_fault(tmp_path: Path) -> None:
    path = written(tmp_path, "a b\n", "merges.txt")
    for text, message in [
        ('{"a": 0, "b": 1, "ab": 2, "a": 3}', 'document["a"]: found this entry again'),
        ('{"a": 0, "b": 1, "ab": -2}', 'document["ab"]: found -2'),
        ('{"a": 0, "b": 1, "ab": 2.5}', 'document["ab"]: found 2.5'),
        ('{"a": 0, "b": 1, "ab": "2"}', 'document["ab"]: found "2"'),
        ('{"a": 0, "b": 1, "ab": 1}', "vocab.json: model.vocab: found id 1 twice"),
    ]:
        vocab = written(tmp_path, text, "vocab.json")
        with pytest.raises(FormatError, match=re.escape(message)):
            pw.Tokenizer.load(vocab, merges=path, pattern="gpt2")


def test_other_encodings_of_json_are_named(tmp_path: Path) -> None:
    document = json.dumps({"model": {"type": "WordLevel", "vocab": {"u": 0}, "unk_token": "u"}})
    path = written(tmp_path, document.encode("utf-8-sig"), "tokenizer.json")
    assert pw.Tokenizer.load(path).get_vocab() == {"u": 0}
    path = written(tmp_path, document.encode("utf-16"), "tokenizer.json")
    with pytest.raises(PieceworkError, match="found UTF-16 text, expected UTF-8"):
        pw.Tokenizer.load(path)


# ---- what is packed


@pytest.mark.parametrize("at", [20, 60, -12, -6, -2])
def test_damaged_gzip_is_refused(at: int, tmp_path: Path) -> None:
    packed = bytearray(
        gzip.compress("\n".join([*LINES, *(f"word{n}" for n in range(99))]).encode())
    )
    packed[at] ^= 0xFF
    with pytest.raises(
        FormatError,
        match=r"vocab\.txt\.gz: has damaged gzip data: ",
    ):
        pw.Tokenizer.load(written(tmp_path, bytes(packed), "vocab.txt.gz"))
    with pytest.raises(
        FormatError,
        match=r"vocab\.txt\.gz: has damaged gzip data: ",
    ):
        pw.Tokenizer.load(written(tmp_path, bytes(packed[:at]), "vocab.txt.gz"))


def test_a_small_file_that_unpacks_to_a_very_large_one_is_refused(tmp_path: Path) -> None:
    block = gzip.compress(b"x" * (1 << 24))
    path = written(tmp_path, block * 33, "vocab.txt.gz")
    with pytest.raises(FormatError, match="over 512 MiB when decompressed"):
        pw.Tokenizer.load(path)


# ---- other lists


def test_merges_of_clip_that_make_an_entry_twice_are_named(tmp_path: Path) -> None:
    names = [f"{n:x}" for n in range(0x1000, 0x1000 + 48_900)]
    lines = ['"bpe_simple_vocab_16e6.txt#version: 0.2', *(f"{name} x" for name in names)]
    lines[100] = lines[7]
    path = written(tmp_path, "\n".join(lines), "bpe_simple_vocab_16e6.txt")
    with pytest.raises(VocabularyError, match=r"line 101: found a merge to .*that of line 8 makes"):
        pw.Tokenizer.load(path)


# ---- what is published


@pytest.mark.slow
@pytest.mark.skipif(data.data_dir() is None, reason="published vocabularies are not here")
def test_published_files_are_read_without_a_warning() -> None:
    shared = data.data_dir()
    assert shared is not None
    folder = shared / "vocab"
    paths = [
        *folder.glob("*/*.model"),
        *folder.glob("*/tokenizer.json*"),
        *folder.glob("bert-*/vocab.txt"),
        *folder.glob("mistral/tekken*"),
        *folder.glob("clip/bpe_simple*"),
    ]
    assert paths
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "(?s).*stored in the file and applied to every text")
        for path in paths:
            pw.Tokenizer.load(path)
        for name in ("cl100k_base", "o200k_base", "p50k_base", "r50k_base"):
            path = folder / "tiktoken" / f"{name}.tiktoken"
            pw.Tokenizer.load(path, encoding_name=name)
