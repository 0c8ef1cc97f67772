#!/bin/sh
# Say in one line what is missing to build piecework; silent when nothing is.
python=${1:-python3}

missing() {
    echo "piecework needs $1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 ||
    missing "Python 3.10 or newer: install it (python.org, or your system's python3 package)"
"$python" -c '' 2>/dev/null ||
    missing "Python 3.10 or newer, and $python does not start: name another one (make PYTHON=python3.12 ...)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    missing "Python 3.10 or newer, and $python is $("$python" -V 2>&1): install a newer one, or name it (make PYTHON=python3.12 ...)"
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
    missing "Python's venv module: install your system's python3-venv package"
command -v cargo >/dev/null 2>&1 ||
    missing "Rust 1.89 or newer: install it (rustup.rs), then open a new shell"
command -v cc >/dev/null 2>&1 ||
    missing "a C linker: install gcc or clang"
