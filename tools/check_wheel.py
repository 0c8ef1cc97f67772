"""Check a wheel or an sdist: its files, its metadata, and the first lines of the README.

    python tools/check_wheel.py dist/piecework-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl
    python tools/check_wheel.py dist/piecework-0.1.0.tar.gz

`use_wheel` installs the package outside of the checkout and runs the README with it. An sdist is compiled.
"""

from __future__ import annotations

import argparse
import email
import email.message
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from use_wheel import use

ROOT = Path(__file__).resolve().parent.parent
MAX_WHEEL_BYTES = 6_000_000
IN_EVERY_WHEEL = (
    "piecework/_internal/_core.pyi",
    "piecework/py.typed",
    "piecework/cli/playground/static/page.html",
    "piecework/cli/playground/static/main.js",
)
# One wheel for all versions of Python; one for each free-threaded version, which cannot load the former.
PYTHON_TAGS = r"-(cp310-abi3|(cp3\d+)-\2t)-(manylinux|musllinux|macosx|win)"
# Crates for programs in Rust, C and JavaScript, which the Python package does not use.
CRATES_OF_OTHERS = ("crates/piecework/", "crates/capi/", "crates/wasm/")
SBOM = "piecework.cdx.json"
NOTICES = "THIRD-PARTY-NOTICES"


def main() -> None:
    """Check the file that the command line names."""
    parser = argparse.ArgumentParser(description="Check a wheel or an sdist of piecework.")
    parser.add_argument("package", type=Path, help="a .whl or a .tar.gz")
    parser.add_argument("--interpreter", help="the Python that a free-threaded wheel is for")
    arguments = parser.parse_args()
    package = arguments.package.resolve()
    is_wheel = package.suffix == ".whl"
    problems = list(wheel_problems(package) if is_wheel else sdist_problems(package))
    problems += schema_problems((ROOT / SBOM).read_text(encoding="utf-8"))
    if problems:
        sys.exit("\n".join(f"{package.name}: {problem}" for problem in problems))
    with tempfile.TemporaryDirectory() as folder:
        shown = use(package, Path(folder), arguments.interpreter)
    size = f"{package.stat().st_size / 1e6:.1f} MB"
    print(f"{package.name}: {size}{oldest_glibc(package)}, {shown}")


# ---- contents


