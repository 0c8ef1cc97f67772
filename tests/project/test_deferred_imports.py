"""Imports inside functions are listed here, each with the reason why it waits."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "piecework"

# What a program that loads a tokenizer and encodes does not need. Most of these are imported by
# `_internal/lazy.py` or `__init__.py` when a name is first read.
SPECIFICATIONS = {"piecework.spec", "piecework.spec.custom", "piecework.spec.portable"}
SPECIFICATIONS |= {"piecework.spec.roles", "piecework.spec.tokenizer_spec", "dataclasses"}
SPECIFICATIONS |= {"piecework.spec.ranked_merges"}
TRAINING = {"piecework.train.plan", "piecework.train.runs"}
VOCABULARY = {
    "piecework.vocabulary.additions",
    "piecework.vocabulary.decoding",
    "piecework.vocabulary.nearest_components",
}
# What prompts need, and jinja2 for templates.
CHATS = {
    "datetime",
    "piecework.chat.chat_encoding",
    "piecework.chat.environment",
    "piecework.chat.rendering",
    "piecework.chat.segments",
}
ROOT_NAMES = {
    "piecework.attributes.immutable",
    "piecework.attributes.names_of_other_libraries",
    "piecework.rows.offset_units",
    "piecework.rows.word_numbers",
    "piecework._core",
    "piecework.batch",
    "piecework.encoding",
    "piecework.tokenizer",
}
ROOT_NAMES |= {"piecework.sampling", "gc", "importlib", "importlib.metadata"}
COMMANDS = {
    "piecework.cli.app",
    "piecework.cli.completion",
    "piecework.cli.signals",
    "piecework.io.saving",
}
# What names of encodings, models and repositories, and folders need.
NAMES = {
    "piecework.io.folder_files",
    "piecework.io.folders",
    "piecework.io.hub",
    "piecework.io.model_names",
    "piecework.io.rank_files",
    "tempfile",
}
COMMANDS |= {"piecework._support", "click.shell_completion", "difflib", "io", "sys"}
TERMINAL = {"rich.console", "rich.progress", "piecework.analysis.block_drawing", "contextlib"}
# Standard modules of several milliseconds, for one format or one error.
FORMATS = {
    "base64",
    "copy",
    "gzip",
    "hashlib",
    "json",
    "zlib",
    "pathlib",
    "piecework.io.atomic_files",
    "piecework.io.gguf_pipelines",
    "piecework.io.other_files",
    "piecework._internal.memory_budget",
}
FORMATS |= {"piecework._internal.memory", "graphlib"}

# What only a notebook shows.
NOTEBOOKS = {"IPython.display", "html"}

# What a process with a plug-in of ours needs only if it uses the plug-in.
SERVERS = {
    "piecework.integrations.serving",
    "sglang.srt.plugins.hook_registry",
    "transformers",
    "vllm.renderers.registry",
    "vllm.tokenizers.hf",
    "vllm.tokenizers.registry",
}

EXPECTED = (
    SPECIFICATIONS
    | TRAINING
    | VOCABULARY
    | CHATS
    | ROOT_NAMES
    | COMMANDS
    | TERMINAL
    | FORMATS
    | NAMES
    | NOTEBOOKS
    | SERVERS
)


def deferred_imports() -> dict[str, set[str]]:
    """Return each module that a function of the package imports, with the files of these functions."""
    found = defaultdict(set)
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for node in (inner for function in functions for inner in ast.walk(function)):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.name].add(str(path.relative_to(PACKAGE)))
            elif isinstance(node, ast.ImportFrom):
                found[node.module or ""].add(str(path.relative_to(PACKAGE)))
    return found


def test_every_deferred_import_is_listed() -> None:
    unlisted = {name: files for name, files in deferred_imports().items() if name not in EXPECTED}
    assert unlisted == {}


def test_the_list_names_deferred_imports_only() -> None:
    assert deferred_imports().keys() >= EXPECTED
