"""The commands that change a vocabulary: files in, files out, one line for a wrong use."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

import piecework as pw
from piecework.cli.app import run

TEXT = "hug hugs pug pun bun\nthe hugs of the pug\n" * 9
OTHER = "pugs under the sun\nbugs shun the pugs\n" * 9

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in a folder with a tokenizer and two texts: exit code and stderr."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT)
    Path("other.txt").write_text(OTHER)
    tok = pw.Tokenizer.train(["text.txt"], vocab_size=24, alphabet_forms="seen")
    tok.save("tok.json")

    def call(*arguments: str) -> tuple[int, str]:
        code = run(arguments)
        return code, capsys.readouterr().err

    return call


def test_extend_does_what_the_method_does_and_writes_the_map(cli: Run) -> None:
    code, said = cli(
        "extend", "tok.json", "other.txt", "-n", "3", "-o", "new.json", "--map", "m.json"
    )
    assert (code, said) == (0, "24 tokens kept, 3 added, saved as new.json\n")
    expected, id_map = pw.vocabulary.extend(pw.Tokenizer.load("tok.json"), OTHER.splitlines(), 3)
    assert pw.Tokenizer.load("new.json") == expected
    written = json.loads(Path("m.json").read_text())
    assert written["new_ids"] == id_map.new_ids.tolist()
    assert written["added"] == id_map.added.tolist()
    assert written["sources"] == [list(ids) for ids in id_map.sources]
    assert pw.IdMap.from_json(Path("m.json").read_text()) == id_map


def test_extend_takes_counts_made_with_the_same_pipeline(cli: Run) -> None:
    assert cli("count", "other.txt", "-o", "counts.tsv")[0] == 0
    options = ("-n", "3", "--score", "frequency", "--min-frequency", "1")
    assert cli("extend", "tok.json", "counts.tsv", *options, "-o", "one.json")[0] == 0
    assert cli("extend", "tok.json", "other.txt", *options, "-o", "two.json")[0] == 0
    assert Path("one.json").read_text() == Path("two.json").read_text()


def test_prune_keeps_what_a_corpus_uses(cli: Run) -> None:
    arguments = ("--min-count", "2", "--corpus", "other.txt", "--map", "map.npy")
    code, said = cli("prune", "tok.json", *arguments, "-o", "new.json")
    old, new = pw.Tokenizer.load("tok.json"), pw.Tokenizer.load("new.json")
    assert code == 0
    sizes = f"{new.get_vocab_size()} tokens kept, 0 added, saved as new.json"
    tokens = sum(map(len, old.encode_batch(OTHER.splitlines(), add_special_tokens=False)))
    assert said.startswith(f"corpus tokens: {tokens} -> ")
    assert said.splitlines()[1:] == [sizes]
    assert new.get_vocab_size() < old.get_vocab_size()
    new_ids = np.load("map.npy")
    for line in OTHER.splitlines()[:2]:
        assert new.encode(line).ids == new_ids[old.encode(line).ids].tolist()


def test_prune_reads_what_training_reads(cli: Run) -> None:
    texts = [json.dumps({"body": line}) for line in OTHER.splitlines()]
    Path("other.jsonl.gz").write_bytes(gzip.compress("\n".join(texts).encode()))
    for corpus, options, output in (
        ("other.txt", (), "plain.json"),
        ("other.jsonl.gz", ("--field", "body"), "packed.json"),
    ):
        arguments = ("--min-count", "2", "--corpus", corpus, *options)
        assert cli("prune", "tok.json", *arguments, "-o", output)[0] == 0
    assert Path("plain.json").read_text() == Path("packed.json").read_text()


def test_prune_keeps_the_tokens_of_a_file(cli: Run) -> None:
    Path("keep.txt").write_text("hugs\n\nthe\n")
    assert cli("prune", "tok.json", "--keep", "keep.txt", "-o", "new.json")[0] == 0
    smaller, _ = pw.vocabulary.prune(pw.Tokenizer.load("tok.json"), ["hugs", "the"])
    assert pw.Tokenizer.load("new.json") == smaller


def test_a_dry_run_prints_the_loss_and_writes_nothing(
    cli: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(Path(".").iterdir())
    arguments = ("--size", "22", "--corpus", "other.txt", "--dry-run")
    assert run(["prune", "tok.json", *arguments]) == 0
    plan = pw.analysis.plan_prune(
        pw.Tokenizer.load("tok.json"), pw.corpus.read_corpus("other.txt"), size=22
    )
    assert capsys.readouterr().out == f"{plan}\n"
    assert len(plan.tokenizer) == 22
    assert sorted(Path(".").iterdir()) == before


def test_shrink_and_add_do_what_the_methods_do(cli: Run) -> None:
    tok = pw.Tokenizer.load("tok.json")
    assert cli("shrink", "tok.json", "--size", "20", "-o", "new.json", "--map", "m.npy") == (
        0,
        "20 tokens kept, 0 added, saved as new.json\n",
    )
    smaller, id_map = pw.vocabulary.shrink(tok, 20)
    assert pw.Tokenizer.load("new.json") == smaller
    assert np.array_equal(np.load("m.npy"), id_map.new_ids)
    Path("words.txt").write_text("shrugs\n\nthunder\n")
    assert cli("add", "tok.json", "words.txt", "-o", "new.json", "--map", "m.json")[0] == 0
    larger, id_map = pw.vocabulary.add_words(tok, ["shrugs", "thunder"])
    assert pw.Tokenizer.load("new.json") == larger
    written = json.loads(Path("m.json").read_text())
    assert written["sources"] == [list(ids) for ids in id_map.sources]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_models_of_sentencepiece_stay_models_of_sentencepiece(cli: Run, kind: str) -> None:
    trainer = pw.SentencePieceTrainer(model_type=kind, vocab_size=36, hard_vocab_limit=False)
    pw.Tokenizer.train("text.txt", trainer=trainer).save("old.model")
    Path("words.txt").write_text("shunning\n")
    size = len(pw.Tokenizer.load("old.model"))
    commands = {
        "extended.model": ("extend", "old.model", "other.txt", "-n", "2"),
        "added.model": ("add", "old.model", "words.txt"),
        "pruned.model": ("prune", "old.model", "--min-count", "1", "--corpus", "other.txt"),
        "shrunk.model": ("shrink", "old.model", "--size", str(size - 1)),
    }
    for name, arguments in commands.items():
        code, said = cli(*arguments, "-o", name)
        assert code == 0, said
        changed = pw.Tokenizer.load(name)
        theirs = sentencepiece.SentencePieceProcessor(model_file=name)
        assert changed.get_vocab_size() == theirs.get_piece_size()
        for line in (*TEXT.splitlines()[:2], *OTHER.splitlines()[:2], "shunning"):
            assert changed.encode(line).ids == theirs.encode(line)


def test_the_tokenizer_can_go_to_stdout(cli: Run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("keep.txt").write_text("hugs\n")
    assert run(["prune", "tok.json", "--keep", "keep.txt", "-o", "-"]) == 0
    written = capsys.readouterr().out
    assert "hugs" in pw.Tokenizer.from_str(written).get_vocab()
    assert not Path("-").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("prune", "tok.json"), "give --keep, --min-count or --size"),
        (("prune", "tok.json", "--size", "9"), "--min-count and --corpus is missing"),
        (
            ("prune", "tok.json", "--size", "2", "--corpus", "other.txt"),
            "--size: must be at least 17, not 2",
        ),
        (("prune", "tok.json", "--size", "9", "--corpus", "-"), "reads --corpus twice"),
        (
            ("prune", "tok.json", "--size", "9", "--corpus", "other.txt", "--dry-run"),
            "no file; leave out",
        ),
        (
            ("shrink", "tok.json", "--size", "3"),
            "--size: 3 is too small: the alphabet and the special tokens need 17",
        ),
        (("shrink", "tok.json"), "--size"),
        (
            ("add", "tok.json", "text.txt"),
            ("WORDS: 'hug hugs pug pun bun' splits into ['hug', 'hugs', 'pug', 'pun', 'bun']; add"),
        ),
        (("prune", "tok.json", "--min-count", "2"), "--min-count and --corpus is missing"),
        (("prune", "tok.json", "--keep", "absent.txt"), "absent.txt"),
        (
            ("prune", "tok.json", "--keep", "text.txt"),
            ("--keep: 'hug hugs pug pun bun' is not a token or id of the tokenizer"),
        ),
        (("extend", "tok.json", "other.txt", "-n", "1", "--map", "map.csv"), "--map"),
        (("extend", "tok.json", "other.txt"), "-n"),
        (("extend", "tok.json", "other.txt", "-n", "1", "--score", "top-down"), "score"),
    ],
)
def test_a_wrong_use_is_one_line_and_writes_nothing(
    cli: Run, arguments: tuple[str, ...], message: str
) -> None:
    code, said = cli(*arguments, "-o", "new.json")
    assert code == 2
    assert message in said
    assert said.count("\n") == 1
    assert not Path("new.json").exists()
