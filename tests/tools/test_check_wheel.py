"""`tools/check_wheel.py` finds what a wheel or an sdist lacks, and what it must not contain."""

from __future__ import annotations

import importlib
import io
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
METADATA = """\
Metadata-Version: 2.4
Name: piecework
Version: 0.1.0
Classifier: Programming Language :: Python :: 3.10
Requires-Python: >=3.10
License-Expression: Apache-2.0
License-File: LICENSE
Description-Content-Type: text/markdown

# piecework
"""
WHEEL = "piecework-0.1.0-cp310-abi3-macosx_11_0_arm64.whl"
INFO = "piecework-0.1.0.dist-info"


def load_tool(name: str) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        return importlib.import_module(name)


TOOL = load_tool("check_wheel")
USE = load_tool("use_wheel")


def wheel_files() -> dict[str, str]:
    files = {name.removeprefix("python/"): "" for name in TOOL.git_files("python")}
    return files | {
        "piecework/_internal/_core.abi3.so": "",
        f"{INFO}/METADATA": METADATA,
        f"{INFO}/licenses/LICENSE": "",
        f"{INFO}/licenses/{TOOL.NOTICES}": (ROOT / TOOL.NOTICES).read_text(encoding="utf-8"),
        f"{INFO}/sboms/{TOOL.SBOM}": (ROOT / TOOL.SBOM).read_text(encoding="utf-8"),
        f"{INFO}/entry_points.txt": "[console_scripts]\npiecework=piecework.cli:main\n",
    }


def problems_of_wheel(folder: Path, files: dict[str, str], name: str = WHEEL) -> list[str]:
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return list(TOOL.wheel_problems(folder / name))


def problems_of_sdist(folder: Path, files: dict[str, str]) -> list[str]:
    with tarfile.open(folder / "sdist.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"piecework-0.1.0/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return list(TOOL.sdist_problems(folder / "sdist.tar.gz"))


def test_a_complete_wheel_has_no_problems(tmp_path: Path) -> None:
    assert problems_of_wheel(tmp_path, wheel_files()) == []


@pytest.mark.parametrize(
    "missing",
    [
        *(
            "piecework/py.typed",
            "piecework/_internal/_core.pyi",
            "piecework/_internal/_core.abi3.so",
        ),
        *("piecework/tokenizer/batch.py", f"{INFO}/licenses/LICENSE"),
        *(f"{INFO}/licenses/{TOOL.NOTICES}", f"{INFO}/sboms/{TOOL.SBOM}"),
    ],
)
def test_a_missing_file_is_named(missing: str, tmp_path: Path) -> None:
    files = {name: text for name, text in wheel_files().items() if name != missing}
    assert f"{missing} is missing" in problems_of_wheel(tmp_path, files)


def test_other_problems_of_a_wheel_are_named(tmp_path: Path) -> None:
    files = wheel_files()
    found = problems_of_wheel(tmp_path, {**files, "piecework/notes.txt": ""})
    assert found == ["piecework/notes.txt is not in git"]
    name = "piecework-0.1.0-cp311-cp311-macosx_11_0_arm64.whl"
    (found,) = problems_of_wheel(tmp_path, files, name)
    assert "expected cp310-abi3" in found
    (found,) = problems_of_wheel(tmp_path, {**files, f"{INFO}/entry_points.txt": ""})
    assert "command `piecework` is missing" in found
    (found,) = problems_of_wheel(tmp_path, {**files, f"{INFO}/sboms/{TOOL.SBOM}": "{}"})
    assert f"expected that of {TOOL.SBOM} in git" in found
    for field in ("Requires-Python", "License-Expression", "License-File", "Classifier"):
        metadata = "".join(
            line for line in METADATA.splitlines(keepends=True) if not line.startswith(field)
        )
        (found,) = problems_of_wheel(tmp_path, {**files, f"{INFO}/METADATA": metadata})
        assert f"metadata field {field}:" in found


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("cp310-abi3-win_arm64", "_core.pyd"),
        ("cp310-abi3-musllinux_1_2_x86_64", "_core.abi3.so"),
        ("cp313-cp313t-manylinux_2_17_x86_64", "_core.cpython-313t-x86_64-linux-gnu.so"),
        ("cp314-cp314t-macosx_11_0_arm64", "_core.cpython-314t-darwin.so"),
        ("cp314-cp314t-win_amd64", "_core.cp314t-win_amd64.pyd"),
    ],
)
def test_each_kind_of_wheel_has_its_module(name: str, module: str) -> None:
    package = Path(f"piecework-0.1.0-{name}.whl")
    assert TOOL.module_of(package) == f"piecework/_internal/{module}"
    assert TOOL.re.search(TOOL.PYTHON_TAGS, package.name)


