"""Names of pre-tokenizers, special tokens, roles, and how a GGUF file is read."""

from __future__ import annotations

import gzip
import pickle
import struct
import tracemalloc
from pathlib import Path

import pytest

import piecework as pw
from piecework.cli.app import run
from piecework.io.format_detection import file_format
from piecework.io.gguf_pipelines import GGUF_PIPELINES
from tests.io.gguf.files import SMALL, TEXTS, bert_keys, byte_level, small, write

# ---- names of pre-tokenizers


@pytest.mark.parametrize("name", sorted(GGUF_PIPELINES))
def test_every_name_of_a_pre_tokenizer_can_be_used(name: str, tmp_path: Path) -> None:
    loaded = pw.Tokenizer.load(byte_level(tmp_path, pre=name, bos_token_id=258))
    text = "".join(TEXTS).replace("e\u0301", "é").replace("Å", "Å").replace("n\u0303", "ñ")
    encoded = loaded.encode(text, add_special_tokens=False)
    assert loaded.decode(encoded.ids) == loaded.normalize(text)


# ---- special tokens and roles


def test_special_tokens_are_added_as_the_model_does(tmp_path: Path) -> None:
    assert pw.Tokenizer.load(small(tmp_path)).encode("a ab").tokens == ["<s>", "▁a", "▁ab"]
    path = small(tmp_path, add_bos_token=False, add_eos_token=True)
    assert pw.Tokenizer.load(path).encode("a", "b").tokens == ["▁a", "</s>", "▁", "b", "</s>"]
    plain = pw.Tokenizer.load(byte_level(tmp_path))
    assert plain.encode("ing").tokens == ["ing"]
    path = byte_level(tmp_path, eos_token_id=258, add_eos_token=True)
    assert pw.Tokenizer.load(path).encode("ing").tokens == ["ing", "<|end|>"]
    llama3 = pw.Tokenizer.load(byte_level(tmp_path, pre="llama-bpe", bos_token_id=258))
    assert llama3.encode("ing", "in").tokens == ["<|end|>", "ing", "<|end|>", "in"]


def test_special_tokens_in_text_are_recognized(tmp_path: Path) -> None:
    loaded = pw.Tokenizer.load(small(tmp_path))
    assert loaded.encode("a</s>ab<x>b").tokens == ["<s>", "▁a", "</s>", "▁ab", "<x>", "▁", "b"]
    ids = loaded.encode("a</s>ab<x>").ids
    assert loaded.decode(ids) == "a ab<x>"
    assert loaded.decode(ids, skip_special_tokens=False) == "<s> a</s> ab<x>"
    loaded = pw.Tokenizer.load(byte_level(tmp_path))
    assert loaded.encode("in<|end|>ing<|pad|>").tokens == ["in", "<|end|>", "ing", "<|pad|>"]


def test_roles_equal_those_of_the_file(tmp_path: Path) -> None:
    path = small(tmp_path, padding_token_id=2, mask_token_id=9)
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<x>"}')
    expected = {
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "</s>",
        "mask_token": "<x>",
    }
    assert pw.Tokenizer.load(path).special_tokens_map == expected
    assert pw.Tokenizer.from_bytes(path.read_bytes()).special_tokens_map == expected
    for _ in range(2):
        cached = pw.Tokenizer.load(path, compiled_cache=True)
        assert cached.special_tokens_map == expected
    assert pickle.loads(pickle.dumps(cached)).special_tokens_map == expected
    loaded = pw.Tokenizer.load(byte_level(tmp_path, eos_token_id=258))
    assert loaded.special_tokens_map == {"eos_token": "<|end|>"}


TEMPLATE = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"
TOOLS = "{{ tools[0].name }} " + TEMPLATE


def test_chat_templates_equal_those_of_the_file(tmp_path: Path) -> None:
    path = small(tmp_path)
    keys = SMALL | {"/chat_template": TEMPLATE, "/chat_template.tool_use": TOOLS}
    write(path, keys)
    messages = [{"role": "a", "content": "ab</s>"}]
    for loaded in (
        pw.Tokenizer.load(path),
        pw.Tokenizer.load(path, compiled_cache=True),
        pw.Tokenizer.load(path, compiled_cache=True),
        pw.Tokenizer.from_bytes(gzip.compress(path.read_bytes())),
    ):
        assert loaded.chat_templates == {"default": TEMPLATE, "tool_use": TOOLS}
        chat = pw.chat.apply_chat_template(loaded, messages)
        assert chat.text == "<s>a: ab</s></s>"
        bos, eos = loaded.bos_token_id, loaded.eos_token_id
        assert (chat.ids[0], chat.ids[-1]) == (bos, eos)
        assert chat.ids.count(eos) == 1, "the content of messages is text"
        tool = {"name": "b", "function": {"name": "b"}}
        assert pw.chat.apply_chat_template(loaded, messages, tools=[tool]).text.startswith("b <s>")
    (tmp_path / "folder").mkdir()
    loaded.save(tmp_path / "folder")
    assert pw.Tokenizer.load(tmp_path / "folder").chat_template == TEMPLATE
    plain = pw.Tokenizer.load(byte_level(tmp_path, **{"/chat_template": None}))
    assert plain.chat_template is None


