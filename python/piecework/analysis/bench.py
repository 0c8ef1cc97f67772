"""Measure how fast a tokenizer is on given texts, and how fast other libraries are with the same file.

Each repetition starts with a new tokenizer, so its word cache is empty. The texts are divided into three
parts. The first quarter is encoded with the empty cache ("cold"). The next half is encoded with the filled
cache ("steady") and then decoded. The last quarter is encoded with its offsets. Peers run
alternately with piecework on the same parts. Times are medians over the repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import median
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from piecework import Batch, Tokenizer
from piecework._internal.progress import progress_bar
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike, check_positive, check_type, counted, listed
from piecework.analysis.blocks import Grid, PlainData
from piecework.analysis.corpus_texts import DOCUMENT_CHARS, documents_of
from piecework.analysis.peers import Peer, read_peer
from piecework.corpus import read_corpus
from piecework.corpus.rows import Utf8Errors
from piecework.errors import CorpusError
from piecework.spec import BPE, TokenizerSpec


@dataclass(frozen=True)
class Speed(PlainData):
    """One measurement: median seconds, bytes of text as UTF-8, and tokens.

    >>> speed = Speed("cold", threads=1, seconds=0.5, text_bytes=2_000_000, tokens=500_000)
    >>> speed.megabytes_per_second, speed.tokens_per_second
    (4.0, 1000000.0)

    `what` is "cold", "steady", "offsets" or "decode".
    """

    _computed = ("megabytes_per_second", "tokens_per_second")

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


@dataclass(frozen=True)
class PeerSpeeds(PlainData):
    """The speeds of another library on the same texts, and the number of texts with different ids.

    >>> same = PeerSpeeds("tokenizers", "0.23", (), texts_compared=8, texts_different=0)
    >>> same.to_dict()["texts_different"]
    0

    `verify` shows which ids differ.
    """

    name: str
    version: str
    speeds: tuple[Speed, ...]
    texts_compared: int
    texts_different: int


@dataclass(frozen=True)
class Benchmark(PlainData):
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


def speed_table(benchmark: Benchmark) -> Grid:
    """Return the speeds as a table, piecework first.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> table = speed_table(pw.analysis.bench(tok, ["abba", "ab", "b", "aa"], num_threads=1))
    >>> [row[0] for row in table.rows]
    ['encode, cold', 'encode, steady', 'encode with offsets', 'decode']
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
    "offsets": "encode with offsets",
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


_MIN_TEXTS = 4

Result = TypeVar("Result")
_Key: TypeAlias = tuple[str, str, int]


def bench(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    peers: Iterable[Peer] = (),
    repetitions: int = 3,
    num_threads: int | None = None,
    progress: Progress = None,
) -> Benchmark:
    """Measure the speed of encoding, decoding and offsets on texts.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = bench(tok, ["abba", "ab", "b", "aa"] * 10, num_threads=2)
    >>> [(speed.what, speed.threads, speed.tokens) for speed in found.speeds]
    [('cold', 1, 24), ('steady', 1, 45), ('steady', 2, 45), ('offsets', 1, 21), ('decode', 1, 45)]

    Texts are encoded without special tokens, truncation, padding and dropout. `num_threads` is the number
    of threads of an additional steady pass: None means one for each CPU, and 1 skips the pass. `peers` come
    from `analysis.peers.read_peer`. `progress=True` shows a bar; a function receives the repetitions so
    far and all. More text gives more stable figures: a few megabytes at least.

    Raises `ArgumentError`, `InputTypeError`, and `CorpusError` for fewer than four texts.
    """
    check_positive("repetitions", repetitions)
    rows = listed(texts)
    if len(rows) < _MIN_TEXTS:
        raise CorpusError("texts", f"must be at least {_MIN_TEXTS}, not {len(rows)}")
    for index, text in enumerate(rows):
        check_type(f"texts[{index}]", text, str, "str")
    run = _Run(tokenizer, rows, list(peers), num_threads)
    with progress_bar("measuring", progress) as update:
        for done in range(repetitions):
            update(done, repetitions)
            run.repeat()
    return run.benchmark()


def bench_files(
    path: PathLike,
    corpus: PathLike | Sequence[PathLike],
    *,
    against: Iterable[str] = (),
    megabytes: float = 16,
    field: str | None = None,
    encoding_errors: Utf8Errors = "replace",
    repetitions: int = 3,
    num_threads: int | None = None,
    progress: Progress = None,
    tokenizer: Tokenizer | None = None,
) -> Benchmark:
    """Measure a tokenizer file on the first `megabytes` of a corpus, together with other libraries.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "corpus.txt").write_text("to be or not to be\\n" * 1000)
    >>> tok = pw.Tokenizer.train(folder / "corpus.txt", vocab_size=17)
    >>> tok.save(folder / "tokenizer.json")
    >>> found = bench_files(folder / "tokenizer.json", folder / "corpus.txt")
    >>> found.text_bytes
    19000

    Lines of plain text are joined to texts of about 2,000 characters; each JSON line is one text.
    `against` names libraries that read the same file: "tokenizers", "transformers", "sentencepiece",
    "tiktoken".
    `tokenizer` is the loaded file. Pass it for a `.tiktoken` file, which needs a pattern to load.

    Raises `FileError`, `InvalidUtf8Error`, `MissingExtraError` for a library that is not installed,
    `FormatError` for a file that a library does not read, and the errors of `bench`.
    """
    loaded = Tokenizer.load(path) if tokenizer is None else tokenizer
    check_positive("megabytes", megabytes)
    peers = [read_peer(name, path, loaded) for name in listed(against, "against", "names")]
    documents = chain.from_iterable(
        documents_of(rows)
        for rows in read_corpus(corpus, field=field, encoding_errors=encoding_errors)
    )
    texts = list(_limit_bytes(megabytes * 1e6, documents))
    if len(texts) < _MIN_TEXTS:
        found = counted(len(texts), "text")
        expected = f"at least {_MIN_TEXTS}: JSON lines, or {DOCUMENT_CHARS:,} characters each"
        raise CorpusError("corpus", f"has {found}; it needs {expected}")
    return bench(
        loaded,
        texts,
        peers=peers,
        repetitions=repetitions,
        num_threads=num_threads,
        progress=progress,
    )


