"""The module `tiktoken.core`: `Encoding`, and the error for a disallowed special token."""

from __future__ import annotations

from piecework.compat.tiktoken.encoding import Encoding, raise_disallowed_special_token

__all__ = ["Encoding", "raise_disallowed_special_token"]