def test_the_bill_of_materials_obeys_its_schema() -> None:
    pytest.importorskip("cyclonedx", reason="cyclonedx is installed by `make wheel`")
    bom = (ROOT / TOOL.SBOM).read_text(encoding="utf-8")
    assert list(TOOL.schema_problems(bom)) == []
    assert list(TOOL.schema_problems(bom.replace('"library"', '"liberty"'))) != []


def test_a_wheel_that_this_machine_cannot_use_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    package = Path("piecework-0.1.0-cp310-abi3-{}.whl")
    for tag, reason in {
        "macosx_10_12_x86_64": "needs a machine of its platform",
        "manylinux_2_17_ppc64le": "needs qemu-ppc64le-static (apt install qemu-user-static)",
    }.items():
        assert reason in USE.use(Path(str(package).format(tag)), tmp_path)


def test_problems_of_an_sdist_are_named(tmp_path: Path) -> None:
    files = {"PKG-INFO": METADATA, **dict.fromkeys(TOOL.git_files("."), "")}
    assert problems_of_sdist(tmp_path, files) == []
    assert problems_of_sdist(
        tmp_path, {**files, "python/piecework/_internal/_core.abi3.so": ""}
    ) == ["python/piecework/_internal/_core.abi3.so is not in git"]
    for missing in ("LICENSE", TOOL.SBOM, "Cargo.lock", "crates/kernels/capsules/Cargo.toml"):
        rest = {name: text for name, text in files.items() if name != missing}
        assert problems_of_sdist(tmp_path, rest) == [f"{missing} is missing"]


def test_a_path_without_rust_keeps_the_other_programs(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for program in ("cargo", "rustc", "rustup", "bash"):
        (tools / program).write_text("")
        (tools / program).chmod(0o755)
    kept = Path(USE.without_rust_tools(str(tools), tmp_path / "links"))
    assert [program.name for program in kept.iterdir()] == ["bash"]
    assert USE.without_rust_tools(str(kept), tmp_path / "unused") == str(kept)


def test_console_examples_are_compared() -> None:
    block = "$ echo one two\none ...\n$ true\n"
    assert list(USE.commands(block)) == [("echo one two", "one ...\n"), ("true", "")]
    work, environment = ROOT, {"PATH": "/usr/bin:/bin"}
    USE.run_command("echo one two", "one ...\n", work, environment)
    with pytest.raises(SystemExit, match="expected 'two"):
        USE.run_command("echo one two", "two ...\n", work, environment)
    with pytest.raises(SystemExit, match="failed"):
        USE.run_command("exit 3", "", work, environment)


def test_a_module_that_names_the_home_of_its_builder_is_a_problem() -> None:
    inside = f"{Path.home()}/.cargo/registry/src/a.rs".encode()
    [problem] = TOOL.folder_problems(b"..." + inside)
    assert problem.startswith(f"the module names {Path.home()} 1 times")
    assert list(TOOL.folder_problems(b"crates/a.rs piecework/crates/core")) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("piecework-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl", ", needs glibc 2.34 or newer"),
        (
            "piecework-0.1.0-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
            ", needs glibc 2.17 or newer",
        ),
        (WHEEL, ""),
    ],
)
def test_a_wheel_says_which_glibc_it_needs(name: str, said: str) -> None:
    assert TOOL.oldest_glibc(Path(name)) == said
