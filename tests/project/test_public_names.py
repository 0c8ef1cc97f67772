"""Public names exist and are documented, errors form one tree. public-api.txt lists the names."""

from __future__ import annotations

import inspect
from types import FunctionType, ModuleType

import pytest

import piecework as pw
from piecework._internal.names_of_other_libraries import ForeignName
from piecework.cli import playground
from piecework.compat import sentencepiece, tiktoken

HOMES = (
    *(pw.analysis, pw.chat, pw.corpus, pw.errors, pw.export, pw.tokenizer.lattice, pw.spec),
    *(pw.tokenizer.stages, pw.train, pw.vocabulary, playground),
)

ERROR_TREE = {
    "PieceworkError": Exception,
    "ArgumentError": ValueError,
    "InputTypeError": TypeError,
    "SpecialTokenError": ValueError,
    "UnknownNameError": KeyError,
    "IdRangeError": IndexError,
    "ImmutableError": AttributeError,
    "FormatError": ValueError,
    "VocabularyError": ValueError,
    "CorpusError": ValueError,
    "InvalidUtf8Error": ValueError,
    "TrainingError": ValueError,
    "PortabilityError": ValueError,
    "MemoryLimitError": MemoryError,
    "TemplateError": ValueError,
    "StageError": RuntimeError,
    "FileError": OSError,
    "MissingExtraError": ImportError,
    "ProgramError": RuntimeError,
    "WorkerError": RuntimeError,
    "InternalError": RuntimeError,
}


def public_members(owner: object) -> dict[str, object]:
    """Return what an object has by itself; a class has what the project's own bases give it too."""
    bases = inspect.getmro(owner) if inspect.isclass(owner) else (owner,)
    own = [vars(base) for base in bases if base is owner or base.__module__.startswith("piecework")]
    return {
        name: value
        for names in reversed(own)
        for name, value in names.items()
        if not name.startswith("_") and not isinstance(value, ForeignName)
    }


def documented_things() -> list[tuple[str, object]]:
    """Every public class, function, method and property that a user can reach."""
    things: list[tuple[str, object]] = [("piecework", pw)]
    for home in (pw, *HOMES):
        for name, value in public_members(home).items():
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if not value.__module__.startswith("piecework"):
                continue
            things.append((f"{home.__name__}.{name}", value))
            if inspect.isclass(value):
                things += [
                    (f"{home.__name__}.{name}.{method}", member)
                    for method, member in public_members(value).items()
                    if callable(member) or isinstance(member, property | classmethod | staticmethod)
                ]
    return things


@pytest.mark.parametrize("home", [pw, *HOMES], ids=lambda home: home.__name__)
def test_exported_names_exist_once(home: ModuleType) -> None:
    names = getattr(home, "__all__", [])
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(home, name)] == []


def test_the_tokenizer_has_few_public_names() -> None:
    assert len(public_members(pw.Tokenizer)) <= 71, "write function(tokenizer, ...) instead"


def test_error_tree_lists_every_exception() -> None:
    classes = {name: value for name, value in vars(pw.errors).items() if inspect.isclass(value)}
    errors = {
        name
        for name, value in classes.items()
        if issubclass(value, Exception) and not issubclass(value, Warning) and name[0] != "_"
    }
    assert set(ERROR_TREE) == errors


@pytest.mark.parametrize(("name", "builtin"), ERROR_TREE.items())
def test_errors_form_one_tree_and_match_the_builtin_kind(name: str, builtin: type) -> None:
    error = getattr(pw.errors, name)
    assert issubclass(error, pw.errors.PieceworkError)
    assert issubclass(error, builtin)


def test_training_warning_is_a_user_warning() -> None:
    assert issubclass(pw.errors.TrainingWarning, UserWarning)
    assert issubclass(pw.errors.PortabilityWarning, UserWarning)


@pytest.mark.parametrize(
    ("name", "thing"), [pytest.param(*each, id=each[0]) for each in documented_things()]
)
def test_everything_public_is_documented(name: str, thing: object) -> None:
    assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"


def test_version_is_the_one_of_the_distribution() -> None:
    from importlib.metadata import version

    assert pw.__version__ == version("piecework")


# ---- examples


def classes_and_functions() -> dict[str, object]:
    """Return each public class and function once, under its shortest name."""
    found: dict[int, tuple[str, object]] = {}
    for home in (pw, *HOMES, sentencepiece, tiktoken):
        own = [name for name, value in vars(home).items() if is_of(value, home)]
        for name in getattr(home, "__all__", own):
            value = getattr(home, name)
            if name[0] != "_" and (inspect.isclass(value) or inspect.isroutine(value)):
                found.setdefault(id(value), (f"{home.__name__}.{name}", value))
    return dict(found.values())


def is_of(value: object, module: ModuleType) -> bool:
    return getattr(value, "__module__", "") == module.__name__


METHODS_OF_TOKENIZER = {
    f"piecework.Tokenizer.{name}": method
    for name, method in vars(pw.Tokenizer).items()
    if not name.startswith("_") and isinstance(method, FunctionType | classmethod)
}
WITH_EXAMPLES = {**classes_and_functions(), **METHODS_OF_TOKENIZER}


@pytest.mark.parametrize("name", sorted(WITH_EXAMPLES))
def test_public_classes_and_functions_and_methods_of_the_tokenizer_have_an_example(
    name: str,
) -> None:
    thing = WITH_EXAMPLES[name]
    own = vars(thing).get("__doc__") if inspect.isclass(thing) else inspect.getdoc(thing)
    assert ">>> " in (own or ""), f"{name} has no example"
