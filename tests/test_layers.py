"""The house has one ladder: Rust code imports downwards only, and `unsafe` has one home.

Read from the source text, so that a wrong `use` fails here and nobody has to remember the rule.
The Python side is checked by import-linter (pyproject.toml) and, for what it cannot see, below.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import piecework as pw

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
CRATES = ROOT / "crates"
PACKAGE = ROOT / "python" / "piecework"

FOUNDATION = {
    "error",
    "table_sections",
    "spec",
    "text",
    "double_array",
    "word_key",
    "vocab",
    "encoding",
    "locks",
    "threads",
}
STAGES = {"added_tokens", "normalize", "pretokenize", "model", "postprocess", "decode"}
MAY_USE = {
    **dict.fromkeys(FOUNDATION | STAGES | {"word_cache"}, FOUNDATION),
    "split": FOUNDATION | STAGES,
    "encode": FOUNDATION | STAGES | {"split", "word_cache"},
    "count": FOUNDATION | STAGES | {"split"},
    "train": FOUNDATION | STAGES | {"count"},
    "batch": FOUNDATION | STAGES | {"encode"},
}
"""Modules of crates/core, each with the modules it may use besides itself."""

CRATE_MAY_USE = {
    "kernels": set(),
    "kernels/capsules": {"kernels"},
    "unicode": set(),
    "regex": {"unicode"},
    "core": {"kernels", "unicode", "regex"},
    "formats": {"core"},
    "bindings/catch-panics": set(),
    "bindings": {"kernels", "capsules", "unicode", "core", "formats", "catch-panics"},
}
UNSAFE = {"kernels", "kernels/capsules"}
FORMATS_MAY_USE_OF_CORE = {"spec", "error", "text", "table_sections", "vocab"}


def rust_files(crate: str) -> list[Path]:
    return sorted((CRATES / crate / "src").rglob("*.rs"))


def code_of(source: str) -> str:
    """Blank out comments and literals, whose words are not code."""
    token = re.compile(
        r"""//[^\n]*|/\*.*?\*/|r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])'""",
        re.DOTALL,
    )
    return token.sub(" ", source)


def names_after(root: str, code: str) -> Iterator[str]:
    """Yield the first name of every path that starts at `root`, groups in braces included."""
    for match in re.finditer(rf"\b{root}\s*::\s*(\{{|\w+)", code):
        if match[1] == "{":
            yield from group_heads(code[match.end() :])
        else:
            yield match[1]


def group_heads(rest: str) -> Iterator[str]:
    """Yield the first name of each item of a `{a::b, c::{d, e}}` group whose brace is behind us."""
    depth = 0
    at_item_start = True
    for name in re.finditer(r"\w+|[{},]", rest):
        token = name[0]
        if token == "}" and depth == 0:
            return
        if token == "," and depth == 0:
            at_item_start = True
        elif token in "{}":
            depth += 1 if token == "{" else -1
        elif at_item_start:
            yield token
            at_item_start = False


def test_group_heads_reads_the_first_name_of_each_item() -> None:
    code = code_of("use crate::{error::Error, spec::{A, B as C}, text}; // use crate::train;")
    assert list(names_after("crate", code)) == ["error", "spec", "text"]


def core_module_of(path: Path) -> str:
    return path.relative_to(CRATES / "core" / "src").parts[0].removesuffix(".rs")


def core_uses(path: Path) -> set[str]:
    """Return the modules of crates/core that a file names, by `crate::` or by `super::`."""
    code = code_of(path.read_text(encoding="utf-8"))
    depth = len(path.relative_to(CRATES / "core" / "src").parts)
    steps = depth - 1 if path.name == "mod.rs" else depth
    to_root = r"\s*::\s*".join(["super"] * steps)
    return {*names_after("crate", code), *(names_after(to_root, code) if steps else ())}


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE))
def test_each_crate_has_sources(crate: str) -> None:
    assert rust_files(crate)


def test_every_core_module_has_a_place_on_the_ladder() -> None:
    modules = {core_module_of(path) for path in rust_files("core")} - {"lib"}
    assert modules <= MAY_USE.keys(), "add the new module to MAY_USE and to ARCHITECTURE.md"


def test_core_modules_use_only_what_stands_below_them() -> None:
    found = [
        f"{path.relative_to(ROOT)} uses {used}"
        for path in rust_files("core")
        if (module := core_module_of(path)) != "lib"
        for used in sorted(core_uses(path) & MAY_USE.keys() - MAY_USE[module] - {module})
    ]
    assert found == []


