"""The result of encoding one text: an `Encoding`, whose columns are Python lists.

The class is compiled, see `crates/bindings/src/encoding.rs`; its types and documentation are in `_core.pyi`.
"""

from __future__ import annotations

from piecework._internal._core import Encoding, encoding_of_row, missing_column

__all__ = ["Encoding", "encoding_of_row", "missing_column"]
