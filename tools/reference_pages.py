"""Write the generated parts of docs/reference/: the Python API, the help of commands, the settings.

The list of files in `reference/README.md` is generated, too.

    python tools/reference_pages.py          # write the pages
    python tools/reference_pages.py --check  # exit code 1 when a page differs

The index has each public name with the first sentence of its docstring. Text above the line
`<!-- generated -->` of a page is written by hand and stays.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import ModuleType, UnionType
from typing import get_origin

from piecework._internal.names_of_other_libraries import ForeignName
from piecework._internal.setting_fields import (
    Setting,
    Variant,
    settings_of,
)
from piecework.train.counting import FileCountSettings
from piecework.train.trainers import TRAINERS
from returned_classes import Returned, returned_classes

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "reference"
REFERENCE = ROOT / "python" / "piecework" / "reference"
MARK = "<!-- generated -->\n"
CLASSES = ("Tokenizer", "Encoding", "Batch", "Counts", "IdMap")
FIELD = property(doc="A field; the docstring of the class describes it.")
MODULES = (
    "piecework",
    "piecework.spec",
    "piecework.corpus",
    "piecework.train",
    "piecework.vocabulary",
    "piecework.export",
    "piecework.analysis",
    "piecework.chat",
    "piecework.tokenizer.lattice",
    "piecework.tokenizer.stages",
    "piecework.integrations.distributed",
    "piecework.integrations.distributed.ray",
    "piecework.integrations.distributed.spark",
    "piecework.cli.playground",
    "piecework.errors",
    "piecework.compat.tiktoken",
    "piecework.compat.sentencepiece",
)


def main() -> None:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description="Write the generated pages of docs/reference/.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    stale = [name for name, made in PAGES.items() if not is_current(FOLDER / name, made(), check)]
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}: run python tools/reference_pages.py")


def is_current(page: Path, generated: str, check: bool) -> bool:
    """Write the generated part of a page, or compare it."""
    old = page.read_text(encoding="utf-8")
    new = old[: old.index(MARK) + len(MARK)] + "\n" + generated
    if not check:
        page.write_text(new, encoding="utf-8")
    return not check or old == new


def api_index() -> str:
    """Return the public names of all modules and the members of the main classes, as Markdown."""
    package = import_module("piecework")
    sections = [class_section(getattr(package, name)) for name in CLASSES]
    modules = {module: public_names(module) for module in map(import_module, MODULES)}
    returned = list(returned_classes(modules))
    for module in modules:
        sections.append(module_section(module))
        if rows := [returned_row(one) for one in returned if one.module == module.__name__]:
            header = [
                "| returned class | by | what it is | fields and methods |",
                "|---|---|---|---|",
            ]
            sections.append("\n".join([*header, *rows, ""]))
    return "\n".join(sections)


def class_section(cls: type) -> str:
    """Return a table of the public attributes and methods of a class."""
    members = [(name, getattr(cls, name, FIELD)) for name in members_of(cls)]
    rows = [row(f"{name}{signature(member)}", member) for name, member in members]
    return table(f"`{cls.__name__}`", cls, rows)


def members_of(cls: type) -> Iterable[str]:
    """Return the public attributes and methods of a class and of its bases, sorted by name."""
    found = {
        name
        for base in cls.__mro__
        if base.__module__ != "builtins"
        for name, value in vars(base).items()
        if not isinstance(value, ForeignName)
    }
    if dataclasses.is_dataclass(cls):
        found |= {field.name for field in dataclasses.fields(cls)}
    return sorted(name for name in found if not name.startswith("_"))


def module_section(module: ModuleType) -> str:
    """Return a table of the public names of a module."""
    rows = [
        row(name, getattr(module, name))
        for name in sorted(public_names(module), key=str.lower)
        if not name.startswith("__")
    ]
    return table(f"`{module.__name__}`", module, rows)


def returned_row(one: Returned) -> str:
    """Return a row about a class that is returned and not exported."""
    cells = (
        f"`{one.cls.__name__}`",
        ", ".join(f"`{function}`" for function in one.functions),
        first_sentence(one.cls).replace("|", chr(92) + "|"),
        ", ".join(f"`{member}`" for member in one.members()),
    )
    return f"| {' | '.join(cells)} |"


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module exports; without `__all__`, the classes that it defines."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    found = inspect.getmembers(module, inspect.isclass)
    own = [name for name, cls in found if cls.__module__ == module.__name__]
    return [name for name in own if not name.startswith("_")]


def table(heading: str, documented: object, rows: Iterable[str]) -> str:
    """Return a section: heading, first sentence, table."""
    lines = [
        f"## {heading}",
        "",
        first_sentence(documented),
        "",
        "| name | what it is |",
        "|---|---|",
    ]
    return "\n".join([*lines, *rows, ""])


def row(name: str, documented: object) -> str:
    """Return a row of a table."""
    return f"| `{name}` | {first_sentence(documented).replace('|', chr(92) + '|')} |"


def signature(member: object) -> str:
    """Return the parameters of a method without annotations; nothing for an attribute."""
    if not callable(member):
        return ""
    try:
        parameters = list(inspect.signature(member).parameters.values())
    except ValueError:
        return "(...)"
    named = [one.replace(annotation=one.empty) for one in parameters if one.name != "self"]
    return str(inspect.Signature(named)).replace(", /", "").replace("/, ", "")


def first_sentence(documented: object) -> str:
    """Return the first sentence of a docstring as one line; for plain data, its kind."""
    if isinstance(documented, UnionType) or get_origin(documented):
        return "A type for annotations."
    if isinstance(documented, (str, tuple, frozenset, Mapping)):
        return "A constant."
    text = " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.?!])\s(?=[A-Z`])", text)[0]


def command_help() -> str:
    """Return the help of the program and of each command, as Markdown."""
    from piecework.cli.app import VERBS

    return "\n".join(["## piecework", "", *printed_help(), *commands(VERBS)])


def commands(names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of each command."""
    for name in names:
        yield f"## piecework {name}"
        yield ""
        yield from printed_help(name)


