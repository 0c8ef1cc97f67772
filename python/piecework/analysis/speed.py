"""What a benchmark found: speeds of encoding and decoding, ours and those of other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from piecework.analysis.text_tables import Table


@dataclass(frozen=True)
class Speed:
    """One thing measured: the median of its seconds, the bytes of text as UTF-8, the tokens."""

    what: str
    threads: int
    seconds: float
    text_bytes: int
    tokens: int

    @property
    def megabytes_per_second(self) -> float:
        """Text a second, in millions of bytes."""
        return self.text_bytes / self.seconds / 1e6

    @property
    def tokens_per_second(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Return the same as a dict, with both speeds."""
        speeds = ("megabytes_per_second", "tokens_per_second")
        return asdict(self) | {name: getattr(self, name) for name in speeds}


@dataclass(frozen=True)
class PeerSpeeds:
    """Another library on the same texts, and how many of them it encodes to other ids than ours.

    `first_different` is the number of the first such text, from 0; None when all ids are the same.
    """

    name: str
    version: str
    speeds: tuple[Speed, ...]
    texts_compared: int
    texts_different: int
    first_different: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the same as dicts, lists, strings and numbers."""
        return asdict(self) | {"speeds": [speed.to_dict() for speed in self.speeds]}


@dataclass(frozen=True)
class Benchmark:
    """What `bench` measured: the texts in figures, our speeds, and those of the peers."""

    texts: int
    text_bytes: int
    repetitions: int
    speeds: tuple[Speed, ...]
    peers: tuple[PeerSpeeds, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the same as dicts, lists, strings and numbers."""
        return asdict(self) | {
            "speeds": [speed.to_dict() for speed in self.speeds],
            "peers": [peer.to_dict() for peer in self.peers],
        }


def speed_table(found: Benchmark) -> Table:
    """Return the speeds as a table of text, ours first.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> table = speed_table(pw.analysis.bench(tok, ["abba", "ab", "b", "aa"], num_threads=1))
    >>> [row[0] for row in table.rows]
    ['encode, cold', 'encode, steady', 'offsets and word ids', 'decode']
    """
    title = (
        f"{found.texts:,} texts, {found.text_bytes:,} bytes; medians of {found.repetitions}; "
        "steady: texts not seen before"
    )
    header = ("", "threads", "MB/s", "million tokens/s", "ids")
    rows = [_row(_NAMES[speed.what], speed) for speed in found.speeds]
    return Table(title, header, (*rows, *_peer_rows(found)))


_NAMES = {
    "cold": "encode, cold",
    "steady": "encode, steady",
    "offsets": "offsets and word ids",
    "decode": "decode",
}


def _peer_rows(found: Benchmark) -> Iterator[tuple[str, ...]]:
    for peer in found.peers:
        ids = "the same"
        if peer.texts_different:
            ids = f"{peer.texts_different:,} of {peer.texts_compared:,} texts differ"
        for speed in peer.speeds:
            yield _row(f"{peer.name} {peer.version}, {speed.what}", speed, ids)


def _row(name: str, speed: Speed, ids: str = "") -> tuple[str, ...]:
    millions = speed.tokens_per_second / 1e6
    return name, str(speed.threads), f"{speed.megabytes_per_second:.1f}", f"{millions:.2f}", ids
