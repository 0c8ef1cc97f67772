"""Verifying ids: what counts as a difference, what is shown of it, and the libraries themselves."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.analysis import verify, verify_files
from piecework.analysis.peers import PEERS, Peer
from piecework.analysis.verify import shortened
from piecework.cli.verify import verify as verify_command
from tests.data import need
from tests.differential import peer

Run = Callable[..., tuple[int, str, str]]
Encode = Callable[[list[str]], list[list[int]]]

VOCAB = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "hug": 3, "##s": 4, "h": 5, "##ug": 6, "pug": 7}
TOKENIZER = pw.Tokenizer(
    pw.spec.WordPiece(VOCAB), pre_tokenizer=pw.spec.WhitespaceSplit()
).with_added_tokens(["[CLS]", "[SEP]"], special=True)


def peer_of(encode: Encode) -> Peer:
    return Peer("other", "1.0", lambda: None, lambda _, texts: encode(texts), rows=list)


def changed(change: Callable[[str, list[int]], list[int]]) -> Peer:
    """Return a library that changes the ids of some texts."""

    def encode(texts: list[str]) -> list[list[int]]:
        rows = TOKENIZER.encode_batch(texts, add_special_tokens=False).to_lists()
        return [change(text, row) for text, row in zip(texts, rows, strict=True)]

    return peer_of(encode)


def test_equal_ids_are_counted() -> None:
    [found] = verify(TOKENIZER, ["hug hugs", "pug", ""], [changed(lambda text, row: row)])
    assert (found.texts, found.ids, found.differing_texts, found.differences) == (3, 4, 0, ())
    assert found.is_equal
    assert str(found).strip() == "other 1.0: 3 texts, 4 ids: all ids are equal"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("special tokens", lambda row: [1, *row, 2]),
        ("unassigned ids", lambda row: [99 if id == 3 else id for id in row]),
        ("unknown tokens", lambda row: [0 if id == 3 else id for id in row]),
        ("split", lambda row: [new for id in row for new in ([5, 6] if id == 3 else [id])]),
        ("text", lambda row: [7 if id == 3 else id for id in row]),
    ],
)
def test_each_kind_of_difference_has_its_smallest_text(
    kind: str, change: Callable[[list[int]], list[int]]
) -> None:
    peer = changed(lambda text, row: change(row) if "hug" in text else row)
    texts = ["pug pug hugs pug pug", "pug", "pug hugs pug", "pug hugs hug pug pug"]
    [found] = verify(TOKENIZER, texts, [peer])
    assert (found.texts, found.differing_texts) == (4, 3)
    [one] = found.differences
    assert (one.kind, one.texts, one.text) == (kind, 3, "hug")
    ours, theirs = one.sides
    assert (ours.name, ours.ids, ours.tokens) == ("piecework", (3,), ("hug",))
    assert (theirs.name, theirs.ids) == ("other", tuple(change([3])))


def test_ids_in_another_order_differ() -> None:
    [found] = verify(TOKENIZER, ["hug pug"], [changed(lambda text, row: row[::-1])])
    assert [one.text for one in found.differences] == ["g pug"]


def test_kinds_are_counted_apart_and_the_most_frequent_is_first() -> None:
    def change(text: str, row: list[int]) -> list[int]:
        return [7] if text == "hug" else [*row, 2] if text == "pug" else row

    [found] = verify(TOKENIZER, ["hug", "pug", "pug", "hugs"], [changed(change)])
    assert [(one.kind, one.texts, one.text) for one in found.differences] == [
        ("special tokens", 2, "pug"),
        ("text", 1, "hug"),
    ]
    assert found.differing_texts == 3


def test_a_text_that_a_library_refuses_is_a_difference_and_the_others_are_compared() -> None:
    def encode(texts: list[str]) -> list[list[int]]:
        if any("pug" in text for text in texts):
            raise RuntimeError("no\npugs")
        return TOKENIZER.encode_batch(texts, add_special_tokens=False).to_lists()

    [found] = verify(TOKENIZER, ["hug", "hugs pug hug", "hugs", "hug"], [peer_of(encode)])
    [one] = found.differences
    assert (one.kind, one.texts, one.text) == ("error", 1, "pug")
    assert (one.sides[0].error, one.sides[1].error) == (None, "no pugs")
    assert "error: no pugs" in str(found)


def test_texts_that_both_reject_do_not_differ() -> None:
    model = pw.spec.WordPiece({"hug": 0, "[UNK]": 1})
    tokenizer = pw.Tokenizer(model).with_added_tokens(["<end>"], special=True)
    tokenizer = tokenizer.with_parse_special("refuse")
    [found] = verify(tokenizer, ["hug <end>"], [peer_of(lambda texts: [[1, 1]])])
    assert not found.is_equal  # the tokenizer takes the token as text here, as `bench` does

    def refuse(texts: list[str]) -> list[list[int]]:
        raise ValueError("refused")

    custom = TOKENIZER.with_normalizer(pw.spec.CustomNormalizer(_fail))
    [found] = verify(custom, ["hug"], [peer_of(refuse)])
    assert found.is_equal


def _fail(text: str) -> str:
    raise ValueError("refused")


def test_truncation_padding_and_dropout_are_left_out(tmp_path: Path) -> None:
    model = pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),), dropout=0.9)
    pw.Tokenizer(model).with_truncation(2).with_padding(9, pad_id=0).save(
        tmp_path / "tokenizer.json"
    )
    (tmp_path / "corpus.jsonl").write_text('{"text": "abababababab"}\n' * 20)
    for found in verify_files(
        tmp_path / "tokenizer.json",
        tmp_path / "corpus.jsonl",
        against=["tokenizers", "transformers"],
    ):
        assert found.is_equal
        assert (found.texts, found.ids) == (20, 120)


def test_shortening_ends_and_keeps_the_difference() -> None:
    assert shortened("x" * 1000 + "ab" + "x" * 1000, lambda text: "ab" in text) == "ab"
    assert shortened("abc" * 5, lambda text: text.count("a") >= 2) == "aa"
    calls = 0

    def needs_everything(text: str) -> bool:
        nonlocal calls
        calls += 1
        return False

    long = "x" * 1_000_000
    assert shortened(long, needs_everything) == long
    assert calls < 10


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"peers": []}, pw.errors.ArgumentError, "peers: must have at least one library"),
        ({"texts": []}, pw.errors.CorpusError, "corpus: has no texts"),
        ({"texts": "hug"}, pw.errors.InputTypeError, "texts"),
        ({"texts": ["hug", 1]}, pw.errors.InputTypeError, "texts"),
    ],
)
def test_bad_arguments_raise_typed_errors(
    arguments: dict[str, Any], error: type[pw.PieceworkError], message: str
) -> None:
    given = {"texts": ["hug"], "peers": [changed(lambda text, row: row)], **arguments}
    with pytest.raises(error, match=message):
        verify(TOKENIZER, **given)


# ---- published vocabularies


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    """Documents of all corpora, as JSON lines, with spaces and line breaks."""
    documents = [text.replace(". ", ".\n\n  ") for text in peer.sample_documents(40)]
    documents += [
        "  two  spaces ",
        "\ttab\n",
        "[CLS] [MASK] <|endoftext|> <s>",
        "e\u0301 ﬁ İ ẞ 👋🏽",
    ]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in documents))
    return str(path)


PUBLISHED = [
    ("vocab/bert-base-uncased/tokenizer.json", "tokenizers"),
    ("vocab/bert-base-chinese/tokenizer.json", "transformers"),
    ("vocab/gpt2/tokenizer.json.gz", "tokenizers"),
    ("vocab/xlm-roberta-base/tokenizer.json.gz", "transformers"),
    ("vocab/t5/spiece.model", "sentencepiece"),
    ("vocab/tiktoken/cl100k_base.tiktoken", "tiktoken"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "library"), PUBLISHED)
def test_published_vocabularies_have_the_ids_of_their_owners(
    name: str, library: str, corpus: str, tmp_path: Path, cli: Run
) -> None:
    path = need(name)
    if name.endswith(".gz"):
        (tmp_path / "tokenizer.json").write_bytes(gzip.decompress(path.read_bytes()))
        path = tmp_path / "tokenizer.json"
    options = ["--encoding-name", path.stem] if library == "tiktoken" else []
    code, out, err = cli("verify", str(path), corpus, "--against", library, "--json", *options)
    [found] = json.loads(out)["against"]
    assert (code, found["differences"], found["name"]) == (0, [], library), err
    assert found["texts"] > 50  # the fewest that packages carry are 87
    assert found["ids"] > 40 * found["texts"]


@pytest.mark.slow
def test_a_folder_is_compared_with_transformers_and_its_file_with_tokenizers(
    cli: Run, corpus: str, tmp_path: Path
) -> None:
    shutil.copy(need("vocab/bert-base-uncased/tokenizer.json"), tmp_path)
    config = {"tokenizer_class": "BertTokenizer", "model_max_length": 512}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    libraries = ("--against", "transformers", "--against", "tokenizers")
    code, out, _ = cli("verify", str(tmp_path), corpus, *libraries)
    assert code == 0
    assert out.count(": all ids are equal\n") == 2


# ---- the command line


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A tokenizer and a corpus, as files."""
    corpus = tmp_path / "words.txt"
    corpus.write_text("hug hugs pug pun bun\n" * 300)
    tokenizer = pw.Tokenizer.train(corpus, vocab_size=25)
    tokenizer.save(tmp_path / "tokenizer.json")
    return str(tmp_path / "tokenizer.json"), str(corpus)


