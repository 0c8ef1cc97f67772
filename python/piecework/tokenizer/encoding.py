"""What encoding one text gives: an `Encoding`, whose columns are Python lists; units are in the names.

The class is compiled, see `crates/bindings/src/encoding.rs`; its types and documentation are in `_core.pyi`.
"""

from __future__ import annotations

from piecework._internal._core import Encoding, encoding_of_row, missing_column

__all__ = ["Encoding", "encoding_of_row", "missing_column"]
