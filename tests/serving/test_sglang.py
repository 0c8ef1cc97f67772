"""Tokenizers of SGLang that encode here give what those of `tokenizers` give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import xgrammar
from sglang.srt.managers.detokenizer_manager import DetokenizerManager
from sglang.srt.utils.hf_transformers.tokenizer import get_tokenizer
from transformers import BertTokenizer

from piecework.integrations.sglang import _served
from piecework.integrations.transformers import BackendTokenizer
from tests.serving.models import SETTINGS, TEXTS, environment_with_plugins, model_folder

# Loads a tokenizer as the processes of SGLang do, by a name that was imported before the plug-ins.
LOAD = """
import sys
from sglang.srt.managers import detokenizer_manager
from sglang.srt.plugins import load_plugins
load_plugins()
tokenizer = detokenizer_manager.get_tokenizer(sys.argv[1])
print(type(tokenizer._tokenizer).__module__, tokenizer.encode("naïve 北京"))
"""


@pytest.fixture(scope="module", params=list(SETTINGS))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a tokenizer of SGLang, and what the plug-in makes of it."""
    folder = str(model_folder(request.param, tmp_path_factory.getbasetemp()))
    ours = _served(get_tokenizer(folder), folder)
    assert isinstance(ours._tokenizer, BackendTokenizer)
    return get_tokenizer(folder), ours


def test_ids_and_texts_equal_those_without_the_plugin(both: Any) -> None:
    theirs, ours = both
    assert ours(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    ids = theirs(TEXTS)["input_ids"]
    for skip in (True, False):
        for spaces in (True, False):
            settings = {"skip_special_tokens": skip, "spaces_between_special_tokens": spaces}
            assert ours.batch_decode(ids, **settings) == theirs.batch_decode(ids, **settings)
    if theirs.chat_template:
        messages = [{"role": "user", "content": TEXTS[1]}]
        assert ours.apply_chat_template(messages) == theirs.apply_chat_template(messages)
    infos = [xgrammar.TokenizerInfo.from_huggingface(each) for each in both]
    assert infos[0].decoded_vocab == infos[1].decoded_vocab


@pytest.mark.parametrize("skip_special_tokens", [True, False])
def test_the_detokenizer_streams_the_same_texts(both: Any, skip_special_tokens: bool) -> None:
    theirs, _ = both
    prompt = theirs.encode("to be or")
    for text in TEXTS:
        ids = theirs.encode(text)
        expected, found = (_streamed(each, prompt, ids, skip_special_tokens) for each in both)
        assert found == expected


def _streamed(tokenizer: Any, prompt: list[int], ids: list[int], skip: bool) -> list[str]:
    """Return what the detokenizer of SGLang returns for ids that arrive one by one."""
    manager = DetokenizerManager.__new__(DetokenizerManager)
    manager.tokenizer, manager.vocab_size = tokenizer, len(tokenizer)
    manager.decode_status = {}
    manager.disable_tokenizer_batch_decode = manager.is_tool_call_parser_gpt_oss = False
    manager.tool_close_token_ids = set()
    texts: list[str] = []
    for index, id in enumerate(ids):
        is_last = index == len(ids) - 1
        output = SimpleNamespace(
            rids=["1"],
            decoded_texts=[""],
            decode_ids=[[*prompt, id] if index == 0 else [id]],
            read_offsets=[len(prompt)],
            finished_reasons=[{"type": "length"} if is_last else None],
            no_stop_trim=[False],
            skip_special_tokens=[skip],
            spaces_between_special_tokens=[True],
        )
        texts += manager._decode_batch_token_id_output(output)
    return texts


def test_a_processor_gets_a_tokenizer_that_encodes_here() -> None:
    stock = BertTokenizer(vocab={"[UNK]": 0, "hug": 1})
    processor = _served(SimpleNamespace(tokenizer=stock))
    assert isinstance(processor.tokenizer._tokenizer, BackendTokenizer)
    other = SimpleNamespace(tokenizer=None)
    assert _served(other) is other


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plugins", "module"),
    [
        ({"SGLANG_PLUGINS": "piecework"}, "piecework.integrations.transformers.backend"),
        ({}, "tokenizers"),
    ],
)
def test_sglang_loads_the_plugin_that_is_named(
    plugins: dict[str, str], module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SGLANG_PLUGINS", raising=False)
    folder = model_folder("qwen2.5", tmp_path)
    command = [sys.executable, "-c", LOAD, str(folder)]
    environment = environment_with_plugins(tmp_path, **plugins)
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-3000:]
    expected = get_tokenizer(str(folder)).encode("naïve 北京")
    assert ran.stdout.splitlines()[-1] == f"{module} {expected}"