def test_formats_see_specifications_and_errors_only() -> None:
    found = [
        f"{path.relative_to(ROOT)} uses core::{used}"
        for path in rust_files("formats")
        for used in names_after("piecework_core", code_of(path.read_text(encoding="utf-8")))
        if used not in FORMATS_MAY_USE_OF_CORE
    ]
    assert found == []


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE))
def test_crates_depend_downwards(crate: str) -> None:
    manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text(encoding="utf-8"))
    ours = {
        name.removeprefix("piecework-")
        for name in manifest.get("dependencies", {})
        if name.startswith("piecework-")
    }
    assert ours <= CRATE_MAY_USE[crate]


def test_unsafe_lives_in_kernels_alone() -> None:
    found = [
        str(path.relative_to(ROOT))
        for crate in CRATE_MAY_USE.keys() - UNSAFE
        for path in rust_files(crate)
        if re.search(r"\bunsafe\b", code_of(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE.keys() - UNSAFE))
def test_crates_forbid_unsafe_code(crate: str) -> None:
    lib = (CRATES / crate / "src" / "lib.rs").read_text(encoding="utf-8")
    assert "#![forbid(unsafe_code)]" in lib


def test_every_unsafe_block_argues_its_safety() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for crate in UNSAFE
        for path in rust_files(crate)
        for number, before in unargued_unsafe(path.read_text(encoding="utf-8").splitlines())
    ]
    assert found == []


def test_nothing_safe_takes_a_raw_pointer_from_a_caller() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for crate in UNSAFE
        for path in rust_files(crate)
        if path.name != "tests.rs"
        for match in re.finditer(
            r"^ *(?:pub(?:\([^)]*\))? )?(?:const )?fn [^;{]*?[:&(] *(?:\*(?:const|mut)|NonNull)\b[^;{]*",
            code_of(path.read_text(encoding="utf-8")),
            re.MULTILINE,
        )
        if "->" not in match[0].partition("NonNull")[0].partition("*")[0]
    ]
    assert found == []


@pytest.mark.parametrize(
    ("lints", "name"),
    [("rust", "unsafe_op_in_unsafe_fn"), ("clippy", "undocumented_unsafe_blocks")],
)
def test_the_workspace_denies_unsafe_code_that_is_not_argued(lints: str, name: str) -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    assert workspace["lints"][lints][name] == "deny"
    for member in workspace["members"]:
        manifest = tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8"))
        assert manifest["lints"] == {"workspace": True}, member


def unargued_unsafe(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield `unsafe {` blocks and `unsafe impl`s without a SAFETY note in the lines just above."""
    for index, line in enumerate(lines):
        if re.search(r"\bunsafe\s*(\{|impl\b)", line.split("//")[0]):
            above = "\n".join(lines[max(0, index - 8) : index + 1])
            if "SAFETY" not in above:
                yield index + 1, line


def python_imports(path: Path) -> set[str]:
    """Return the modules a Python file imports, wherever in the file it does so."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def test_reference_never_imports_the_compiled_core() -> None:
    allowed = ("piecework.errors", "piecework.spec", "piecework.encoding", "piecework.reference")
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((PACKAGE / "reference").rglob("*.py"))
        for name in sorted(python_imports(path))
        if name.startswith("piecework") and not name.startswith(allowed)
    ]
    assert found == []


def test_command_line_uses_public_names_only() -> None:
    allowed = (
        "piecework.analysis",
        "piecework.cli",
        "piecework.io.atomic_files",
        "piecework.io.format_detection",
        "piecework.io.read_file",
        "piecework.io.saving",
        "piecework._internal.progress",
    )
    teaching = {"explain_training.py": "piecework.reference"}
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((PACKAGE / "cli").rglob("*.py"))
        for name in sorted(python_imports(path))
        if name.startswith("piecework.")
        and not name.startswith((*allowed, teaching.get(path.name, "piecework.cli")))
    ]
    assert found == []


COMPATIBLE = sorted(
    path for folder in ("compat", "integrations") for path in (PACKAGE / folder).rglob("*.py")
)


def test_compat_and_integrations_never_name_the_compiled_core() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in COMPATIBLE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\b_core\b", line)
    ]
    assert found == []


def private_names(cls: type) -> set[str]:
    """Return the private methods and attributes of a class."""
    return {name for name in {*vars(cls), *cls.__annotations__} if re.match("_[^_]", name)}


def test_compat_and_integrations_use_no_private_name_of_the_tokenizer() -> None:
    private = private_names(pw.Tokenizer)
    assert {"_core", "_of", "_special_in_text"} <= private
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in COMPATIBLE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in private
        and ast.unparse(node.value) not in ("self", "cls")
    ]
    assert found == []
