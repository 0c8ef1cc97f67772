"""What the tests of each ten of divergences share: rows, ids, and the law of a divergence and its text."""

from __future__ import annotations

from typing import Any

import piecework as pw
from golden_mutants.engine import CONTROL, Judged, Mutant

Row = dict[str, Any]


def ids(*entries: str) -> dict[str, int]:
    """Number entries."""
    return {entry: id for id, entry in enumerate(entries)}


def row(text: str, **settings: Any) -> Row:
    """Return a row of a golden file without its ids."""
    return {"text": text, "add_special_tokens": True, "parse_special": True, **settings}


def ids_of(spec: pw.TokenizerSpec, mutant: Mutant, given: Row) -> list[int] | None:
    """Return the ids of a row with a divergence."""
    with Judged(spec).encoder(mutant) as encode:
        return encode(given)


def assert_shown(spec: pw.TokenizerSpec, mutant: Mutant, shown: Row) -> None:
    """Assert that a divergence changes the ids of its text and of no plain one."""
    assert mutant.applies(spec)
    assert ids_of(spec, mutant, shown) != ids_of(spec, CONTROL, shown)
    assert ids_of(spec, mutant, row("a b")) == ids_of(spec, CONTROL, row("a b"))
    assert not mutant.equivalent(spec)
