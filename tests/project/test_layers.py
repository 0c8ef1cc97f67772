"""Imports run one way, one file chooses the route, and `unsafe` code is in the kernels and one file of capi.

import-linter checks the Python packages (pyproject.toml), cargo and clippy the Rust crates; the rules that
they cannot express are below.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import piecework as pw
from tests.rust_imports import Crate, cycles

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"
PACKAGE = ROOT / "python" / "piecework"

FOUNDATION = set(
    "error interrupt table_sections spec text double_array word_key vocab ranks encoding locks"
    " hash_runs threads".split()
)
STAGES = {"added_tokens", "normalize", "pretokenize", "model", "postprocess", "decode"}
MAY_USE = {
    **dict.fromkeys(FOUNDATION | STAGES | {"word_cache"}, FOUNDATION),
    "split": FOUNDATION | STAGES,
    "engine": FOUNDATION | STAGES | {"split", "word_cache"},
    "batch": FOUNDATION | STAGES | {"engine"},
}
"""Modules of crates/core, inside `stages` and `engine` too, each with the modules it may use."""

CRATE_MAY_USE = {
    "kernels": set(),
    "kernels/capsules": {"kernels"},
    "unicode": set(),
    "regex": {"unicode"},
    "core": {"kernels", "unicode", "regex"},
    "train": {"kernels", "unicode", "core"},
    "formats": {"unicode", "core"},
    "piecework": {"core", "train", "formats"},
    "capi": {"piecework"},
    "bindings/catch-panics": set(),
    "bindings": {"kernels", "capsules", "unicode", "core", "train", "formats", "catch-panics"},
    "wasm": {"core", "train", "formats"},
}
UNSAFE = {"kernels", "kernels/capsules", "capi"}
USE_OF_CORE = {
    "train": FOUNDATION | {"model", "stages"},
    "formats": FOUNDATION - {"word_key", "encoding", "locks", "hash_runs", "threads"},
}
"""The modules of core that a crate may use: formats build no tokenizer, training never meets the engine."""

ROUTES = {
    "words": {"route", "encode", "misses", "sentencepiece_unigram"},
    "sentencepiece_unigram": {"encode"},
}
"""What knows the words of a route, each with the parts of `engine/` that may import it."""


@cache
def crate_of(name: str) -> Crate:
    return Crate(CRATES / name / "src")


def imports_of_core() -> Iterator[tuple[str, str]]:
    """Yield each file of core with a file that it imports."""
    for file, imported in crate_of("core").imports.items():
        yield from ((file, other) for other in sorted(imported))


def core_module_of(file: str) -> str:
    """Return the module of a file: a stage, `word_cache`, `batch`, or the top folder."""
    first, *rest = file.removesuffix(".rs").split("/")
    if first == "stages" and rest:
        return rest[0]
    return rest[0] if first == "engine" and rest and rest[0] in MAY_USE else first


def engine_part(file: str) -> str:
    """Return the name of the file or folder inside `engine/`; an empty string outside it."""
    folder, *rest = file.removesuffix(".rs").split("/")
    return rest[0] if folder == "engine" and rest else ""


def test_core_modules_import_only_modules_below_them() -> None:
    modules = {core_module_of(file) for file in crate_of("core").imports} - {"mod"}
    assert modules == MAY_USE.keys(), "add the new module to MAY_USE and to ARCHITECTURE.md"
    found = [
        f"{file} uses {other}"
        for file, other in imports_of_core()
        if (module := core_module_of(file)) != "mod"
        and core_module_of(other) not in MAY_USE[module] | {module}
    ]
    assert found == []


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE))
def test_files_and_folders_do_not_import_each_other_in_a_cycle(crate: str) -> None:
    files = crate_of(crate).imports
    assert cycles(files) == []
    folders: dict[str, set[str]] = {}
    for file, imported in files.items():
        folder = core_module_of(file)
        folders.setdefault(folder, set()).update(
            {core_module_of(other) for other in imported} - {folder, "lib"}
        )
    assert cycles(folders) == []


def test_only_the_router_and_the_loop_import_a_route_and_routes_import_neither() -> None:
    found = [
        f"{file} imports {other}"
        for file, other in imports_of_core()
        for part, imported in [(engine_part(file), engine_part(other))]
        if (imported in ROUTES and part not in {imported} | ROUTES[imported])
        or (part in ROUTES and imported in ("route", "tokenizer"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        (r"\benum Route\b|\bRoute::[A-Z]\w*\b(?!(?: \{ \.\. \}|\(\w+\))? (?:=>|\|))", {"route"}),
        # The loop and the offsets have an arm for each route, and make none.
        (r"\bRoute::[A-Z]", {"encode", "offsets"}),
        (r"\bRoute::compile\b", {"tokenizer"}),
        (r"\.route\(", {"tokenizer"}),
    ],
)
def test_one_file_chooses_the_route(pattern: str, parts: set[str]) -> None:
    core = crate_of("core")
    names = [
        core.names[module] for module, file in core.files.items() if re.search(pattern, file.code)
    ]
    assert {engine_part(name) for name in names} == parts


@pytest.mark.parametrize("crate", USE_OF_CORE)
def test_training_and_formats_see_a_part_of_core(crate: str) -> None:
    found = {
        f"{module} uses {path[1]}"
        for module, file in crate_of(crate).files.items()
        for path in file.needed
        if path[0] == "piecework_core" and path[1] not in USE_OF_CORE[crate]
    }
    assert found == set()


def test_a_cycle_of_files_is_found_through_a_reexport(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b;",
        "a/mod.rs": "mod one; mod two; pub use one::One; pub use two::{Two as Second};",
        "a/one.rs": "use super::Second; pub struct One; // crate::c::C",
        "a/two.rs": "pub struct Two(crate::b::B); #[cfg(test)] mod tests { use crate::c::C; }",
        "b.rs": "use crate::a::{self, One}; pub struct B;",
        "c.rs": "use crate::b::B; pub struct C;",
    }
    (tmp_path / "a").mkdir()
    for name, code in files.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    imports = Crate(tmp_path).imports
    assert {*cycles(imports)} == {"a/one.rs", "a/two.rs", "b.rs"}
    assert imports["c.rs"] == {"b.rs"}


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE))
def test_crates_depend_downwards(crate: str) -> None:
    dependencies = manifest(CRATES / crate).get("dependencies", {})
    ours = {
        name.removeprefix("piecework-") for name in dependencies if name.startswith("piecework-")
    }
    assert ours <= CRATE_MAY_USE[crate]


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE.keys() - UNSAFE))
def test_crates_forbid_unsafe_code(crate: str) -> None:
    lib = (CRATES / crate / "src" / "lib.rs").read_text(encoding="utf-8")
    assert "#![forbid(unsafe_code)]" in lib


def test_one_file_of_the_c_interface_has_unsafe_code() -> None:
    unsafe = {
        path.name
        for path in (CRATES / "capi" / "src").rglob("*.rs")
        if re.search(r"\bunsafe\b(?! code)|allow\(unsafe_code", path.read_text(encoding="utf-8"))
    }
    assert unsafe == {"pointers.rs"}
    assert "#![deny(unsafe_code)]" in (CRATES / "capi/src/lib.rs").read_text(encoding="utf-8")


def test_every_crate_is_listed_and_denies_unsafe_code_without_an_argument() -> None:
    workspace = manifest(ROOT)["workspace"]
    assert {f"crates/{name}" for name in CRATE_MAY_USE} == {*workspace["members"]} - {"fuzz"}
    assert workspace["lints"]["rust"]["unsafe_op_in_unsafe_fn"] == "deny"
    assert workspace["lints"]["clippy"]["undocumented_unsafe_blocks"] == "deny"
    for member in workspace["members"]:
        assert manifest(ROOT / member)["lints"] == {"workspace": True}, member


def test_maps_that_files_and_texts_fill_have_random_seeds() -> None:
    fixed = {
        path.relative_to(CRATES).as_posix()
        for path in CRATES.rglob("*.rs")
        if path.name != "tests.rs" and "rustc_hash" in path.read_text(encoding="utf-8")
    }
    assert fixed == {  # keys are constants or numbers that no input chooses
        "unicode/src/code_point_map.rs",
        "core/src/vocab/mod.rs",  # the table that bounds its runs
        "core/src/model/unigram/float32/nbest.rs",
        "core/src/stages/split/bert/char_actions.rs",
        "train/src/count/word_counter.rs",
        "formats/src/normalization_rules/decompile.rs",
        "formats/src/normalization_rules/named.rs",
    }


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield each module that is imported with the name that is taken from it, "" for all of it."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield from ((node.module or "", alias.name) for alias in node.names)


def python_imports(path: Path) -> set[str]:
    """Return the modules a Python file imports, and the names, wherever in the file it does so."""
    found = set(imports_in(ast.walk(parsed(path))))
    return {module for module, _ in found} | {f"{module}.{name}" for module, name in found if name}


def test_reference_never_imports_the_compiled_core() -> None:
    allowed = (
        "piecework.errors",
        "piecework.spec",
        "piecework.tokenizer.encoding",
        "piecework.reference",
    )
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((PACKAGE / "reference").rglob("*.py"))
        for name in sorted(python_imports(path))
        if name.startswith("piecework") and not name.startswith(allowed)
    ]
    assert found == []


GUESTS = ("analysis", "chat", "cli", "compat", "integrations")
"""Folders that use the rest of the package by its public names, `_internal`, and the modules below."""

MODULES_FOR_GUESTS = (
    "corpus.conversations",
    "corpus.formats",
    "corpus.iterables",
    "corpus.paths",
    "corpus.reader",
    "corpus.rows",
    "errors",
    "export.chats",
    "export.options",
    "export.pipeline",
    "export.settings",
    "io.atomic_files",
    "io.format_detection",
    "io.format_readers",
    "io.hub",
    "io.names",
    "io.normalization_rules",
    "io.rank_files",
    "io.read_file",
    "io.safetensors_files",
    "io.saving",
    "io.source_bytes",
    "io.stored_lengths",
    "spec.byte_alphabet",
    "spec.custom",
    "spec.sequences",
    "spec.split_patterns",
    "tokenizer.encoding",
    "tokenizer.rectangles",
    "tokenizer.sampling",
    "tokenizer.segments",
    "tokenizer.special_tokens",
    "train.count_checkpoint",
    "train.counting",
    "train.counts",
    "train.counts_files",
    "train.learn",
    "train.learned",
    "train.learners",
    "train.plan",
    "train.settings",
    "train.source_balance",
    "train.trainer",
    "train.trainers",
    "train.trainers.sentencepiece_settings",
    "vocabulary.alphabet",
    "vocabulary.changed_vocabulary",
    "vocabulary.decoding",
    "vocabulary.derivations",
    "vocabulary.pruning",
    "vocabulary.residues",
)
"""Modules of the heart whose names guests may import without being public."""

MAY_USE_GUEST = {
    "analysis": {"analysis", "chat"},
    "cli": {"analysis", "chat", "cli", "integrations"},
    "integrations": {"chat", "integrations"},
}
"""The guests that a guest imports besides itself."""


def packages() -> dict[str, Path]:
    """Return the file of each module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("piecework", *path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def is_public(name: str) -> bool:
    """Whether a name such as `piecework.train.Counts` is exported by the package or a public module."""
    module, _, last = name.rpartition(".")
    if module == "piecework" or name == "piecework":
        return True
    known = module.startswith("piecework.") and module.count(".") == 1
    return known and last in getattr(importlib.import_module(module), "__all__", ())


def imported_names(path: Path) -> Iterator[str]:
    """Yield each name of the package that a file uses: those of its imports, and `pw.X` and `pw.x.Y`."""
    yield from names_of_imports(parsed(path))


def names_of_imports(tree: ast.AST) -> Iterator[str]:
    """Yield each name of the package that a tree imports, or reads from `import piecework as pw`."""
    nodes = list(ast.walk(tree))
    for module, name in imports_in(nodes):
        if module.startswith("piecework"):
            yield f"{module}.{name}" if name else module
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="pw")):
                yield f"piecework.{node.attr}"
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="pw"), attr=module)):
                if isinstance(getattr(pw, module), ModuleType):
                    yield f"piecework.{module}.{node.attr}"


