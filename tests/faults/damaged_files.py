"""Read damaged copies of the files of every reader, in processes with limits of memory and processor time.

    python -m tests.faults.damaged_files --seconds 600
    python -m tests.faults.damaged_files --rounds 1 --seed 7

`fuzz/` damages the files. A reader may succeed or raise an error of `piecework.errors`; anything else is a
finding: another exception, a signal, or a limit. The damaged file of a finding is kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import piecework as pw
from tests import data
from tests.faults.readers import READERS, Reader, use

MEMORY = 1 << 30
"""The address space that reading may take beside that of the process at its start, in bytes."""
PROCESSOR_SECONDS = 10
"""The processor time of one read."""

# Published files, beside the small ones of the tests.
PUBLISHED: dict[str, dict[str, Any]] = {
    "vocab/bert-base-uncased/vocab.txt": {},
    "vocab/bert-base-uncased/tokenizer.json": {},
    "vocab/gpt2/tokenizer.json.gz": {},
    "vocab/t5/spiece.model": {},
    "vocab/mistral/tokenizer.model.v1": {},
    "vocab/mistral/tekken_240911.json.gz": {},
    "vocab/tiktoken/r50k_base.tiktoken": {"encoding_name": "gpt2"},
}


def readers() -> Iterator[tuple[str, Reader]]:
    """Yield the readers of the tests, and one for each published file."""
    yield from READERS.items()
    for name, options in PUBLISHED.items():
        path = data.find(name)
        if path is not None:
            yield (
                name,
                Reader(
                    lambda out, path=path: shutil.copyfile(path, out / path.name),
                    lambda out, path=path, options=options: use(
                        pw.Tokenizer.load(out / path.name, **options)
                    ),
                ),
            )


def damaged(path: Path, folder: Path, cases: int, seed: int) -> list[Path]:
    """Return damaged copies of a file, made by the program in `fuzz/`."""
    command = "cargo run --profile checks --quiet --package piecework-fuzz --".split()
    arguments = ["--damage", path, "--into", folder, "--cases", str(cases), "--seed", str(seed)]
    subprocess.run([*command, *arguments], check=True, cwd=data.ROOT)
    return [folder / str(case) for case in range(cases)]


def read_each(reader: Reader, path: Path, copies: list[Path], kept: Path) -> Counter[str]:
    """Read each copy in the place of `path`; return the outcomes. A finding stays in the file `kept`."""
    outcomes: Counter[str] = Counter()
    folder = path.parent
    whole = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    for copy in copies:
        for file, content in whole.items():  # readers of checkpoints and manifests write
            file.write_bytes(content)
        shutil.copyfile(copy, path)
        shutil.copyfile(copy, kept)
        begun = process_time()
        try:
            reader.read(folder)
            outcomes["read"] += 1
        except pw.PieceworkError as error:
            outcomes[type(error).__name__] += 1
            if isinstance(error, pw.errors.InternalError):
                raise
        if process_time() - begun > PROCESSOR_SECONDS:
            raise TimeoutError(f"{process_time() - begun:.1f} s of processor time")
    kept.unlink()
    return outcomes


def in_child(
    reader: Reader, path: Path, copies: list[Path], kept: Path, memory: int = MEMORY
) -> tuple[int, str, int]:
    """Run `read_each` in a child with limits; return its status, what it says and its peak of memory."""
    import resource

    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        status = 1
        with os.fdopen(write_end, "w") as out:
            try:
                size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
                resource.setrlimit(resource.RLIMIT_AS, (size + memory,) * 2)
                seconds = PROCESSOR_SECONDS * (len(copies) + 1)
                resource.setrlimit(resource.RLIMIT_CPU, (seconds,) * 2)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                counts = read_each(reader, path, copies, kept)
                out.write(" ".join(f"{name}:{count}" for name, count in counts.items()))
                status = 0
            except BaseException:
                out.write(traceback.format_exc())
        os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        said = stream.read()
    _, status, usage = os.wait4(child, 0)
    return status, said, usage.ru_maxrss


def main() -> int:
    """Run rounds over all files of all readers until the time is over; return the number of findings."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--cases", type=int, default=20, help="damaged copies of a file in a round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the name of the readers to run")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    end = monotonic() + arguments.seconds
    outcomes: Counter[str] = Counter()
    findings = peak = cases = 0
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for number, (name, reader) in enumerate(readers()):
            if arguments.only in name:
                place = Path(folder) / f"reader-{number}"
                place.mkdir()
                reader.write(place)
                places[name] = reader, sorted(p for p in place.rglob("*") if p.is_file())
        for at in range(arguments.rounds):
            for name, (reader, files) in places.items():
                path = files[at % len(files)]
                if monotonic() > end:
                    break
                copies_of = Path(tempfile.mkdtemp(dir=folder))
                seed = arguments.seed + at * arguments.cases
                copies = damaged(path, copies_of, arguments.cases, seed)
                content = path.read_bytes()
                kept = (
                    Path(tempfile.gettempdir()) / f"finding-{os.getpid()}-{findings}{path.suffix}"
                )
                status, said, resident = in_child(reader, path, copies, kept)
                path.write_bytes(content)
                shutil.rmtree(copies_of)
                cases += len(copies)
                peak = max(peak, resident)
                if status:
                    findings += 1
                    print(f"{name}: {path.name}, seed {seed}, status {status}, see {kept}\n{said}")
                else:
                    outcomes.update({k: int(n) for k, n in (w.split(":") for w in said.split())})
            if monotonic() > end:
                break
    print(
        f"{cases} damaged files of {len(places)} readers, {findings} findings, peak {peak >> 10} MiB"
    )
    print(", ".join(f"{name} {count}" for name, count in outcomes.most_common()))
    return findings


if __name__ == "__main__":
    sys.exit(min(main(), 1))