def wheel_problems(package: Path) -> Iterator[str]:
    """Yield what is wrong with the name, the files and the metadata of a wheel."""
    if not re.search(PYTHON_TAGS, package.name):
        yield "found this file name, expected cp310-abi3 and a platform that PyPI accepts"
        return
    if package.stat().st_size > MAX_WHEEL_BYTES:
        yield f"found {package.stat().st_size} bytes, expected at most {MAX_WHEEL_BYTES}"
    if "manylinux" in package.name:
        yield from manylinux_problems(package)
    if "musllinux" in package.name:
        yield from musllinux_problems(package)
    with zipfile.ZipFile(package) as wheel:
        names = set(wheel.namelist())
        if module_of(package) in names:
            yield from folder_problems(wheel.read(module_of(package)))
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        yield from metadata_problems(email.message_from_bytes(wheel.read(metadata)))
        (entry_points,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
        if b"piecework=piecework.cli:main" not in wheel.read(entry_points).replace(b" ", b""):
            yield "entry_points.txt: the command `piecework` is missing"
        dist_info = metadata.partition("/")[0]
        yield from inventory_problems(wheel, dist_info)
    required = {*IN_EVERY_WHEEL, f"{dist_info}/licenses/LICENSE", module_of(package)}
    yield from (f"{name} is missing" for name in sorted(required - names))
    in_git = {name.removeprefix("python/") for name in git_files("python")}
    own = {name for name in names if not name.startswith(dist_info) and not name.endswith("/")}
    yield from (f"{name} is not in git" for name in sorted(own - in_git - {module_of(package)}))
    modules = {name for name in in_git if name.endswith(".py")}
    yield from (f"{name} is missing" for name in sorted(modules - names))


def module_of(package: Path) -> str:
    """Return the name of the extension module in a wheel."""
    *_, python, abi, tag = package.stem.split("-")
    if tag.startswith("win"):
        return (
            "piecework/_internal/_core.pyd"
            if abi == "abi3"
            else f"piecework/_internal/_core.{abi}-{tag}.pyd"
        )
    if abi == "abi3":
        return "piecework/_internal/_core.abi3.so"
    version = f"{python[2:]}t"
    processor = re.sub(r"^.*?(x86_64|aarch64|arm64)$", r"\1", tag)
    ending = "darwin" if tag.startswith("macosx") else f"{processor}-linux-gnu"
    return f"piecework/_internal/_core.cpython-{version}-{ending}.so"


def inventory_problems(wheel: zipfile.ZipFile, dist_info: str) -> Iterator[str]:
    """Yield what is wrong with the bill of materials and the licenses of linked crates."""
    for name, folder in ((SBOM, "sboms"), (NOTICES, "licenses")):
        path = f"{dist_info}/{folder}/{name}"
        if path not in wheel.namelist():
            yield f"{path} is missing"
        elif wheel.read(path) != (ROOT / name).read_bytes():
            yield f"{path}: found another text, expected that of {name} in git"


def folder_problems(module: bytes) -> Iterator[str]:
    """Yield the folders of this machine that a compiled module names."""
    for folder in (Path.home(), ROOT):
        if count := module.count(f"{folder}/".encode()):
            yield f"the module names {folder} {count} times: build it with tools/remapped_paths.py"


def oldest_glibc(package: Path) -> str:
    """Return which glibc a wheel needs, "" for a wheel of another system.

    >>> oldest_glibc(Path("piecework-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl"))
    ', needs glibc 2.34 or newer'
    """
    found = re.findall(r"manylinux_(\d+)_(\d+)", package.name)
    return f", needs glibc {'.'.join(found[-1])} or newer" if found else ""


def schema_problems(bom: str) -> Iterator[str]:
    """Yield what the schema of CycloneDX 1.6 does not allow in a bill of materials."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(bom):
        yield f"{SBOM} is no CycloneDX 1.6: {error}"


def manylinux_problems(package: Path) -> Iterator[str]:
    """Yield a problem unless auditwheel finds the tag of the file name, as it is and without a repair."""
    auditwheel = [str(Path(sys.executable).parent / "auditwheel"), "show", str(package)]
    done = subprocess.run(auditwheel, capture_output=True, text=True)
    output = " ".join(done.stdout.split())
    found = re.search(r'consistent with the following platform tag: "(\w+)"', output)
    if found is None:
        yield f"auditwheel show: found no platform tag: {output}{done.stderr}"
    elif not package.stem.endswith(found[1]):
        yield f"auditwheel show: found {found[1]}, expected the tag of the file name"


def musllinux_problems(package: Path) -> Iterator[str]:
    """Yield a problem if the module needs another library than musl; auditwheel finds those of glibc only."""
    from elftools.elf.elffile import ELFFile

    with zipfile.ZipFile(package) as wheel, wheel.open(module_of(package)) as module:
        dynamic = ELFFile(io.BytesIO(module.read())).get_section_by_name(".dynamic")
        needed = {tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
    if needed != {"libc.so"}:
        yield f"needs {', '.join(sorted(needed))}, expected libc.so, which is that of musl"


def sdist_problems(package: Path) -> Iterator[str]:
    """Yield what is wrong with the files and the metadata of an sdist."""
    with tarfile.open(package) as archive:
        members = {
            member.name.partition("/")[2]: member for member in archive if not member.isdir()
        }
        info = archive.extractfile(members["PKG-INFO"])
        assert info is not None
        yield from metadata_problems(email.message_from_bytes(info.read()))
    tracked = git_files(".")
    needed = {
        name
        for name in tracked
        if re.match(r"(crates/.*\.(rs|toml)|python/.*\.pyi?)$", name)
        and not name.startswith(CRATES_OF_OTHERS)
    }
    needed |= {"LICENSE", "crates/bindings/README.md", "Cargo.toml", "Cargo.lock", "pyproject.toml"}
    needed |= {"python/piecework/py.typed", SBOM, NOTICES}
    yield from (f"{name} is missing" for name in sorted(needed - members.keys()))
    # maturin puts the README that the manifests name into each crate.
    copies = {name for name in members if re.fullmatch(r"crates/\w+/README\.md", name)}
    extra = members.keys() - tracked - {"PKG-INFO"} - copies
    yield from (f"{name} is not in git" for name in sorted(extra))


def metadata_problems(metadata: email.message.Message) -> Iterator[str]:
    """Yield the fields that are missing or have another value."""
    expected = {
        "Name": "piecework",
        "Requires-Python": ">=3.10",
        "License-Expression": "Apache-2.0",
        "License-File": "LICENSE",
        "Description-Content-Type": "text/markdown",
    }
    for field, value in expected.items():
        found = metadata.get(field, "")
        if not found.startswith(value):
            yield f"metadata field {field}: found {found!r}, expected {value!r}"
    if not any("Python :: 3.10" in each for each in metadata.get_all("Classifier", [])):
        yield "metadata field Classifier: no version of Python"
    if "# piecework" not in str(metadata.get_payload()):
        yield "metadata: the README is missing"


def git_files(folder: str) -> set[str]:
    """Return the files of the checkout that git tracks, or would track once they are added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


if __name__ == "__main__":
    main()
