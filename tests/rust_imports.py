"""Return which files of a Rust crate import which, from the `use` declarations and paths in the source.

A name counts for the file that defines it, also if a `mod.rs` re-exports it. Tests are left out.
"""

from __future__ import annotations

import re
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Names = tuple[str, ...]

NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])'""",
    re.DOTALL,
)
TESTS = re.compile(
    r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:pub\S* )?mod (\w+)\s*(?:;|\{.*)", re.DOTALL
)
USE = re.compile(r"(?P<pub>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
GROUP = re.compile(r"([\w:]+::)\{([^{}]*)\}")
PATH = re.compile(r"(?<![\w:.])\w+(?:::\w+)+")


class RustFile:
    """The names that one file binds by `use`, and the paths that its code needs."""

    def __init__(self, path: Path) -> None:
        code = NOT_CODE.sub(" ", path.read_text(encoding="utf-8"))
        self.tests = {test[1] for test in TESTS.finditer(code)}
        self.code = TESTS.sub("", code)
        body = USE.sub(" ", self.code)
        words = set(re.findall(r"\w+", body))
        self.bound: dict[str, Names] = {}
        self.needed = {tuple(path.split("::")) for path in PATH.findall(body)}
        for use in USE.finditer(self.code):
            for name, names in paths_of_use(use["tree"]):
                self.bound[name] = names
                if not use["pub"] or name in words:
                    self.needed.add(names)


def paths_of_use(tree: str) -> list[tuple[str, Names]]:
    """Return each name that a `use` tree binds, with its path: `a::{b, c as d}` binds `b` and `d`."""
    tree = re.sub(r"\s*(::|[,{}])\s*", r"\1", tree.strip())
    while "{" in tree:
        tree = GROUP.sub(
            lambda group: ",".join(group[1] + item for item in group[2].split(",") if item), tree
        )
    paths = (path.removesuffix("::self").partition(" as ") for path in tree.split(","))
    return [(alias or path.split("::")[-1], tuple(path.split("::"))) for path, _, alias in paths]


class Crate:
    """The files of a crate by module: `("a", "b")` is `a/b.rs` or `a/b/mod.rs`."""

    def __init__(self, source: Path) -> None:
        self.source = source
        paths = {self.module_of(path): path for path in sorted(source.rglob("*.rs"))}
        files = {module: RustFile(path) for module, path in paths.items()}
        tests = {(*module, name) for module, file in files.items() for name in file.tests}
        self.files = {
            module: file
            for module, file in files.items()
            if not any(module[:depth] in tests for depth in range(len(module) + 1))
        }
        self.names = {module: paths[module].relative_to(source).as_posix() for module in self.files}

    def module_of(self, path: Path) -> Names:
        parts = path.relative_to(self.source).with_suffix("").parts
        return parts[:-1] if parts[-1] in ("mod", "lib") else parts

    def definition(self, module: Names, path: Names) -> Names | None:
        """Return the module that defines what `path` names in `module`; None if it is a module."""
        for index, name in enumerate(path):
            if name in ("crate", "super"):
                module = () if name == "crate" else module[:-1]
            elif (*module, name) in self.files:
                module = (*module, name)
            elif name in self.files[module].bound:
                bound = self.files[module].bound[name]
                return (
                    self.definition(module, bound + path[index + 1 :]) if bound[0] != name else None
                )
            elif name != "self":
                return module
        return None

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The files that each file imports, without `lib.rs`."""
        return {
            self.names[module]: {
                self.names[found]
                for path in file.needed
                if (found := self.definition(module, path)) and found != module
            }
            for module, file in self.files.items()
            if module
        }


def cycles(imports: dict[str, set[str]]) -> list[str]:
    """Return the names of a cycle, or an empty list."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
