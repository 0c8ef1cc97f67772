"""Whatever instructions the kernels use, the answers are those of the published libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from piecework import errors
from piecework._internal import _core
from tests.differential import peer, ranks
from tests.differential.test_files_equal_tokenizers import FILES, NAMES, both, random_texts
from tests.differential.test_tiktoken import FAMILIES, code
from tests.tie_texts import tie_texts

RUNS = ["a", " ", "!", "\n", "1", "'s", "é", "漢", "\u0301", "\u3000", "aB", "\r\n ", "/\n", "漢A"]
RUNS += ["_a", "(é", "\0", "か・", "゛"]
LONG = [run * 3000 for run in RUNS] + [f"{'x' * 61}{run * 70} y" for run in RUNS]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES, scope="module")
def test_encodings_give_what_tiktoken_gives(name: str, level: str) -> None:
    texts = [*peer.sample_documents(320), *code()[::8], *LONG]
    assert ranks.assert_same(ranks.ours(name), ranks.theirs(name), texts) > 50_000


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=NAMES, scope="module")
def test_files_give_what_tokenizers_gives(path: Path, level: str) -> None:
    ours, theirs = both(path)
    texts = [*peer.sample_documents(640), *random_texts(ours, 300), *tie_texts(300)]
    assert peer.assert_same_ids(ours, theirs, texts) > 0
    peer.assert_same_fields(ours, theirs, random_texts(ours, 100))


def test_an_unknown_level_is_an_error() -> None:
    assert "scalar" in _core.kernel_levels()
    with pytest.raises(errors.ArgumentError, match="name: must be scalar.*, not .best."):
        _core.use_kernel_level("best")
