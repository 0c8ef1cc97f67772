"""Pages for every public name of Python: mkdocstrings fills them with signatures and docstrings.

Each class of `reference_pages.CLASSES` and each module of `reference_pages.MODULES` has a page.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from front_matter import front_matter
from sources import ROOT

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from reference_pages import CLASSES, MODULES, public_names

FOLDER = "reference/api"


def write_api_pages(folder: Path) -> list[dict[str, str]]:
    """Write the pages into a folder, and links to them into the index; return their titles and paths."""
    index = folder / "reference/python-api.md"
    index.write_text(with_api_links(index.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / FOLDER).mkdir(parents=True)
    nav = []
    for title, text in (*class_pages(), *module_pages()):
        path = f"{FOLDER}/{title}.md"
        (folder / path).write_text(text, encoding="utf-8")
        nav.append({title: path})
    return nav


def class_pages() -> Iterator[tuple[str, str]]:
    """Yield the title and the Markdown of the page of each main class."""
    for name in CLASSES:
        about = about_source(getattr(import_module("piecework"), name))
        yield name, f"{about}# `{name}`\n\n{entry(f'piecework.{name}', heading=False)}"


def module_pages() -> Iterator[tuple[str, str]]:
    """Yield the title and the Markdown of the page of each module."""
    for name in MODULES:
        module = import_module(name)
        entries = [entry(f"{name}.{one}") for one in names_of(module)]
        about = entry(name, heading=False, members=False)
        yield name, "\n".join([f"{about_source(module)}# `{name}`\n", about, *entries])


def about_source(found: ModuleType | type) -> str:
    """Return the settings of the page of a class or a module."""
    source = Path(inspect.getsourcefile(found) or "").resolve()
    return front_matter(inspect.getdoc(found) or "", source.relative_to(ROOT).as_posix())


def names_of(module: ModuleType) -> list[str]:
    """Return the names of a module that its page describes: no modules, no main classes."""
    found = [name for name in public_names(module) if not name.startswith("__")]
    is_main = module.__name__ == "piecework"
    return sorted(
        name
        for name in found
        if not inspect.ismodule(getattr(module, name)) and not (is_main and name in CLASSES)
    )


def with_api_links(index: str) -> str:
    """Return the index of the API with a link from each heading to its page.

    >>> with_api_links("## `Batch`")
    '## [`Batch`](api/Batch.md)'
    """
    return re.sub(r"^## `([\w.]+)`$", r"## [`\1`](api/\1.md)", index, flags=re.MULTILINE)


def entry(path: str, *, heading: bool = True, members: bool = True) -> str:
    """Return the lines that mkdocstrings replaces by what it finds about a name."""
    options = {} if heading else {"show_root_heading": "false"}
    if not members:
        options["members"] = "false"
    lines = [f"      {name}: {value}" for name, value in options.items()]
    return "\n".join([f"::: {path}", *(["    options:", *lines] if lines else []), ""])
