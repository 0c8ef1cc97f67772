"""Ranks, tekken files, vocabularies with merges: how they are told apart, what bad ones get, conversions."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import random
from pathlib import Path

import pytest

import piecework as pw
from piecework.cli.app import run
from piecework.errors import ArgumentError, FileError, FormatError, VocabularyError

LONGER = (b"in", b"ing", b" t", b"he", b" the")
SPECIAL = {"<|end|>": 261}
PATTERN = r"\s?\w+|\s+|[^\s\w]+"


def rank_lines(longer: tuple[bytes, ...] = LONGER) -> list[str]:
    tokens = [*(bytes([byte]) for byte in range(256)), *longer]
    return [f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate(tokens)]


def rank_file(folder: Path, lines: list[str] | None = None) -> Path:
    path = folder / "ranks.tiktoken"
    path.write_text("\n".join(rank_lines() if lines is None else lines) + "\n")
    return path


def load_ranks(path: Path) -> pw.Tokenizer:
    return pw.Tokenizer.load(path, pattern=PATTERN, special_tokens=SPECIAL)


@pytest.fixture
def ranks(tmp_path: Path) -> pw.Tokenizer:
    return load_ranks(rank_file(tmp_path))


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Write vocab.json and merges.txt of GPT-2's kind, with a special token."""
    tok = load_ranks(rank_file(tmp_path))
    folder = tmp_path / "pair"
    folder.mkdir()
    tok.save(folder / "vocab.json", merges=folder / "merges.txt")
    return folder


# ---- ranks


def test_ranks_encode_and_decode(ranks: pw.Tokenizer) -> None:
    assert ranks.encode("the thing").tokens == ["t", "he", "Ġt", "h", "ing"]
    assert ranks.decode(ranks.encode("the thing, é").ids) == "the thing, é"


def test_bytes_that_are_not_text_are_replaced_row_by_row(ranks: pw.Tokenizer) -> None:
    text = "é日本𝄞" * 50
    raw, ids = text.encode(), ranks.encode(text).ids
    assert len(ids) == len(raw)
    rows = [(at % 20, at) for at in range(len(raw))]
    expected = [raw[start:end].decode(errors="replace") for start, end in rows]
    assert ranks.decode_batch([ids[start:end] for start, end in rows]) == expected
    assert [ranks.decode(ids[start:end]) for start, end in rows] == expected


SCRIPTS = ("plain ", "é ü", "да ", "नमस्ते ", "日本語", "한국", "😀𝄞 ", "’", "a\0é日😀", "\ufeffа")


def test_strings_of_every_script_and_length_are_made(ranks: pw.Tokenizer, level: str) -> None:
    texts = [(script * 150)[:length] for script in SCRIPTS for length in range(150)]
    texts += [f"{'x' * length}{script * 9}" for script in SCRIPTS for length in range(150)]
    rows = [bytearray(text.encode()) for text in texts if text]
    rng = random.Random(level)
    wrong = [bytearray(row) for row in rows]
    for row in wrong:
        row[rng.randrange(len(row))] = rng.randrange(256)
    for kind in (rows, wrong):
        expected = [row.decode(errors="replace") for row in kind]
        assert ranks.decode_batch([list(row) for row in kind]) == expected


def test_offsets_count_what_is_dropped_before_the_byte_level() -> None:
    stages = (pw.spec.WhitespaceSplit(), pw.spec.ByteLevel(add_prefix_space=False))
    alphabet = {"a": 0, "b": 1, "Ã": 2, "©": 3}
    tok = pw.Tokenizer(
        pw.spec.BPE(alphabet, ()), pre_tokenizer=pw.spec.SequencePreTokenizer(stages)
    )
    assert tok.encode("\u3000a  bé ").offsets == [(1, 2), (4, 5), (5, 6), (5, 6)]


def test_offsets_count_characters_of_the_text(ranks: pw.Tokenizer) -> None:
    assert ranks.encode("é the").offsets == [(0, 1), (0, 1), (1, 5)]


def test_ranks_alone_are_refused_with_what_to_give(tmp_path: Path) -> None:
    path = rank_file(tmp_path)
    with pytest.raises(
        ArgumentError, match="pass an encoding_name such as 'cl100k_base', or a pattern such"
    ):
        pw.Tokenizer.load(path)
    path = path.rename(tmp_path / "cl100k_base.tiktoken")
    with pytest.raises(ArgumentError, match="has tiktoken ranks without a pattern; pass "):
        pw.Tokenizer.load(path)


