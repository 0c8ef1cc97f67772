"""Tests in this folder need torch, which `make test-torch` installs; without torch they are not collected."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]
