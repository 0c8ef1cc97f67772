"""Compare two builds by the instructions that they execute, or name the commit that executes more.

    python benchmarks/instructions.py OLD NEW
    python benchmarks/instructions.py --since "24 hours ago"

OLD and NEW are checkouts with a compiled core, or compiled modules. Valgrind counts the instructions of
encoding English text with four small vocabularies, at AVX2, beside any other program. `cold` is the first
pass, `warm` the mean of later ones; the start of the process is subtracted. The exit code is 1 if a class
needs more than `--limit` per cent more instructions.

With `--since`, the newest commit is compared with the newest one before that time. If it is slower, the
commits between are searched for the first that is. Each is built with Cargo's profile `quick` in
build/instructions.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from compare_builds import import_folder

ROOT = Path(__file__).parent.parent
BUILDS = ROOT / "build" / "instructions"
MODELS = ("wordpiece", "byte-bpe", "bpe", "unigram")
VOCAB_SIZE = 8000
TEXT_BYTES = 300_000
WARM_PASSES = 5
Counts = dict[str, int]

PREPARE = """
import sys
import piecework as pw
text = open(sys.argv[1], encoding="utf-8").read()[: int(sys.argv[4])]
for model in sys.argv[5:]:
    how = {"vocab_size": int(sys.argv[3]), "model": model}
    if preset := {"byte-bpe": "gpt2", "wordpiece": "bert-uncased"}.get(model):
        how["preset"] = preset
    tok = pw.Tokenizer.train_from_iterator(text.splitlines(), **how)
    tok.save(f"{sys.argv[2]}/{model}.json")
"""
ENCODE = """
import sys
import piecework as pw
tok = pw.Tokenizer.load(sys.argv[1])
texts = open(sys.argv[2], encoding="utf-8").read()[: int(sys.argv[3])].splitlines()
for _ in range(int(sys.argv[4])):
    tok.encode_batch(texts, num_threads=1)
"""


def main() -> None:
    """Compare what the command line names."""
    parser = argparse.ArgumentParser(description="Compare builds by their instructions.")
    parser.add_argument("builds", nargs="*", type=Path, help="two checkouts or modules")
    parser.add_argument("--since", help="a time that git understands, such as '24 hours ago'")
    parser.add_argument("--limit", type=float, default=2.0, help="per cent; default: 2")
    arguments = parser.parse_args()
    if len(arguments.builds) != (0 if arguments.since else 2):
        parser.error("name two builds, or give --since")
    if shutil.which("valgrind") is None:
        sys.exit("instructions are counted by valgrind: apt install valgrind")
    with tempfile.TemporaryDirectory() as folder:
        meter = Meter(Path(folder), 1 + arguments.limit / 100)
        if arguments.since:
            slower = meter.slower_commit(arguments.since)
        else:
            old, new = map(meter.counts, arguments.builds)
            slower = meter.slower("new", old, new)
    if slower:
        sys.exit(slower)


class Meter:
    """Counts the instructions of builds with the same vocabularies and text."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder = folder
        self.limit = limit
        self.text = folder / "text.txt"

    @cache  # noqa: B019 - the meter lives as long as the process
    def counts(self, build: Path) -> Counts:
        """Return the instructions of each class and pass of a build."""
        where = import_folder(build, Path(tempfile.mkdtemp(dir=self.folder)))
        if not self.text.exists():
            script = str(ROOT / "tools/quickstart_corpus.py")
            command = [sys.executable, script, str(self.text)]
            subprocess.run(command, check=True, capture_output=True)
            sizes = (str(VOCAB_SIZE), str(TEXT_BYTES))
            self._python(where, PREPARE, str(self.text), str(self.folder), *sizes, *MODELS)
        self._encode(where, MODELS[0], 0)  # the first process also writes bytecode
        found = {}
        for model in MODELS:
            start, once, often = (
                self._instructions(where, model, passes) for passes in (0, 1, 1 + WARM_PASSES)
            )
            found[f"{model}, cold"] = once - start
            found[f"{model}, warm"] = (often - once) // WARM_PASSES
        return found

    def slower(self, name: str, old: Counts, new: Counts) -> str:
        """Print both counts; return a sentence about the classes that are over the limit, "" if none is."""
        print(f"{'class':18} {'old':>13} {'new':>13}   new / old")
        over = []
        for label, before in old.items():
            ratio = new[label] / before
            print(f"{label:18} {before:13,} {new[label]:13,}   {ratio:.4f}", flush=True)
            over += [f"{label} {100 * (ratio - 1):+.1f} %"] if ratio > self.limit else []
        return f"{name} executes more instructions: {', '.join(over)}" if over else ""

    def slower_commit(self, since: str) -> str:
        """Return a sentence about the first commit since a time that is over the limit, "" if none is."""
        first = git("rev-list", "-1", f"--before={since}", "HEAD") or git(
            "rev-list", "-1", "HEAD~1"
        )
        touched = ("crates", "Cargo.toml", "Cargo.lock")
        commits = git("rev-list", "--reverse", f"{first}..HEAD", "--", *touched).split()
        if not commits:
            print(f"no commit since {since} touches the core")
            return ""
        old = self.counts(built(first))
        found = self.slower(commits[-1], old, self.counts(built(commits[-1])))
        low, high = 0, len(commits) - 1
        while found and low < high:
            middle = (low + high) // 2
            at_middle = self.slower(commits[middle], old, self.counts(built(commits[middle])))
            low, high = (low, middle) if at_middle else (middle + 1, high)
            found = at_middle or found
        title = git("log", "-1", "--format=%h %s", commits[high])
        return found and f"{title}\n{found}"

    def _instructions(self, where: Path, model: str, passes: int) -> int:
        """Return the instructions of a process that encodes the text some times."""
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = self._encode(where, model, passes, command)
        found = re.search(r"Collected : (\d+)", done)
        assert found, done
        return int(found[1])

    def _encode(self, where: Path, model: str, passes: int, before: list[str] | None = None) -> str:
        path, size = str(self.folder / f"{model}.json"), str(TEXT_BYTES)
        arguments = (path, str(self.text), size, str(passes))
        return self._python(where, ENCODE, *arguments, before=before)

    def _python(
        self, where: Path, code: str, *arguments: str, before: list[str] | None = None
    ) -> str:
        environment = {**os.environ, "PYTHONPATH": str(where), "PYTHONHASHSEED": "0"}
        command = [*(before or []), sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stderr


def built(commit: str) -> Path:
    """Return a checkout of a commit with its compiled core."""
    checkout = BUILDS / commit[:12]
    module = checkout / "python/piecework/_internal/_core.abi3.so"
    if module.exists():
        return checkout
    print(f"building {commit[:12]} ...", flush=True)
    if not checkout.exists():
        # git still knows the checkouts that `make clean` removed: --force.
        git("worktree", "add", "--force", "--detach", str(checkout), commit)
    target = BUILDS / "target"
    command = ["cargo", "build", "--profile", "quick", "--package", "piecework-bindings", "--quiet"]
    command += ["--features", "extension-module", "--target-dir", str(target)]
    environment = {**os.environ, "PYO3_PYTHON": sys.executable}
    subprocess.run(command, cwd=checkout, env=environment, check=True)
    shutil.copy(target / "quick/lib_core.so", module)
    return checkout


def git(*arguments: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
