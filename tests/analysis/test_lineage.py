"""The merges that made a token, from a tokenizer or from the file that training writes beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import piecework as pw
from piecework.analysis import lineage, training_example
from piecework.analysis.lineage import Lineage
from piecework.errors import ArgumentError, FileError, FormatError, TrainingError
from piecework.train import LearnedVocabulary, Merges
from tests.laws.strategies import Words, word_counts


def leaves(found: Lineage, prefix: str = "") -> list[str]:
    """Return the symbols of the alphabet that the merges join."""
    by_token = {merge.token: merge for merge in found.merges}

    def parts(token: str) -> list[str]:
        if token not in by_token:
            return [token]
        return parts(by_token[token].left) + parts(by_token[token].right)

    return parts(found.token)


def test_the_merges_of_a_token_are_in_the_order_of_learning() -> None:
    example = training_example("course")
    learned = example.trainer.learn_vocabulary(example.counts)
    found = lineage(learned, "##thms")
    assert [(merge.rank, merge.token) for merge in found.merges] == [
        (10, "##hm"),
        (14, "##thm"),
        (21, "##thms"),
    ]
    assert found.merges[0].count == 1
    assert found.merges[0].score == 0.25
    assert lineage(learned, "##a").merges == ()
    assert "no merge made it" in str(lineage(learned, "[UNK]"))


@pytest.mark.parametrize(
    ("token", "nearest"),
    [
        ("hug", "Ġhug"),
        ("café", "cafÃ©"),
        ("est", "##est"),
        ("xyz", None),
    ],
)
def test_the_error_for_an_absent_token_names_the_nearest_entry(
    token: str, nearest: str | None
) -> None:
    entries = ["##hug", "bun", "hugs", "Ġhug", "cafÃ©", "##est"]
    model = pw.spec.BPE({entry: id for id, entry in enumerate(entries)}, ())
    with pytest.raises(ArgumentError) as raised:
        lineage(pw.Tokenizer(model), token)
    hint = f"; did you mean {nearest!r}?" if nearest else ""
    assert str(raised.value) == f"token: must be an entry of the vocabulary, not {token!r}{hint}"


@settings(max_examples=100)
@given(word_counts())
def test_the_merges_join_the_characters_of_the_token(words: Words) -> None:
    counts = pw.Counts([word for word, _ in words], [count for _, count in words])
    trainer = pw.BPETrainer(30, min_frequency=1)
    learned = trainer.learn_vocabulary(counts)
    tok = pw.Tokenizer(trainer._model_of(learned))
    for token in learned.entries[1:]:
        from_run, from_tokenizer = lineage(learned, token), lineage(tok, token)
        assert "".join(leaves(from_run)) == token
        assert all(len(leaf) == 1 for leaf in leaves(from_run))
        assert [merge.rank for merge in from_run.merges] == sorted(m.rank for m in from_run.merges)
        assert [(m.left, m.right) for m in from_tokenizer.merges] == [
            (m.left, m.right) for m in from_run.merges
        ]


def test_wrong_sources_and_tokens_are_rejected() -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1}))
    with pytest.raises(
        ArgumentError,
        match="source: WordPiece has no merges; pass a BPE model, or the merges of a training run",
    ):
        lineage(tok, "hug")
    with pytest.raises(ArgumentError, match="source: must be a Tokenizer or.*, not str"):
        lineage("t.json", "hug")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="token: must be an entry.*, not 'x'"):
        lineage(pw.Tokenizer(pw.spec.BPE({"a": 0}, ())), "x")


def test_a_token_of_many_merges_needs_no_recursion() -> None:
    tokens = ["a" * length for length in range(1, 3000)]
    merges = tuple(("a" * length, "a") for length in range(1, 2999))
    model = pw.spec.BPE({token: id for id, token in enumerate(tokens)}, merges)
    assert len(lineage(pw.Tokenizer(model), "a" * 2999).merges) == 2998


# ---- the file


@settings(max_examples=50)
@given(words=word_counts())
def test_a_file_has_what_was_learned(words: Words, tmp_path_factory: Any) -> None:
    counts = pw.Counts([word for word, _ in words], [count for _, count in words])
    trainer = pw.WordPieceTrainer(30, Merges(), min_frequency=1)
    try:
        learned = trainer.learn_vocabulary(counts)
    except TrainingError:
        return
    path = tmp_path_factory.mktemp("log") / "tokenizer.training.json"
    learned.save(path)
    assert LearnedVocabulary.load(path) == learned


GOOD: dict[str, Any] = {
    "format": "piecework training",
    "version": 1,
    "stopped_early": None,
    "entries": ["u", "g", "ug"],
    "merges": [["u", "g", "ug", 20, 20.0]],
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"format": "other"},
            r't\.training\.json: is another kind of file; it needs "format": "piecework training"',
        ),
        ({"version": 2}, "version: found 2, expected 1"),
        ({"entries": None}, "entries: found NoneType, expected a list of strings"),
        ({"entries": ["u", 3]}, "entries: found list, expected a list of strings"),
        ({"merges": {}}, "merges: found dict, expected a list of merges"),
        ({"merges": [["u", "g"]]}, r"merges\[0\]: found list, expected \[left, right"),
        ({"merges": [["u", "x", "ug", 1, 1.0]]}, r"merges\[0\]: found .* of entries and numbers"),
        ({"merges": [["u", "g", "ug", -1, 1.0]]}, r"merges\[0\]: found .* of entries and numbers"),
        (
            {"merges": [["u", "g", "ug", True, 1.0]]},
            r"merges\[0\]: found .* of entries and numbers",
        ),
        ({"stopped_early": 3}, "stopped_early: found int, expected a string or null"),
    ],
)
def test_damaged_files_are_rejected(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.training.json"
    path.write_text(json.dumps(GOOD))
    assert LearnedVocabulary.load(path).merges[0].token == "ug"
    path.write_text(json.dumps(GOOD | changed))
    with pytest.raises(FormatError, match=message):
        LearnedVocabulary.load(path)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"3"])
def test_other_files_are_rejected(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.training.json"
    path.write_bytes(data)
    with pytest.raises(FormatError):
        LearnedVocabulary.load(path)
    with pytest.raises(FileError):
        LearnedVocabulary.load(tmp_path / "missing.json")


# ---- the commands


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(training_example("course").texts))
    return str(path)


def test_training_writes_the_merges_beside_the_tokenizer(
    corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from piecework.cli.app import run

    def cli(*words: str) -> tuple[int, str, str]:
        code = run(words)
        return code, *capsys.readouterr()

    settings = ("--preset", "bert-cased", "--score", "pmi", "--min-frequency", "1", "--quiet")
    settings += ("--alphabet-forms", "seen")
    path = str(tmp_path / "tokenizer.json")
    assert (
        cli("train", corpus, *settings, "--vocab-size", "70", "-o", path, "--training-log")[0] == 0
    )
    assert (tmp_path / "tokenizer.training.json").exists()
    code, out, _ = cli("explain", path, "--token", "Hugg")
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["lineage", "of", "Hugg"],
        ["rank", "merge", "count", "score"],
        ["15", "H", "##u", "->", "Hu", "1", "0.125"],
        ["16", "Hu", "##g", "->", "Hug", "1", "0.25"],
        ["17", "Hug", "##g", "->", "Hugg", "1", "0.333333"],
    ]
    assert json.loads(cli("explain", path, "--token", "Hu", "--json")[1])["merges"][0]["rank"] == 15
    assert (
        "--token: must be an entry of the vocabulary, not 'zz'"
        in cli("explain", path, "--token", "zz")[2]
    )
    assert (
        "--token: needs one TOKENIZER; there are 2 arguments"
        in cli("explain", path, "hug", "--token", "hug")[2]
    )
    unlogged = str(tmp_path / "u.json")
    assert cli("train", corpus, *settings, "--vocab-size", "70", "-o", unlogged)[0] == 0
    assert not (tmp_path / "u.training.json").exists()
    assert Path(unlogged).read_bytes() == Path(path).read_bytes()
    hint = "(piecework train --learner merges --training-log); pruning, the default, makes none"
    assert hint in cli("explain", unlogged, "--token", "Hugg")[2]
    log = str(tmp_path / "tokenizer.training.json")
    assert cli("explain", log, "--token", "Hugg") == cli("explain", path, "--token", "Hugg")
    for words in (("explain", log, "Hugging"), ("encode", log, corpus), ("inspect", log)):
        code, out, err = cli(*words)
        assert (code, out) == (2, "")
        problem = "has the merges of a training run, not a tokenizer; load the tokenizer beside it"
        assert f"{log}: {problem}, such as {path}" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--model", "unigram", "--vocab-size", "45", "-o", "{}/t.json"],
            "needs merges, which --learner merges and --model bpe make; unigram makes none",
        ),
        (
            ["--learner", "top-down", "-o", "{}/t.json"],
            "needs merges, which --learner merges and --model bpe make; top-down makes none",
        ),
        (
            ["--score", "pmi", "--vocab-size", "60,70", "-o", "{}/t.json"],
            "needs one tokenizer in a file or folder, not several sizes",
        ),
        (
            ["--score", "pmi", "-o", "-"],
            "needs one tokenizer in a file or folder, not - as output",
        ),
    ],
)
def test_trainings_without_a_log_are_rejected(
    corpus: str,
    tmp_path: Path,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from piecework.cli.app import run

    words = [word.replace("{}", str(tmp_path)) for word in options]
    assert run(["train", corpus, *words, "--quiet", "--training-log"]) == 2
    err = capsys.readouterr().err
    assert f"--training-log: {message}" in err


def test_hostile_tokens_are_escaped() -> None:
    model = pw.spec.BPE({"<b>": 0, "\x1b": 1, "<b>\x1b": 2}, (("<b>", "\x1b"),))
    found = lineage(pw.Tokenizer(model), "<b>\x1b")
    assert "<b>" not in found._repr_html_()
    assert "\x1b" not in str(found) + found._repr_html_()
