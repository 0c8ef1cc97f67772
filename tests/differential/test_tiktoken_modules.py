"""What programs over tiktoken import and read: its modules and underscored attributes."""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiktoken
import tiktoken._educational
import tiktoken.load
import tiktoken.model

import piecework as pw
from piecework.compat import tiktoken as shaped
from piecework.errors import FileError, FormatError, InputTypeError
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from piecework.spec.split_patterns import GPT2_PATTERN
from tests.differential.ranks import ours, theirs, tiny

PATTERN = r"\w+|\s+|[^\s\w]+"


def small() -> dict[bytes, int]:
    return tiny({b"in": 256, b"ing": 257, b" b": 258})


def tiny_settings() -> dict[str, object]:
    return {"pat_str": PATTERN, "mergeable_ranks": small(), "special_tokens": {"<|end|>": 400}}


@pytest.fixture
def in_place_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace the module `tiktoken` and its submodules."""
    for name in [name for name in sys.modules if name.split(".")[0] == "tiktoken"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tiktoken", shaped)
    yield
    for name in [name for name in sys.modules if name.startswith("tiktoken.")]:
        del sys.modules[name]


# ---- attributes


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_attributes_that_programs_read_equal_those_of_tiktoken(name: str) -> None:
    mine, other = ours(name), theirs(name)
    assert mine._mergeable_ranks == other._mergeable_ranks
    assert mine._special_tokens == other._special_tokens
    assert mine._special_token_values == other._special_token_values
    text = "Hello <|endoftext|>, wörld 😀\n\n  x"
    assert mine._encode_only_native_bpe(text) == other._encode_only_native_bpe(text)


def test_an_encoding_is_extended_by_special_tokens_as_the_readme_of_tiktoken_shows() -> None:
    base = ours("cl100k_base")
    settings = {
        "name": "cl100k_im",
        "pat_str": base._pat_str,
        "mergeable_ranks": base._mergeable_ranks,
        "special_tokens": {**base._special_tokens, "<|im_start|>": 100264, "<|im_end|>": 100265},
    }
    text = "<|im_start|>user\nHello  world!  \n<|im_end|>\n"
    mine, other = shaped.Encoding(**settings), tiktoken.Encoding(**settings)
    assert mine.encode(text, allowed_special="all") == other.encode(text, allowed_special="all")
    assert mine.n_vocab == other.n_vocab == 100277


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base"])
def test_bytes_that_are_cut_inside_characters_give_the_same_tokens(name: str) -> None:
    data = "naïve 日本語 😀😀  \n\n \t x  héllo it's 123456".encode()
    rng = random.Random(1)
    for _ in range(300):
        start = rng.randrange(len(data))
        cut = data[start : start + rng.randrange(20)] + bytes(rng.choices(b" a\xe2\x82z", k=2))
        assert ours(name)._encode_bytes(cut) == theirs(name)._encode_bytes(cut), cut


def test_the_compiled_core_has_the_methods_of_tiktoken() -> None:
    settings = tiny_settings()
    mine = shaped.Encoding("tiny", **settings)._core_bpe
    other = tiktoken.Encoding("tiny", **settings)._core_bpe
    text, allowed = "being <|end|>", {"<|end|>"}
    assert mine.encode_ordinary(text) == other.encode_ordinary(text)
    assert mine.encode(text, allowed) == other.encode(text, allowed)
    assert mine.encode_single_piece(b"ing\xff") == other.encode_single_piece(b"ing\xff")
    assert mine.encode_single_token(b"in") == other.encode_single_token(b"in")
    assert mine.token_byte_values() == other.token_byte_values()
    assert mine.decode_bytes([98, 400]) == other.decode_bytes([98, 400])
    buffers = (core.encode_to_tiktoken_buffer(text, allowed) for core in (mine, other))
    assert len({bytes(memoryview(buffer)) for buffer in buffers}) == 1
    # Only the Rust and JavaScript libraries of tiktoken have callers of `encode_with_unstable`.
    methods = {name for name in dir(other) if not name.startswith("__")}
    assert {name for name in methods if not hasattr(mine, name)} == {"encode_with_unstable"}


def test_inputs_that_are_not_text_raise_type_errors_as_in_tiktoken() -> None:
    mine = shaped.Encoding("tiny", **tiny_settings())
    other = tiktoken.Encoding("tiny", **tiny_settings())
    calls = (
        lambda encoding: encoding.encode(None),
        lambda encoding: encoding.encode(None, disallowed_special=()),
        lambda encoding: encoding.encode_ordinary(None),
        lambda encoding: encoding.encode_batch([None]),
        lambda encoding: encoding.encode_ordinary_batch([1]),
    )
    for call in calls:
        with pytest.raises(TypeError):
            call(other)
        with pytest.raises(InputTypeError, match="text: must be str, not .*"):
            call(mine)


def test_modules_of_tiktoken_ext_add_encodings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiktoken_ext").mkdir()
    (tmp_path / "tiktoken_ext" / "bytes_only.py").write_text(
        "def bytes_only():\n"
        "    ranks = {bytes([byte]): byte for byte in range(256)}\n"
        "    return {'name': 'bytes_only', 'pat_str': r'\\w+|\\W+', 'mergeable_ranks': ranks,\n"
        "        'special_tokens': {'<|end|>': 256}}\n"
        "ENCODING_CONSTRUCTORS = {'bytes_only': bytes_only}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    shaped.registry._plugin_constructors.cache_clear()
    assert shaped.get_encoding("bytes_only").encode("ab<|end|>", allowed_special="all") == [
        97,
        98,
        256,
    ]
    assert shaped.get_encoding("bytes_only") is shaped.get_encoding("bytes_only")
    assert shaped.list_encoding_names()[-1] == "bytes_only"
    shaped.registry._plugin_constructors.cache_clear()


# ---- modules


def test_models_and_prefixes_equal_those_of_tiktoken() -> None:
    assert shaped.model.MODEL_TO_ENCODING == tiktoken.model.MODEL_TO_ENCODING
    assert shaped.model.MODEL_PREFIX_TO_ENCODING == tiktoken.model.MODEL_PREFIX_TO_ENCODING
    assert shaped.__version__ == tiktoken.__version__


def test_every_public_name_of_the_modules_is_here() -> None:
    for module in ("core", "load", "model", "registry"):
        there = vars(sys.modules[f"tiktoken.{module}"])
        public = {
            name
            for name, value in there.items()
            if not name.startswith("_") and getattr(value, "__module__", "").startswith("tiktoken.")
        }
        assert public <= set(vars(getattr(shaped, module))), module


def test_rank_files_are_written_and_read(tmp_path: Path) -> None:
    path = str(tmp_path / "ranks.tiktoken")
    shaped.load.dump_tiktoken_bpe(small(), path)
    assert Path(path).read_bytes().splitlines()[-2:] == [b"aW5n 257", b"IGI= 258"]
    assert shaped.load.load_tiktoken_bpe(path) == tiktoken.load.load_tiktoken_bpe(path) == small()


def test_a_damaged_rank_file_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "ranks"
    path.write_bytes(base64.b64encode(b"a") + b" 0\nx y z\n")
    with pytest.raises(FormatError, match="line 2: found 'x y z'"):
        shaped.load.load_tiktoken_bpe(path)
    with pytest.raises(ValueError, match="SHA-256"):
        shaped.load.load_tiktoken_bpe(path, expected_hash="0" * 64)


def test_an_address_is_read_from_the_cache_and_never_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    address = "https://example.invalid/tiny.tiktoken"
    with pytest.raises(FileError, match="nothing is downloaded"):
        shaped.load.load_tiktoken_bpe(address)
    with pytest.raises(FileError) as raised:
        shaped.load.read_file(address)
    name = str(raised.value).rpartition(" ")[2]
    assert Path(name).parent == tmp_path
    shaped.load.dump_tiktoken_bpe(small(), name)
    assert shaped.load.load_tiktoken_bpe(address) == small()
    assert tiktoken.load.load_tiktoken_bpe(address) == small()


@pytest.mark.parametrize("clobber", [False, True])
def test_the_files_of_gpt2_give_the_same_ranks(tmp_path: Path, clobber: bool) -> None:
    order = sorted(range(256), key=lambda byte: (ord(CHARACTER_OF_BYTE[byte]) != byte, byte))
    vocab = {CHARACTER_OF_BYTE[byte]: id for id, byte in enumerate(order)}
    vocab |= {"in": 256, "Ġin": 257, "<|endoftext|>": 258}
    merges, encoder = str(tmp_path / "vocab.bpe"), str(tmp_path / "encoder.json")
    Path(merges).write_text("#version: 0.2\ni n\nĠ in\n", encoding="utf-8")
    Path(encoder).write_text(json.dumps(vocab), encoding="utf-8")
    settings = {"clobber_one_byte_tokens": clobber}
    mine = shaped.load.data_gym_to_mergeable_bpe_ranks(merges, encoder, **settings)
    assert mine == tiktoken.load.data_gym_to_mergeable_bpe_ranks(merges, encoder, **settings)
    Path(encoder).write_text(json.dumps(vocab | {"xx": 300}), encoding="utf-8")
    with pytest.raises(FormatError, match=r"encoder\.json: has other tokens or ids"):
        shaped.load.data_gym_to_mergeable_bpe_ranks(merges, encoder, **settings)


@pytest.mark.usefixtures("in_place_of_tiktoken")
def test_transformers_converts_a_rank_file_with_the_module_replaced(tmp_path: Path) -> None:
    from transformers.convert_slow_tokenizer import TikTokenConverter

    path = str(tmp_path / "tokenizer.model")
    shaped.load.dump_tiktoken_bpe(small(), path)
    converted = TikTokenConverter(
        vocab_file=path, pattern=PATTERN, extra_special_tokens=["<|end|>"]
    ).converted()
    assert sys.modules["tiktoken"] is shaped
    enc = shaped.Encoding("tiny", **tiny_settings())
    assert converted.encode("being in it").ids == enc.encode("being in it")


@pytest.mark.usefixtures("in_place_of_tiktoken")
def test_code_of_llama_3_and_qwen_runs_with_the_module_replaced(tmp_path: Path) -> None:
    path = str(tmp_path / "tokenizer.model")
    shaped.load.dump_tiktoken_bpe(small(), path)
    names: dict[str, object] = {}
    exec(  # the imports and calls of both, in short
        "import tiktoken\n"
        "from tiktoken.load import load_tiktoken_bpe\n"
        "from tiktoken.core import Encoding\n"
        f"ranks = load_tiktoken_bpe({path!r})\n"
        "special = {f'<|reserved_special_token_{i}|>': len(ranks) + i for i in range(4)}\n"
        f"model = tiktoken.Encoding(name='m', pat_str={PATTERN!r}, mergeable_ranks=ranks,\n"
        "    special_tokens=special)\n"
        "ids = model.encode('being', allowed_special=set(), disallowed_special=())\n"
        "assert isinstance(model, Encoding) and model.n_vocab == len(ranks) + 4\n",
        names,
    )
    assert names["ids"] == shaped.Encoding("tiny", **tiny_settings()).encode("being")


def test_llguidance_takes_an_encoding() -> None:
    from llguidance.tiktoken import lltokenizer_from_encoding

    enc = ours("cl100k_base")
    tokens = lltokenizer_from_encoding(enc).tokenize_str("hello world")
    assert tokens == enc.encode("hello world")


# ---- the teaching module


def test_the_teaching_module_of_tiktoken_takes_an_encoding() -> None:
    enc = shaped.Encoding("tiny", **tiny_settings())
    simple = tiktoken._educational.SimpleBytePairEncoding.from_tiktoken(enc)
    assert simple.encode("being", visualise=None) == enc.encode("being")


def test_five_settings_learn_from_the_source_of_the_teaching_module_what_it_learns() -> None:
    source = Path(tiktoken._educational.__file__).read_text()
    ranks = tiktoken._educational.bpe_train(source, 600, GPT2_PATTERN, visualise=None)
    teaching = tiktoken._educational.SimpleBytePairEncoding(
        pat_str=GPT2_PATTERN, mergeable_ranks=ranks
    )
    trainer = pw.ByteBPETrainer(
        600, min_frequency=1, special_tokens=(), ties="first-seen", alphabet_order="byte-values"
    )
    learned = pw.Tokenizer.train_from_iterator([source], trainer)
    ids = learned.encode("hello world").ids
    assert ids == teaching.encode("hello world", visualise=None)
    assert ids != [388, 372]  # printed, from the source of an earlier version
