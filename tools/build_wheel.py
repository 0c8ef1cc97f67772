"""Build a wheel for a platform into dist/, and check it.

    python tools/build_wheel.py aarch64-unknown-linux-gnu
    python tools/build_wheel.py x86_64-unknown-linux-gnu --interpreter python3.14t

Wheels of Linux are linked by zig, whose libraries reach back to glibc 2.17 and musl 1.2. Two builds of the
same commit give the same bytes: times are those of the commit, and paths of the machine are left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from remapped_paths import STANDARD_LIBRARY, output, remapping, sysroot

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "build/wheel-venv"
GROUPS = ("wheel", "cross")
# Rust target -> the platform tag that pip reads in the name of the wheel.
PLATFORM_TAGS = {
    "x86_64-unknown-linux-gnu": "manylinux2014_x86_64.manylinux_2_17_x86_64",
    "aarch64-unknown-linux-gnu": "manylinux2014_aarch64.manylinux_2_17_aarch64",
    "x86_64-unknown-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-unknown-linux-musl": "musllinux_1_2_aarch64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-pc-windows-msvc": "win_amd64",
    "aarch64-pc-windows-msvc": "win_arm64",
}
COMPATIBILITY = {"gnu": "manylinux2014", "musl": "musllinux_1_2"}
# The extension module takes musl from the Python that loads it.
MUSL_FLAGS = ["-Ctarget-feature=-crt-static", "-Clink-self-contained=no"]
# rustup's on the PATH, Debian's package rustc-web.
COMPILERS = ("rustc", "/usr/bin/rustc")


def main() -> None:
    """Build and check the wheel that the command line describes."""
    parser = argparse.ArgumentParser(description="Build a wheel for a platform into dist/.")
    parser.add_argument("target", choices=PLATFORM_TAGS, help="a target of Rust")
    parser.add_argument("--interpreter", help="a free-threaded Python, which cannot load abi3")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder to write to")
    parser.add_argument("--profile", default="release", help="the profile of Cargo")
    parser.add_argument("--unchecked", action="store_true", help="build the wheel only")
    arguments = parser.parse_args()
    compiler = compiler_for(arguments.target)
    install_tools()
    wheel = build(compiler, arguments)
    if arguments.unchecked:
        return
    run([tool("python"), "-m", "twine", "check", "--strict", str(wheel)])
    given = ["--interpreter", arguments.interpreter] if arguments.interpreter else []
    run([tool("python"), str(ROOT / "tools/check_wheel.py"), *given, str(wheel)])


# ---- what the machine has


def compiler_for(target: str) -> str:
    """Return a rustc that has the standard library of a target, compiled or as source; exit without one."""
    found = [path for path in map(shutil.which, COMPILERS) if path is not None]
    for has_library in (has_compiled_library, has_library_source):
        for compiler in found:
            if has_library(compiler, target):
                return compiler
    of_debian = ", or on Debian: apt install rustc-web cargo-web rust-web-src"
    sys.exit(
        f"a wheel for {target} needs the standard library of Rust for it: rustup target add {target}"
        f"{of_debian if 'linux' in target else '; it is linked on a machine of this platform'}"
    )


def has_compiled_library(compiler: str, target: str) -> bool:
    """Return whether a compiler has the compiled standard library of a target."""
    folder = output([compiler, "--print", "target-libdir", "--target", target])
    return bool(folder) and any(Path(folder).glob("libstd-*"))


def has_library_source(compiler: str, target: str) -> bool:
    """Return whether a compiler can compile the standard library, which zig then links."""
    has_cargo = Path(compiler).with_name("cargo").exists()
    return "linux" in target and has_cargo and (sysroot(compiler) / STANDARD_LIBRARY).is_dir()


def install_tools() -> None:
    """Make the environment with the pinned tools, unless it has them."""
    mark = ENVIRONMENT / ".tools"
    pyproject = ROOT / "pyproject.toml"
    if mark.exists() and mark.stat().st_mtime >= pyproject.stat().st_mtime:
        return
    print(f"Installing maturin, zig and what checks wheels into {ENVIRONMENT} ...", flush=True)
    run([sys.executable, "-m", "venv", str(ENVIRONMENT)])
    if sys.version_info < (3, 11):
        run([tool("python"), "-m", "pip", "install", "--quiet", "tomli>=2"])
    script = str(ROOT / "tools/requirements.py")
    requirements = output([tool("python"), script, *GROUPS]).splitlines()
    run([tool("python"), "-m", "pip", "install", "--quiet", *requirements])
    mark.touch()


def tool(name: str) -> str:
    """Return the path of a program of the environment."""
    return str(ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / name)


# ---- building


def build(compiler: str, arguments: argparse.Namespace) -> Path:
    """Compile and pack the wheel; return its path."""
    target, out = arguments.target, arguments.out.resolve()
    command = [tool("maturin"), "build", "--profile", arguments.profile, "--locked"]
    command += ["--target", target]
    environment = build_environment(target, compiler)
    if "linux" in target:
        command += ["--zig", "--compatibility", COMPATIBILITY[target.rpartition("-")[2]]]
    if arguments.interpreter:
        command += ["--interpreter", arguments.interpreter]
    command += standard_library(target, compiler, environment)
    fresh = ROOT / "build/wheel" / target
    shutil.rmtree(fresh, ignore_errors=True)
    run([*command, "--out", str(fresh)], environment)
    (built,) = fresh.glob("*.whl")
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(built, out / built.name))


def standard_library(target: str, compiler: str, environment: dict[str, str]) -> list[str]:
    """Return the options that compile the standard library, none if it is compiled already."""
    if has_compiled_library(compiler, target):
        return []
    environment["RUSTC_BOOTSTRAP"] = "1"  # allows -Z
    return ["-Z", "build-std=std,panic_unwind"]


def build_environment(target: str, compiler: str) -> dict[str, str]:
    """Return the variables of a build that does not depend on time and place."""
    # The Makefile names a Python to build against; a wheel is built against none, or against --interpreter.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYO3_PYTHON", "RUSTFLAGS")
    }
    commit_time = output(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"])
    environment.setdefault("SOURCE_DATE_EPOCH", commit_time)
    flags = remapping(compiler)
    if target.endswith("musl"):
        flags += MUSL_FLAGS
    environment |= {
        "CARGO": str(Path(compiler).with_name("cargo")),
        "RUSTC": compiler,
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        "CARGO_TARGET_DIR": environment.get("CARGO_TARGET_DIR", str(ROOT / "target/wheels")),
        # maturin looks for zig in the first Python.
        "PATH": os.pathsep.join(
            [str(Path(tool("python")).parent), str(Path(compiler).parent), environment["PATH"]]
        ),
    }
    return environment


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a program in the checkout; exit with its code if it fails."""
    done = subprocess.run(command, cwd=ROOT, env=environment)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
