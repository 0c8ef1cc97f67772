"""Report damaged files as `CorpusError`."""

from __future__ import annotations

import sys
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from piecework.errors import CorpusError, FileError, MemoryLimitError, system_message

# numpy raises all of these for headers: it evaluates them as Python literals.
_DAMAGE = (ValueError, EOFError, OverflowError, TypeError, RecursionError, tokenize.TokenError)


@contextmanager
def damage_as_corpus_error(name: str, expected: str) -> Iterator[None]:
    """Convert the errors of numpy and pyarrow about damaged data to `CorpusError`.

    A damaged length can require more memory than there is, which raises `MemoryLimitError`. Errors of the
    operating system become `FileError`.
    """
    try:
        yield
    except (CorpusError, FileError):
        raise
    except MemoryError as error:
        problem = "has more ids than fit into memory, or damaged data"
        raise MemoryLimitError(name, problem) from error
    except OSError as error:
        if isinstance(error.errno, int):
            raise FileError.reading(name, error) from error
        problem = f"is damaged ({system_message(error)}); expected {expected}"
        raise CorpusError(name, problem) from error
    except (*_DAMAGE, *_arrow_exceptions()) as error:
        message = " ".join(str(error).split())[:120]
        raise CorpusError(name, f"is damaged ({message}); expected {expected}") from error


def _arrow_exceptions() -> tuple[Any, ...]:
    """Return the base class of pyarrow's errors if pyarrow is imported, which is optional."""
    pyarrow = sys.modules.get("pyarrow")
    return () if pyarrow is None else (pyarrow.ArrowException,)
