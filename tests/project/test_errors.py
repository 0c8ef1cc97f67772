"""Errors are a place and a message with fields for code, and no code reads a message."""

from __future__ import annotations

import errno
import pickle
from pathlib import Path
from typing import Any

import click
import pytest

import piecework as pw
from piecework import errors
from piecework.cli.app import run
from piecework.cli.parameters import with_flags
from piecework.errors import ArgumentError, CorpusError, CorpusWarning, FileError, PieceworkError

CLASSES = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PieceworkError)
]


def test_the_place_is_printed_before_the_message() -> None:
    error = ArgumentError("n", "must be at least 1, not 0")
    assert str(error) == "n: must be at least 1, not 0"
    assert (error.place, error.message) == ("n", "must be at least 1, not 0")


def test_further_arguments_and_the_hint_surround_the_message() -> None:
    error = ArgumentError("size", "cannot be combined", also=["keep"], hint="pass one of them")
    assert str(error) == "size, keep: cannot be combined; pass one of them"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("vocab_size", "--vocab-size: is bad"),
        ("vocab_size[3]", "--vocab-size[3]: is bad"),
        ("vocab_size.txt", "vocab_size.txt: is bad"),
        ("vocab_size: least", "--vocab-size: least: is bad"),
        ("vocab_sizes", "vocab_sizes: is bad"),
        ("a.txt line 2", "a.txt line 2: is bad"),
    ],
)
def test_commands_name_places_as_they_are_typed(place: str, text: str) -> None:
    option = click.Option(["--vocab-size"])
    assert with_flags(ArgumentError(place, "is bad"), [option]) == text
    for kind in (errors.FileError, errors.FormatError):
        assert with_flags(kind(place, "is bad"), [option]) == f"{place}: is bad"


def test_further_arguments_are_named_as_they_are_typed() -> None:
    error = ArgumentError("size", "cannot be combined", also=["min_count"])
    parameters = [click.Option(["--size"]), click.Option(["--min-count"])]
    assert with_flags(error, parameters) == "--size, --min-count: cannot be combined"


@pytest.mark.parametrize("kind", CLASSES)
def test_errors_of_every_class_pickle_with_their_fields(kind: type[PieceworkError]) -> None:
    fields: dict[str, Any] = {
        "also": ("b",),
        "hint": "do this",
        "found": "1",
        "expected": "2",
        "limit": 2,
        "kind": "a fault",
    }
    error = kind("a", "is bad", **fields)
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is kind
    assert str(twin) == str(error) == "a, b: is bad; do this"
    assert {name: getattr(twin, name) for name in fields} == fields


@pytest.mark.parametrize("action", ["read", "written", "removed"])
def test_a_file_error_of_the_system_says_what_was_tried(action: str) -> None:
    make = {"read": FileError.reading, "written": FileError.writing, "removed": FileError.removing}
    error = make[action](Path("a.txt"), PermissionError(13, "Permission denied"))
    assert str(error) == f"a.txt: cannot be {action}: permission denied"
    assert isinstance(error, PermissionError)
    assert (error.place, error.errno) == ("a.txt", errno.EACCES)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_system_error_without_a_number_keeps_its_text() -> None:
    error = FileError.reading("a.txt", OSError("Closed By Peer"))
    assert (str(error), error.errno) == ("a.txt: cannot be read: closed by peer", None)


# ---- no code reads a message


@pytest.fixture
def other_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the message of every error."""
    made = PieceworkError.__init__

    def init(self: PieceworkError, place: str, message: str, **fields: Any) -> None:
        made(self, place, "x", **fields)

    monkeypatch.setattr(PieceworkError, "__init__", init)


@pytest.mark.usefixtures("other_messages")
@pytest.mark.parametrize("model", ["unigram", "byte-unigram"])
def test_a_corpus_with_too_few_pieces_gives_a_limit(model: str) -> None:
    with pytest.warns(errors.TrainingWarning, match="stopped early"):
        tok = pw.Tokenizer.train_from_iterator(["hug hugs"] * 3, model=model, vocab_size=5_000)
    assert len(tok) < 5_000


@pytest.mark.usefixtures("other_messages")
def test_skipped_input_is_counted_by_kind(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "hug"}\n{"text": 3}\n[]\n{\n')
    with pytest.warns(CorpusWarning) as caught:
        pw.train.count_files(tmp_path / "a.jsonl", on_error="skip")
    text = str(caught[0].message)
    assert "a field that is not a string: 1 (first in " in text
    assert "JSON that is not an object: 1" in text
    assert "broken JSON: 1" in text


@pytest.mark.usefixtures("other_messages")
def test_commands_translate_places_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "nothing.txt", "--vocab-size", "1", "-o", "t.json"]) == 2
    assert capsys.readouterr().err.startswith("piecework: error: ")


@pytest.mark.usefixtures("other_messages")
def test_a_gguf_file_without_a_tokenizer_is_known_by_its_kind(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    with pytest.raises(errors.FormatError) as raised:
        pw.Tokenizer.load(tmp_path / "a.gguf", pattern="x")
    assert raised.value.place == str(tmp_path / "a.gguf")


def test_every_kind_of_skipped_input_has_a_name() -> None:
    assert CorpusError("a", "is bad").kind == "damaged data"
    assert FileError("a", "is bad").kind == "an unreadable file"
    assert errors.InvalidUtf8Error("a", "is bad").kind == "invalid UTF-8"
    assert CorpusError("a", "is bad", kind="broken CSV").kind == "broken CSV"