def test_types_are_inferred_where_a_file_has_none(tmp_path: Path) -> None:
    path = small(tmp_path, token_type=None)
    assert pw.Tokenizer.load(path).encode("ab</s>").tokens == ["<s>", "▁ab", "</s>"]
    path = byte_level(tmp_path, token_type=None, eos_token_id=258)
    assert pw.Tokenizer.load(path).encode("in<|end|>").tokens == ["in", "<|end|>"]


def test_letter_case_of_bert(tmp_path: Path) -> None:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hug", "##s", "É", "Hug"]
    keys = bert_keys(vocabulary)
    cased = pw.Tokenizer.load(write(tmp_path / "cased.gguf", keys))
    assert cased.encode("Hugs hugs É").tokens == ["[CLS]", "Hug", "##s", "hug", "##s", "É", "[SEP]"]
    path = write(tmp_path / "stated.gguf", keys | {"normalizer.lowercase": True})
    assert pw.Tokenizer.load(path).encode("Hugs").tokens == ["[CLS]", "hug", "##s", "[SEP]"]
    assert pw.Tokenizer.load(path, lowercase=False).encode("Hug").tokens[1] == "Hug"


# ---- how a file is read


def test_the_format_is_found_by_content(tmp_path: Path) -> None:
    path = small(tmp_path)
    loaded = pw.Tokenizer.load(path)
    assert file_format(path) == "GGUF"
    assert pw.Tokenizer.from_bytes(path.read_bytes()) == loaded
    assert pw.Tokenizer.from_bytes(path.read_bytes(), format="GGUF") == loaded
    compressed = tmp_path / "small.bin"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert pw.Tokenizer.load(compressed) == loaded
    assert pw.Tokenizer.load(compressed).eos_token == "</s>"


def test_a_vocabulary_that_begins_with_the_magic_bytes_is_not_read_as_gguf(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("GGUF\n[UNK]\n")
    assert pw.Tokenizer.load(path).token_to_id("GGUF") == 0


def test_version_2_is_read(tmp_path: Path) -> None:
    path = small(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:4] + struct.pack("<I", 2) + data[8:])
    assert pw.Tokenizer.load(path).encode("ab").tokens == ["<s>", "▁ab"]


def test_tensors_are_not_read(tmp_path: Path) -> None:
    size = 1 << 28
    path = small(tmp_path)
    with path.open("r+b") as file:
        file.truncate(size)
    tracemalloc.start()
    loaded = pw.Tokenizer.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert loaded.encode("ab").tokens == ["<s>", "▁ab"]
    assert peak < size // 64


def test_a_compiled_cache_follows_the_tokenizer_and_not_the_tensors(tmp_path: Path) -> None:
    path = small(tmp_path)
    pw.Tokenizer.load(path, compiled_cache=True)
    written = (tmp_path / "small.gguf.pwc").read_bytes()
    with path.open("ab") as file:
        file.write(b"more")
    pw.Tokenizer.load(path, compiled_cache=True)
    assert (tmp_path / "small.gguf.pwc").read_bytes() == written
    small(tmp_path, add_bos_token=False)
    assert pw.Tokenizer.load(path, compiled_cache=True).encode("ab").tokens == ["▁ab"]


def test_loaded_tokenizers_can_be_saved(tmp_path: Path) -> None:
    for path in (small(tmp_path), byte_level(tmp_path)):
        loaded = pw.Tokenizer.load(path)
        loaded.save(tmp_path / "saved.piecework")
        again = pw.Tokenizer.load(tmp_path / "saved.piecework")
        assert again.encode("ab <s>ing").ids == loaded.encode("ab <s>ing").ids


def test_commands_read_gguf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("ab a\n")
    assert run(["encode", str(small(tmp_path)), str(text)]) == 0
    assert capsys.readouterr().out.split() == ["1", "8", "6"]