def without_types_of_tokenizers(path: Path) -> ast.Module:
    """Parse a file, without its type-only imports of `Tokenizer`."""
    tree = parsed(path)
    for block in tree.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = [
                node
                for node in block.body
                if not isinstance(node, ast.ImportFrom) or node.module != "piecework.tokenizer"
            ]
    return tree


def home_of(name: str, modules: Mapping[str, Path]) -> str:
    """Return the module where a name of the package is defined, "" if it is not known."""
    if name in modules:
        return name
    module, _, last = name.rpartition(".")
    if module == "piecework":
        found = getattr(pw, last, None)
        return str(getattr(found, "__module__", ""))
    return module


def is_core(name: str) -> bool:
    return name.startswith("piecework._internal._core")


@pytest.mark.parametrize("guest", GUESTS)
def test_guests_use_public_names_and_listed_modules(guest: str) -> None:
    allowed = {"_internal"} | MAY_USE_GUEST.get(guest, {guest})
    # Showing the steps of learning and encoding is what the reference and the core are for.
    allowed |= {"reference"} if guest == "analysis" else set()
    # The command says how the core was built.
    sees_core = guest in ("analysis", "cli")
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((PACKAGE / guest).rglob("*.py"))
        for name in imported_names(path)
        if name.split(".")[1:2] != []
        and (name.split(".")[1] not in allowed or (is_core(name) and not sees_core))
        and not is_public(name)
        and name.rpartition(".")[0].removeprefix("piecework.") not in MODULES_FOR_GUESTS
    ]
    assert found == []


