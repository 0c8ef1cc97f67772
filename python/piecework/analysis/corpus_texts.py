"""The texts that are measured: of an iterable, of files by `corpus.read_corpus`, joined lines, samples."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TypeAlias

from piecework._internal.progress import progress_bar, show_source
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework.corpus import Corpus, Rows, corpus_files, read_corpus
from piecework.corpus.iterables import rows_of_texts, text_total
from piecework.corpus.paths import corpus_bytes
from piecework.corpus.rows import OnError, Utf8Errors
from piecework.errors import ArgumentError

Texts: TypeAlias = Iterable[str | Sequence[str]] | Corpus


@contextmanager
def reading(
    title: str, sources: Sequence[Texts], progress: Progress
) -> Iterator[Callable[[Texts], Iterator[Rows]]]:
    """Yield a function that reads a source and reports what is done of all `sources`.

    >>> with reading("reading", [["a", "b"]], lambda done, total: print(done, total)) as rows_of:
    ...     [rows.to_list() for rows in rows_of(["a", "b"])]
    2 2
    [['a', 'b']]

    Progress is in bytes if all sources are files, else in texts; the total is 0 if it is unknown.
    """
    files = [one.files for one in sources if isinstance(one, Corpus)]
    in_bytes = len(files) == len(sources)
    totals = [text_total(one) for one in sources]
    total = sum(totals) if all(totals) else 0
    if in_bytes:
        total = corpus_bytes(list(chain.from_iterable(files)))
    done = 0
    with progress_bar(title, progress, in_bytes=in_bytes) as update:

        def rows_of(source: Texts) -> Iterator[Rows]:
            nonlocal done
            before = done
            for rows in source if isinstance(source, Corpus) else rows_of_texts(source):
                yield rows
                done = before + rows.file_bytes_read if in_bytes else done + len(rows)
                show_source(update, rows.name)
                update(done, total)

        yield rows_of


def texts_to_read_twice(texts: Texts) -> Texts:
    """Return texts that can be read more than once; raise `ArgumentError` for the standard input.

    >>> texts_to_read_twice(iter(["hug", "pug"]))
    ['hug', 'pug']
    """
    if isinstance(texts, Corpus):
        if "-" in texts.files:
            problem = "must be files, which are read twice; '-' is the standard input"
            raise ArgumentError("texts", problem)
        return texts
    return texts if isinstance(texts, str | bytes) or not isinstance(texts, Iterable) else [*texts]


DOCUMENT_CHARS = 2_000
"""Lines of plain text are joined to documents of about this many characters."""


def documents_of(rows: Rows) -> Iterator[str]:
    """Yield the texts of rows; the lines of plain text are joined, with their line ends.

    >>> list(documents_of(Rows(["hug", "pug"], [1, 2], are_lines=True)))
    ['hug\\npug\\n']
    """
    if not rows.are_lines:
        yield from rows.texts
        return
    document: list[str] = []
    chars = 0
    for line in rows.texts:
        document.append(line + "\n")
        chars += len(line) + 1
        if chars >= DOCUMENT_CHARS:
            yield "".join(document)
            document, chars = [], 0
    if document:
        yield "".join(document)


_MAX_TEXTS = 1_000
_MAX_CHARS = 1_000_000

SCRIPT_TEXTS = (
    "Good morning! It's 7:30, the price is $4.99 (20 % off) — isn't it?",
    "Dobrý den, příliš žluťoučký kůň; c'est déjà l'été, schöne Grüße.",
    "Καλημέρα, τι κάνετε σήμερα;",
    "Доброе утро, как ваши дела?",
    "Բարի լույս, ինչպե՞ս եք:",
    "בוקר טוב, מה שלומך?",
    "صباح الخير، كيف حالك؟",
    "नमस्ते, आप कैसे हैं?",
    "নমস্কার, আপনি কেমন আছেন?",
    "வணக்கம், நலமா?",
    "నమస్కారం, ఎలా ఉన్నారు?",
    "ನಮಸ್ಕಾರ, ಹೇಗಿದ್ದೀರಾ?",
    "നമസ്കാരം, സുഖമാണോ?",
    "สวัสดีครับ สบายดีไหม",
    "ສະບາຍດີ",
    "မင်္ဂလာပါ",
    "សួស្តី",
    "გამარჯობა, როგორ ხარ?",
    "ሰላም፣ እንዴት ነህ?",
    "안녕하세요, 잘 지내세요?",
    "おはようございます。カタカナ、漢字。",
    "你好，今天天气很好。",
    "def f(x):\n\treturn {'a': x**2, \"b\": [x, 0x1F]}  # ½ + ² = ＡＢ ﬁ",
    "👋🏽 🎉 ✓ → ≤ ∑ √2 ∞ ♥",
)
"""Short texts in 22 scripts, and one each of code and of symbols."""


class TextSample:
    """The first texts of a corpus, up to 1,000 texts and a million characters.

    >>> sample = TextSample()
    >>> sample.add(["a text", ""])
    >>> sample.texts, sample.is_full
    (['a text'], False)
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._chars = 0

    @property
    def is_full(self) -> bool:
        """Whether further texts are ignored."""
        return len(self.texts) >= _MAX_TEXTS or self._chars >= _MAX_CHARS

    def add(self, texts: Iterable[str]) -> None:
        """Add texts that are not empty; the last one is cut at a million characters in all."""
        for text in texts:
            if self.is_full:
                return
            if text:
                self.texts.append(text[: _MAX_CHARS - self._chars])
                self._chars += len(self.texts[-1])


def sample_of_files(
    paths: PathLike | Sequence[PathLike],
    *,
    field: str | None = None,
    encoding_errors: Utf8Errors = "replace",
    on_error: OnError = "fail",
) -> list[str]:
    """Return the first texts of the files of a corpus; nothing if one is a pipe or a URL.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("hug\\n\\npug\\n")
    >>> sample_of_files(path), sample_of_files("-")
    (['hug', 'pug'], [])

    The arguments are the same as for `count_files`.
    """
    files = corpus_files(paths)
    sample = TextSample()
    if not all(map(os.path.isfile, files)):
        return sample.texts
    for rows in read_corpus(files, field=field, encoding_errors=encoding_errors, on_error=on_error):
        sample.add(rows.texts)
        if sample.is_full:
            break
    return sample.texts
