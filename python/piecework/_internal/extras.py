"""Import optional dependencies, with an error that names the extra and the packages to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from piecework.errors import MissingExtraError


def import_extra(module: str, extra: str, needed_for: str | None = None) -> Any:
    """Import and return a module of an optional dependency.

    >>> import_extra("json", "none").dumps([])
    '[]'

    Raises `MissingExtraError` that names `needed_for`, such as a file or an argument, and the command
    that installs the packages of the extra. An absent module and one that fails have different errors.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        is_absent = isinstance(error, ModuleNotFoundError) and error.name in (package, module)
        found = "is not installed" if is_absent else f"cannot be imported ({error})"
        expected = f"the extra {extra!r} of piecework: {install_command(extra, module)}"
        problem = f"{found}; install {expected}"
        if needed_for is None:
            raise MissingExtraError(module, problem) from error
        raise MissingExtraError(needed_for, f"needs {module}, which {problem}") from error


def install_command(extra: str, module: str) -> str:
    """Return the command that installs the packages of an extra, or `module` if they are unknown.

    >>> install_command("parquet", "pyarrow"), install_command("bench", "tiktoken")
    ("pip install 'pyarrow>=14'", "pip install 'tiktoken>=0.7'")

    It names no piecework[...]: an index may lack piecework, or have another package of this name.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires("piecework") or []
    except PackageNotFoundError:
        requirements = []
    parts = (requirement.partition(";") for requirement in requirements)
    markers = f"extra=='{extra}'", f'extra=="{extra}"'
    packages = [name.strip() for name, _, marker in parts if marker.replace(" ", "") in markers]
    if extra == "bench":  # its packages are used one at a time
        packages = [name for name in packages if name.startswith(f"{module}>")] or packages
    return " ".join(("pip install", *(f"'{package}'" for package in packages or [module])))