def test_ranks_under_a_published_name_must_be_the_published_ones(tmp_path: Path) -> None:
    with pytest.raises(
        FormatError,
        match=(
            r"ranks\.tiktoken is not the published cl100k_base\.tiktoken: its SHA-256 "
            r"is"
        ),
    ):
        pw.Tokenizer.load(rank_file(tmp_path), encoding_name="cl100k_base")
    with pytest.raises(ArgumentError, match="encoding_name: must be one of gpt2.*, not 'gpt9'"):
        pw.Tokenizer.load(rank_file(tmp_path), encoding_name="gpt9")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [*lines, "aW5n"], r"line 262: found \"aW5n\", expected a token in base64"),
        (lambda lines: [*lines, "aW5nz 9999"], r"line 262: found \"aW5nz 9999\""),
        (lambda lines: [*lines, "zzzz x"], r"line 262: found \"zzzz x\""),
        (
            lambda lines: [*lines, "aW4= 400"],
            r"line 262: found the token \"in\", which line 257 has",
        ),
        (lambda lines: [*lines, "YWI= 256"], r"line 262: found rank 256, which line 257 has too"),
        (lambda lines: [*lines[:65], *lines[66:]], "no token for the byte 0x41"),
        (lambda lines: [*lines, "YWI= 4294967296"], r"line 262: found \"YWI= 4294967296\""),
        (lambda lines: [*lines, "YWI= 99999999"], "id 99999999"),
    ],
)
def test_bad_ranks_are_refused_with_their_line(
    tmp_path: Path, change: object, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        load_ranks(rank_file(tmp_path, change(rank_lines())))


@pytest.mark.parametrize("pattern", ["", r"\w*", r"x?", r"(?:a|)"])
def test_patterns_that_match_nothing_are_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(
        ArgumentError, match="pattern: must be .*, not .* which matches the empty text"
    ):
        pw.Tokenizer.load(rank_file(tmp_path), pattern=pattern)


def test_gaps_in_ranks_stay_gaps(tmp_path: Path) -> None:
    tok = load_ranks(rank_file(tmp_path, [*rank_lines(), "", "cHE= 290", ""]))
    assert tok.token_to_id("pq") == 290
    assert tok.id_to_token(280) is None
    tok.save(tmp_path / "again.tiktoken")
    assert load_ranks(tmp_path / "again.tiktoken") == tok


def test_hostile_ranks_are_read(tmp_path: Path) -> None:
    runs = tuple(b"a" * length for length in range(2, 1024))
    tok = pw.Tokenizer.load(rank_file(tmp_path, rank_lines(runs)), pattern=PATTERN)
    assert tok.count("a" * 1_000_000) > 0
    with pytest.raises(VocabularyError, match="line 257: found a token of 1025 bytes"):
        load_ranks(rank_file(tmp_path, rank_lines((b"a" * 1025,))))


# ---- special tokens in text


def test_special_tokens_in_text_are_rejected_by_default(ranks: pw.Tokenizer) -> None:
    with pytest.raises(
        pw.errors.SpecialTokenError, match=r"the text contains the special token '<\|end\|>'"
    ):
        ranks.encode("the <|end|>")
    with pytest.raises(pw.errors.SpecialTokenError):
        ranks.encode_batch([["the", "<|end|>"]], is_pretokenized=True)
    assert ranks.encode("<|end|>", parse_special=True).ids == [261]
    assert ranks.with_parse_special(True).encode("<|end|>").ids == [261]
    assert 261 not in ranks.with_parse_special(False).encode("<|end|>").ids


def test_parse_special_is_part_of_the_value(ranks: pw.Tokenizer) -> None:
    parsing = ranks.with_parse_special(True)
    assert ranks != parsing
    assert ranks.spec.parse_special == ranks.parse_special == "refuse"
    assert pickle.loads(pickle.dumps(ranks)) == ranks
    assert pw.Tokenizer.from_spec(ranks.spec) == ranks
    assert hash(pw.Tokenizer.from_spec(ranks.spec)) == hash(ranks)
    assert pw.Tokenizer.from_str(ranks.to_str()) == parsing
    for value in ("maybe", None, 1, {"<|end|>"}):
        with pytest.raises(ArgumentError, match="parse_special"):
            ranks.with_parse_special(value)


def test_a_call_refuses_special_tokens(ranks: pw.Tokenizer) -> None:
    parsing = ranks.with_parse_special(True)
    for encode in (
        parsing.encode,
        parsing.count,
        lambda text, **_: parsing.encode_batch([text], **_),
    ):
        encode("the", parse_special="refuse")
        with pytest.raises(pw.errors.SpecialTokenError):
            encode("the <|end|>", parse_special="refuse")
        with pytest.raises(pw.errors.InputTypeError, match="parse_special"):
            encode("the", parse_special="<|end|>")


# ---- a vocabulary with its merges


def test_directory_and_file_with_merges_are_the_same(pair: Path) -> None:
    tok = pw.Tokenizer.load(pair)
    assert tok == pw.Tokenizer.load(pair / "vocab.json", merges=pair / "merges.txt")
    assert tok.encode("thing<|end|>").tokens == ["t", "h", "ing", "<|end|>"]
    (pair / "vocab.json").rename(pair / "encoder.json")
    (pair / "merges.txt").rename(pair / "vocab.bpe")
    assert pw.Tokenizer.load(pair) == tok


def test_vocabulary_takes_a_pattern_and_special_tokens(pair: Path) -> None:
    tok = pw.Tokenizer.load(pair, pattern="qwen3", special_tokens=["in"])
    assert tok.spec.pre_tokenizer == pw.spec.named_pre_tokenizer("qwen3")
    assert [token.content for token in tok.added_tokens] == ["in"]
    with pytest.raises(ArgumentError, match='special_tokens: must be .*, not "zebra"'):
        pw.Tokenizer.load(pair, special_tokens=["zebra"])


def test_half_of_the_pair_is_refused_with_what_is_missing(pair: Path) -> None:
    with pytest.raises(
        ArgumentError,
        match=(
            r"merges: must be the path of the merges file of .*vocab\.json, "
            r"which is a vocabulary of merges"
        ),
    ):
        pw.Tokenizer.load(pair / "vocab.json")
    with pytest.raises(
        FormatError,
        match=r"merges\.txt: is a merges file; load its vocabulary, and pass this file as merges",
    ):
        pw.Tokenizer.load(pair / "merges.txt")
    (pair / "merges.txt").unlink()
    with pytest.raises(FileError, match=r"vocab\.json with merges\.txt"):
        pw.Tokenizer.load(pair)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("in z", r"merges\.txt: line 7: found \"inz\", which is not in the vocabulary"),
        ("zz in", r"merges\.txt: line 7: found \"zz\", which is not in the vocabulary"),
        ("i n", r"merges\.txt: line 7: found the merge of line 2 again"),
        ("i", r"merges\.txt: line 7: found \"i\", expected two entries with one space"),
    ],
)
def test_bad_merges_are_refused_with_their_line(pair: Path, extra: str, message: str) -> None:
    with (pair / "merges.txt").open("a") as stream:
        stream.write(extra)
    with pytest.raises(FormatError, match=message):
        pw.Tokenizer.load(pair)


