"""Run the benchmarks: definitions x engines, in turns, each measurement in a fresh process.

In: `definitions/*.toml`. Out: a table of medians, ratios and spreads, and a JSON record with `-o`.
Engines that disagree on the number of tokens end the run: a wrong answer has no speed.

    python benchmarks/run.py --corpus english.txt --definition wordpiece-encode -o results/NAME.json
    python benchmarks/run.py --smoke            # tiny sizes, token counts only
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.append(str(HERE))

from corpora import corpus_file, head  # noqa: E402
from report import machine, summary_table  # noqa: E402
from vocabularies import MissingVocabularyError, tokenizer_file  # noqa: E402
from worker import load_engine  # noqa: E402

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
Record = dict[str, Any]


def main() -> None:
    """Run the definitions asked for, print their tables, write the record."""
    options = parse_options()
    records = []
    with tempfile.TemporaryDirectory() as folder:
        corpus = corpus_file(options.corpus, Path(folder))
        for definition in read_definitions(options.definition):
            try:
                found = run_definition(definition, corpus, Path(folder), options)
            except MissingVocabularyError as error:
                print(f"{definition['name']} left out: {error}", file=sys.stderr)
                continue
            check_counts(definition, found)
            print(summary_table(definition, found, smoke=options.smoke))
            records += found
    if options.output:
        result = {"machine": machine(), "corpus": corpus.name, "records": records}
        options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare engines on the same text.")
    parser.add_argument("--corpus", type=Path, help="UTF-8 text, a paragraph a line")
    parser.add_argument("--definition", help="run this one only, by name")
    parser.add_argument("--repetitions", type=int, help="instead of the definition's own")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes; check token counts only")
    parser.add_argument("-o", "--output", type=Path, help="write all measurements as JSON")
    return parser.parse_args()


def read_definitions(wanted: str | None) -> list[Record]:
    """Return the definitions in the order of their file names."""
    found = [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted((HERE / "definitions").glob("*.toml"))
    ]
    chosen = [definition for definition in found if wanted in (None, definition["name"])]
    if not chosen:
        names = ", ".join(definition["name"] for definition in found)
        raise SystemExit(f"--definition: found {wanted}, expected one of {names}")
    return chosen


def run_definition(
    definition: Record, corpus: Path, folder: Path, options: argparse.Namespace
) -> list[Record]:
    """Measure every job of a definition, the engines taking turns within each repetition."""
    sizes = definition["smoke" if options.smoke else "sizes"]
    repetitions = 1 if options.smoke else options.repetitions or definition["repetitions"]
    jobs = list(jobs_of(definition, sizes, corpus, folder))
    return [
        {
            "definition": definition["name"],
            "repetition": number,
            **without_paths(job),
            **measure(job),
        }
        for number in range(repetitions)
        for job in jobs
    ]


def without_paths(job: Record) -> Record:
    """Leave out where files lay: that says nothing elsewhere."""
    return {name: value for name, value in job.items() if name not in ("corpus", "tokenizer")}


def jobs_of(definition: Record, sizes: Record, corpus: Path, folder: Path) -> list[Record]:
    """Return what is to be measured: one job an engine, or one an engine and score."""
    shared = {"task": definition["task"], **sizes}
    if definition["task"] == "encode":
        tokenizer = str(tokenizer_file(definition["vocabulary"], folder))
        shared |= {"corpus": str(corpus), "tokenizer": tokenizer}
        engines = [engine for engine in definition["engines"] if is_installed(engine, definition)]
        return [{**shared, "engine": engine} for engine in engines]
    shared["corpus"] = str(head(corpus, sizes["corpus_bytes"], folder))
    engines = [engine for engine in definition["engines"] if is_installed(engine, definition)]
    scores = {engine: load_engine(engine).SCORES for engine in engines}
    return [
        {**shared, "engine": engine, "score": score}
        for score in definition["scores"]
        for engine in engines
        if score in scores[engine]
    ]


def is_installed(engine: str, definition: Record) -> bool:
    """Leave out an engine that is not installed, and say so; ours and the reference must be."""
    try:
        load_engine(engine)
    except ModuleNotFoundError as error:
        if engine in ("piecework", definition["reference"]):
            raise
        print(f"{engine} left out: {error}; pip install {engine}", file=sys.stderr)
        return False
    return True


def measure(job: Record) -> Record:
    """Run one job in a fresh process; encoding is held to one thread."""
    environment = {**os.environ, **(ONE_THREAD if job["task"] == "encode" else {})}
    done = subprocess.run(
        [sys.executable, str(HERE / "worker.py"), json.dumps(job)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{job['engine']} failed on {job['task']}; its message is above")
    # Engines may print as they like; the record is the last line.
    record: Record = json.loads(done.stdout.splitlines()[-1])
    return record


def check_counts(definition: Record, records: list[Record]) -> None:
    """End the run unless all engines and repetitions gave the same number of tokens or entries."""
    encoding = ("cold_tokens", "steady_tokens", "decode_bytes")
    measures = encoding if definition["task"] == "encode" else ("entries",)
    for score in {record.get("score") for record in records}:
        same = [record for record in records if record.get("score") == score]
        for name in measures:
            found = {record["engine"]: record[name] for record in same if name in record}
            if len({record[name] for record in same if name in record}) != 1:
                raise SystemExit(f"{definition['name']}: {name} differ: {found}")


if __name__ == "__main__":
    main()
