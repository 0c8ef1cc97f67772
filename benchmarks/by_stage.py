"""Divide the instructions that a token of each script costs among the stages of the engine.

    CARGO_PROFILE_QUICK_DEBUG=line-tables-only cargo build --profile quick --package piecework-bindings \\
        --features extension-module --target-dir build/stages
    python benchmarks/by_stage.py FOLDER build/stages/quick/lib_core.so

FOLDER has a text for each script, as `by_script.py` reads it; the module needs line tables. Each text is
encoded in forks of one process below Valgrind, at AVX2: one encodes the first `--kilobytes`, one also as
many new ones, one these a second time. Costs are differences of two forks. Late tables are built before.

An instruction belongs to the stage of its source line. If code is inlined or called from a file of no
stage, such as the standard library, the stage of the calling line counts. Needs `valgrind`, `addr2line`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from by_script import DOCUMENT_BYTES, ENGLISH, texts_of, tokenizers
from compare_builds import import_folder

HERE = Path(__file__).parent
ENTRY = "*__pymethod_encode_batch__*"
REST = "rest"
STAGES = ("find words", "normalize", "look up", "miss", "segment", REST)
_STORES = "insert|set_pending|change|replace|entry|grow|spread|place|store|clear|pack|pending"
# The stage of a source file below `crates`, or of some functions in it; the first that matches counts.
RULES = [
    (stage, re.compile(file), re.compile(rf"::(?:{functions})\b"))
    for stage, file, functions in (
        ("miss", r"core/src/engine/word_cache/|kernels/src/buckets", _STORES),
        ("miss", r"core/src/engine/misses", ".*"),
        (
            "miss",
            r"core/src/engine/(words/|encode|sentencepiece)",
            "write_miss|append_miss|queue_part",
        ),
        ("look up", r"core/src/(engine/word_cache/|word_key)|kernels/src/buckets", ".*"),
        ("look up", r"core/src/engine/(encode|sentencepiece)", "append_hits|accept\\w*"),
        ("normalize", r"core/src/stages/(normalize/|split/bert/(words|char_actions))", ".*"),
        ("segment", r"core/src/engine/(sentencepiece|words/metaspace/(parts|single_chars))", ".*"),
        ("find words", r"core/src/(stages/(pretokenize|split)/|model/adjacency/)", ".*"),
        (
            "find words",
            r"core/src/engine/words/|kernels/src/(wide_)?classes|kernels/src/positions",
            ".*",
        ),
        ("segment", r"core/src/model/|kernels/src/merges/", ".*"),
        (REST, r"core/src/engine/|bindings/src/", ".*"),
    )
]
ENCODE = """
import json, os, sys
from pathlib import Path
benchmarks, path, kilobytes, document_bytes, *texts = sys.argv[1:]
sys.path.insert(0, benchmarks)
from corpora import split_documents
from worker import load
engine = load("engines", "piecework")
tokenizer = engine.load(Path(path))
tokenizer.warm_up()
size = 1000 * int(kilobytes)
for text in texts:
    job = {"files": {"corpus": text}, "document_bytes": int(document_bytes)}
    first, new = split_documents(job | {"warm_up_bytes": size, "steady_bytes": size})
    about = {"text": text, "bytes": sum(len(document.encode()) for document in new), "processes": []}
    for count in (1, 2, 3):
        if child := os.fork():
            os.waitpid(child, 0)
            about["processes"].append(child)
            continue
        for documents in (first, new, new)[:count]:
            ids = engine.flat_ids(engine.encode(tokenizer, documents, 1))
        os.write(1, b"%d " % len(ids))
        os._exit(0)
    print(json.dumps(about), flush=True)
