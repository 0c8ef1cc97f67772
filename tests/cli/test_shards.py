"""`piecework count` on shards, then `piecework train` on the counts: the tokenizer of the whole corpus."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw

Run = Callable[..., tuple[int, str, str]]

WAYS = {
    "likelihood": ("bert-uncased", ("--score", "likelihood")),
    "frequency": ("bert-uncased", ("--score", "frequency")),
    "pmi": ("bert-cased", ("--score", "pmi", "--ties", "smallest-strings")),
    "top-down": ("bert-uncased", ("--learner", "top-down")),
    "pruning": ("bert-uncased", ()),
    "limited-alphabet": ("bert-cased", ("--limit-alphabet", "40")),
    "bpe": ("whitespace", ("--model", "bpe")),
    "byte-bpe": ("gpt2", ("--model", "byte-bpe")),
    "byte-bpe-cl100k": ("cl100k", ("--model", "byte-bpe")),
    "unigram": ("sentencepiece", ("--model", "unigram", "--seed-vocab-size", "4000")),
    "word": ("punctuation", ("--model", "word")),
    "llama": ("llama", ("--byte-fallback",)),
    "t5": ("t5", ()),
}


@pytest.fixture(scope="module", params=["\n", "\r\n"], ids=["LF", "CRLF"])
def corpus(
    request: pytest.FixtureRequest, english_corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """About 200 KB of English with blank lines and indented ones."""
    paragraphs = english_corpus.read_text(encoding="utf-8").splitlines()[::10]
    rng = random.Random(17)
    lines = [rng.choice(["", "", "  ", "\t"]) + text + rng.choice(["", " "]) for text in paragraphs]
    text = "".join(line + request.param * rng.choice([1, 1, 2]) for line in lines)
    path = tmp_path_factory.mktemp("whole") / "whole.txt"
    path.write_bytes(text.encode())
    return path


def shards_of(corpus: Path, folder: Path) -> list[str]:
    """Deal the lines of a file to three files at random."""
    rng = random.Random(3)
    shards: list[list[bytes]] = [[], [], []]
    for line in corpus.read_bytes().splitlines(keepends=True):
        rng.choice(shards).append(line)
    paths = [folder / f"{number}.txt" for number in range(len(shards))]
    for path, lines in zip(paths, shards, strict=True):
        path.write_bytes(b"".join(lines))
    return [str(path) for path in paths]


def saved(path: Path) -> object:
    """The content of a tokenizer file."""
    return json.loads(path.read_text()) if path.suffix == ".json" else path.read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_shards_that_are_counted_and_merged_train_the_tokenizer_of_the_whole(
    way: str, corpus: Path, tmp_path: Path, cli: Run
) -> None:
    pytest.importorskip("pyarrow")
    preset, options = WAYS[way]
    size = "3000" if way == "likelihood" else "800"
    is_sentencepiece = way in ("llama", "t5")
    verb = "train-sentencepiece" if is_sentencepiece else "train"
    name = "out.model" if is_sentencepiece else "out.json"
    train = ("--preset", preset, *options, "--vocab-size", size)
    whole, merged = tmp_path / f"whole-{name}", tmp_path / f"merged-{name}"
    assert cli(verb, str(corpus), *train, "-o", str(whole))[0] == 0
    counts = []
    for number, shard in enumerate(shards_of(corpus, tmp_path)):
        counts.append(str(tmp_path / f"{number}.parquet"))
        code, _, err = cli("count", shard, "--preset", preset, "-o", counts[-1])
        assert code == 0, err
    code, _, err = cli(verb, *reversed(counts), *train, "-o", str(merged))
    assert code == 0, err
    assert saved(merged) == saved(whole)


def test_merged_counts_files_equal_the_counts_of_the_whole(
    corpus: Path, tmp_path: Path, cli: Run
) -> None:
    pytest.importorskip("pyarrow")
    shards = shards_of(corpus, tmp_path)
    files = []
    for number, shard in enumerate(shards):
        files.append(str(tmp_path / f"{number}.parquet"))
        assert cli("count", shard, "--preset", "gpt2", "-o", files[-1])[0] == 0
    path = str(tmp_path / "merged.parquet")
    assert cli("count", *files, "--preset", "gpt2", "-o", path)[0] == 0
    whole = pw.count_files(corpus, preset="gpt2")
    assert pw.Counts.load(path) == whole == pw.count_files(shards, preset="gpt2")


def test_first_seen_says_what_shards_must_carry(tmp_path: Path, cli: Run) -> None:
    texts = ["hug pug pun", "bun hugs pun hug"]
    pmi = ("--score", "pmi", "--min-frequency", "1", "--vocab-size", "20")
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(text + "\n" for text in texts))
    assert cli("train", str(whole), *pmi, "-o", str(tmp_path / "whole.json"))[0] == 0
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text + "\n")

    def trained(*sources: int) -> tuple[int, str]:
        for number, source in enumerate(sources):
            path = str(tmp_path / f"{number}.tsv")
            numbered = ("--first-source", str(source))
            assert cli("count", str(tmp_path / f"{number}.txt"), *numbered, "-o", path)[0] == 0
        shards = [str(tmp_path / f"{number}.tsv") for number in (1, 0)]
        code, _, err = cli("train", *shards, *pmi, "-o", str(tmp_path / "merged.json"))
        return code, err

    code, err = trained(0, 0)
    assert code != 0
    assert "first-seen" in err
    assert "--first-source" in err
    assert "smallest-strings" in err
    assert trained(0, 1)[0] == 0
    assert saved(tmp_path / "merged.json") == saved(tmp_path / "whole.json")
