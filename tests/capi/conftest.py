"""Tests in this folder are run by `make test-capi`, which names the library; others do not collect them."""

from __future__ import annotations

from tests.capi.library import is_at_hand

collect_ignore_glob = [] if is_at_hand() else ["test_*.py"]
