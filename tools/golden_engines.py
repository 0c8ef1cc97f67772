"""Run the golden files of published tokenizers with several versions of each library.

python tools/golden_engines.py DATA FOLDER           # write the tables of conformance/published/README.md
python tools/golden_engines.py DATA FOLDER --report  # and print every difference

Versions that FOLDER lacks are installed there, each in a folder of its own (2 GB). DATA is the folder of the
test data.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from golden_sets import README, folder_for_transformers, run_checker, sets, unpack

VERSIONS = {
    "tokenizers": "0.13.3 0.15.2 0.19.1 0.21.4 0.23.3 1.0.0rc3".split(),
    "transformers": "4.36.2 4.57.6 5.0.0 5.21.1 5.24.0".split(),
    "tiktoken": "0.5.2 0.9.0 0.14.0".split(),
    "sentencepiece": "0.1.99 0.2.0 0.2.1 0.2.2 0.2.3".split(),
    "mistral_common": ["1.13.1"],
}
# What a version needs besides its own requirements.
BESIDES = {"transformers": ["sentencepiece==0.2.1", "protobuf", "jinja2", "numpy<2.3"]}
BEGIN, END = "<!-- engines: written by `make golden-engines` -->\n", "<!-- end of engines -->\n"
ROW = re.compile(r"^row \d+ .*\n((?:  .*\n)*)", re.MULTILINE)


def main() -> int:
    """Write the tables; return the exit code."""
    parser = argparse.ArgumentParser(description="Run the golden files with several versions.")
    parser.add_argument("data", type=Path, help="the folder of the test data")
    parser.add_argument("folder", type=Path, help="where the versions are installed")
    parser.add_argument("--report", action="store_true", help="print every difference")
    given = parser.parse_args()
    lines: list[str] = []
    for library in VERSIONS:
        lines += [*table(library, given.data, given.folder, given.report), ""]
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    page = before + BEGIN + "\n".join(lines) + END + rest.split(END)[1]
    README.write_text(page, encoding="utf-8")
    return 0


def table(library: str, data: Path, folder: Path, is_reported: bool) -> Iterator[str]:
    """Yield the lines of a table: a row for each tokenizer, a column for each version."""
    versions = VERSIONS[library]
    yield f"| {library} | {' | '.join(versions)} |"
    yield "|---" * (len(versions) + 1) + "|"
    for name, entry in sets().items():
        if library not in (entry["library"], *(["transformers"] if "config" in entry else [])):
            continue
        packages = [installed(library, version, folder) for version in versions]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            outputs = list(pool.map(partial(output_of, library, name, entry, data), packages))
        for version, output in zip(versions, outputs, strict=True) if is_reported else ():
            print(f"==== {name}: {library} {version}", output, sep="\n", flush=True)
        yield f"| {name} | {' | '.join(map(cell, outputs))} |"


def output_of(library: str, name: str, entry: Mapping[str, Any], data: Path, packages: Path) -> str:
    """Return what the checker prints with the packages of a folder."""
    with tempfile.TemporaryDirectory() as unpacked:
        source = unpack(entry, [data / file for file in entry["files"]], Path(unpacked))
        if library == "transformers":
            source = folder_for_transformers(entry, Path(unpacked))
        done = run_checker(name, library, source, str(packages))
    return done.stdout if done.stdout else done.stderr


def installed(library: str, version: str, folder: Path) -> Path:
    """Return the folder of a version, installed if it is not there."""
    target = folder / f"{library.replace('_', '-')}-{version}"
    if not target.is_dir():
        wanted = [f"{library}=={version}", *BESIDES.get(library, [])]
        # pip would compare them with what this environment has, which they replace on the path.
        options = ["--quiet", "--no-warn-conflicts", "--only-binary", ":all:", "--target", target]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *wanted], check=True)
    return target


def cell(output: str) -> str:
    """Return a mark, or the numbers of rows by the first field that differs."""
    fields = [
        re.findall(r"^  (\w+): expected", lines, re.MULTILINE) for lines in ROW.findall(output)
    ]
    if not fields:
        return "✓" if " compared rows differ" in output else "does not load"
    kinds = Counter(names[0].removeprefix("char_") for names in fields)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


if __name__ == "__main__":
    sys.exit(main())
