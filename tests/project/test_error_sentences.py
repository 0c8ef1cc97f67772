"""Every error of the package reads as a sentence: rules that the source of each raise site can show."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from piecework import errors
from piecework.errors import ArgumentError, FileError, PieceworkError, TrainingError

PACKAGE = Path(errors.__file__).parent
ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, PieceworkError)
}
# What follows a subject: a verb, or `=` and a value, or a colon and a clause.
VERBS = (
    "allows and appears applies calls can cannot changed changes contain contains contents continues "
    "contradicts counts did do does end ends exists failed gives has have holds is leaves longer made may "
    "must names need needs occurs takes was"
)
PREDICATE = re.compile(rf"=|: |({VERBS.replace(' ', '|')})\b|\{{\}}")
# What "must be" and "not" cannot precede.
NO_VALUES = re.compile(r"none\b|one of (them|the two)|only one of|exactly one of|.* instead$")
NO_FINDS = re.compile(r"(no|both|neither|given|without|none)\b|.*\btwice$")


@dataclass(frozen=True)
class Site:
    """A call that makes an error, with the texts its parts can have; `{}` stands for a value."""

    at: str
    kind: type[PieceworkError]
    place: tuple[str, ...]
    found: tuple[str, ...]
    expected: tuple[str, ...]
    message: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return self.found + self.expected + self.message

    @property
    def predicates(self) -> tuple[str, ...]:
        """Return what follows the place in a sentence of two texts."""
        return () if self.expected or self.message else self.found


@cache
def sites() -> tuple[Site, ...]:
    return tuple(_sites())


def _sites() -> Iterator[Site]:
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function, call in _calls(tree, None):
            kind = ERRORS.get(_name(call.func))
            if kind is not None and not any(isinstance(part, ast.Starred) for part in call.args):
                at = f"{path.relative_to(PACKAGE)}:{call.lineno}"
                parts = dict(zip(("place", "found", "expected"), call.args, strict=False))
                parts |= {part.arg: part.value for part in call.keywords if part.arg}
                given = {name: tuple(_texts(part, function)) for name, part in parts.items()}
                names = ("place", "found", "expected", "message")
                yield Site(at, kind, *(given.get(name, ()) for name in names))


def _calls(node: ast.AST, function: ast.AST | None) -> Iterator[tuple[ast.AST | None, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield function, child
        inside = child if isinstance(child, ast.FunctionDef) else function
        yield from _calls(child, inside)


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _texts(part: ast.expr, function: ast.AST | None) -> Iterator[str]:
    """Yield the texts of an expression; a name has those that its function assigns to it."""
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value
    elif isinstance(part, ast.JoinedStr):
        yield "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in part.values)
    elif isinstance(part, ast.IfExp):
        yield from (text for way in (part.body, part.orelse) for text in _texts(way, function))
    elif isinstance(part, ast.Name) and function is not None and _assigned(part.id, function):
        for value in _assigned(part.id, function):
            yield from _texts(value, None)
    else:
        yield "{}"


def _assigned(name: str, function: ast.AST) -> list[ast.expr]:
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]


def test_every_error_of_the_package_is_examined() -> None:
    assert len(sites()) > 600
    assert {site.kind for site in sites()} > {ArgumentError, FileError, TrainingError}


def test_an_error_has_a_place_and_says_what_is_wrong() -> None:
    lacking = [site.at for site in sites() if not (site.place and (site.found or site.message))]
    assert lacking == []


def test_a_sentence_of_two_texts_is_a_subject_and_a_predicate() -> None:
    wrong = [
        (site.at, text) for site in sites() for text in site.predicates if not PREDICATE.match(text)
    ]
    assert wrong == []


def test_the_sentence_of_an_argument_follows_from_its_parts() -> None:
    """Without a message, an argument "must be" what is expected, "not" what was found."""
    wrong = [
        (site.at, text)
        for site in sites()
        if issubclass(site.kind, (ArgumentError, TrainingError))
        and site.expected
        and not site.message
        for parts, pattern in ((site.expected, NO_VALUES), (site.found, NO_FINDS))
        for text in parts
        if pattern.match(text)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "pattern",
    [r"\.$", r"^[,;.]", r"(^|\W)found found", r" {2}", r"^expected ", r"^found "],
)
def test_texts_of_errors_are_parts_of_one_sentence(pattern: str) -> None:
    wrong = [(site.at, text) for site in sites() for text in site.texts if re.search(pattern, text)]
    assert wrong == []


def test_a_frame_has_its_own_verb() -> None:
    wrong = [
        (site.at, text)
        for site in sites()
        if site.expected
        for text in site.found + site.expected
        if text.startswith("must be ")
    ]
    assert wrong == []


def test_messages_are_no_forms() -> None:
    form = re.compile(r": found .*, expected|: found |^found ")
    assert [(s.at, text) for s in sites() for text in s.message if form.search(text)] == []


def test_a_message_replaces_the_sentence_and_travels_with_the_fields() -> None:
    error = ArgumentError(
        "tools", "2 tools", "None", message="estimate=True does not support tools="
    )
    twin = pickle.loads(pickle.dumps(error))
    assert str(twin) == "estimate=True does not support tools="
    assert (twin.place, twin.found, twin.expected) == ("tools", "2 tools", "None")


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ("at least 1", "n must be at least 1, not 0"),
        ("at least 1; None is no limit", "n must be at least 1, not 0; None is no limit"),
        ("at least 1: it counts tokens", "n must be at least 1, not 0: it counts tokens"),
    ],
)
def test_a_hint_follows_the_value_that_was_found(expected: str, sentence: str) -> None:
    assert str(ArgumentError("n", "0", expected)) == sentence
    assert str(TrainingError("n", "0", expected)) == sentence


def test_other_errors_say_what_was_found_where() -> None:
    error = errors.CorpusError("a.csv line 2", "2 columns", "3")
    assert str(error) == "a.csv line 2: found 2 columns, expected 3"
    assert str(errors.CorpusError("a.csv", "2 columns", "")) == "a.csv: found 2 columns"
    assert str(PieceworkError("whatever")) == "whatever"


@pytest.mark.parametrize(
    ("predicate", "sentence"),
    [
        ("has no words; it needs text", "corpus has no words; it needs text"),
        ("= does not apply", "corpus= does not apply"),
        (": 'x' is no path", "corpus: 'x' is no path"),
    ],
)
def test_two_texts_are_a_subject_and_a_predicate(predicate: str, sentence: str) -> None:
    error = ArgumentError("corpus", predicate)
    assert (str(error), error.place) == (sentence, "corpus")
    assert (error.found, error.expected) == (
        predicate.partition("; ")[0],
        predicate.partition("; ")[2],
    )
    assert str(pickle.loads(pickle.dumps(error))) == sentence


def test_a_sentence_about_a_file_keeps_what_the_system_gave() -> None:
    error = FileError(
        "a.bin", message="cannot read a.bin, the data of a.idx: no such file", errno=2
    )
    twin = pickle.loads(pickle.dumps(error))
    assert str(twin) == str(error) == "cannot read a.bin, the data of a.idx: no such file"
    assert isinstance(twin, FileNotFoundError)
    assert (twin.place, twin.filename, twin.errno) == ("a.bin", "a.bin", 2)


@pytest.mark.parametrize("action", ["read", "write", "remove"])
def test_a_file_error_of_the_system_says_what_was_tried(action: str) -> None:
    make = {"read": FileError.reading, "write": FileError.writing, "remove": FileError.removing}
    error = make[action](Path("a.txt"), PermissionError(13, "Permission denied"))
    assert str(error) == f"cannot {action} a.txt: permission denied"
    assert isinstance(error, PermissionError)
    assert (error.place, error.found, error.errno) == ("a.txt", "permission denied", 13)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_file_error_of_the_compiled_core_has_no_action() -> None:
    error = FileError("a/run-0", "no space left on device", "a folder with free space", 28)
    assert str(error) == "cannot use a/run-0: no space left on device"


def test_a_system_error_without_a_number_keeps_its_text() -> None:
    error = FileError.reading("a.txt", OSError("Closed By Peer"))
    assert (str(error), error.errno) == ("cannot read a.txt: closed by peer", None)
