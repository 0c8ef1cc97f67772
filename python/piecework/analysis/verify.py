"""Compare the ids of a tokenizer and of the library that owns its file, on a corpus of any size.

Texts are read and encoded in batches. For each kind of difference only a count and the smallest text are
kept; at the end this text is shortened while the difference stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from piecework import Sampling, Tokenizer
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike, check_tokenizer, check_type, counted, listed
from piecework.analysis.blocks import Block, Grid, Paragraph
from piecework.analysis.corpus_texts import Texts, documents_of, reading
from piecework.analysis.displayed import Displayed
from piecework.analysis.entry_bytes import vocabulary_entries
from piecework.analysis.peers import Peer, read_peer
from piecework.analysis.readable import show_whitespace
from piecework.analysis.round_trip import unknown_id_of, without_truncation_and_padding
from piecework.corpus import Corpus, read_corpus
from piecework.corpus.rows import OnError, Utf8Errors
from piecework.errors import ArgumentError, CorpusError

_SHOWN_TOKENS = 20


@dataclass(frozen=True)
class EncodedText:
    """What one library makes of a text: ids with their tokens, or the error that it raises.

    >>> EncodedText("tokenizers", ids=(1, 2), tokens=("hug", "##s")).error
    """

    name: str
    ids: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class IdDifference:
    """A kind of difference, the number of texts that have it, and the smallest text found that has it.

    >>> IdDifference("unknown tokens", 3, "x", ()).texts
    3

    `kind` is the first of these that applies:

    - "error": one library raises an error.
    - "special tokens": the ids are equal apart from special tokens.
    - "unassigned ids": the other library has ids that this vocabulary lacks.
    - "unknown tokens": the libraries have other numbers of unknown tokens.
    - "split": the tokens have the same text, split at other places.
    - "text": the tokens have another text.

    `sides` has piecework and the other library.
    """

    kind: str
    texts: int
    text: str
    sides: tuple[EncodedText, ...]


@dataclass(frozen=True)
class Verification(Displayed):
    """The result of `verify`: texts and ids compared with another library, and what differs.

    >>> found = Verification("tokenizers", "0.23.3", texts=8, ids=95, differing_texts=0, differences=())
    >>> found.is_equal, str(found).strip()
    (True, 'tokenizers 0.23.3: 8 texts, 95 ids: all ids are equal')

    `ids` counts the ids of piecework. `differences` has one for each kind, the most frequent first.
    """

    _computed = ("is_equal",)

    name: str
    version: str
    texts: int
    ids: int
    differing_texts: int
    differences: tuple[IdDifference, ...]

    @property
    def is_equal(self) -> bool:
        """Whether the ids of all texts are equal."""
        return not self.differing_texts

    def blocks(self) -> Iterator[Block]:
        """Yield the verdict, and a table for each kind of difference."""
        yield Paragraph(self._verdict())
        for one in self.differences:
            title = f"{one.kind}: {counted(one.texts, 'text')}, such as {show_whitespace(one.text)}"
            yield Grid(("", "tokens", "ids"), tuple(map(_row, one.sides)), title=title)

    def _verdict(self) -> str:
        compared = f"{counted(self.texts, 'text')}, {counted(self.ids, 'id')}"
        equal = "all ids are equal"
        if not self.is_equal:
            equal = f"the ids of {counted(self.differing_texts, 'text')} differ"
        return f"{self.name} {self.version}: {compared}: {equal}"


def _row(side: EncodedText) -> tuple[str, str, str]:
    if side.error is not None:
        return side.name, f"error: {side.error}", ""
    return side.name, _beginning(map(show_whitespace, side.tokens)), _beginning(map(str, side.ids))


def _beginning(words: Iterable[str]) -> str:
    shown = list(words)
    return " ".join(shown[:_SHOWN_TOKENS]) + (" ..." if len(shown) > _SHOWN_TOKENS else "")


_SHORTENING_CHARS = 2_000_000
"""The most characters that are encoded to shorten one text; an encoding counts for 100 more."""

_Row: TypeAlias = list[int] | Exception
_Encode: TypeAlias = Callable[[list[str]], list[list[int]]]


def verify(
    tokenizer: Tokenizer,
    texts: Texts,
    peers: Sequence[Peer],
    *,
    num_threads: int | None = None,
    progress: Progress = None,
) -> tuple[Verification, ...]:
    """Compare the ids that a tokenizer and other libraries give to texts.

    >>> import piecework as pw
    >>> from piecework.analysis.peers import Peer
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> def encode(loaded, texts):
    ...     return [[1 if letter == "a" else 0 for letter in text] for text in texts]
    >>> peer = Peer("letters", "1.0", lambda: None, encode, rows=list)
    >>> [found] = verify(tok, ["aa", "a", "abba"], [peer])
    >>> print(found)
      letters 1.0: 3 texts, 7 ids: the ids of 1 text differ
    <BLANKLINE>
    unknown tokens: 1 text, such as b
                 tokens  ids
      piecework  b       2
      letters    [UNK]   0
    <BLANKLINE>

    `peers` come from `analysis.peers.read_peer`. Nothing is truncated, padded or sampled. `compare` describes
    texts and progress; lines of `corpus.read_corpus` are joined to texts of about 2,000 characters.

    Raises `ArgumentError` without a peer, `InputTypeError`, and `CorpusError` if there is no text.
    """
    check_tokenizer(tokenizer)
    if not peers:
        raise ArgumentError("peers", "must have at least one library to compare with")
    for peer in listed(peers, "peers", "Peer"):
        check_type("peers", peer, Peer, "a list of Peer")
    comparisons = [_Comparison(tokenizer, peer, num_threads) for peer in peers]
    with reading("verifying", [texts], progress) as rows_of:
        for rows in rows_of(texts):
            batch = list(documents_of(rows)) if isinstance(texts, Corpus) else rows.to_list()
            for comparison in comparisons:
                comparison.add(batch)
    if not comparisons[0].texts:
        raise CorpusError("corpus", "has no texts")
    return tuple(one.result() for one in comparisons)


def verify_files(
    path: PathLike,
    corpus: PathLike | Sequence[PathLike],
    *,
    against: Sequence[str],
    field: str | None = None,
    encoding_errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
    num_threads: int | None = None,
    progress: Progress = None,
    tokenizer: Tokenizer | None = None,
) -> tuple[Verification, ...]:
    """Compare the ids that piecework and other libraries give to a corpus with one tokenizer file.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import piecework as pw
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "corpus.txt").write_text("to be or not to be\\n" * 1000)
    >>> tok = pw.Tokenizer.train(folder / "corpus.txt", vocab_size=17)
    >>> tok.save(folder / "tokenizer.json")
    >>> [found] = verify_files(
    ...     folder / "tokenizer.json", folder / "corpus.txt", against=["tokenizers"]
    ... )
    >>> found.texts, found.is_equal
    (10, True)

    `path` is a file or a folder. `against` names libraries: "tokenizers", "transformers",
    "sentencepiece", "tiktoken". Ids have the special tokens that the library adds; tiktoken and sentencepiece
    add none. Lines of plain text are joined to texts of about 2,000 characters, with their line ends;
    otherwise the arguments are the same as for `count_files`. `tokenizer` is the loaded file. `progress=True`
    shows a bar; a function receives the bytes read and the total.

    Raises `FileError`, `InvalidUtf8Error`, `MissingExtraError` for a library that is not installed,
    `FormatError` for a file that a library does not read, and the errors of `verify`.
    """
    loaded = Tokenizer.load(path) if tokenizer is None else tokenizer
    peers = [
        read_peer(name, path, loaded, add_special_tokens=True)
        for name in listed(against, "against", "names")
    ]
    texts = read_corpus(corpus, field=field, encoding_errors=encoding_errors, on_error=on_error)
    return verify(loaded, texts, peers, num_threads=num_threads, progress=progress)


class _Comparison:
    """The differences from one library so far."""

    def __init__(self, tokenizer: Tokenizer, peer: Peer, num_threads: int | None) -> None:
        self.texts = 0
        self._ids = 0
        self._peer = peer
        self._tokenizer = tokenizer
        self._kind_of = _Kinds(tokenizer)
        self._ours = _encoder(tokenizer, peer.adds_special_tokens, num_threads)
        self._theirs = _peer_encoder(peer)
        self._counts: Counter[str] = Counter()
        self._smallest: dict[str, str] = {}

    def add(self, texts: list[str]) -> None:
        """Compare texts."""
        ours, theirs = _rows(self._ours, texts), _rows(self._theirs, texts)
        self.texts += len(texts)
        self._ids += sum(len(row) for row in ours if isinstance(row, list))
        for text, our_row, their_row in zip(texts, ours, theirs, strict=True):
            kind = self._kind_of(our_row, their_row)
            if kind is None:
                continue
            self._counts[kind] += 1
            if kind not in self._smallest or len(text) < len(self._smallest[kind]):
                self._smallest[kind] = text

    def result(self) -> Verification:
        """Return what was compared and what differs."""
        return Verification(
            name=self._peer.name,
            version=self._peer.version,
            texts=self.texts,
            ids=self._ids,
            differing_texts=self._counts.total(),
            differences=tuple(
                self._difference(kind, texts) for kind, texts in self._counts.most_common()
            ),
        )

    def _difference(self, kind: str, texts: int) -> IdDifference:
        text = shortened(self._smallest[kind], lambda text: self._kind(text) == kind)
        [ours], [theirs] = _rows(self._ours, [text]), _rows(self._theirs, [text])
        sides = (self._side("piecework", ours), self._side(self._peer.name, theirs))
        return IdDifference(kind, texts, text, sides)

    def _kind(self, text: str) -> str | None:
        [ours], [theirs] = _rows(self._ours, [text]), _rows(self._theirs, [text])
        return self._kind_of(ours, theirs)

    def _side(self, name: str, row: _Row) -> EncodedText:
        if isinstance(row, Exception):
            message = " ".join(str(row).split())
            return EncodedText(name, error=message or type(row).__name__)
        tokens = (self._tokenizer.id_to_token(id) for id in row)
        return EncodedText(name, tuple(row), tuple("?" if one is None else one for one in tokens))


class _Kinds:
    """Names the kind of a difference, as `IdDifference` lists them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._bytes = {entry.id: entry.data for entry in vocabulary_entries(tokenizer)}
        self._special = tokenizer.special_token_ids
        self._unknown_id = unknown_id_of(tokenizer)

    def __call__(self, ours: _Row, theirs: _Row) -> str | None:
        """Return the kind of the difference, None if the rows are equal or both are errors."""
        if isinstance(ours, Exception) or isinstance(theirs, Exception):
            both = isinstance(ours, Exception) and isinstance(theirs, Exception)
            return None if both else "error"
        if ours == theirs:
            return None
        if self._without_special(ours) == self._without_special(theirs):
            return "special tokens"
        if not self._bytes.keys() >= set(theirs):
            return "unassigned ids"
        if ours.count(self._unknown_id) != theirs.count(self._unknown_id):  # type: ignore[arg-type]
            return "unknown tokens"
        return "split" if self._text(ours) == self._text(theirs) else "text"

    def _without_special(self, row: list[int]) -> list[int]:
        return [id for id in row if id not in self._special or id == self._unknown_id]

    def _text(self, row: list[int]) -> bytes:
        return b"".join(map(self._bytes.__getitem__, row))