"""

Function = tuple[str, str]
Frames = list[tuple[str, str]]


@dataclass
class Profile:
    """Instructions by function and address; for calls, also by the called function."""

    own: dict[tuple[Function, int], int]
    calls: dict[tuple[Function, int, Function], int]

    def minus(self, less: Profile) -> Profile:
        """Return what this profile has more than one of a shorter process."""
        own = {key: cost - less.own.get(key, 0) for key, cost in self.own.items()}
        calls = {key: cost - less.calls.get(key, 0) for key, cost in self.calls.items()}
        return Profile(own, calls)

    def addresses(self, module: str) -> Iterator[int]:
        """Yield the addresses in a module."""
        yield from (at for (place, _), at in self.own if place == module)
        yield from (at for (place, _), at, _ in self.calls if place == module)


@dataclass
class Row:
    """What a script costs: bytes and tokens, the instructions of each stage, and of text seen before."""

    size: int
    tokens: int
    stages: dict[str, int]
    seen: int

    @property
    def new(self) -> int:
        """The instructions of new text."""
        return sum(self.stages.values())


def main() -> None:
    """Print a table for each tokenizer."""
    options = parse_options()
    for program in ("valgrind", "addr2line"):
        if shutil.which(program) is None:
            raise SystemExit(f"{program} is needed: apt install valgrind binutils")
    texts = texts_of(options.folder)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where = import_folder(options.module, folder / "build")
        for title, tokenizer in tokenizers(options.tokenizer, folder):
            rows = dict(measured(tokenizer, texts, where, folder / "profiles", options.kilobytes))
            print(f"\n{title}\n" + "\n".join(table(rows)), flush=True)


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Which stage do the instructions of a script belong to?"
    )
    parser.add_argument("folder", type=Path, help="of UTF-8 texts, named by their script")
    parser.add_argument("module", type=Path, help="compiled module with line tables")
    parser.add_argument(
        "--tokenizer", type=Path, action="append", help="file; repeatable; default: published ones"
    )
    parser.add_argument("--kilobytes", type=int, default=75, help="of each part; default: 75")
    return parser.parse_args()


def measured(
    tokenizer: Path, texts: list[Path], where: Path, folder: Path, kilobytes: int
) -> Iterator[tuple[str, Row]]:
    """Yield the name of each script and its row."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no"]
    command += ["--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={folder}/%p"]
    command += [f"--toggle-collect={ENTRY}", sys.executable, "-c", ENCODE]
    command += [str(HERE), str(tokenizer), str(kilobytes), str(DOCUMENT_BYTES), *map(str, texts)]
    environment = {**os.environ, "PYTHONPATH": str(where), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    module = str(where / "piecework" / "_internal" / "_core.abi3.so")
    costs = []
    for line in done.stdout.splitlines():
        counts, brace, rest = line.partition("{")
        record = json.loads(brace + rest)
        files = [folder / str(process) for process in record["processes"]]
        first, new, seen = (parsed(file.read_text().splitlines()) for file in files)
        costs.append((record, int(counts.split()[-1]), new.minus(first), seen.minus(new)))
    addresses = {at for *_, new, _ in costs for at in new.addresses(module)}
    stages = {at: stage_of(frames) for at, frames in frames_at(module, addresses).items()}
    if not any(stages.values()):
        raise SystemExit("the module has no line tables: build it as the head of by_stage.py shows")
    for record, tokens, new, seen in costs:
        row = Row(record["bytes"], tokens, by_stage(new, module, stages), sum(seen.own.values()))
        yield Path(record["text"]).stem, row


def parsed(lines: Iterable[str]) -> Profile:
    """Read a file of Callgrind that has instructions for positions, and nothing compressed."""
    profile = Profile(defaultdict(int), defaultdict(int))
    name = {"ob": "", "fn": "", "cob": "", "cfn": ""}
    is_call = False
    for line in lines:
        key, equals, value = line.partition("=")
        if equals and key in name:
            name[key] = value
            if key == "ob":
                name["cob"] = value
        elif key == "calls":
            is_call = True
        elif line.startswith("0x"):
            address, cost = line.split()[:2]
            function, at = (name["ob"], name["fn"]), int(address, 16)
            if is_call:
                profile.calls[function, at, (name["cob"], name["cfn"])] += int(cost)
                name["cob"], is_call = name["ob"], False
            else:
                profile.own[function, at] += int(cost)
    return profile


def frames_at(module: str, addresses: Iterable[int]) -> dict[int, Frames]:
    """Return the functions and files of each address, the innermost first."""
    given = "\n".join(map(hex, addresses))
    command = [
        "addr2line",
        "--exe",
        str(module),
        "--addresses",
        "--functions",
        "--inlines",
        "--demangle",
    ]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    found: dict[int, Frames] = {}
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            frames = found.setdefault(int(line, 16), [])
        else:
            frames.append((line, next(lines)))
    return found


def stage_of(frames: Frames) -> str | None:
    """Return the stage of the innermost function that has one."""
    for function, place in frames:
        for stage, file, functions in RULES:
            if file.search(place) and functions.search(f"::{function}"):
                return stage
    return None


def by_stage(profile: Profile, module: str, stages: dict[int, str | None]) -> dict[str, int]:
    """Return the instructions of each stage; a function of no stage has its callers' by their calls."""
    costs: dict[str, float] = dict.fromkeys(STAGES, 0.0)
    unknown: dict[Function, int] = defaultdict(int)
    for (function, address), cost in profile.own.items():
        stage = stages.get(address) if function[0] == module else None
        if stage is None:
            unknown[function] += cost
        else:
            costs[stage] += cost
    callers: dict[Function, list[tuple[Function, str | None, int]]] = defaultdict(list)
    for (function, address, callee), cost in profile.calls.items():
        callers[callee].append(
            (function, stages.get(address) if function[0] == module else None, cost)
        )
    shares: dict[Function, dict[str, float]] = {}
    # Chains of functions without a stage are short; recursion ends as well.
    for _ in range(20):
        shares = {function: share(callers[function], shares) for function in list(callers)}
    for function, cost in unknown.items():
        for stage, part in (shares.get(function) or {REST: 1.0}).items():
            costs[stage] += cost * part
    return {stage: round(cost) for stage, cost in costs.items()}


def share(
    calls: list[tuple[Function, str | None, int]], shares: dict[Function, dict[str, float]]
) -> dict[str, float]:
    """Return the share of each stage in the calls of a function."""
    total = sum(cost for *_, cost in calls) or 1
    found: dict[str, float] = defaultdict(float)
    for caller, stage, cost in calls:
        for name, part in ({stage: 1.0} if stage else shares.get(caller) or {REST: 1.0}).items():
            found[name] += part * cost / total
    return found


def table(rows: dict[str, Row]) -> Iterator[str]:
    """Yield a line for each script: instructions of a token, in all and by stage, and in text seen before."""
    heads = "".join(f"  {stage:>10}" for stage in STAGES)
    yield f"script        bytes/token     new  x English{heads}    seen"
    english = rows[ENGLISH].new / rows[ENGLISH].tokens
    for script, row in rows.items():
        cells = "".join(f"  {row.stages[stage] / row.tokens:10.1f}" for stage in STAGES)
        new, seen = row.new / row.tokens, row.seen / row.tokens
        head = f"{script:<12}  {row.size / row.tokens:11.2f}  {new:6.0f}  {new / english:9.2f}"
        yield f"{head}{cells}  {seen:6.0f}"


if __name__ == "__main__":
    main()