def test_the_heart_imports_no_guest() -> None:
    found = [
        f"{module} imports {name}"
        for module, path in packages().items()
        if module.split(".")[1:2] and module.split(".")[1] not in (*GUESTS, "reference", "__main__")
        for name in imported_names(path)
        if name.split(".")[1:2] and name.split(".")[1] in GUESTS
    ]
    assert found == []


def test_the_heart_does_not_name_the_package_itself() -> None:
    found = [
        f"{module} imports {name}"
        for module, path in packages().items()
        if module != "piecework" and module.split(".")[1] not in (*GUESTS, "__main__")
        for name, taken in imports_in(ast.walk(parsed(path)))
        if name == "piecework" and f"piecework.{taken}" not in packages()
    ]
    assert found == []


def python_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports, also in functions and for types.

    A type-only import of `Tokenizer` is left out: functions that take one stand below it. A name of the
    package stands for the module that defines it.
    """
    modules = packages()
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        names = names_of_imports(without_types_of_tokenizers(path))
        homes = {home_of(name, modules) for name in names}
        graph[module] = homes.intersection(modules) - {module, "piecework"}
    del graph["piecework"]
    return graph


ABOVE_TOKENIZER = (*GUESTS, "export", "tokenizer", "__main__")


def test_only_types_of_tokenizers_are_imported_below_them() -> None:
    found = [
        module
        for module, path in packages().items()
        if module != "piecework" and module.split(".")[1] not in ABOVE_TOKENIZER
        for name in names_of_imports(without_types_of_tokenizers(path))
        if name.startswith("piecework.tokenizer")
    ]
    assert found == []


def test_python_files_do_not_import_each_other_in_a_cycle() -> None:
    assert cycles(python_graph()) == []


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
    assert {"_core", "_of", "_parse_special"} <= private
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in COMPATIBLE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in private
        and ast.unparse(node.value) not in ("self", "cls")
    ]
    assert found == []


DECLARED = {"numpy", "click", "rich", "piecework"}
NEED_AN_EXTRA = ("integrations/", "chat/environment.py", "chat/filters.py", "distributed/")


def test_the_base_install_imports_what_it_declares() -> None:
    found = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in packages().values()
        if not path.relative_to(PACKAGE).as_posix().startswith(NEED_AN_EXTRA)
        for module, _ in imports_in(parsed(path).body)
        if module.partition(".")[0] not in DECLARED | sys.stdlib_module_names
    ]
    assert found == []
