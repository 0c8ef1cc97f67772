"""Run the Rust tests of the kernels and of the core as 64-bit ARM, by an emulator if need be.

    python tools/test_neon.py

Zig links them, as it links wheels. The emulator finds glibc among the packages of Debian in build/.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys

from build_wheel import (
    ROOT,
    build_environment,
    compiler_for,
    install_tools,
    standard_library,
    tool,
)
from use_wheel import EMULATOR, emulator, foreign_root

PROCESSOR = "aarch64"
TARGET = f"{PROCESSOR}-unknown-linux-gnu"
PACKAGES = ("kernels", "unicode", "regex", "core")


def main() -> None:
    """Compile and run the tests; exit with their code."""
    compiler = compiler_for(TARGET)
    install_tools()
    command = [tool("cargo-zigbuild"), "test", "--locked", "--quiet", "--lib", "--target", TARGET]
    command += [f"--package=piecework-{package}" for package in PACKAGES]
    if platform.machine() != PROCESSOR:
        command += ["--config", f"target.{TARGET}.runner={json.dumps(found_emulator())}"]
    environment = build_environment(TARGET, compiler)
    command += standard_library(TARGET, compiler, environment)
    # An emulator is slow: properties are tried on fewer cases unless PROPTEST_CASES says otherwise.
    environment.setdefault("PROPTEST_CASES", "16")
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


def found_emulator() -> list[str]:
    """Return the command of the emulator; exit without one."""
    program = EMULATOR.format(PROCESSOR)
    if shutil.which(program) is None:
        sys.exit(f"make test-neon needs {program}: apt install qemu-user-static")
    return emulator(foreign_root(PROCESSOR), PROCESSOR)


if __name__ == "__main__":
    main()
