"""Serve 64 concurrent requests in one asyncio loop, in several ways; print rates and delays.

    python benchmarks/concurrent_requests.py TOKENIZER_JSON TEXT [--seconds 2] [--rounds 3] [-o record.txt]

Each of 64 clients encodes the same texts repeatedly. The delay of the loop is how much later than asked a
sleep of one millisecond ends. Ways take turns; figures are medians of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

import tokenizers

import piecework as pw

CLIENTS = 64
# Texts of a request, and characters of each.
SHAPES = ((1, 200), (8, 2_000), (4, 20_000))
Way = Callable[[list[str]], Awaitable[object]]


def ways_of(path: Path) -> dict[str, Way]:
    """Return the ways to encode the texts of one request."""
    ours = pw.Tokenizer.load(path)
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    theirs = tokenizers.Tokenizer.from_str(data.decode())
    pool = ThreadPoolExecutor(2)

    async def direct(texts: list[str]) -> object:
        return ours.encode_batch(texts, num_threads=1)

    async def to_thread(texts: list[str]) -> object:
        return await asyncio.to_thread(ours.encode_batch, texts, num_threads=1)

    async def in_pool(texts: list[str]) -> object:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool, lambda: ours.encode_batch(texts, num_threads=1))

    async def theirs_async(texts: list[str]) -> object:
        return await theirs.async_encode_batch(texts)

    async def theirs_to_thread(texts: list[str]) -> object:
        return await asyncio.to_thread(theirs.encode_batch, texts)

    return {
        "direct call": direct,
        "asyncio.to_thread": to_thread,
        "pool of 2 threads": in_pool,
        "tokenizers: async_encode_batch": theirs_async,
        "tokenizers: asyncio.to_thread": theirs_to_thread,
    }


async def measure(way: Way, texts: list[str], seconds: float) -> tuple[float, float, float]:
    """Return the requests a second, and the median and the 99th percentile of the loop's delay in ms."""
    delays: list[float] = []
    requests = 0
    start = time.perf_counter()
    end = start + seconds

    async def client() -> None:
        nonlocal requests
        while time.perf_counter() < end:
            await way(texts)
            requests += 1
            await asyncio.sleep(0)

    async def watch() -> None:
        while time.perf_counter() < end:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            delays.append((time.perf_counter() - before - 0.001) * 1000)

    await asyncio.gather(watch(), *(client() for _ in range(CLIENTS)))
    rate = requests / (time.perf_counter() - start)
    return rate, median(delays), quantiles([*delays, *delays], n=100)[-1]


async def run(arguments: argparse.Namespace) -> list[str]:
    """Return the lines of the table."""
    text = arguments.text.read_text(encoding="utf-8")
    ways = ways_of(arguments.tokenizer)
    lines = [
        f"{'texts x characters':20}{'way':32}{'requests/s':>11}{'delay p50':>11}{'p99, ms':>9}"
    ]
    for count, chars in SHAPES:
        texts = [text[at * chars : (at + 1) * chars] for at in range(count)]
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, way in ways.items():
                found[name].append(await measure(way, texts, arguments.seconds))
        for name, rounds in found.items():
            rate, middle, high = (median(values) for values in zip(*rounds, strict=True))
            shape = f"{count} x {chars}"
            lines.append(f"{shape:20}{name:32}{rate:11,.0f}{middle:11.2f}{high:9.2f}")
    return lines


def main() -> None:
    """Print the table, and write it to a record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    table = "\n".join(asyncio.run(run(arguments))) + "\n"
    print(table, end="")
    if arguments.output:
        arguments.output.write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
