"""Tests in this folder need the extra "serve" and httpx; without Starlette they are not collected."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("starlette") and find_spec("httpx") else ["test_*.py"]