def test_bad_vocabularies_are_refused(pair: Path) -> None:
    vocab = json.loads((pair / "vocab.json").read_text(encoding="utf-8"))

    def refused(change: dict[str, object], message: str) -> None:
        (pair / "vocab.json").write_text(json.dumps(change), encoding="utf-8")
        with pytest.raises(FormatError, match=message):
            pw.Tokenizer.load(pair)

    refused({**vocab, "x y": 256}, "id 256 twice")
    refused({**vocab, "x y": -1}, r"vocab\.json: document\[\"x y\"\]: found -1")
    refused(
        {token: id for token, id in vocab.items() if token != "A"}, "no token for the byte 0x41"
    )


# ---- other files, and hints that are of no use


def test_gzip_is_unpacked_and_damaged_gzip_refused(tmp_path: Path, ranks: pw.Tokenizer) -> None:
    packed = gzip.compress(ranks.to_str().encode())
    (tmp_path / "a.gz").write_bytes(packed)
    assert pw.Tokenizer.load(tmp_path / "a.gz") == ranks.with_parse_special(True)
    (tmp_path / "a.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match="damaged gzip data"):
        pw.Tokenizer.load(tmp_path / "a.gz")


def test_hints_that_a_format_does_not_take_are_refused(tmp_path: Path, ranks: pw.Tokenizer) -> None:
    ranks.save(tmp_path / "tokenizer.json")
    with pytest.raises(
        ArgumentError,
        match=("pattern: 'gpt2' does not apply to a tokenizer.json, which contains this setting"),
    ):
        pw.Tokenizer.load(tmp_path / "tokenizer.json", pattern="gpt2")
    with pytest.raises(ArgumentError, match="lowercase: True does not apply to tiktoken ranks"):
        pw.Tokenizer.load(tmp_path / "ranks.tiktoken", pattern="gpt2", lowercase=True)


def tekken(**config: object) -> dict[str, object]:
    sizes = {"default_vocab_size": 286, "default_num_special_tokens": 25, "version": "v3"}
    tokens = [line.split()[0] for line in [*rank_lines(), "enp6 261"]]
    return {
        "config": {"pattern": PATTERN, **sizes, **config},
        "vocab": [
            {"rank": rank, "token_bytes": token, "token_str": None}
            for rank, token in enumerate(tokens)
        ],
    }


def test_tekken_is_cut_and_numbered(tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_text(json.dumps(tekken()))
    tok = pw.Tokenizer.load(tmp_path / "tekken.json")
    assert tok.get_vocab_size() == 286
    assert tok.encode("thing").ids == [25 + ord("t"), 25 + ord("h"), 25 + 257]
    assert tok.token_to_id("[INST]") == 3
    assert tok.token_to_id("<SPECIAL_24>") == 24
    assert tok.token_to_id("zzz") is None
    assert tok.spec.parse_special is False


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (tekken(version="v11"), r"config\.version: found \"v11\""),
        (tekken(default_vocab_size=9999), "vocab: found 262 tokens"),
        (tekken(pattern=r"\w*"), "matches the empty text"),
        (tekken() | {"zebra": 1}, "zebra: found an unknown field"),
        (
            tekken() | {"special_tokens": [{"rank": 0}]},
            r"special_tokens\[0\]\.token_str: found nothing",
        ),
    ],
)
def test_bad_tekken_files_are_refused(tmp_path: Path, document: object, message: str) -> None:
    (tmp_path / "tekken.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        pw.Tokenizer.load(tmp_path / "tekken.json")


# ---- conversions


def convert(*arguments: object) -> int:
    return run(["convert", *map(str, arguments)])


def test_convert_round_trips_through_all_formats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = rank_file(tmp_path)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the thing\n<|end|> in there\nnaïve 漢字\n", encoding="utf-8")
    first, pair_dir = tmp_path / "tokenizer.json", f"{tmp_path / 'pair'}/"
    assert convert(source, first, "--pattern", "gpt2", "--verify", corpus) == 0
    assert "3 lines" in capsys.readouterr().err
    assert convert(first, pair_dir, "--verify", corpus) == 0
    assert convert(pair_dir, tmp_path / "again.tiktoken", "--verify", corpus) == 0
    assert (tmp_path / "again.tiktoken").read_bytes() == source.read_bytes()


def test_convert_refuses_what_the_format_would_lose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bert = pw.Tokenizer.train_from_iterator(["a hug"], vocab_size=30)
    bert.save(tmp_path / "bert.json")
    assert convert(tmp_path / "bert.json", tmp_path / "x.tiktoken") == 2
    assert (
        "x.tiktoken: tiktoken ranks store byte-level BPE only; write .json"
        in capsys.readouterr().err
    )
    tok = load_ranks(rank_file(tmp_path))
    spec = tok.spec
    object.__setattr__(spec, "normalizer", pw.spec.NFC())
    pw.Tokenizer.from_spec(spec).save(tmp_path / "nfc.json")
    assert convert(tmp_path / "nfc.json", tmp_path / "x.tiktoken") == 2
    assert "cannot store the normalizer" in capsys.readouterr().err
    assert not (tmp_path / "x.tiktoken").exists()
    assert convert(tmp_path / "nfc.json", tmp_path / "x.tiktoken", "--force") == 0


def test_verify_shows_the_first_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = load_ranks(rank_file(tmp_path)).spec
    object.__setattr__(spec, "normalizer", pw.spec.Lowercase())
    pw.Tokenizer.from_spec(spec).save(tmp_path / "lower.json")
    (tmp_path / "c.txt").write_text("the\nTHE thing\n")
    arguments = (tmp_path / "lower.json", tmp_path / "x.tiktoken", "--force")
    assert convert(*arguments, "--verify", tmp_path / "c.txt") == 1
    shown = capsys.readouterr().err
    assert "c.txt line 2: token 0 differs" in shown
    assert not (tmp_path / "x.tiktoken").exists()


def test_merges_that_ranks_cannot_express_are_not_written_as_ranks(tmp_path: Path) -> None:
    vocab = {pw_char: id for id, pw_char in enumerate("abc")} | {"bc": 3, "ab": 4, "abc": 5}
    tok = pw.Tokenizer(pw.spec.BPE(vocab, [("a", "b"), ("b", "c"), ("ab", "c")]))
    with pytest.raises(VocabularyError, match="no token for the byte 0x00"):
        tok.save(tmp_path / "x.tiktoken")


def test_drawn_ids_of_ranks_are_spelled_by_bytes_too(ranks: pw.Tokenizer) -> None:
    texts = ["the thing é", "in the thinning"] * 20
    drawn = ranks.encode_batch(texts, sampling=pw.Sampling(dropout=0.5, seed=1))
    assert ranks.decode_batch(drawn) == texts
    assert len({tuple(ids) for ids in drawn.to_lists()}) > 2
