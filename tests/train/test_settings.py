"""The settings of trainers, of counting and of encoding files: bad values, from the table of their fields."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework._internal import setting_fields as kinds
from piecework._internal.setting_fields import Setting, check_settings, setting, settings_of
from piecework.errors import ArgumentError
from piecework.export.options import EncodeCorpusOptions, EncodeFilesOptions
from piecework.export.settings import CorpusSettings, FileSettings
from piecework.train import LEARNERS
from piecework.train.counting import FileCountSettings
from piecework.train.plan import Plan
from piecework.train.settings import CountFilesOptions
from piecework.train.trainers import TRAINERS

WITH_SETTINGS: tuple[type, ...] = (
    *TRAINERS.values(),
    *LEARNERS.values(),
    FileCountSettings,
    FileSettings,
    CorpusSettings,
)


def bad_values(about: Setting) -> Iterator[Any]:
    """Yield values of a wrong type, out of range, and unknown names."""
    if not about.none:
        yield None
    match about:
        case kinds.Switch():
            yield from (1, "yes")
        case kinds.IntegerOrShare():
            yield from ("8", "0.5", 2.5, 0.0, 1.0, math.nan, True, about.least - 1, about.most + 1)
        case kinds.Integer():
            yield from ("8", 2.5, True, about.least - 1, about.most + 1)
        case kinds.Number():
            low = max(about.above, about.least - 1)
            high = min(about.below, about.most + 1)
            yield from ("0.5", True, math.nan, math.inf, low, high)
        case kinds.Choice():
            yield from ("unheard-of", "", 3, [next(iter(about.names))])
        case kinds.Text():
            yield from (3, "\ud800", *([] if about.can_be_empty else [""]))
        case kinds.Tokens():
            yield from ("[UNK]", 3, [3], [""], ["a", "a"], ["\ud800"])
        case kinds.Characters():
            yield from (3, [3], ["ab"], ["\ud800"])
        case kinds.Variant():
            yield from (next(iter(about.kinds)), 3, *about.kinds.values())
        case kinds.File() | kinds.Value():
            yield 3
        case kinds.MemorySize():
            yield from ("lots", 1000, True)
        case _:
            raise AssertionError(f"no bad values for {type(about).__name__}")


def cases() -> Iterator[Any]:
    for cls in WITH_SETTINGS:
        for name, (about, _) in settings_of(cls).items():
            for value in bad_values(about):
                yield pytest.param(cls, name, value, id=f"{cls.__name__}-{name}-{value!a}")


@pytest.mark.parametrize(("cls", "name", "value"), list(cases()))
def test_a_bad_value_is_an_error_that_names_the_setting(cls: type, name: str, value: Any) -> None:
    with pytest.raises((ArgumentError, pw.errors.InputTypeError)) as caught:
        cls(**{name: value})
    assert caught.value.place == name


@pytest.mark.parametrize("cls", WITH_SETTINGS)
def test_defaults_are_valid_and_stored_as_given(cls: type) -> None:
    defaults = {name: default for name, (_, default) in settings_of(cls).items()}
    assert cls(**defaults) == cls()


@pytest.mark.parametrize("cls", WITH_SETTINGS)
def test_every_setting_says_what_it_is(cls: type) -> None:
    for about, default in settings_of(cls).values():
        assert about.help.endswith(".")
        assert default is not None or about.none


@pytest.mark.parametrize("cls", WITH_SETTINGS)
def test_the_docstring_lists_every_setting(cls: type) -> None:
    listed = re.findall(r"^- `(\w+)` \(", cls.__doc__ or "", re.MULTILINE)
    assert listed == list(settings_of(cls))


def test_type_checkers_know_every_setting() -> None:
    names = {name for cls in TRAINERS.values() for name in settings_of(cls)}
    own = {"model", "preset", *(field.name for field in fields(Plan) if field.default is None)}
    assert set(pw.train.TrainOptions.__annotations__) == names | own
    assert all(f"`{name}` (" in (pw.Tokenizer.train.__doc__ or "") for name in own)
    assert set(CountFilesOptions.__annotations__) == set(settings_of(FileCountSettings))
    assert set(EncodeFilesOptions.__annotations__) == set(settings_of(FileSettings))
    assert set(EncodeCorpusOptions.__annotations__) == set(settings_of(CorpusSettings))


@dataclass(frozen=True)
class Example:
    """A setting of each kind."""

    switch: bool = setting(False, kinds.Switch("S."))
    integer: int = setting(1, kinds.Integer("I.", least=1))
    small: int = setting(1, kinds.Integer("I.", least=1, most=9))
    ranged: float = setting(1.0, kinds.Number("N.", least=0.5, most=1e6))
    fraction: float = setting(0.5, kinds.Number("N.", above=0, below=1))
    share: float = setting(0.5, kinds.Number("N.", above=0, most=1))
    choice: str = setting("a", kinds.Choice("C.", names=("a", "b")))
    text: str = setting("a", kinds.Text("T.", can_be_empty=False))
    tokens: tuple[str, ...] = setting((), kinds.Tokens("T."))
    characters: tuple[str, ...] = setting((), kinds.Characters("C."))
    file: str | None = setting(None, kinds.File("F."))

    def __post_init__(self) -> None:
        check_settings(self)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("switch", 1, "must be True or False, not 1"),
        ("integer", 0, "must be an integer of at least 1 and at most 4294967295, not 0"),
        ("integer", 2.5, "must be an integer of at least 1, not 2.5"),
        ("integer", 10**30, "and at most 4294967295"),
        ("small", 10, "must be an integer from 1 to 9, not 10"),
        ("ranged", "1", "must be a number from 0.5 to 1e+06, not '1'"),
        ("fraction", 1, "must be a number above 0 and below 1, not 1"),
        ("share", math.nan, "must be a number above 0 and at most 1, not nan"),
        ("choice", "c", "must be one of a, b, not 'c'"),
        ("choice", None, "must be one of a, b, not None"),
        ("text", "", "text: must not be empty"),
        ("text", "\ud800", "a string without lone surrogates"),
        ("tokens", "ab", "must be a list of strings, not 'ab'"),
        ("tokens", ["a", "a"], "tokens: contains 'a' twice"),
        ("characters", ["ab"], "must be single characters, not 'ab'"),
        ("file", 3, "must be a path, not int"),
    ],
)
def test_an_error_says_what_was_found_and_what_is_valid(
    name: str, value: Any, message: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        Example(**{name: value})
    assert str(caught.value).startswith(f"{name}: ")
    assert message in str(caught.value)


def test_values_are_stored_in_one_form() -> None:
    stored = Example(integer=np.int64(3), tokens=["b", "a"], characters="aba")
    assert (type(stored.integer), stored.integer) == (int, 3)
    assert (stored.tokens, stored.characters) == (("b", "a"), ("a", "b"))


def test_each_trainer_has_its_own_alphabet_orders() -> None:
    orders = {
        trainer: settings_of(trainer)["alphabet_order"][0].names  # type: ignore[attr-defined]
        for trainer in (pw.BPETrainer, pw.ByteBPETrainer, pw.WordPieceTrainer)
    }
    assert len(set(orders.values())) == 3
