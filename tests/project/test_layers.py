"""Imports run one way, one file chooses the route, and `unsafe` code is in the kernels only.

The tests read the source text. import-linter checks the Python packages (pyproject.toml); the
rules that it cannot express are below.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

import piecework as pw
from tests.rust_imports import Crate, code_of, cycles, without_tests

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"
PACKAGE = ROOT / "python" / "piecework"

FOUNDATION = {
    "error",
    "interrupt",
    "table_sections",
    "spec",
    "text",
    "double_array",
    "word_key",
    "vocab",
    "ranks",
    "encoding",
    "locks",
    "hash_runs",
    "threads",
}
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
    "bindings/catch-panics": set(),
    "bindings": {"kernels", "capsules", "unicode", "core", "train", "formats", "catch-panics"},
    "wasm": {"core", "train", "formats"},
}
FACADES = {"lib", "mod"}
UNSAFE = {"kernels", "kernels/capsules"}
FORMATS_MAY_USE_OF_CORE = {
    "spec",
    "error",
    "interrupt",
    "text",
    "table_sections",
    "vocab",
    "ranks",
    "double_array",
}
TRAIN_MAY_NOT_USE_OF_CORE = {"engine"}


def rust_files(crate: str) -> list[Path]:
    return sorted((CRATES / crate / "src").rglob("*.rs"))


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


def core_module_of(file: str) -> str:
    """Return the module of a file: a stage, `word_cache`, `batch`, or the top folder."""
    first, *rest = file.removesuffix(".rs").split("/")
    if first == "stages" and rest:
        return rest[0]
    return rest[0] if first == "engine" and rest and rest[0] in MAY_USE else first


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE))
def test_each_crate_has_sources(crate: str) -> None:
    assert rust_files(crate)


def test_every_core_module_has_a_place_on_the_ladder(core_imports: dict[str, set[str]]) -> None:
    modules = {core_module_of(file) for file in core_imports} - FACADES
    assert modules == MAY_USE.keys(), "add the new module to MAY_USE and to ARCHITECTURE.md"


def test_core_modules_use_only_what_stands_below_them(core_imports: dict[str, set[str]]) -> None:
    found = [
        f"{file} uses {other}"
        for file, imported in core_imports.items()
        if (module := core_module_of(file)) not in FACADES
        for other in sorted(imported)
        if core_module_of(other) not in MAY_USE[module] | {module}
    ]
    assert found == []


ROUTES = {
    "words": {"route", "encode", "misses", "sentencepiece_unigram", "scratch"},
    "sentencepiece_unigram": {"encode", "scratch"},
}
"""What knows the words of a route, each with the parts of `engine/` that may import it."""


@pytest.fixture(scope="module")
def core_imports() -> dict[str, set[str]]:
    return Crate(CRATES / "core" / "src").imports()


def top_module(file: str) -> str:
    return file.partition("/")[0].removesuffix(".rs")


def test_modules_of_core_do_not_import_each_other_in_a_cycle(
    core_imports: dict[str, set[str]],
) -> None:
    modules: dict[str, set[str]] = {core_module_of(file): set() for file in core_imports}
    for file, imported in core_imports.items():
        module = core_module_of(file)
        modules[module] |= {core_module_of(other) for other in imported} - {module}
    assert cycles(modules) == []


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE.keys() - {"core"}))
def test_folders_do_not_import_each_other_in_a_cycle(crate: str) -> None:
    folders: dict[str, set[str]] = {}
    for file, imported in Crate(CRATES / crate / "src").imports().items():
        folder = top_module(file)
        others = {top_module(other) for other in imported} - {folder, *FACADES}
        folders.setdefault(folder, set()).update(others)
    assert cycles(folders) == []


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE))
def test_files_do_not_import_each_other_in_a_cycle(crate: str) -> None:
    assert cycles(Crate(CRATES / crate / "src").imports()) == []


def engine_part(file: str) -> str:
    """Return the name of the file or folder inside `engine/`; an empty string outside it."""
    folder, _, rest = file.partition("/")
    return top_module(rest) if folder == "engine" else ""


def test_only_the_router_and_the_loop_import_a_route(core_imports: dict[str, set[str]]) -> None:
    found = [
        f"{file} imports {other}"
        for file, imported in core_imports.items()
        for other in sorted(imported)
        if (route := engine_part(other)) in ROUTES
        and engine_part(file) not in {route} | ROUTES[route]
    ]
    assert found == []


def test_routes_do_not_import_the_router_or_the_tokenizer(
    core_imports: dict[str, set[str]],
) -> None:
    found = [
        f"{file} imports {other}"
        for file, imported in core_imports.items()
        for other in sorted(imported)
        if engine_part(file) in ROUTES and engine_part(other) in ("route", "tokenizer")
    ]
    assert found == []


ROUTE_CHOICES = {
    r"\benum\s+Route\b|\bRoute\s*::\s*[A-Z]": {"route"},
    r"\bRoute\s*::\s*compile\b": {"tokenizer"},
    r"\bMetaspaceRules\s*::\s*of\s*\(": {"route"},
    r"\.route\s*\(": {"tokenizer", "rows"},
    r"\.bert\s*\(": {"route"},
    r"\.has_normalized\s*\(": {"route", "stages"},
    r"\.is_byte_level\s*\(": {"route", "tiktoken"},
}
"""Code that depends on the route, each pattern with the parts of `engine/` that contain it.

