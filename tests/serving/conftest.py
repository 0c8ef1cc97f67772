"""Tests in this folder need vLLM and SGLang, which `make test-serving` installs.

Without them they are not collected.
"""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("vllm") and find_spec("sglang") else ["test_*.py"]