def printed_help(*command: str) -> Iterator[str]:
    """Yield the lines that a command prints for `--help`, in a block."""
    from piecework.cli.app import run

    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with redirect_stdout(io.StringIO()) as output:
        run([*command, "--help"])
    yield "```text"
    yield from (line.rstrip() for line in output.getvalue().strip().splitlines())
    yield "```"
    yield ""


def corpus_formats() -> str:
    """Return the formats of a corpus, as Markdown."""
    from piecework.corpus import FORMATS

    lines = ["| format | suffixes | a text is | compressed | needs |", "|---|---|---|---|---|"]
    for format in FORMATS:
        suffixes = " ".join(f"`{suffix}`" for suffix in format.suffixes)
        needs = f"`piecework[{format.extra}]`" if format.extra else ""
        compressed = "yes" if format.can_be_compressed else "no"
        lines.append(f"| {format.name} | {suffixes} | {format.a_text} | {compressed} | {needs} |")
    return "\n".join([*lines, ""])


def check_rules() -> str:
    """Return the rules of `check` by group, with their rationale and examples, as Markdown."""
    from piecework.analysis.check.rules import GROUPS, RULES

    lines = []
    for group, about in GROUPS.items():
        lines += [f"## Group `{group}`: {about}", ""]
        for rule in RULES.values():
            if rule.group == group:
                lines += [f"### `{rule.code}`", "", f"- severity: {rule.severity}"]
                lines += [f"- cost: {rule.cost}"] if rule.cost else []
                lines += [f"- what to do: {rule.advice}"] if rule.advice else []
                lines += ["", with_fences(rule.rationale), ""]
    return "\n".join(lines)


def with_fences(docstring: str) -> str:
    """Return a docstring with a fence around each run of paragraphs that are examples."""
    parts = re.split(r"((?:^(?:>>>|\.\.\.)(?:.*\n?)+?(?:\n|\Z))+)", docstring, flags=re.MULTILINE)
    fenced = [
        f"```python\n{part.rstrip()}\n```\n\n" if part.startswith(">>>") else part for part in parts
    ]
    return "".join(fenced).rstrip()


def reference_files() -> str:
    """Return the files of the reference and their first sentences, as Markdown."""
    lines = ["| file | what it has |", "|---|---|"]
    for file in sorted(REFERENCE.glob("[!_]*.py")):
        module = import_module(f"piecework.reference.{file.stem}")
        lines.append(f"| [{file.name}]({file.name}) | {first_sentence(module)} |")
    return "\n".join([*lines, ""])


def settings_tables() -> str:
    """Return the settings of trainers, of learners where they come first, and of counting, as Markdown."""
    seen: set[type] = set()
    classes = (*TRAINERS.values(), FileCountSettings)
    return "\n".join(line for cls in classes for line in settings_table(cls, "##", seen))


def settings_table(cls: type, level: str, seen: set[type]) -> Iterator[str]:
    """Yield the lines of a section with the settings of a class, and the new kinds of its values."""
    seen.add(cls)
    settings = settings_of(cls)
    yield from (f"{level} `{cls.__name__}`", "", first_sentence(cls), "")
    if settings:
        yield from ("| setting | option | default | values | meaning |", "|---|---|---|---|---|")
        yield from (settings_row(name, *found) for name, found in settings.items())
        yield ""
    for about, _ in settings.values():
        if isinstance(about, Variant):
            for kind in about.kinds.values():
                if kind not in seen:
                    yield from settings_table(kind, f"{level}#", seen)


def settings_row(name: str, about: Setting, default: object) -> str:
    """Return the row of a setting."""
    option = about.option if about.option != "" else f"--{name.replace('_', '-')}"
    cells = (
        f"`{name}`",
        f"`{option}`" if option else "",
        f"{about.none}" if default is None else f"`{default!r}`",
        about.values,
        about.help,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


PAGES: dict[str, Callable[[], str]] = {
    "python-api.md": api_index,
    "command-line.md": command_help,
    "checks.md": check_rules,
    "corpus-formats.md": corpus_formats,
    "training-settings.md": settings_tables,
    "../../python/piecework/reference/README.md": reference_files,
}

if __name__ == "__main__":
    main()
