"""Results of a benchmark: speeds of piecework and of other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from piecework._internal.counted import counted
from piecework.analysis.blocks import Grid


@dataclass(frozen=True)
class Speed:
    """One measurement: median seconds, bytes of text as UTF-8, and tokens.

    >>> speed = Speed("cold", threads=1, seconds=0.5, text_bytes=2_000_000, tokens=500_000)
    >>> speed.megabytes_per_second, speed.tokens_per_second
    (4.0, 1000000.0)

    `what` is "cold", "steady", "offsets" or "decode".
    """

    what: str
    threads: int
    seconds: float
    text_bytes: int
    tokens: int

    @property
    def megabytes_per_second(self) -> float:
        """Millions of bytes of text per second."""
        return self.text_bytes / self.seconds / 1e6

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and both speeds as a dict, for JSON."""
        speeds = ("megabytes_per_second", "tokens_per_second")
        return asdict(self) | {name: getattr(self, name) for name in speeds}


@dataclass(frozen=True)
class PeerSpeeds:
    """The speeds of another library on the same texts, and the number of texts with different ids.

    >>> same = PeerSpeeds("tokenizers", "0.23", (), texts_compared=8, texts_different=0, first_different=None)
    >>> same.to_dict()["texts_different"]
    0

    `first_different` is the index of the first text whose ids differ, None if all ids are equal.
    """

    name: str
    version: str
    speeds: tuple[Speed, ...]
    texts_compared: int
    texts_different: int
    first_different: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as dicts, lists, strings and numbers, for JSON."""
        return asdict(self) | {"speeds": [speed.to_dict() for speed in self.speeds]}


@dataclass(frozen=True)
class Benchmark:
    """The result of `bench`: figures of the texts, speeds of piecework, and speeds of peers.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.bench(tok, ["abba", "ab", "b", "aa"], num_threads=1)
    >>> found.texts, found.text_bytes, found.repetitions
    (4, 9, 3)
    """

    texts: int
    text_bytes: int
    repetitions: int
    speeds: tuple[Speed, ...]
    peers: tuple[PeerSpeeds, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as dicts, lists, strings and numbers, for JSON."""
        return asdict(self) | {
            "speeds": [speed.to_dict() for speed in self.speeds],
            "peers": [peer.to_dict() for peer in self.peers],
        }


def speed_table(benchmark: Benchmark) -> Grid:
    """Return the speeds as a table, piecework first.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> table = speed_table(pw.analysis.bench(tok, ["abba", "ab", "b", "aa"], num_threads=1))
    >>> [row[0] for row in table.rows]
    ['encode, cold', 'encode, steady', 'offsets and word ids', 'decode']
    """
    title = (
        f"{counted(benchmark.texts, 'text')}, {counted(benchmark.text_bytes, 'byte')}; "
        f"medians of {counted(benchmark.repetitions, 'repetition')}; "
        "cold: empty word cache, steady: filled word cache, new texts"
    )
    header = ("", "threads", "MB/s", "million tokens/s", "ids")
    rows = [_row(_NAMES[speed.what], speed) for speed in benchmark.speeds]
    return Grid(header, (*rows, *_peer_rows(benchmark)), numbers=header[1:], title=title)


_NAMES = {
    "cold": "encode, cold",
    "steady": "encode, steady",
    "offsets": "offsets and word ids",
    "decode": "decode",
}


def _peer_rows(benchmark: Benchmark) -> Iterator[tuple[str, ...]]:
    for peer in benchmark.peers:
        ids = "equal"
        if peer.texts_different:
            ids = f"{peer.texts_different:,} of {peer.texts_compared:,} texts differ"
        for speed in peer.speeds:
            yield _row(f"{peer.name} {peer.version}, {speed.what}", speed, ids)


def _row(name: str, speed: Speed, ids: str = "") -> tuple[str, ...]:
    millions = speed.tokens_per_second / 1e6
    return name, str(speed.threads), f"{speed.megabytes_per_second:.1f}", f"{millions:.2f}", ids
