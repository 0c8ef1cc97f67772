"""`tools/build_wheel.py` says what is missing, and `tools/check_release.py` which files a release lacks."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build_wheel(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("build_wheel")


@pytest.fixture
def check_release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("check_release")


@pytest.fixture
def compilers(build_wheel: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A rustc of rustup that has the libraries of x86-64 Linux, and one of Debian with its sources."""
    for name in ("rustup", "debian"):
        (tmp_path / name).mkdir()
        for program in ("rustc", "cargo"):
            (tmp_path / name / program).write_text("#!/bin/sh\n")
            (tmp_path / name / program).chmod(0o755)
    paths = [str(tmp_path / name / "rustc") for name in ("rustup", "debian")]
    monkeypatch.setattr(build_wheel, "COMPILERS", paths)
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    (libraries / "libstd-1.rlib").write_text("")

    def output(command: list[str]) -> str:
        name = Path(command[0]).parent.name
        if command[2] == "sysroot":
            return str(tmp_path / name)
        return str(libraries) if (name, command[-1][:6]) == ("rustup", "x86_64") else ""

    monkeypatch.setattr(build_wheel, "output", output)
    monkeypatch.setattr(importlib.import_module("remapped_paths"), "output", output)
    return tmp_path


def test_a_compiled_standard_library_is_preferred_to_its_source(
    build_wheel: ModuleType, compilers: Path
) -> None:
    (compilers / "debian" / build_wheel.STANDARD_LIBRARY).mkdir(parents=True)
    found = build_wheel.compiler_for("x86_64-unknown-linux-gnu")
    assert found == str(compilers / "rustup/rustc")
    found = build_wheel.compiler_for("aarch64-unknown-linux-gnu")
    assert found == str(compilers / "debian/rustc")


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        ("aarch64-unknown-linux-musl", "apt install rustc-web cargo-web rust-web-src"),
        ("aarch64-apple-darwin", "linked on a machine of this platform"),
    ],
)
@pytest.mark.usefixtures("compilers")
def test_without_libraries_the_error_says_what_to_install(
    target: str, advice: str, build_wheel: ModuleType
) -> None:
    with pytest.raises(
        SystemExit, match=rf"{target} needs .* rustup target add {target}.*{advice}"
    ):
        build_wheel.compiler_for(target)


def test_paths_of_the_machine_are_left_out(build_wheel: ModuleType) -> None:
    compiler = shutil.which("rustc")
    assert compiler, "the tests need rustc in PATH"
    environment = build_wheel.build_environment("x86_64-unknown-linux-musl", compiler)
    flags = environment["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")
    assert f"--remap-path-prefix={ROOT}=piecework" in flags
    assert set(build_wheel.MUSL_FLAGS) <= set(flags)
    assert environment["SOURCE_DATE_EPOCH"].isdigit()


def test_a_complete_release_has_no_problems(check_release: ModuleType) -> None:
    files = set(check_release.release_files(check_release.version()))
    assert list(check_release.file_problems(files)) == []
    assert len(files) == 2 + 8 + 10


def test_a_missing_wheel_and_another_file_are_named(check_release: ModuleType) -> None:
    version = check_release.version()
    files = set(check_release.release_files(version))
    missing = f"piecework-{version}-cp314-cp314t-win_amd64.whl"
    other = f"piecework-{version}-cp310-abi3-linux_x86_64.whl"
    assert list(check_release.file_problems(files - {missing} | {other})) == [
        f"{missing} is missing",
        f"{other} is no file of this release",
    ]


def test_the_tag_names_the_version_and_the_changelog_has_it(check_release: ModuleType) -> None:
    assert list(check_release.tag_problems(None)) == []
    wrong, unlisted = check_release.tag_problems("v99.0.0")
    assert wrong.startswith("the tag is v99.0.0, and Cargo.toml has version ")
    assert unlisted == (f"CHANGELOG.md has no heading with a date for {check_release.version()}")
