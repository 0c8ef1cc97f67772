"""Arguments of public functions: wrong values raise typed errors with a place; a default they share."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import FileError, PieceworkError

MODULES = (
    "piecework",
    *(f"piecework.{name}" for name in "analysis chat corpus export tokenizer.lattice".split()),
    *(f"piecework.{name}" for name in "spec tokenizer.stages train vocabulary".split()),
)
WRONG = (
    *(None, -1, 10**30, 1.5, float("nan"), "", "wrong", "\ud800", b"x", [], [None]),
    *({"a": 1}, {1: None}, object()),
)
TEXTS = ["hug hugs bug bugs pug"] * 9
TOK = pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=25)
# Dicts for type checkers; what only unpickling constructs.
SKIPPED = ("RetrainSettings", "Encoding")
OTHERS: dict[str, Any] = {
    "batch": [[5, 6]],
    "char_pos": 0,
    "corpus": ["hug bug"],
    "counts": pw.count_texts(TEXTS),
    "files": "corpus.txt",
    "gold": pw.analysis.Gold.of({"hugs": ["hug", "s"]}),
    "id": 1,
    "ids": [5, 6],
    "keep": [1, 2, 3],
    "messages": [{"role": "user", "content": "hug"}],
    "model": TOK.spec.model,
    "n": 1,
    "new": TOK,
    "old": TOK,
    "out_dir": "out",
    "path": "tok.json",
    "pattern": "gpt2",
    "ranks": {bytes([byte]): byte for byte in range(256)},
    "segments": [("hug", True)],
    "size": 30,
    "sizes": [25],
    "sources": {"a": "corpus.txt", "b": "corpus.txt"},
    "spec": TOK.spec,
    "text": "hug",
    "texts": ["hug", "bugs"],
    "tokenizer": TOK,
    "tokenizers": {"a": TOK},
    "trainer": pw.WordPieceTrainer(25),
    "vocab_size": 25,
    "word_index": 0,
    "words": ["hug"],
}
"""Right values of the arguments that a call needs besides the wrong one, by name."""
SHORT: dict[str, dict[str, Any]] = {"piecework.analysis.check": {"select": ["line-end-entries"]}}
"""Arguments with which a call that takes seconds takes less, by the name of the function."""


def called() -> dict[str, Callable[..., Any]]:
    """Return functions, classes and bound methods by name."""
    found: dict[str, Callable[..., Any]] = {}
    for module in map(import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            is_error = inspect.isclass(value) and issubclass(value, BaseException)
            if callable(value) and not is_error and name not in SKIPPED:
                found[f"{module.__name__}.{name}"] = value
    for owner in (TOK, TOK.encode_batch(["hug"]), OTHERS["counts"], TOK.encode("hug")):
        cls = type(owner)
        for name in dir(cls):
            member = inspect.getattr_static(cls, name)
            if not name.startswith("_") and (callable(member) or hasattr(member, "__func__")):
                found[f"{cls.__name__}.{name}"] = getattr(owner, name)
    return found


CALLABLES = called()


def calls(called: str) -> Iterator[tuple[str, object, dict[str, Any]]]:
    """Yield arguments for calls in which one is wrong, with its name."""
    try:
        parameters = inspect.signature(CALLABLES[called]).parameters.values()
    except ValueError:  # a type of typing
        return
    named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    needed = {one.name: OTHERS.get(one.name, "wrong") for one in named if one.default is one.empty}
    needed.update(SHORT.get(called, {}))
    for parameter in named:
        for value in WRONG:
            yield parameter.name, value, {**needed, parameter.name: value}


def problem(function: Callable[..., Any], name: str, arguments: dict[str, Any]) -> str | None:
    """Return the error of a call that has no type or no place."""
    try:
        result = function(**arguments)
        if hasattr(result, "__next__"):
            next(result, None)
    except PieceworkError as error:
        is_empty_path = isinstance(error, FileError) and error.filename == ""
        return None if error.place or is_empty_path else f"{error!r} without a place"
    except (TypeError, OverflowError) as error:
        # Compiled methods name the argument as Python does for its own.
        is_compiled = re.match(rf"argument '{name}'|Python int too large", str(error))
        return None if is_compiled else repr(error)
    except Exception as error:
        return repr(error)
    return None


@pytest.mark.parametrize("name", CALLABLES)
def test_a_wrong_argument_is_a_typed_error_with_a_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_candidates: None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("hug hugs\nbug\n" * 9)
    TOK.save("tok.json")
    function = CALLABLES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problems = {
            f"{argument}={value!r}": found
            for argument, value, arguments in calls(name)
            if (found := problem(function, argument, arguments))
        }
    assert problems == {}


def test_special_tokens_are_added_to_texts_and_not_to_segments_and_prompts() -> None:
    defaults = {
        name: parameters["add_special_tokens"].default
        for name, value in CALLABLES.items()
        if inspect.isroutine(value)
        and "add_special_tokens" in (parameters := inspect.signature(value).parameters)
    }
    assert len(defaults) > 10
    without = [name for name, default in defaults.items() if default is not True]
    assert without == ["piecework.chat.heal", "Tokenizer.encode_segments"]
