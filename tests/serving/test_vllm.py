"""The tokenizer mode `piecework` of vLLM gives what the mode `hf` gives."""

from __future__ import annotations

import json
import pickle
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xgrammar
from transformers import ByT5Tokenizer
from vllm import SamplingParams
from vllm.tokenizers import get_tokenizer
from vllm.v1.engine import EngineCoreRequest
from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer, IncrementalDetokenizer
from vllm.v1.structured_output.backend_guidance import llguidance_hf

from piecework.errors import InputTypeError
from piecework.integrations.transformers import BackendTokenizer
from piecework.integrations.vllm import register
from tests.serving.models import SETTINGS, TEXTS, environment_with_plugins, model_folder

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "naïve 北京 🤗"},
]


@pytest.fixture(scope="module", params=list(SETTINGS))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the tokenizers of both modes."""
    register()
    folder = str(model_folder(request.param, tmp_path_factory.getbasetemp()))
    theirs = get_tokenizer(folder, tokenizer_mode="hf")
    ours = get_tokenizer(folder, tokenizer_mode="piecework")
    assert ours.backend_tokenizer.refusal is None
    return theirs, ours


def test_ids_texts_and_properties_equal_those_of_the_mode_hf(both: Any) -> None:
    theirs, ours = both
    for text in TEXTS:
        for settings in ({}, {"add_special_tokens": False}, {"truncation": True, "max_length": 3}):
            assert ours.encode(text, **settings) == theirs.encode(text, **settings)
        ids = theirs.encode(text)
        for skip in (True, False):
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(
                ids, skip_special_tokens=skip
            )
        tokens = theirs.convert_ids_to_tokens(ids)
        assert ours.convert_ids_to_tokens(ids) == tokens
        assert ours.convert_tokens_to_ids(tokens) == ids
        assert ours.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)
    assert ours(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    for name in ("all_special_ids", "max_token_id", "max_chars_per_token", "is_fast", "vocab_size"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.get_vocab() == theirs.get_vocab()
    assert len(ours) == len(theirs)
    if theirs.chat_template:
        assert ours.apply_chat_template(MESSAGES) == theirs.apply_chat_template(MESSAGES)


def test_a_tokenizer_for_another_process_still_encodes_here(both: Any) -> None:
    theirs, ours = both
    received = pickle.loads(pickle.dumps(ours))
    assert isinstance(received._tokenizer, BackendTokenizer)
    assert received.max_token_id == ours.max_token_id
    assert received.encode(TEXTS[0]) == theirs.encode(TEXTS[0])


@pytest.mark.parametrize("skip_special_tokens", [True, False])
@pytest.mark.parametrize("spaces", [True, False])
def test_incremental_detokenization_equals_that_of_the_mode_hf(
    both: Any, skip_special_tokens: bool, spaces: bool
) -> None:
    theirs, _ = both
    settings = SamplingParams(
        skip_special_tokens=skip_special_tokens, spaces_between_special_tokens=spaces
    )
    rng = random.Random(7)
    special = theirs.all_special_ids
    rows = [theirs.encode(text) for text in TEXTS if text]
    # Ids that the model has and the vocabulary does not have add no text.
    rows += [[*rows[0][:4], 151_999, *rows[0][4:]], [*rows[0][:3], *special[:2], *rows[0][3:]]]
    rows += [_characters_from_text(theirs, rng) for _ in range(20)]
    for row in rows:
        for prompt in ([], rows[0][:5]):
            expected, texts = (_detokenized(each, prompt, row, settings) for each in both)
            assert texts[-1] == expected[-1]
            # A space before an incomplete character is not held back.
            assert all(
                ours.startswith(theirs) for ours, theirs in zip(texts, expected, strict=True)
            )


def _characters_from_text(tokenizer: Any, rng: random.Random) -> list[int]:
    words = "to be 北京 or not naïve 🤗 é, that is 1,024 questions".split()
    text = " ".join(rng.choices(words, k=12))
    return list(tokenizer.encode(text, add_special_tokens=False))


def _detokenized(tokenizer: Any, prompt: list[int], ids: list[int], settings: Any) -> list[str]:
    """Return the text after each id, in the way in which the engine detokenizes."""
    request = EngineCoreRequest(
        request_id="1",
        prompt_token_ids=prompt,
        mm_features=None,
        sampling_params=settings,
        pooling_params=None,
        arrival_time=0.0,
        lora_request=None,
        cache_salt=None,
        data_parallel_rank=None,
    )
    detokenizer = IncrementalDetokenizer.from_new_request(tokenizer, request)
    assert type(detokenizer) is FastIncrementalDetokenizer
    texts = []
    for id in ids:
        detokenizer.update([id], False)
        texts.append(detokenizer.output_text)
    return texts


def test_grammars_get_the_same_vocabulary(both: Any) -> None:
    theirs, _ = both
    infos = [xgrammar.TokenizerInfo.from_huggingface(each) for each in both]
    assert infos[0].decoded_vocab == infos[1].decoded_vocab
    if "t5" in theirs.name_or_path or theirs.eos_token_id is None:
        return  # llguidance cannot read these
    tries = [llguidance_hf.from_tokenizer(each) for each in both]
    assert tries[0].decode_bytes([1, 300]) == tries[1].decode_bytes([1, 300])
    assert tries[0].tokenize_str(TEXTS[0]) == tries[1].tokenize_str(TEXTS[0])


def test_a_tokenizer_in_python_is_rejected(tmp_path: Path) -> None:
    register()
    ByT5Tokenizer().save_pretrained(tmp_path)
    with pytest.raises(InputTypeError, match="must be a fast tokenizer"):
        get_tokenizer(str(tmp_path), tokenizer_mode="piecework")


# ---- a server, which finds the mode by the entry point


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Start the server of vLLM that encodes and decodes for servers with a model."""
    folder = tmp_path_factory.mktemp("server")
    model = model_folder("qwen2.5", folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "launch", "render", str(model)]
    command += ["--tokenizer-mode", "piecework", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--dtype", "float32"]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment_with_plugins(folder), stdout=log, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process, folder / "log.txt")
        yield url, model
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{url}/health", timeout=5)
        except OSError:
            assert process.poll() is None, log.read_text()[-3000:]
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text()[-3000:])


def _post(url: str, **body: Any) -> Any:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_a_server_renders_tokenizes_and_detokenizes(server: tuple[str, Path]) -> None:
    url, model = server
    theirs = get_tokenizer(str(model), tokenizer_mode="hf")
    chat = _post(f"{url}/v1/chat/completions/render", model=str(model), messages=MESSAGES)
    expected = theirs.apply_chat_template(MESSAGES, add_generation_prompt=True, return_dict=False)
    assert chat["token_ids"] == list(expected)
    for text in TEXTS[:3]:
        ids = _post(f"{url}/tokenize", model=str(model), prompt=text)["tokens"]
        assert ids == theirs.encode(text)
        decoded = _post(f"{url}/detokenize", model=str(model), tokens=ids)["prompt"]
        assert decoded == theirs.decode(ids)
