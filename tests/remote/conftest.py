"""Tests in this folder need s3fs and moto, which `make test-remote` installs; else they are not collected."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("s3fs", "moto", "flask", "flask_cors")
collect_ignore_glob = [] if all(map(find_spec, PACKAGES)) else ["test_*.py", "s3_server.py"]
