"""The error for what other formats cannot represent, and the formats that preserve it."""

from __future__ import annotations

from piecework.errors import PortabilityError

_REPRODUCIBLE = "a tokenizer that other libraries can reproduce"
KEPT_BY_MODEL = f"{_REPRODUCIBLE}; '.model' and '.piecework' files preserve this one"
KEPT_BY_OWN = f"{_REPRODUCIBLE}; a '.piecework' file preserves this one"


def unportable(place: str, found: str, kept: str, use: str = "") -> PortabilityError:
    """Return the error for a value at `place`; the hint names a value to `use` and formats that keep this."""
    hint = f"use {use}, or {kept}" if use else f"use {kept}"
    return PortabilityError(place, f"other formats cannot represent {found}", hint=hint)
