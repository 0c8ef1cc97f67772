"""The texts that are measured: those of an iterable, or of files by `corpus.read_corpus`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TypeAlias

from piecework._internal.progress import progress_bar, show_source
from piecework._internal.types import Progress
from piecework.corpus import Corpus, Rows
from piecework.corpus.iterables import rows_of_texts, text_total
from piecework.corpus.paths import corpus_bytes

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
