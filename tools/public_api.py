"""Write docs/reference/public-api.txt: the names of the public modules, and the options of the commands.

    python tools/public_api.py          # write the listing
    python tools/public_api.py --check  # exit code 1 when it differs

It has the parameters of functions with their defaults. What a change of a public name needs is in
docs/reference/stability.md.
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
from types import ModuleType

import click

from piecework import integrations
from piecework._internal.names_of_other_libraries import ForeignName
from piecework.cli.app import VERBS, commands
from reference_pages import MODULES
from returned_classes import returned_classes

ROOT = Path(__file__).parent.parent
LISTING = ROOT / "docs" / "reference" / "public-api.txt"


def main() -> None:
    """Write or check the listing."""
    write_or_check("List the public names.", LISTING, public_api)


def write_or_check(description: str, listing: Path, names: Callable[[], dict[str, str]]) -> None:
    """Write a listing of `names`; with `--check`, exit with code 1 if it differs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    text = as_text(names())
    if not parser.parse_args().check:
        listing.write_text(text, encoding="utf-8")
    elif listing.read_text(encoding="utf-8") != text:
        sys.exit(f"out of date: {listing.name}: run python {sys.argv[0]}")


def as_text(api: Mapping[str, str]) -> str:
    """Return a listing: on each line a name, and what it is called with."""
    return "".join(f"{name}: {value}".rstrip(": ") + "\n" for name, value in api.items())


# ---- what is public


def public_api() -> dict[str, str]:
    """Return each public name with its signature, the classes that are returned, and the commands."""
    listed: dict[str, str] = {}
    of_object: dict[int, str] = {}
    modules = [import_module(name) for name in public_modules()]
    for module in modules:
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
    own = {module: public_names(module) for module in modules if module.__name__ in MODULES}
    for one in returned_classes(own):
        listed[f"{one.module}.{one.functions[0]} -> {one.cls.__name__}"] = " ".join(one.members())
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


def public_names(module: ModuleType) -> list[str]:
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
