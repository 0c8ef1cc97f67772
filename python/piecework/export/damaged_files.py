"""Report damaged files as `CorpusError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from piecework.errors import CorpusError, FileError
from piecework.io.read_file import reason


@contextmanager
def damage_as_corpus_error(name: str, expected: str) -> Iterator[None]:
    """Convert the errors of numpy and pyarrow about damaged data to `CorpusError`."""
    try:
        yield
    except (CorpusError, FileError):
        raise
    except OSError as error:
        raise CorpusError(name, f"damaged data ({reason(error)})", expected) from error
    except (ValueError, EOFError) as error:
        message = " ".join(str(error).split())[:120]
        raise CorpusError(name, f"damaged data ({message})", expected) from error
