"""Return which files of a Rust crate import which, from the source text alone.

A path is followed to the file that defines the name: re-exports and module declarations are
transparent. Code under `#[cfg(test)]` is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Names = tuple[str, ...]

ITEM = re.compile(
    r"\b(?:struct|enum|union|trait|type|fn|const|static|macro_rules!)\s+(?:mut\s+)?(?P<name>\w+)"
)
PATH = re.compile(r"(?<![\w:.])\w+(?:\s*::\s*\w+)+")


def code_of(source: str) -> str:
    """Blank out comments and literals, whose words are not code."""
    token = re.compile(
        r"""//[^\n]*|/\*.*?\*/|r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])'""",
        re.DOTALL,
    )
    return token.sub(" ", source)


def matching_brace(code: str, start: int) -> int:
    """Return the position behind the brace that closes the one at `start`."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(code)


def without_tests(code: str) -> str:
    """Remove the items under `#[cfg(test)]`: blocks in braces, and declarations."""
    while attribute := re.search(r"#\[cfg\((?:all\()?test\b[^\]]*\]", code):
        end = re.compile(r"[;{]").search(code, attribute.end())
        assert end is not None
        stop = end.end() if end[0] == ";" else matching_brace(code, end.start())
        code = code[: attribute.start()] + code[stop:]
    return code


def paths_of_use(tree: str, prefix: Names = ()) -> Iterator[tuple[str, Names]]:
    """Yield each name that a `use` tree binds, with its path."""
    head, brace, rest = tree.partition("{")
    names = tuple(re.findall(r"\w+|\*", head))
    if brace:
        for item in split_at_commas(rest.rpartition("}")[0]):
            yield from paths_of_use(item, prefix + names)
        return
    alias = names[-1]
    if "as" in names:
        names = names[: names.index("as")]
    path = prefix + names
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
        alias = path[-1] if alias == "self" else alias
    yield alias, path


def split_at_commas(items: str) -> Iterator[str]:
    """Yield the items between commas that are outside braces."""
    depth = start = 0
    for at, char in enumerate(items):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            yield items[start:at]
            start = at + 1
    if items[start:].strip():
        yield items[start:]


@dataclass
class Module:
    """A file: its items, its child modules, the names that it imports, and the paths in its code.

    A name that is only re-exported is `bound`; one that the code uses is also `imported`.
    """

    path: Path
    children: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    bound: dict[str, Names] = field(default_factory=dict)
    imported: list[Names] = field(default_factory=list)
    globs: list[Names] = field(default_factory=list)
    inline: set[Names] = field(default_factory=set)


def read_module(path: Path) -> Module:
    """Parse one file."""
    code = without_tests(code_of(path.read_text(encoding="utf-8")))
    module = Module(path, set(re.findall(r"\bmod\s+(\w+)\s*;", code)))
    use = re.compile(r"(?P<pub>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
    body = use.sub(" ", code)
    words = set(re.findall(r"\w+", body))
    for match in use.finditer(code):
        for name, names in paths_of_use(match["tree"]):
            if name == "*":
                module.globs.append(names[:-1])
            else:
                module.bound[name] = names
            if not match["pub"] or name in words:
                module.imported.append(names)
    module.items = {match["name"] for match in ITEM.finditer(body)}
    module.inline = {tuple(re.split(r"\s*::\s*", match[0])) for match in PATH.finditer(body)}
    return module


class Crate:
    """The modules of a crate, found by their `mod` declarations."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.modules: dict[Names, Module] = {}
        self.add((), source / "lib.rs")

    def add(self, name: Names, path: Path) -> None:
        module = self.modules[name] = read_module(path)
        for child in sorted(module.children):
            folder = self.source.joinpath(*name)
            files = [folder / f"{child}.rs", folder / child / "mod.rs"]
            self.add((*name, child), next(file for file in files if file.exists()))

    def define(self, at: Names, path: Names, depth: int = 0) -> Names | None:
        """Return the module that defines what `path` names in module `at`; `None` if it is not of this crate.

        A path that ends at a module defines nothing.
        """
        if depth > 20 or not path:
            return None
        head, rest = path[0], path[1:]
        if head == "crate":
            return self.define((), rest, depth + 1)
        if head == "super":
            return self.define(at[:-1], rest, depth + 1)
        if head == "self":
            return self.define(at, rest, depth + 1)
        module = self.modules[at]
        if head in module.children:
            return self.define((*at, head), rest, depth + 1)
        if head in module.items:
            return at
        if head in module.bound and module.bound[head] != path:
            return self.define(at, (*module.bound[head], *rest), depth + 1)
        for glob in module.globs:
            if found := self.define(at, (*glob, *path), depth + 1):
                return found
        return None

    def imports(self) -> dict[str, set[str]]:
        """Return the files that each file imports."""
        return {self.name(at): self.imports_of(at) for at in self.modules if at}

    def imports_of(self, at: Names) -> set[str]:
        module = self.modules[at]
        defined = {self.define(at, path) for path in [*module.imported, *module.inline]}
        return {self.name(found) for found in defined if found and found != at}

    def name(self, at: Names) -> str:
        return self.modules[at].path.relative_to(self.source).as_posix()


def cycles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of files that import each other, directly or through others (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(file: str) -> None:
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in sorted(imports[file]):
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for file in sorted(imports):
        if file not in number:
            visit(file)
    return sorted(found)