def shortened(text: str, has_difference: Callable[[str], bool]) -> str:
    """Return a text without parts that a difference does not need.

    >>> shortened("a rose is a rose", lambda text: "os" in text)
    'os'

    Removes halves, quarters and so on, down to single characters, while `has_difference` holds. Time is
    bounded: a long text may keep more than it needs.

    Source: Zeller and Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input".
    """
    budget = _SHORTENING_CHARS
    size = (len(text) + 1) // 2
    while size and budget > 0:
        start, before = 0, len(text)
        while start < len(text) and budget > 0:
            shorter = text[:start] + text[start + size :]
            budget -= len(shorter) + 100
            if shorter and has_difference(shorter):
                text = shorter
            else:
                start += size
        # Single characters are tried again until all of them are needed.
        size = size // 2 if size > 1 or len(text) == before else size
    return text


def _encoder(tokenizer: Tokenizer, adds_special_tokens: bool, num_threads: int | None) -> _Encode:
    whole = without_truncation_and_padding(tokenizer)
    settings: dict[str, Any] = {
        "add_special_tokens": adds_special_tokens,
        # A tokenizer from ranks raises for special tokens in text by default; its owner encodes them as text.
        "parse_special": False if whole.parse_special == "refuse" else None,
        "sampling": Sampling(nbest_size=1),
        "num_threads": num_threads,
    }
    return lambda texts: whole.encode_batch(texts, **settings).to_lists()


def _peer_encoder(peer: Peer) -> _Encode:
    loaded = peer.fresh()
    return lambda texts: peer.rows(peer.encode(loaded, texts))


def _rows(encode: _Encode, texts: list[str]) -> list[_Row]:
    """Return the ids of each text, or the error of each that raises one."""
    if not texts:
        return []
    try:
        return list(encode(texts))
    except Exception as error:  # each library has its own exceptions
        if len(texts) == 1:
            return [error]
    half = len(texts) // 2
    return _rows(encode, texts[:half]) + _rows(encode, texts[half:])
