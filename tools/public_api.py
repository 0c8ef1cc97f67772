"""Compare the public names and signatures with those of the last release.

    python tools/public_api.py             # exit code 1 if the changelog does not name a difference
    python tools/public_api.py --release   # write the listing of a new release

`docs/reference/public-api.txt` is the listing of the last release: the names of the public modules, the
parameters of functions with their defaults, and the options of the commands. A name that differs from it
needs a line in CHANGELOG.md, under `### Names and signatures` of the unreleased version:

    - `piecework.Tokenizer.encode`: new parameter `language`

A class or a module that is new or removed stands for what is in it.
"""

from __future__ import annotations

import argparse
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import click

from piecework import integrations
from piecework.attributes.names_of_other_libraries import ForeignName
from piecework.cli.app import VERBS, commands
from reference_pages import MODULES

ROOT = Path(__file__).parent.parent
LISTING = ROOT / "docs" / "reference" / "public-api.txt"
CHANGELOG = ROOT / "CHANGELOG.md"
HEADING = "### Names and signatures"


def main() -> None:
    """Check the changelog, or write the listing."""
    check_or_write("Compare the public names with the last release.", LISTING, public_api)


def check_or_write(description: str, listing: Path, names: Callable[[], dict[str, str]]) -> None:
    """Check the changelog against a listing of `names`; with `--release`, write the listing."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--release", action="store_true", help="write the listing of a release")
    changelog = CHANGELOG.read_text(encoding="utf-8")
    if parser.parse_args().release:
        if unreleased(changelog):
            sys.exit("CHANGELOG.md: found text under [Unreleased], expected it under a version")
        listing.write_text(as_text(names()), encoding="utf-8")
        return
    listed = from_text(listing.read_text(encoding="utf-8"))
    if missing := unnamed_changes(listed, names(), changelog):
        sys.exit("\n".join([f"CHANGELOG.md, {HEADING[4:]}: no line for these changes:", *missing]))


# ---- what changed


def unnamed_changes(old: Mapping[str, str], new: Mapping[str, str], changelog: str) -> list[str]:
    """Return a line for each name that differs and that the changelog lacks."""
    section = unreleased(changelog).partition(f"{HEADING}\n")[2].partition("\n### ")[0]
    named = set(re.findall(r"`([^`]+)`", section))
    return [f"- `{name}`: {change}" for name, change in changes(old, new) if name not in named]


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each name that is new, removed or has another signature, and what changed.

    >>> list(changes({"a": "", "a.f": "(x)", "a.g": "()"}, {"a": "", "a.f": "(x, y)"}))
    [('a.f', '(x) became (x, y)'), ('a.g', 'removed')]
    >>> list(changes({"a.f": ""}, {"a.f": "", "b": "", "b.f": ""}))
    [('b', 'new')]
    """
    for name in sorted(old.keys() | new.keys()):
        owner = name.rpartition(" " if " " in name else ".")[0]
        if (owner in old) != (owner in new):
            continue
        if name not in old:
            yield name, "new"
        elif name not in new:
            yield name, "removed"
        elif old[name] != new[name]:
            yield name, f"{old[name] or 'no value'} became {new[name] or 'no value'}"


def unreleased(changelog: str) -> str:
    """Return the section of the changelog about the version that is not released."""
    return changelog.partition("\n## [Unreleased]\n")[2].partition("\n## [")[0].strip()


def as_text(api: Mapping[str, str]) -> str:
    """Return a listing: on each line a name, and what it is called with."""
    return "".join(f"{name}: {value}".rstrip(": ") + "\n" for name, value in api.items())


def from_text(text: str) -> dict[str, str]:
    """Return the names and signatures of a listing."""
    parts = (line.partition(": ") for line in text.splitlines())
    return {name: value for name, _, value in parts}


# ---- what is public


def public_api() -> dict[str, str]:
    """Return each public name with its signature: first those of Python, then the commands."""
    listed: dict[str, str] = {}
    of_object: dict[int, str] = {}
    for module in map(import_module, public_modules()):
        listed[module.__name__] = ""
        for name in public_names(module):
            full_name, value = f"{module.__name__}.{name}", getattr(module, name)
            known = of_object.setdefault(id(value), full_name) if callable(value) else full_name
            if known != full_name:
                listed[full_name] = f"is {known}"
                continue
            listed[full_name] = signature(value)
            if inspect.isclass(value):
                listed |= {f"{full_name}.{member}": text for member, text in members(value)}
    for entry, takes in (found for verb in VERBS for found in command_entries(verb)):
        # The choices of all models.
        choices = dict.fromkeys(
            (*filter(None, listed.get(entry, "").split("|")), *takes.split("|"))
        )
        listed[entry] = "|".join(choices)
    return listed


def public_modules() -> Iterator[str]:
    """Yield the modules of the reference, and the integrations."""
    yield from MODULES
    for module in pkgutil.iter_modules(integrations.__path__):
        if not module.name.startswith("_"):
            yield f"{integrations.__name__}.{module.name}"


def public_names(module: object) -> list[str]:
    """Return the names that a module exports; without `__all__`, what it defines."""
    own = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    return sorted(getattr(module, "__all__", own))


def members(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the public attributes and methods that the package gives a class, with signatures."""
    bases = [base for base in cls.__mro__ if base.__module__.partition(".")[0] == "piecework"]
    found = {name: value for base in reversed(bases) for name, value in vars(base).items()}
    if is_dataclass(cls):
        found = {field.name: None for field in fields(cls)} | found
    for name, value in sorted(found.items()):
        if not name.startswith("_") and not isinstance(value, ForeignName):
            yield name, signature(getattr(cls, name, None))


def signature(value: object) -> str:
    """Return the parameters of a function, a method or a class without annotations; "" of others."""
    if not callable(value):
        return ""
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return ""
    bare = [one.replace(annotation=one.empty) for one in parameters if one.name != "self"]
    return re.sub(r" at 0x\w+", "", str(inspect.Signature(bare)))


def command_entries(verb: str) -> Iterator[tuple[str, str]]:
    """Yield a command, and its arguments and options; the options of all models for one that trains."""
    yield f"piecework {verb}", ""
    with commands.make_context("piecework", [], resilient_parsing=True) as context:
        command = commands.get_command(context, verb)
        assert command is not None
        for arguments in [["--model", model] for model in getattr(command, "models", ())] or [[]]:
            with command.make_context(verb, arguments, context, resilient_parsing=True) as of_verb:
                for parameter in command.get_params(of_verb):
                    yield from parameter_entries(f"piecework {verb}", parameter)


def parameter_entries(command: str, parameter: click.Parameter) -> Iterator[tuple[str, str]]:
    """Yield an entry for each flag of an option, with what it takes; one for an argument."""
    choices = "|".join(getattr(parameter.type, "choices", ()))
    takes = "flag" if getattr(parameter, "is_flag", False) else choices or parameter.type.name
    if parameter.required:
        takes += ", required"
    if isinstance(parameter.default, (str, int, float)) and takes != "flag":
        takes += f", default {parameter.default}"
    for flag in [*parameter.opts, *parameter.secondary_opts]:
        yield f"{command} {flag if flag.startswith('-') else flag.upper()}", takes


if __name__ == "__main__":
    main()
