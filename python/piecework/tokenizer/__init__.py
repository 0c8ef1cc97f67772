"""The tokenizer, and what its calls take and return.

`tokenizer` has the class: load, train, encode, decode, save. `encoding` and `batch` are what encoding
returns, `decode_stream` decodes ids as they come, `sampling` draws segmentations. The functions of `lattice`
and `stages` take a tokenizer first: other segmentations and their scores, and the stages one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from piecework._internal.lazy_names import lazy_names
from piecework.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from piecework.tokenizer import lattice as lattice
    from piecework.tokenizer import stages as stages

__all__ = ["Tokenizer", "lattice", "stages"]

if not TYPE_CHECKING:
    # They need specifications, and the first id needs none.
    __getattr__, __dir__ = lazy_names(__name__, {"lattice": "lattice", "stages": "stages"})
