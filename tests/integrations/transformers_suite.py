"""transformers' own tests of its tokenizers, on tokenizers that encode here.

`make test-transformers` fetches the tests and runs this file. Each test runs with the class of transformers
first: one that fails there too, because it needs the hub or torch, is skipped by name.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import transformers
from transformers import BertTokenizer, GPT2Tokenizer, TokenizersBackend

from piecework.integrations.transformers import PieceworkTokenizerFast
from piecework.integrations.transformers.accelerated import EncodesHere, accelerated_class
from tests.integrations.test_transformers import roles_of, tokenizer_json_of

FOLDER = Path(__file__).parents[2] / "build" / "transformers-tests" / "tests"
# What the tests cannot do without the hub, for any class.
NEEDS_THE_HUB = ("test_local_files_only",)
# A vocabulary and a class of transformers for it.
CASES = {
    "bert": ("bert-base-uncased", BertTokenizer),
    "gpt2": ("gpt2", GPT2Tokenizer),
    "qwen": ("qwen2.5", TokenizersBackend),
    "xlm_roberta": ("xlm-roberta-base", TokenizersBackend),
}


def load_tests_package() -> ModuleType:
    """Import the fetched tests as the package `transformers_tests`."""
    if not FOLDER.is_dir():
        pytest.skip(
            "needs the tests of transformers: run `make test-transformers`", allow_module_level=True
        )
    for name, path in (
        ("transformers_tests", FOLDER / "__init__.py"),
        ("transformers_tests.test_tokenization_common", FOLDER / "test_tokenization_common.py"),
    ):
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


COMMON = load_tests_package()


def folder_with(name: str, cls: Any) -> str:
    """Return a folder that holds a tokenizer as transformers saves it."""
    folder = tempfile.mkdtemp()
    source = Path(tokenizer_json_of(name))
    shutil.copyfile(source, Path(folder, "tokenizer.json"))
    tokenizer = cls.from_pretrained(folder, **roles_of(name))
    tokenizer.save_pretrained(folder)
    return folder


def suite_of(name: str, base: Any, cls: Any) -> type:
    """Return transformers' tests for a class and a vocabulary, each compared with the class it stands for."""

    class Suite(
        COMMON.TokenizerTesterMixin, COMMON.TokenizersBackendTesterMixin, unittest.TestCase
    ):
        tokenizer_class = cls
        rust_tokenizer_class = cls
        test_tokenizer_from_extractor = False
        stands_for = base

        @classmethod
        def setUpClass(klass) -> None:  # noqa: N804
            klass.from_pretrained_id = [folder_with(name, base)]
            klass.from_pretrained_kwargs = {}
            COMMON.TokenizerTesterMixin.setUpClass.__func__(klass)

        def run(self, result: Any = None) -> Any:
            method = self._testMethodName
            if method in NEEDS_THE_HUB:
                return skipped(self, result, "needs the hub")
            if self.tokenizer_class is not self.stands_for and not passes_there(self, method):
                return skipped(self, result, f"fails with {base.__name__} of transformers too")
            return super().run(result)

    return Suite


def passes_there(test: Any, method: str) -> bool:
    """Return whether a test passes with the class of transformers."""
    cls = type(test)
    theirs = type(
        cls.__name__,
        (cls,),
        {"tokenizer_class": cls.stands_for, "rust_tokenizer_class": cls.stands_for},
    )
    theirs.tokenizers_list = [(cls.stands_for, *rest) for _, *rest in cls.tokenizers_list]
    result = unittest.TestResult()
    theirs(method).run(result)
    return result.wasSuccessful()


def skipped(test: Any, result: Any, reason: str) -> Any:
    result.startTest(test)
    result.addSkip(test, reason)
    result.stopTest(test)
    return result


transformers.logging.set_verbosity_error()
for _case, (_vocab, _base) in CASES.items():
    for _kind, _stands_for, _cls in (
        ("Accelerated", _base, accelerated_class(_base)),
        ("Class", TokenizersBackend, PieceworkTokenizerFast),
    ):
        _suite = suite_of(_vocab, _stands_for, _cls)
        _suite.__name__ = _suite.__qualname__ = f"{_kind}_{_case}"
        _suite.__test__ = True
        globals()[_suite.__name__] = _suite


def test_the_tested_classes_encode_here() -> None:
    assert all(issubclass(accelerated_class(base), EncodesHere) for _, base in CASES.values())
