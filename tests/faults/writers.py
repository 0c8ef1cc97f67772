"""Everything that writes files: for each a function that writes the same bytes into a folder each time."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from safetensors.numpy import save_file

import piecework as pw
from piecework.compat.sentencepiece import SentencePieceTrainer
from piecework.compat.tiktoken.load import dump_tiktoken_bpe
from piecework.errors import FileError
from piecework.integrations.embeddings import resize_embeddings
from piecework.integrations.spacy import DocTokenizer
from piecework.integrations.transformers import BackendTokenizer
from piecework.train import NormalizationRules

Write = Callable[[Path], object]

TEXTS = ["hug pug hugs", "the hugging pug runs and runs", "日本語 é 😀", "bun nun fun " * 9] * 9
CHAT = [{"role": "user", "content": "hug"}, {"role": "assistant", "content": "the pug"}]


@cache
def tok(model: str = "wordpiece") -> pw.Tokenizer:
    if model == "sentencepiece":
        trainer = pw.SentencePieceTrainer(vocab_size=50, model_type="bpe")
        return pw.Tokenizer.train_from_iterator(TEXTS, trainer)
    size = {"wordpiece": 60, "byte-bpe": 280}[model]
    template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}{% endfor %}"
    learned = pw.Tokenizer.train_from_iterator(TEXTS, model=model, vocab_size=size)
    return learned.with_chat_template(template)


def inputs() -> Path:
    """Return a folder with a corpus, conversations, a pair of Megatron-LM, a tokenizer and weights."""
    return Path(_inputs().name)


@cache
def _inputs() -> TemporaryDirectory[str]:
    made = TemporaryDirectory()
    folder = Path(made.name)
    (folder / "a.txt").write_text("\n".join(TEXTS * 20))
    (folder / "b.txt").write_text("\n".join(TEXTS))
    (folder / "words.txt").write_text("xyz\n")
    (folder / "chats.jsonl").write_text(f"{json.dumps({'messages': CHAT})}\n" * 99)
    pw.encode_files(tok(), folder / "a.txt", folder / "pair", format="megatron")
    tok("byte-bpe").save(folder / "tok.json")
    rows = np.zeros((len(tok()), 1000), np.float32)
    save_file({"wte.weight": rows, "other": rows[:9]}, folder / "model.safetensors")
    return made


def encode_files(format: str) -> Write:
    name = f"out.{format}"
    return lambda out: pw.encode_files(tok(), inputs() / "a.txt", out / name, format=format)  # type: ignore[arg-type]


def encode_corpus(format: str, **options: Any) -> Write:
    return lambda out: pw.export.encode_corpus(
        tok(),
        [inputs() / "a.txt", inputs() / "b.txt"],
        out,
        format=format,
        resume=True,
        **options,
    )


def encode_chats(out: Path) -> object:
    chat = pw.chat.ChatFormat()
    source = inputs() / "chats.jsonl"
    return pw.export.encode_corpus(tok(), source, out, chat=chat, resume=True)


def counts() -> pw.Counts:
    return pw.count_files(inputs() / "a.txt")


def count_with_checkpoint(out: Path) -> object:
    return pw.count_files(
        inputs() / "a.txt", checkpoint=out, checkpoint_seconds=0, keep_checkpoint=True
    )


def trainer() -> pw.BPETrainer:
    return pw.BPETrainer(vocab_size=32)


def learn_with_checkpoint(out: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        trainer().learn(counts(), interrupt, checkpoint=out)


def load_with_cache(out: Path) -> None:
    """Load a tokenizer; a cache that cannot be written is no error."""
    loaded = pw.Tokenizer.load(inputs() / "tok.json", compiled_cache=out / "tok.pwc")
    assert loaded.encode("hug").ids == tok("byte-bpe").encode("hug").ids
    if not (out / "tok.pwc").exists():
        with FileError.while_writing(out):
            raise OSError(errno.EFBIG, "")


@cache
def resized() -> pw.IdMap:
    return pw.vocabulary.add_words(tok(), ["hughug"])[1]


def resize(out: Path) -> object:
    model = inputs() / "model.safetensors"
    return resize_embeddings(model, resized(), output=out / "model.safetensors")


WRITERS: dict[str, Write] = {
    ".json": lambda out: tok().save(out / "tok.json"),
    ".txt": lambda out: tok().save(out / "vocab.txt"),
    ".pwc": lambda out: tok().save(out / "tok.pwc"),
    ".piecework": lambda out: tok().save(out / "tok.piecework"),
    ".tiktoken": lambda out: tok("byte-bpe").save(out / "tok.tiktoken"),
    ".model": lambda out: tok("sentencepiece").save(out / "tok.model"),
    ".vocab": lambda out: tok("sentencepiece").save(out / "tok.vocab"),
    "vocabulary and merges": lambda out: tok("byte-bpe").save(
        out / "vocab.json", merges=out / "merges.txt"
    ),
    "folder": lambda out: tok().save(out),
    "cache": load_with_cache,
    **{f"encode_files {name}": encode_files(name) for name in pw.export.FORMATS},
    **{f"encode_corpus {name}": encode_corpus(name) for name in pw.export.SHARD_FORMATS},
    "encode_corpus, packed and shuffled": encode_corpus("npy", pack=64, shuffle_seed=1),
    "encode_corpus, chats": encode_chats,
    "counts.tsv": lambda out: counts().save(out / "counts.tsv"),
    "counts.parquet": lambda out: counts().save(out / "counts.parquet"),
    "count_files_to": lambda out: pw.train.count_files_to(out / "c.tsv", inputs() / "a.txt"),
    "count, checkpoint": count_with_checkpoint,
    "learn, checkpoint": learn_with_checkpoint,
    "learned": lambda out: (
        pw.BPETrainer(vocab_size=40).learn_vocabulary(counts()).save(out / "learned.json")
    ),
    "rules": lambda out: NormalizationRules.from_mapping({"a": "b"}).save_tsv(out / "rules.tsv"),
    "embeddings": resize,
    "spaCy": lambda out: DocTokenizer(None, tok()).to_disk(out / "tok"),
    "dump_tiktoken_bpe": lambda out: dump_tiktoken_bpe({b"a" * 99: 0}, out / "ranks"),
    "BackendTokenizer": lambda out: BackendTokenizer(tok()).save(str(out / "tok.json")),
    "SentencePieceTrainer": lambda out: SentencePieceTrainer.train(
        input=str(inputs() / "b.txt"), model_prefix=str(out / "m"), vocab_size=60
    ),
}

COMMANDS: dict[str, list[str]] = {
    "train": ["train", "{inputs}/b.txt", "--vocab-size", "60", "-o", "{out}/a.json"],
    "count": ["count", "{inputs}/b.txt", "-o", "{out}/a.tsv"],
    "encode": ["encode", "{inputs}/tok.json", "{inputs}/b.txt", "-o", "{out}/a.ids"],
    "decode": ["decode", "{inputs}/tok.json", "{inputs}/pair", "-o", "{out}/a.txt"],
    "explain": ["explain", "{inputs}/tok.json", "hug pug", "--html", "{out}/a.html"],
    "normalize": ["normalize", "--rules", "nfkc", "{inputs}/b.txt", "-o", "{out}/a.txt"],
    "add": [
        "add",
        "{inputs}/tok.json",
        "{inputs}/words.txt",
        "-o",
        "{out}/a.json",
        "--map",
        "{out}/map.npy",
    ],
    "convert": ["convert", "{inputs}/tok.json", "{out}/a.piecework"],
}
