"""Tests in this folder need a C compiler and what `make capi` builds; without them they are not collected."""

from __future__ import annotations

from tests.capi.library import is_at_hand

collect_ignore_glob = [] if is_at_hand() else ["test_*.py"]
