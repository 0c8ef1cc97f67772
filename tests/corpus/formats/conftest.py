"""The tokenizer of these tests."""

from __future__ import annotations

import pytest

import piecework as pw


@pytest.fixture
def tok() -> pw.Tokenizer:
    return pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3}))
