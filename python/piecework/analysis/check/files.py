"""Rules about the files of a tokenizer, and about what cannot be checked."""

from __future__ import annotations

from collections.abc import Iterator

from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import Subject, rule
from piecework.spec.custom import CustomStage


@rule("unreadable", "loading", "error", reads_files=True)
def unreadable(subject: Subject) -> Iterator[Finding]:
    """Find a tokenizer that does not load.

    The error of the loader is the finding. The rules that read the files of a folder still run.

    >>> import pathlib, tempfile
    >>> import piecework as pw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
    >>> _ = path.write_text("{}")
    >>> pw.analysis.check(path, select=["unreadable"]).worst
    'error'

    A file that loads passes.

    >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).save(path)
    >>> pw.analysis.check(path, select=["unreadable"]).findings
    ()
    """
    if subject.error is not None:
        yield Finding(str(subject.error), advice=subject.error.hint)


@rule("unchecked", "loading", "note")
def unchecked(subject: Subject) -> Iterator[Finding]:
    """Find stages that are functions, and rules that could not run.

    The rules try texts on a function of yours, and know nothing else of it.

    >>> import piecework as pw
    >>> model = pw.spec.Char({"[UNK]": 0, "a": 1})
    >>> custom = pw.Tokenizer(model, normalizer=pw.spec.CustomNormalizer(str.strip))
    >>> print(pw.analysis.check(custom, select=["unchecked"]).findings[0].message)
    the normalizer calls the function 'builtins:str.strip': rules try texts on it and know nothing else of it

    Stages of a file pass.

    >>> stripped = pw.Tokenizer(model, normalizer=pw.spec.Strip())
    >>> pw.analysis.check(stripped, select=["unchecked"]).findings
    ()
    """
    for stage in ("normalizer", "pre_tokenizer"):
        found = getattr(subject.spec, stage)
        for part in getattr(found, f"{stage.replace('_', '')}s", (found,)):
            if isinstance(part, CustomStage):
                problem = "rules try texts on it and know nothing else of it"
                name = stage.replace("_", "-")
                yield Finding(f"the {name} calls the function {part.name!r}: {problem}")


@rule(
    "loader-warning",
    "files",
    "warning",
    reads_files=True,
    cost="Other libraries give other ids for the same text.",
    advice="load the file by its own path, or compare with `piecework verify --against`.",
)
def loader_warning(subject: Subject) -> Iterator[Finding]:
    """Find what the loader warns of, such as a class of transformers that replaces stages of the file.

    >>> import json, pathlib, tempfile
    >>> import piecework as pw
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).save(folder / "tokenizer.json")
    >>> pw.analysis.check(folder, select=["loader-warning"]).findings
    ()
    """
    for message in subject.warnings:
        yield Finding(message)
