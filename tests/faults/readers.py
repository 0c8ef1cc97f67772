"""Everything that reads files: for each a writer of its files, and a function that reads all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any, NamedTuple

import piecework as pw
from piecework.compat.tiktoken.load import load_tiktoken_bpe
from piecework.integrations.embeddings import resize_embeddings
from piecework.train import LearnedVocabulary, NormalizationRules
from tests.corpus.formats.samples import COMPRESSIONS, RECORDS, TABLES
from tests.faults.writers import CHAT, TEXTS, WRITERS, Write, counts, inputs, resized, tok, trainer

FUZZ = Path(__file__).parent.parent.parent / "fuzz" / "corpus"


class Reader(NamedTuple):
    """How to write files into a folder, and how to read them there."""

    write: Write
    read: Callable[[Path], object]


def use(loaded: pw.Tokenizer) -> None:
    """Encode and decode with a tokenizer that was read."""
    for text in TEXTS[:4]:
        loaded.decode(loaded.encode(text).ids)


def tokenizer(write: Write, name: str, **options: Any) -> Reader:
    return Reader(write, lambda folder: use(pw.Tokenizer.load(folder / name, **options)))


def stored(name: str, data: bytes) -> Write:
    return lambda folder: (folder / name).write_bytes(data)


def corpus(name: str, data: Callable[[], bytes], **options: Any) -> Reader:
    def read(folder: Path) -> None:
        for whole_lines in (False, True):
            for rows in pw.corpus.read_corpus(folder / name, whole_lines=whole_lines, **options):
                list(rows.texts)

    return Reader(lambda folder: (folder / name).write_bytes(data()), read)


def ids(format: str) -> Reader:
    def read(folder: Path) -> None:
        for _ in pw.export.read_ids(folder / f"out.{format}"):
            pass

    return Reader(WRITERS[f"encode_files {format}"], read)


def tekken() -> bytes:
    ranks = [line.split()[0] for line in (FUZZ / "ranks.tiktoken").read_text().splitlines()]
    entries = [
        {"rank": n, "token_bytes": token, "token_str": None} for n, token in enumerate(ranks)
    ]
    size = len(ranks) + 30
    config = {"pattern": r"\w+|\W+", "default_vocab_size": size, "default_num_special_tokens": 30}
    return json.dumps({"config": {**config, "version": "v3"}, "vocab": entries}).encode()


def read_embeddings(folder: Path) -> None:
    resize_embeddings(folder / "model.safetensors", resized(), output=folder / "out")
    (folder / "out").unlink()


def resume_count(folder: Path) -> None:
    pw.count_files(inputs() / "a.txt", checkpoint=folder, keep_checkpoint=True)


CONVERSATIONS = f"{json.dumps({'messages': CHAT})}\n".encode() * 9

READERS: dict[str, Reader] = {
    "tokenizer.json": tokenizer(WRITERS[".json"], "tok.json"),
    "tokenizer.json.gz": tokenizer(
        lambda out: (out / "tok.json.gz").write_bytes(COMPRESSIONS[".gz"](tok().to_str().encode())),
        "tok.json.gz",
    ),
    "vocab.txt": tokenizer(WRITERS[".txt"], "vocab.txt"),
    "model": tokenizer(WRITERS[".model"], "tok.model"),
    "tiktoken": tokenizer(WRITERS[".tiktoken"], "tok.tiktoken", pattern="gpt2"),
    "piecework": tokenizer(WRITERS[".piecework"], "tok.piecework"),
    "pwc": tokenizer(WRITERS[".pwc"], "tok.pwc"),
    "vocabulary and merges": Reader(
        WRITERS["vocabulary and merges"],
        lambda out: use(pw.Tokenizer.load(out / "vocab.json", merges=out / "merges.txt")),
    ),
    "folder": tokenizer(WRITERS["folder"], "."),
    "gguf": tokenizer(lambda out: copyfile(FUZZ / "gpt2.gguf", out / "a.gguf"), "a.gguf"),
    "tekken": tokenizer(stored("tekken.json", tekken()), "tekken.json"),
    "load_tiktoken_bpe": Reader(
        WRITERS["dump_tiktoken_bpe"], lambda out: load_tiktoken_bpe(str(out / "ranks"))
    ),
    **{
        f"corpus{suffix}": corpus(
            f"a.txt{suffix}", lambda compress=compress: compress("\n".join(TEXTS).encode())
        )
        for suffix, compress in COMPRESSIONS.items()
    },
    **{
        f"corpus {name}": corpus(name, data, field="text")
        for name, data in {**RECORDS, **TABLES}.items()
    },
    "conversations": Reader(
        stored("a.jsonl", CONVERSATIONS),
        lambda out: pw.encode_files(
            tok(), out / "a.jsonl", out / "out", format="npy", chat=pw.chat.ChatFormat()
        ),
    ),
    **{f"ids {format}": ids(format) for format in pw.export.FORMATS if format != "tokens"},
    "counts.tsv": Reader(WRITERS["counts.tsv"], lambda out: pw.Counts.load(out / "counts.tsv")),
    "counts.parquet": Reader(
        WRITERS["counts.parquet"], lambda out: pw.Counts.load(out / "counts.parquet")
    ),
    "count, checkpoint": Reader(WRITERS["count, checkpoint"], resume_count),
    "learn, checkpoint": Reader(
        WRITERS["learn, checkpoint"], lambda out: trainer().learn(counts(), checkpoint=out)
    ),
    "encode, manifest": Reader(WRITERS["encode_corpus npy"], WRITERS["encode_corpus npy"]),
    "learned": Reader(WRITERS["learned"], lambda out: LearnedVocabulary.load(out / "learned.json")),
    "rules": Reader(WRITERS["rules"], lambda out: NormalizationRules.from_tsv(out / "rules.tsv")),
    "gold": Reader(
        stored("gold.tsv", b"hugs\thug s\npugs\tpug s\n"),
        lambda out: pw.analysis.read_gold(out / "gold.tsv"),
    ),
    "embeddings": Reader(
        lambda out: copyfile(inputs() / "model.safetensors", out / "model.safetensors"),
        read_embeddings,
    ),
}
