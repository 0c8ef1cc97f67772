"""Write the golden files of published tokenizers, each verified by the library that owns its format.

python tools/golden_sets.py DATA            # write conformance/published/*.jsonl and the table of its README
python tools/golden_sets.py DATA --check    # exit code 1 if a file or the table differs

DATA is the folder of the test data. `conformance/published/sets.toml` names the tokenizers. One whose files
DATA lacks keeps its golden file.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import piecework as pw

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "conformance" / "published"
SETS = PUBLISHED / "sets.toml"
README = PUBLISHED / "README.md"
CHECK_GOLDEN = ROOT / "examples" / "golden" / "check_golden.py"
BEGIN, END = "<!-- sets: written by `make golden-sets` -->\n", "<!-- end of sets -->\n"


def main() -> int:
    """Write or check the golden files and the table; return the exit code."""
    parser = argparse.ArgumentParser(description="Write the golden files of published tokenizers.")
    parser.add_argument("data", type=Path, help="the folder of the test data")
    parser.add_argument("--check", action="store_true", help="exit with 1 if one differs")
    parser.add_argument("--only", nargs="*", help="names of sets.toml")
    given = parser.parse_args()
    wrong = [name for name in given.only or sets() if not write(name, given.data, given.check)]
    text = README.read_text(encoding="utf-8")
    page = with_table(text)
    if given.check:
        wrong += ["README.md"] if page != text else []
    else:
        README.write_text(page, encoding="utf-8")
    print(*(f"{name}: differs or is not verified" for name in wrong), sep="\n", end="")
    return int(bool(wrong))


def sets() -> dict[str, dict[str, Any]]:
    """Return the published tokenizers by name."""
    return tomllib.loads(SETS.read_text(encoding="utf-8"))


def write(name: str, data: Path, is_check: bool) -> bool:
    """Write or compare the golden file of a tokenizer; return whether it is as its library says."""
    entry = sets()[name]
    files = [data / file for file in entry["files"]]
    if missing := [file for file in files if not file.is_file()]:
        print(f"{name}: not written, because there is no {missing[0]}")
        return True
    target = PUBLISHED / f"{name}.jsonl"
    with tempfile.TemporaryDirectory() as folder:
        source = unpack(entry, files, Path(folder))
        made = Path(folder) / "golden.jsonl"
        golden_of(name, source).save(made)
        is_equal = target.is_file() and target.read_bytes() == made.read_bytes()
        if not is_check and not is_equal:
            target.write_bytes(made.read_bytes())
        return (is_equal or not is_check) and is_verified(name, source)


def unpack(entry: Mapping[str, Any], files: Sequence[Path], folder: Path) -> Path:
    """Write the files of a tokenizer into a folder as its library reads them; return the path to load."""
    for file in files:
        raw = file.read_bytes()
        target = folder / file.name.removesuffix(".gz")
        target.write_bytes(gzip.decompress(raw) if file.suffix == ".gz" else raw)
    if entry["library"] == "tiktoken":
        (folder / cached_name(target.stem)).write_bytes(raw)
    return folder_for_transformers(entry, folder) if entry["library"] == "transformers" else target


def folder_for_transformers(entry: Mapping[str, Any], folder: Path) -> Path:
    """Write the configuration of an unpacked tokenizer; return its folder."""
    config = folder / "tokenizer_config.json"
    config.write_text(json.dumps(entry["config"]), encoding="utf-8")
    if "model_type" in entry:
        model = {"model_type": entry["model_type"]}
        (folder / "config.json").write_text(json.dumps(model), encoding="utf-8")
    return folder


def cached_name(encoding: str) -> str:
    """Return the name that the ranks of an encoding have in the cache of tiktoken."""
    address = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
    return hashlib.sha1(address.encode()).hexdigest()


def golden_of(name: str, source: Path) -> pw.analysis.Golden:
    """Return the golden file of a tokenizer that `unpack` wrote."""
    return pw.analysis.golden(tokenizer_of(source), name=name)


def tokenizer_of(source: Path) -> pw.Tokenizer:
    """Return the tokenizer that `unpack` wrote, as its golden file is of it."""
    options = {"encoding_name": source.stem} if source.suffix == ".tiktoken" else {}
    return pw.Tokenizer.load(source, **options).without_padding().without_truncation()


def is_verified(name: str, source: Path) -> bool:
    """Return whether the owner of the format has the answers of a golden file; print what differs."""
    library = sets()[name]["library"]
    if find_spec(library) is None:
        print(f"{name}: not verified, because {library} is not installed")
        return True
    done = run_checker(name, library, source)
    if done.returncode:
        print(done.stdout, done.stderr, sep="")
    return done.returncode == 0


def run_checker(
    name: str, library: str, source: Path, packages: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run examples/golden/check_golden.py on a golden file, with the packages of a folder if one is named."""
    fields = sets()[name].get("compared", [])
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(source.parent), "HF_HUB_OFFLINE": "1"}
    if packages is not None:
        environment["PYTHONPATH"] = packages
    argument = source.stem if library == "tiktoken" else str(source)
    return subprocess.run(
        [sys.executable, CHECK_GOLDEN, library, PUBLISHED / f"{name}.jsonl", argument, *fields],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


# ---- the table


def with_table(page: str) -> str:
    """Return the README with the table of all golden files."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "".join(f"{line}\n" for line in table()) + END + rest.split(END)[1]


def table() -> list[str]:
    """Return the lines of a table with a row for each golden file."""
    lines = [
        "| tokenizer | source | licence | model | rows | bytes | library |",
        "|---|---|---|---|--:|--:|---|",
    ]
    for name, entry in sets().items():
        path = PUBLISHED / f"{name}.jsonl"
        header = header_of(path)
        link = f"[{entry['source'].split('/', 1)[1]}](https://{entry['source']})"
        cells = [f"[{name}]({path.name})", link, entry["licence"], header["tokenizer"]["model"]]
        cells += [f"{header['rows']:,}", f"{path.stat().st_size:,}", entry["library"]]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def header_of(path: Path) -> dict[str, Any]:
    """Return the header of a golden file."""
    with path.open(encoding="utf-8") as lines:
        header: dict[str, Any] = json.loads(next(lines))
    return header


if __name__ == "__main__":
    sys.exit(main())