class _Run:
    """The three parts of the texts, and the seconds measured so far.

    Keys are (engine, measurement, number of threads); the engine "" is piecework.
    """

    def __init__(
        self, tokenizer: Tokenizer, texts: list[str], peers: list[Peer], num_threads: int | None
    ) -> None:
        bare = tokenizer.without_truncation().without_padding()
        self._spec = _without_dropout(bare.spec)
        # A tokenizer from ranks raises for special tokens in text by default.
        special = False if bare.parse_special == "refuse" else None
        self._options: dict[str, Any] = {"add_special_tokens": False, "parse_special": special}
        quarter = len(texts) // 4
        self._cold, self._steady = texts[:quarter], texts[quarter : 3 * quarter]
        self._last = texts[3 * quarter :]
        self._peers = peers
        self._num_threads = thread_count(num_threads)
        self._seconds: dict[_Key, list[float]] = {}
        self._tokens: dict[_Key, int] = {}
        self._ids: dict[str, list[list[int]]] = {}

    def repeat(self) -> None:
        """Measure everything once more, with new tokenizers."""
        self._measure_one_thread()
        if self._num_threads != 1:
            self._measure_threads()
        for peer in self._peers:
            self._measure_peer(peer)

    def benchmark(self) -> Benchmark:
        """Return the medians."""
        texts = [*self._cold, *self._steady, *self._last]
        return Benchmark(
            texts=len(texts),
            text_bytes=_text_bytes(texts),
            repetitions=len(self._seconds["", "cold", 1]),
            speeds=self._speeds(""),
            peers=tuple(map(self._peer_speeds, self._peers)),
        )

    def _measure_one_thread(self) -> None:
        fresh = Tokenizer.from_spec(self._spec)
        encode = self._encoder(fresh, 1)
        cold, batch = self._passes("", encode)
        last = self._timed(("", "offsets", 1), lambda: encode(self._last, offsets=True))
        self._timed(("", "decode", 1), lambda: fresh.decode_batch(batch))
        self._ids[""] = batch.to_lists()
        self._tokens |= {
            ("", "cold", 1): len(cold.ids),
            ("", "steady", 1): len(batch.ids),
            ("", "decode", 1): len(batch.ids),
            ("", "offsets", 1): len(last.ids),
        }

    def _measure_threads(self) -> None:
        fresh = Tokenizer.from_spec(self._spec)
        encode = self._encoder(fresh, self._num_threads)
        encode(self._cold)
        key = ("", "steady", self._num_threads)
        self._tokens[key] = len(self._timed(key, lambda: encode(self._steady)).ids)

    def _measure_peer(self, peer: Peer) -> None:
        cold, steady = map(peer.rows, self._passes(peer.name, partial(peer.encode, peer.fresh())))
        self._ids[peer.name] = steady
        self._tokens[peer.name, "cold", 1] = sum(map(len, cold))
        self._tokens[peer.name, "steady", 1] = sum(map(len, steady))

    def _passes(self, engine: str, encode: Callable[[list[str]], Result]) -> tuple[Result, Result]:
        cold = self._timed((engine, "cold", 1), lambda: encode(self._cold))
        return cold, self._timed((engine, "steady", 1), lambda: encode(self._steady))

    def _encoder(self, tokenizer: Tokenizer, num_threads: int) -> Callable[..., Batch]:
        return partial(tokenizer.encode_batch, num_threads=num_threads, **self._options)

    def _timed(self, key: _Key, work: Callable[[], Result]) -> Result:
        start = perf_counter()
        result = work()
        self._seconds.setdefault(key, []).append(perf_counter() - start)
        return result

    def _speeds(self, engine: str) -> tuple[Speed, ...]:
        order = (
            ("cold", 1),
            ("steady", 1),
            ("steady", self._num_threads),
            ("offsets", 1),
            ("decode", 1),
        )
        keys = [(engine, what, threads) for what, threads in dict.fromkeys(order)]
        return tuple(self._speed(key) for key in keys if key in self._seconds)

    def _speed(self, key: _Key) -> Speed:
        _, what, threads = key
        part = {"cold": self._cold, "offsets": self._last}.get(what, self._steady)
        seconds = max(median(self._seconds[key]), 1e-9)  # the clock may be too coarse
        return Speed(what, threads, seconds, _text_bytes(part), self._tokens[key])

    def _peer_speeds(self, peer: Peer) -> PeerSpeeds:
        pairs = zip(self._ids[""], self._ids[peer.name], strict=True)
        return PeerSpeeds(
            name=peer.name,
            version=peer.version,
            speeds=self._speeds(peer.name),
            texts_compared=len(self._ids[""]),
            texts_different=sum(ours != theirs for ours, theirs in pairs),
        )


def _without_dropout(spec: TokenizerSpec) -> TokenizerSpec:
    if isinstance(spec.model, BPE) and spec.model.dropout is not None:
        return replace(spec, model=replace(spec.model, dropout=None))
    return spec


def _limit_bytes(size: float, texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        size -= len(text.encode())
        if size < 0:
            return
        yield text


def _text_bytes(texts: Iterable[str]) -> int:
    return sum(len(text.encode(errors="surrogatepass")) for text in texts)