def test_verify_prints_a_verdict(cli: Run, files: tuple[str, str]) -> None:
    code, out, err = cli("verify", *files, "--against", "tokenizers")
    assert (code, err) == (0, "")
    assert out.strip().endswith(": all ids are equal")
    assert "4 texts, " in out  # of about 2,000 characters


def test_a_difference_is_shown_and_is_exit_code_1(
    cli: Run, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lossy(*_: object) -> Peer:
        def encode(texts: list[str]) -> list[list[int]]:
            rows = pw.Tokenizer.load(files[0]).encode_batch(texts).to_lists()
            return [row[:-1] for row in rows]

        return Peer("tiktoken", "0", lambda: None, lambda _, texts: encode(texts), list, True)

    monkeypatch.setitem(PEERS, "tiktoken", lossy)
    code, out, _ = cli("verify", *files, "--against", "tokenizers", "--against", "tiktoken")
    assert code == 1
    assert "all ids are equal" in out
    assert "special tokens: 4 texts" in out
    code, out, _ = cli("verify", *files, "--against", "tiktoken", "--json")
    assert (code, json.loads(out)["against"][0]["is_equal"]) == (1, False)


def test_a_fingerprint_is_recorded_and_checked(
    cli: Run, files: tuple[str, str], tmp_path: Path
) -> None:
    tokenizer, _ = files
    fingerprint = pw.Tokenizer.load(tokenizer).fingerprint
    code, line, _ = cli("verify", tokenizer)
    assert (code, line) == (0, f"{fingerprint}  {tokenizer}\n")
    lock = tmp_path / "tokenizer.lock"
    lock.write_text(f"# names\n{'0' * 64}  other.json\n{line}")
    for given in (fingerprint, fingerprint.upper(), str(lock)):
        assert cli("verify", tokenizer, "--fingerprint", given)[0] == 0
    changed = pw.Tokenizer.load(tokenizer).with_added_tokens(["bun!"])
    changed.save(tokenizer)
    code, out, _ = cli("verify", tokenizer, "--fingerprint", str(lock))
    assert code == 1
    assert out == (
        f"{changed.fingerprint}  {tokenizer}\n{fingerprint}  recorded: the fingerprints differ\n"
    )
    code, out, _ = cli("verify", tokenizer, "--fingerprint", fingerprint, "--json")
    assert (code, json.loads(out)) == (
        1,
        {"fingerprint": changed.fingerprint, "recorded": fingerprint, "against": []},
    )


def test_ids_and_a_fingerprint_are_checked_in_one_run(cli: Run, files: tuple[str, str]) -> None:
    options = ("--against", "tokenizers", "--fingerprint", "0" * 64)
    code, out, _ = cli("verify", *files, *options)
    assert code == 1
    assert "the fingerprints differ\n" in out
    assert "all ids are equal\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{corpus}",), "CORPUS needs --against: one of tokenizers, transformers, sentencepiece, "),
        (("--against", "tokenizers"), "--against needs CORPUS"),
        (("{corpus}", "--against", "other"), "'other' is not one of 'tokenizers'"),
        (("--fingerprint", "abc"), "--fingerprint: 'abc' is neither a file nor a fingerprint; give 64"),
        (("--fingerprint", "{corpus}"), "has no fingerprint of {tokenizer}; `piecework verify"),
        (("missing.txt", "--against", "tokenizers"), "missing.txt: cannot be read"),
        (("{corpus}", "--against", "sentencepiece"), "{tokenizer}: cannot be read by sentencepiece"),
    ],
)  # fmt: skip
def test_wrong_use_ends_in_one_line(
    cli: Run, files: tuple[str, str], arguments: tuple[str, ...], message: str
) -> None:
    named = dict(zip(("tokenizer", "corpus"), files, strict=True))
    code, out, err = cli("verify", files[0], *(one.format(**named) for one in arguments))
    assert (code, out) == (2, "")
    assert message.format(**named) in err
    assert err.count("\n") == 1


def test_verify_reads_stdin_and_fields(cli: Run, files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "hug pug"}\n{"body": "bun"}\n')
    code, out, _ = cli(
        "verify", files[0], str(tmp_path / "a.jsonl"), "--field", "body", "--against", "tokenizers"
    )
    assert (code, "2 texts, " in out) == (0, True)


def test_the_libraries_of_the_command_equal_those_of_the_package() -> None:
    [against] = [one for one in verify_command.params if one.name == "against"]
    assert list(against.type.choices) == list(PEERS)
