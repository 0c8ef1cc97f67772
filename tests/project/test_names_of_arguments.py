"""One name for a concept in every signature: docs/reference/names.md lists them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.project.test_one_name import OTHER_NAMES

MODULES = (
    "piecework",
    *(f"piecework.{name}" for name in "analysis chat corpus export lattice spec".split()),
    *(f"piecework.{name}" for name in "stages train vocabulary distributed playground".split()),
    *("piecework.distributed.ray", "piecework.distributed.spark"),
)
OTHER_CONCEPTS = {
    "column": ("Batch", "distributed"),  # of a batch or a data frame, which has no records
    "encoding": ("metaspace_word_ids",),  # an `Encoding`
    "pipeline": ("Counts", "Plan", "Preset", "counts_of_table", "decoder_for"),  # a `Pipeline`
    "threads": ("Speed",),  # a figure of a result
    "type": ("ScoredPiece",),  # that of a piece in a `.model`
}
"""Names of the last column that mean something else, with the owners that may have them."""


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions, classes and methods of the library's own modules."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                yield f"{module.__name__}.{name}", value
                yield from methods_of(value, f"{module.__name__}.{name}")
            elif callable(value):
                yield f"{module.__name__}.{name}", value


def methods_of(cls: type, owner: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        member = getattr(member, "__func__", member)
        if not name.startswith("_") and getattr(member, "__module__", "").startswith("piecework"):
            yield f"{owner}.{name}", member


def parameters(value: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(value).parameters)
    except (TypeError, ValueError):  # a type of typing, an exception
        return {}


CALLABLES = dict(public_callables())


def test_signatures_are_found() -> None:
    assert len(CALLABLES) > 300
    assert "num_threads" in parameters(CALLABLES["piecework.Tokenizer.encode_batch"])


@pytest.mark.parametrize("name", CALLABLES)
def test_no_argument_has_a_second_name_for_a_concept(name: str) -> None:
    found = parameters(CALLABLES[name]).keys() & OTHER_NAMES.keys()
    wrong = {
        argument: OTHER_NAMES[argument]
        for argument in found
        if not any(owner in name.split(".") for owner in OTHER_CONCEPTS.get(argument, ()))
    }
    assert wrong == {}


def test_special_tokens_are_added_to_texts_and_not_to_segments_and_prompts() -> None:
    defaults = {
        name: parameters(value)["add_special_tokens"].default
        for name, value in CALLABLES.items()
        if "add_special_tokens" in parameters(value)
    }
    assert len(defaults) > 10
    without = [name for name, default in defaults.items() if default is not True]
    assert without == ["piecework.Tokenizer.encode_segments", "piecework.chat.heal"]
