"""Count the tokens of a million rows in PostgreSQL and SQLite; print seconds, beside reading the rows.

    PIECEWORK_CAPI=build/capi/release python -m benchmarks.databases TOKENIZER TEXT [--rows 1000000]

TOKENIZER is a file without compression. A row is a line of TEXT, which is repeated. The server runs in a
folder of its own, as in tests/capi/test_postgres.py, which says what it needs. Figures are medians of the
rounds; the load of the machine is printed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from sqlite3 import connect
from statistics import median
from time import monotonic

from tests.capi.library import run
from tests.capi.test_postgres import running_server
from tests.capi.test_sqlite import build

COUNT = "SELECT sum(piecework_count(body, 'measured')) FROM rows"
READ = "SELECT sum(length(body)) FROM rows"
Query = Callable[[], str]


def postgres(tokenizer: Path, rows: Path) -> Iterator[tuple[str, Query]]:
    """Yield queries of PostgreSQL, alone and with parallel workers."""
    with running_server() as server:
        shutil.copy(tokenizer, server.folder / "tokenizers" / "measured")
        shutil.copy(rows, server.folder / "rows")
        (server.folder / "rows").chmod(0o644)
        copy = f"COPY rows FROM '{server.folder}/rows' WITH (FORMAT text)"
        server.answer("CREATE TABLE rows (body text)", copy, "VACUUM ANALYZE rows")
        for workers in (0, 1):
            setting = f"SET max_parallel_workers_per_gather = {workers}"
            for query in (READ, COUNT):
                name = f"PostgreSQL, {workers + 1} process(es): {query}"
                yield name, lambda query=query, setting=setting: server.answer(setting, query)


def sqlite(tokenizer: Path, rows: Path) -> Iterator[tuple[str, Query]]:
    """Yield queries of SQLite."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        shutil.copy(tokenizer, folder / "measured")

        def answer(*lines: str) -> str:
            done = run(["sqlite3", "-batch", "rows.db"], cwd=folder, input="\n".join(lines))
            assert done.stderr == "", done.stderr
            return done.stdout.split()[-1] if done.stdout else ""

        with rows.open(encoding="utf-8") as lines, closing(connect(folder / "rows.db")) as database:
            database.execute("CREATE TABLE rows (body TEXT)")
            bodies = ((line.rstrip("\n"),) for line in lines)
            database.executemany("INSERT INTO rows VALUES (?)", bodies)
            database.commit()
        load = "SELECT load_extension('./piecework') IS NULL; SELECT piecework_folder('.');"
        for query in (READ, COUNT):
            yield f"SQLite: {query}", lambda query=query: answer(load, f"{query};")


def seconds(query: Query) -> tuple[float, str]:
    """Return how long a query takes, and its answer."""
    begun = monotonic()
    answer = query()
    return monotonic() - begun, answer


def main() -> None:
    """Print the figures of both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    lines = arguments.text.read_text("utf-8").replace("\\", "/").replace("\t", " ").splitlines()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as rows:
        rows.writelines(f"{line}\n" for line in islice(cycle(filter(None, lines)), arguments.rows))
        rows.flush()
        size = os.path.getsize(rows.name)
        print(f"{arguments.rows} rows, {size / 1e6:.0f} MB, load {os.getloadavg()[0]:.1f}")
        for queries in (postgres, sqlite):
            for name, query in queries(arguments.tokenizer, Path(rows.name)):
                rounds = [seconds(query) for _ in range(arguments.rounds)]
                print(f"{median(took for took, _ in rounds):7.2f} s  {name} = {rounds[0][1]}")
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