`rows` flushes the misses of whatever route there is. `stages`
splits normalized text at added tokens, also for the definition. `tiktoken` writes the bytes of
byte-level tokens.
"""


def engine_code() -> Iterator[tuple[str, str]]:
    """Yield the code of each file of `engine/`, without its tests."""
    folder = CRATES / "core" / "src"
    tests = {"tests", "tests.rs"}
    for path in sorted((folder / "engine").rglob("*.rs")):
        name = path.relative_to(folder)
        if tests.isdisjoint(name.parts):
            yield name.as_posix(), without_tests(code_of(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("pattern", ROUTE_CHOICES)
def test_one_file_chooses_the_route(pattern: str) -> None:
    parts = {engine_part(name) for name, code in engine_code() if re.search(pattern, code)}
    assert parts == ROUTE_CHOICES[pattern]


def test_no_module_but_the_engine_sees_the_route() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in rust_files("core")
        if path.relative_to(CRATES / "core" / "src").parts[0] != "engine"
        and re.search(r"\bRoute\b|\broute_for\b", code_of(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def write_crate(folder: Path, files: dict[str, str]) -> Crate:
    for name, code in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    return Crate(folder)


def test_a_cycle_of_files_is_found_through_a_reexport(tmp_path: Path) -> None:
    crate = write_crate(
        tmp_path,
        {
            "lib.rs": "mod a; mod b;",
            "a/mod.rs": "mod one; mod two; pub use one::One; pub use two::{Two as Second};",
            "a/one.rs": "use super::Second; pub struct One; // use crate::b::B;",
            "a/two.rs": "pub struct Two(crate::b::B);",
            "b.rs": "use crate::a::{self, One}; pub struct B; #[cfg(test)] mod tests { use x::Y; }",
        },
    )
    assert crate.imports() == {
        "a/mod.rs": set(),
        "a/one.rs": {"a/two.rs"},
        "a/two.rs": {"b.rs"},
        "b.rs": {"a/one.rs"},
    }
    assert cycles(crate.imports()) == [["a/one.rs", "a/two.rs", "b.rs"]]


def test_a_reexport_is_an_import_of_the_file_that_uses_the_name(tmp_path: Path) -> None:
    crate = write_crate(
        tmp_path,
        {
            "lib.rs": "mod a;",
            "a/mod.rs": "mod one; mod two; pub(super) use one::One; pub use two::Two; pub struct A(One);",
            "a/one.rs": "use super::A; pub struct One;",
            "a/two.rs": "use super::A; pub struct Two;",
        },
    )
    assert cycles(crate.imports()) == [["a/mod.rs", "a/one.rs"]]


def test_a_file_imports_nothing_for_its_tests(tmp_path: Path) -> None:
    crate = write_crate(
        tmp_path,
        {
            "lib.rs": "mod a; mod b;",
            "a.rs": "pub struct A; #[cfg(test)] mod tests { use crate::b::B; fn f() { B::new() } }",
            "b.rs": "use crate::a::A; pub struct B;",
        },
    )
    assert cycles(crate.imports()) == []


def test_formats_see_specifications_and_errors_only() -> None:
    found = [
        f"{path.relative_to(ROOT)} uses core::{used}"
        for path in rust_files("formats")
        for used in names_after("piecework_core", code_of(path.read_text(encoding="utf-8")))
        if used not in FORMATS_MAY_USE_OF_CORE
    ]
    assert found == []


def test_training_never_meets_the_engine() -> None:
    found = [
        f"{path.relative_to(ROOT)} uses core::{used}"
        for path in rust_files("train")
        for used in names_after("piecework_core", code_of(path.read_text(encoding="utf-8")))
        if used in TRAIN_MAY_NOT_USE_OF_CORE
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


# Maps whose keys are constants or numbers that no input chooses, and a table that bounds its runs.
FIXED_HASHES = {
    "unicode/src/code_point_map.rs",
    "core/src/vocab/table.rs",  # the table that bounds its runs
    "core/src/model/unigram/float32/nbest.rs",
    "core/src/stages/split/bert/char_actions.rs",
    "train/src/count/word_counter.rs",
    "formats/src/normalization_rules/decompile.rs",
    "formats/src/normalization_rules/named.rs",
}


def test_maps_that_files_and_texts_fill_have_random_seeds() -> None:
    found = {
        str(path.relative_to(CRATES))
        for path in CRATES.rglob("*.rs")
        if path.name != "tests.rs" and "rustc_hash" in path.read_text()
    }
    assert found == FIXED_HASHES


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
    allowed = ("piecework.errors", "piecework.spec", "piecework.encoding", "piecework.reference")
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((PACKAGE / "reference").rglob("*.py"))
        for name in sorted(python_imports(path))
        if name.startswith("piecework") and not name.startswith(allowed)
    ]
    assert found == []


GUESTS = ("analysis", "cli", "compat", "distributed", "integrations", "playground")
"""Folders that use the rest of the package by its public names, `_internal`, and the modules below."""

MODULES_FOR_GUESTS = (
    "corpus.conversations",
    "corpus.formats",
    "corpus.iterables",
    "corpus.paths",
    "corpus.reader",
    "corpus.rows",
    "corpus.skipped",
    "errors",
    "export.chats",
    "export.options",
    "export.settings",
    "io.atomic_files",
    "io.format_detection",
    "io.format_readers",
    "io.hub",
    "io.model_names",
    "io.names",
    "io.rank_files",
    "io.read_file",
    "io.saving",
    "io.stored_lengths",
    "rows.rectangles",
    "sampling",
    "spec.byte_alphabet",
    "spec.custom",
    "train.count_checkpoint",
    "train.counting",
    "train.counts_files",
    "train.learn",
    "train.learned",
    "train.plan",
    "train.setting_fields",
    "train.settings",
    "train.source_balance",
    "train.source_costs",
    "train.trainers",
    "train.trainers.meta_pieces",
    "vocabulary.changed_vocabulary",
    "vocabulary.pruning",
    "vocabulary.residues",
)
"""Modules of the heart whose names guests may import without being public."""

MAY_USE_GUEST = {
    "analysis": {"analysis"},
    "cli": {"analysis", "cli", "distributed", "playground"},
    "playground": {"analysis", "playground"},
}
"""The guests that a guest imports besides itself."""

CHAT_EXTRAS = {"best_segmentation", "chunks", "growing_text", "message_counts"}
"""Modules of `chat` that prompts do not need."""


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


@pytest.mark.parametrize("guest", GUESTS)
def test_guests_use_public_names_and_listed_modules(guest: str) -> None:
    allowed = {"_internal"} | MAY_USE_GUEST.get(guest, {guest})
    # Showing the steps of learning and encoding is what the reference and the core are for.
    allowed |= {"reference", "_core"} if guest == "analysis" else set()
    allowed |= {"_core"} if guest == "cli" else set()  # how the core was built, for --version
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((PACKAGE / guest).rglob("*.py"))
        for name in imported_names(path)
        if name.split(".")[1:2] != []
        and name.split(".")[1] not in allowed
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


def test_nothing_that_encodes_prompts_imports_what_chat_has_besides() -> None:
    extras = tuple(f"piecework.chat.{name}" for name in sorted(CHAT_EXTRAS))
    found = [
        f"{module} imports {name}"
        for module, path in packages().items()
        if not module.startswith(extras) and module != "piecework.chat"
        for name in imported_names(path)
        if name.startswith(extras)
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


ABOVE_TOKENIZER = (*GUESTS, "lattice", "stages", "export", "generation", "tokenizer", "__main__")


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
    path
    for folder in ("compat", "distributed", "integrations", "playground")
    for path in (PACKAGE / folder).rglob("*.py")
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


TYPES_WITH_SEVERAL_DEFINITIONS = {
    # Each level has its own form of a kernel.
    "kernels": {"CodeUnit", "SimdPosition", "Plain"},
}


@pytest.mark.parametrize("crate", sorted(CRATE_MAY_USE))
def test_a_type_name_has_one_definition_in_a_crate(crate: str) -> None:
    definitions: dict[str, list[str]] = {}
    for path in rust_files(crate):
        if "tests" in path.relative_to(CRATES).with_suffix("").parts:
            continue
        code = without_tests(code_of(path.read_text(encoding="utf-8")))
        for name in re.findall(r"\b(?:struct|enum|union|trait)\s+(\w+)", code):
            definitions.setdefault(name, []).append(str(path.relative_to(ROOT)))
    several = {name: files for name, files in definitions.items() if len(files) > 1}
    assert several.keys() == TYPES_WITH_SEVERAL_DEFINITIONS.get(crate, set()), several


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
