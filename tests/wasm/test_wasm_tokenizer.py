"""Files of every format, descriptions, explanations and errors in the module, compared with the package."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from tools import playground_page

import piecework as pw
from piecework.cli.playground.served_tokenizer import TEMPLATE, UNKNOWN, ServedTokenizer
from piecework.errors import PieceworkError
from tests.playground.tokenizers import HOSTILE, all_kinds, hostile
from tests.wasm.module import answers, of_tokenizer, request
from tests.wasm.test_wasm_training import assert_same

TEXT = "Hugs, unhappy hug\n日本 café 👩‍🚀 hugs\tx\x00y " + "a" * 150
EXPLAINED = ["hugs unhappy", " hug hugs", "日本 café 👩‍🚀", "[CLS] hug[SEP]", "", "hugz" * 30]


def kinds() -> dict[str, pw.Tokenizer]:
    """Return tokenizers of all kinds, small ones and learned ones."""
    texts = ["low lower newest newest widest hug hugs pug 日本"] * 3
    learned = {
        model: pw.Tokenizer.train_from_iterator(texts, model=model, vocab_size=size, progress=False)
        for model, size in (("wordpiece", 60), ("bpe", 40), ("byte-bpe", 290), ("unigram", 40))
    }
    symbols = [("<unk>", 0.0, "unknown"), ("▁hug", -2.0, "normal"), ("s", -3.0, "normal")]
    symbols += [("<x>", 0.0, "user_defined"), ("▁", -4.0, "normal"), ("hu", -2.5, "normal")]
    symbols += [(c, -5.0 - at, "normal") for at, c in enumerate("hugap")] + [
        ("<s>", 0.0, "control")
    ]
    pieces = tuple(pw.spec.ScoredPiece(*symbol) for symbol in symbols)
    for kind in ("unigram", "bpe", "word", "char"):
        model = pw.spec.SentencePiece(pieces, kind)
        learned[f"sentencepiece {kind}"] = pw.Tokenizer(
            model,
            normalizer=pw.spec.SentencePieceNormalizer(),
            decoder=pw.spec.SentencePieceDecoder(),
        )
    return {**all_kinds(), **learned, "hostile": hostile()}


def test_descriptions_tokens_and_explanations_equal_those_of_the_playground() -> None:
    tokenizers = kinds()
    texts = [TEXT, "", *HOSTILE]
    calls = [("describe",), *(("encode", text, True) for text in texts)]
    calls += [("explain", text) for text in EXPLAINED]
    found = answers([of_tokenizer(one, *calls) for one in tokenizers.values()])
    for (name, tokenizer), answer in zip(tokenizers.items(), found, strict=True):
        assert "error" not in answer, (name, answer)
        served = ServedTokenizer(name, tokenizer)
        description, *rest = answer
        expected = served.describe()
        del expected["name"]
        assert description == expected
        for text, tokens in zip(texts, rest, strict=False):
            assert tokens == tokens_of(served, text), (name, text)
        for text, explanation in zip(EXPLAINED, rest[len(texts) :], strict=True):
            words = json.loads(json.dumps(served.explain(text)["words"]))
            assert_same(words, explanation["words"])


def tokens_of(served: ServedTokenizer, text: str) -> dict[str, Any]:
    """Return the tokens of the package in the form of the module."""
    encoding = served.tokenizer.encode(text)
    columns = served.columns(text, add_special_tokens=True)
    ids = columns.ids.tolist()
    spans = encoding.utf16_offsets
    flags = [
        (id == served.unknown_id) * UNKNOWN + bool(template) * TEMPLATE
        for id, template in zip(ids, columns.special_tokens_mask, strict=True)
    ]
    return {
        "ids": ids,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "flags": flags,
        "tokens": {str(id): list(served.readable(id)) for id in set(ids)},
        "distinct": len(set(ids)),
        "unknown": sum(id == served.unknown_id for id in ids),
    }


def test_segmentations_equal_those_of_the_package() -> None:
    unigram, bpe = kinds()["unigram"], kinds()["byte-bpe"]
    best, sampled = answers(
        [
            of_tokenizer(unigram, ("segmentations", "hugs hug", "best", 5, 1.0, 0)),
            of_tokenizer(bpe, ("segmentations", "newest hugs", "sample", 5, 0.3, 7)),
        ]
    )
    expected = ServedTokenizer("a", unigram).segmentations("hugs hug", "best", 5, 1.0, 0)
    assert_same(expected, best[0])
    expected = ServedTokenizer("b", bpe).segmentations("newest hugs", "sample", 5, 0.3, 7)
    assert sampled[0] == expected


# ---- formats


def test_files_of_every_format_load(tmp_path: Any) -> None:
    found = kinds()
    files = {
        "tokenizer.json": found["unigram"].to_str().encode(),
        "a.piecework": saved(found["byte-bpe"], tmp_path / "a.piecework"),
        "vocab.txt": b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhug\n##s\n",
        "m.model": saved(found["sentencepiece bpe"], tmp_path / "m.model"),
        "with a mark.json": b"\xef\xbb\xbf" + found["wordpiece"].to_str().encode(),
    }
    loaded = answers(
        [request([file], ("save",), ("encode", TEXT, False)) for file in files.items()]
    )
    for (name, data), answer in zip(files.items(), loaded, strict=True):
        assert "error" not in answer, (name, answer)
        ours = pw.Tokenizer.from_bytes(data, source=name)
        assert answer[1]["ids"] == ours.encode(TEXT, add_special_tokens=False).ids


def saved(tokenizer: pw.Tokenizer, path: Any) -> bytes:
    tokenizer.save(path)
    data: bytes = path.read_bytes()
    return data


def test_a_vocabulary_loads_with_its_merges() -> None:
    bpe = kinds()["byte-bpe"]
    model = bpe.spec.model
    assert isinstance(model, pw.spec.BPE)
    vocab = json.dumps(model.vocab).encode()
    merges = "\n".join(["#version: 0.2", *map(" ".join, model.merges)]).encode()
    [answer] = answers(
        [request([("vocab.json", vocab), ("merges.txt", merges)], ("encode", TEXT, False))]
    )
    assert answer[0]["ids"] == bpe.encode(TEXT, add_special_tokens=False).ids


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("broken.json", b'{"version": "1.0", "model": '),
        ("empty.json", b"{}"),
        ("deep.json", b'{"a":' * 100_000),
        ("other.json", b'{"version": "1.0", "model": {"type": "Magic"}}'),
        ("damaged.model", b"\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02\xff\xff"),
        ("nothing.txt", b""),
        ("page.json", b"<!DOCTYPE html><html></html>"),
        ("vocab.txt", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4\n"),
        ("cut.gguf", b"GGUF\x03\x00\x00\x00"),
    ],
)
def test_damaged_files_have_the_sentences_of_the_package(name: str, data: bytes) -> None:
    [answer] = answers([request([(name, data)])])
    with pytest.raises(PieceworkError) as error:
        pw.Tokenizer.from_bytes(data, source=name)
    assert answer["error"]["message"] == str(error.value)
    assert answer["error"]["name"] == type(error.value).__name__


def test_files_that_need_others_say_so() -> None:
    ranks = b"IQ== 0\nIg== 1\n"
    names = {
        "vocab.json": (b'{"a": 0, "b": 1}', "its merges.txt"),
        "merges.txt": (b"#version: 0.2\na b\n", "its vocab.json"),
        "o.tiktoken": (ranks, "a pattern and special tokens"),
        "a.json.gz": (b"\x1f\x8b\x08\x00", "to be unpacked first"),
        "a.pwc": (b"\x93PWC\r\n\x1a\n", "the file that it was made from"),
    }
    found = answers([request([(name, data)]) for name, (data, _) in names.items()])
    for (name, (_, missing)), answer in zip(names.items(), found, strict=True):
        assert answer["error"]["message"].startswith(f"{name}: found ")
        assert answer["error"]["message"].endswith(f"which needs {missing}")


def test_published_ranks_load_with_what_the_page_knows() -> None:
    encoding = playground_page.published("gpt2")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    special = dict(zip(encoding["tokens"], encoding["ids"], strict=True))
    ours = pw.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens=special)
    data = b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    [answer] = answers([request([("a.tiktoken", data)], ("encode", TEXT, False), ranks=encoding)])
    assert answer[0]["ids"] == ours.encode(TEXT, add_special_tokens=False).ids
