"""`typing.get_type_hints` resolves on everything public, for the libraries that read annotations."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from collections.abc import Collection

import pytest

import piecework as pw
from tests.project.test_public_names import public_members

HOMES = (pw, pw.corpus, pw.spec, pw.train, pw.vocabulary, pw.export, pw.analysis, pw.errors)


def functions_of(thing: object) -> list[object]:
    """Return what has annotations: a function itself, those of a property or a class method."""
    if isinstance(thing, property):
        return [f for f in (thing.fget, thing.fset, thing.fdel) if f]
    if isinstance(thing, classmethod | staticmethod):
        return [thing.__func__]
    compute = getattr(thing, "compute", None) or getattr(thing, "func", None)
    return [compute] if inspect.isfunction(compute) else [thing]


def exported(home: object) -> dict[str, object]:
    """Return what a module imports when it is asked for."""
    return {name: getattr(home, name) for name in getattr(home, "__all__", ())}


def annotated() -> dict[str, object]:
    """Every public class, function, method and property, the constructor included."""
    found: dict[str, object] = {}
    for home in HOMES:
        for name, value in {**public_members(home), **exported(home)}.items():
            is_own = getattr(value, "__module__", "").startswith("piecework")
            if not (is_own and (inspect.isclass(value) or inspect.isfunction(value))):
                continue
            found[f"{home.__name__}.{name}"] = value
            if not inspect.isclass(value):
                continue
            members = public_members(value)
            members["__init__"] = value.__init__
            for member, thing in members.items():
                if callable(thing) or functions_of(thing) != [thing]:
                    for function in functions_of(thing):
                        found[f"{home.__name__}.{name}.{member}"] = function
    return found


THINGS = annotated()


def test_the_walk_finds_methods_properties_and_fields() -> None:
    assert {
        "piecework.Tokenizer.count",
        "piecework.Tokenizer.load",
        "piecework.Tokenizer.spec",
        "piecework.Batch.ids",
        "piecework.Encoding.token_to_chars",
        "piecework.IdMap.__init__",
        "piecework.spec.WordPiece",
        "piecework.train.Counts.save",
        "piecework.analysis.compare",
    } <= set(THINGS)
    assert len(THINGS) > 500


@pytest.mark.parametrize("name", sorted(THINGS))
def test_annotations_resolve(name: str) -> None:
    hints = typing.get_type_hints(THINGS[name])
    assert not any(isinstance(hint, str) for hint in hints.values())


def test_annotations_are_the_classes_themselves() -> None:
    hints = typing.get_type_hints(pw.Tokenizer.count)
    assert hints["sampling"] == pw.Sampling | None
    assert hints["parse_special"] == bool | Collection[str] | None
    assert hints["return"] is int
    assert typing.get_type_hints(pw.Tokenizer.with_normalizer)["normalizer"] == (
        pw.spec.Normalizer | None
    )


def test_signatures_evaluate_as_libraries_evaluate_them() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))
    for method in (tok.count, tok.decode, tok.encode_batch, tok.count_batch, tok.normalize):
        signature = inspect.signature(method, eval_str=True)
        assert not isinstance(signature.return_annotation, str)


def test_resolving_needs_nothing_imported_before() -> None:
    code = """
import piecework as pw, typing
print(typing.get_type_hints(pw.Tokenizer.encode)["return"].__name__)
print(typing.get_type_hints(pw.vocabulary.extend)["corpus"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "Encoding"
    assert "Counts" in done.stdout
