"""Tests in this folder need Jupyter, which `make test-notebooks` installs; else they are not collected."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("nbclient") and find_spec("ipykernel") else ["test_*.py"]
