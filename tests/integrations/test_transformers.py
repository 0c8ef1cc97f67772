"""Tokenizers of transformers that encode here give the results of the originals, in every argument."""

from __future__ import annotations

import copy
import os
import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import transformers
from transformers import BertTokenizer, TokenizersBackend

import piecework as pw
from piecework.errors import InputTypeError
from piecework.integrations.transformers import (
    BackendTokenizer,
    PieceworkTokenizerFast,
    accelerate,
    register,
)
from piecework.integrations.transformers.accelerated import accelerated_class
from tests.data import need
from tests.short_vocabularies import read_short

transformers.logging.set_verbosity_error()

FULL = bool(os.environ.get("PIECEWORK_FULL"))
NAMES = ("bert-base-uncased", "gpt2", "qwen2.5", "xlm-roberta-base", "clip", "falcon")
WORDS = (
    "Hello world , don't stop ! naïve Ünïcödé 東京 タワー 한국어 привет мир 123 4567 3.14 <s> </s> "
    "[MASK] [SEP] <|endoftext|> x\ty   😀 👩‍👩‍👧 e\u0301 can't we'll ... "
    "http://a.b/c?d=e def f(x): return x unaffable"
).split(" ")
CHAT = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"


@cache
def tokenizer_json_of(name: str) -> str:
    """Return the path of the tokenizer.json of a published model, with fewer entries."""
    folder = need(f"vocab/{name}")
    path = next(folder.glob("tokenizer.json*"), None)
    made = Path(tempfile_folder(), f"{name}.json")
    if path is None:  # the package has the vocabulary alone
        pw.Tokenizer.load(folder / "vocab.txt").save(made)
    else:
        made.write_text(read_short(path), "utf-8")
    return str(made)


@cache
def tempfile_folder() -> str:
    import tempfile

    return tempfile.mkdtemp()


def roles_of(name: str) -> dict[str, str]:
    """Return the special tokens of a model, as its tokenizer_config.json names them."""
    if name.startswith("bert"):
        return {
            "unk_token": "[UNK]",
            "pad_token": "[PAD]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "mask_token": "[MASK]",
        }
    if name == "xlm-roberta-base":
        return {
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "pad_token": "<pad>",
            "mask_token": "<mask>",
        }
    return {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}


@cache
def theirs_of(name: str) -> Any:
    return TokenizersBackend(tokenizer_file=tokenizer_json_of(name), **roles_of(name))


@cache
def ours_of(name: str) -> Any:
    return accelerate(theirs_of(name))


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def random_text(rng: random.Random) -> str:
    return rng.choice(("", " ", "  ")) + rng.choice((" ", " ", "", "  ", "\n")).join(
        rng.choices(WORDS, k=rng.choice((0, 1, 3, 8, 30)))
    )


def random_call(rng: random.Random) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments for a call of a tokenizer; some are invalid."""
    settings: dict[str, Any] = {}
    for flag in (
        *("add_special_tokens", "return_token_type_ids", "return_attention_mask"),
        *("return_overflowing_tokens", "return_special_tokens_mask", "return_offsets_mapping"),
        *("return_length", "split_special_tokens"),
    ):
        if rng.random() < 0.3:
            settings[flag] = rng.random() < 0.6
    if rng.random() < 0.5:
        settings["truncation"] = rng.choice(
            (True, False, "longest_first", "only_first", "only_second", "do_not_truncate")
        )
        settings["max_length"] = rng.choice((None, 1, 2, 3, 5, 9, 20, 64))
        # Where no token is left besides the stride, tokenizers panics.
        if (settings["max_length"] or 0) > 8:
            settings["stride"] = rng.choice((0, 0, 1, 3))
    if rng.random() < 0.5:
        settings["padding"] = rng.choice((True, False, "longest", "max_length"))
        settings["pad_to_multiple_of"] = rng.choice((None, None, 4, 8))
        settings["padding_side"] = rng.choice((None, "left", "right"))
        settings.setdefault("max_length", rng.choice((None, 12)))
    if rng.random() < 0.3:
        settings["return_tensors"] = "np"
    words = rng.random() < 0.25
    settings["is_split_into_words"] = words

    def text() -> Any:
        return random_text(rng).split() if words else random_text(rng)

    is_batch, is_pair = rng.random() < 0.6, rng.random() < 0.35
    count = rng.choice((1, 2, 4))
    if not is_batch:
        return ((text(), text()) if is_pair else (text(),)), settings
    if is_pair and rng.random() < 0.3:
        return ([(text(), text()) for _ in range(count)],), settings
    first = [text() for _ in range(count)]
    return ((first, [text() for _ in range(count)]) if is_pair else (first,)), settings


def outcome(tokenizer: Any, arguments: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Return the result of a call as comparable data, or the kind of error."""
    try:
        result = tokenizer(*arguments, **settings)
    except TypeError:
        return "TypeError"
    except Exception:
        return "error"
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return "panic"
    return {key: comparable(value) for key, value in result.items()}


def comparable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), comparable(value.tolist())
    return list(map(comparable, value)) if isinstance(value, list) else value


def assert_equal_outcome(
    tokenizer: Any, arguments: tuple[Any, ...], settings: dict[str, Any], expected: Any
) -> None:
    found = outcome(tokenizer, arguments, settings)
    # Where tokenizers panics there is nothing to compare with, but nothing panics here.
    assert found != "panic", (arguments, settings)
    assert expected == "panic" or found == expected, (arguments, settings)


@pytest.mark.parametrize("seed", range(4))
def test_random_arguments_give_the_same_results(name: str, seed: int) -> None:
    theirs, ours = theirs_of(name), ours_of(name)
    rng = random.Random(f"{name} {seed}")
    count_of_results = 0
    for _ in range(150):
        arguments, settings = random_call(rng)
        expected = outcome(theirs, arguments, settings)
        assert_equal_outcome(ours, arguments, settings, expected)
        count_of_results += isinstance(expected, dict)
    assert count_of_results > 50
    assert ours.backend_tokenizer.refusal is None


ALIGNMENT = (
    *("tokens", "word_ids", "sequence_ids"),
    *("token_to_chars", "char_to_token", "word_to_tokens", "char_to_word", "token_to_word"),
)


def alignment(encoded: Any, row: int) -> list[Any]:
    """Return what a `BatchEncoding` tells of the alignment of a row."""
    length = len(encoded.tokens(row))
    spans = [encoded.token_to_chars(row, token) for token in range(length)]
    chars = [encoded.char_to_token(row, char) for char in range(20)]
    words = [word for word in set(encoded.word_ids(row)) if word is not None]
    return [
        encoded.tokens(row),
        encoded.word_ids(row),
        encoded.sequence_ids(row),
        [span and tuple(span) for span in spans],
        chars,
        [(span := encoded.word_to_tokens(row, word)) and tuple(span) for word in sorted(words)],
        [encoded.char_to_word(row, char) for char in range(20)],
        [encoded.token_to_word(row, token) for token in range(length)],
    ]


def test_alignment_methods_give_the_same_results(name: str) -> None:
    theirs, ours = theirs_of(name), ours_of(name)
    rng = random.Random(name)
    for padding in (False, True):
        texts = [random_text(rng) + " end" for _ in range(6)]
        expected = theirs(texts, texts[::-1], padding=padding)
        found = ours(texts, texts[::-1], padding=padding)
        assert found.n_sequences == expected.n_sequences
        for row in range(6):
            assert alignment(found, row) == alignment(expected, row)


def test_decoding_gives_the_same_text(name: str) -> None:
    theirs, ours = theirs_of(name), ours_of(name)
    rng = random.Random(name)
    rows = [rng.choices(range(len(theirs)), k=rng.randrange(12)) for _ in range(200)]
    rows += [theirs(random_text(rng))["input_ids"] for _ in range(50)]
    for skip in (False, True):
        for clean_up in (None, True, False):
            settings = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": clean_up}
            assert ours.batch_decode(rows, **settings) == theirs.batch_decode(rows, **settings)
            assert ours.decode(rows[3], **settings) == theirs.decode(rows[3], **settings)


def test_tokenize_and_conversions_give_the_same_results(name: str) -> None:
    theirs, ours = theirs_of(name), ours_of(name)
    rng = random.Random(name)
    for _ in range(30):
        text = random_text(rng)
        assert ours.tokenize(text) == theirs.tokenize(text)
        assert ours.encode(text) == theirs.encode(text)
        ids = theirs.encode(text)
        assert ours.convert_ids_to_tokens(ids) == theirs.convert_ids_to_tokens(ids)
        tokens = theirs.convert_ids_to_tokens(ids)
        assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)
        assert ours.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)
    assert ours.get_vocab() == theirs.get_vocab()
    assert len(ours) == len(theirs)
    assert ours.vocab_size == theirs.vocab_size
    assert ours.all_special_ids == theirs.all_special_ids
    for pair in (False, True):
        assert ours.num_special_tokens_to_add(pair) == theirs.num_special_tokens_to_add(pair)


def test_chat_templates_give_the_same_ids() -> None:
    chat = [{"role": "user", "content": "Hi there"}, {"role": "assistant", "content": "Hello!"}]
    theirs, ours = theirs_of("gpt2"), ours_of("gpt2")
    for settings in (
        {},
        {"tokenize": False},
        {"return_dict": True, "max_length": 5, "truncation": True},
    ):
        expected = theirs.apply_chat_template(chat, chat_template=CHAT, **settings)
        found = ours.apply_chat_template(chat, chat_template=CHAT, **settings)
        assert found == expected or dict(found) == dict(expected)


# ---- changes afterwards


def changed(tokenizer: Any, change: Any) -> Any:
    tokenizer = copy.deepcopy(tokenizer)
    change(tokenizer)
    return tokenizer


def add_tokens(tokenizer: Any) -> None:
    tokenizer.add_tokens(["unaffable", "<new>", "the"])
    tokenizer.add_tokens([tokenizers.AddedToken("x", single_word=True, lstrip=True)])


def add_special_tokens(tokenizer: Any) -> None:
    tokenizer.add_special_tokens({"mask_token": "<mask2>", "extra_special_tokens": ["<a>", "<b>"]})


def set_normalizer(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.normalizer = tokenizers.normalizers.Lowercase()


def remove_normalizer(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.normalizer = None


def set_pre_tokenizer(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Digits(True)


def set_post_processor(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A $A", pair="$A $B:1", special_tokens=[]
    )


def custom_pre_tokenizer(tokenizer: Any) -> None:
    class Halves:
        def pre_tokenize(self, pretok: Any) -> None:
            pretok.split(lambda _, text: [text[: len(str(text)) // 2], text[len(str(text)) // 2 :]])

    tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.PreTokenizer.custom(
        Halves()
    )


def unknown_token_of_the_model(tokenizer: Any) -> None:
    model = tokenizer.backend_tokenizer.model
    if hasattr(model, "unk_token"):
        model.unk_token = "the"


def set_lengths(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=9, pad_id=3, pad_token="q")


CHANGES = (
    *(add_tokens, add_special_tokens, set_normalizer, remove_normalizer, set_pre_tokenizer),
    *(set_post_processor, unknown_token_of_the_model, set_lengths),
)


# Copies of large vocabularies take a second: each model sees a third of the changes, except in the full run.
@pytest.mark.parametrize(
    ("name", "change", "is_warm"),
    [
        pytest.param(name, change, is_warm, id=f"{name}-{change.__name__}-{is_warm}")
        for one, name in enumerate(NAMES)
        for other, change in enumerate(CHANGES)
        for is_warm in (False, True)
        if FULL or (one + other + is_warm) % 3 == 0
    ],
)
def test_changes_afterwards_are_noticed(name: str, change: Any, is_warm: bool) -> None:
    ours = copy.deepcopy(ours_of(name))
    if is_warm:
        ours("encoded before the change")
    change(ours)
    theirs = changed(theirs_of(name), change)
    rng = random.Random(name)
    for _ in range(40):
        text = random_text(rng)
        assert ours(text)["input_ids"] == theirs(text)["input_ids"], text
    assert ours.backend_tokenizer.encode("Unaffable x").ids == (
        theirs.backend_tokenizer.encode("Unaffable x").ids
    )
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours_of(name)("Unaffable")["input_ids"] == theirs_of(name)("Unaffable")["input_ids"]


def test_a_component_that_is_changed_in_place_is_noticed() -> None:
    ours, theirs = (
        copy.deepcopy(ours_of("bert-base-uncased")),
        copy.deepcopy(theirs_of("bert-base-uncased")),
    )
    kept = [tokenizer.backend_tokenizer.normalizer for tokenizer in (ours, theirs)]
    for lowercase in (False, True, False):
        for normalizer in kept:
            normalizer.lowercase = lowercase
        assert ours("Hello")["input_ids"] == theirs("Hello")["input_ids"]
        assert ours.backend_tokenizer.refusal is None


def test_components_in_python_run_in_tokenizers_with_the_same_results() -> None:
    ours, theirs = copy.deepcopy(ours_of("gpt2")), copy.deepcopy(theirs_of("gpt2"))
    custom_pre_tokenizer(ours)
    custom_pre_tokenizer(theirs)
    assert ours("Hello world")["input_ids"] == theirs("Hello world")["input_ids"]
    assert ours.decode([1, 2]) == theirs.decode([1, 2])
    assert ours.backend_tokenizer.refusal
    ours.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False
    )
    assert ours.backend_tokenizer.refusal is None
    assert ours("Hello world")["input_ids"] == theirs_of("gpt2")("Hello world")["input_ids"]


def test_adding_tokens_counts_as_tokenizers_does() -> None:
    ours, theirs = copy.deepcopy(ours_of("gpt2")), copy.deepcopy(theirs_of("gpt2"))
    for tokens in (["a1", "a1", "", "the"], ["a1"], ["<|endoftext|>"], ["b", "c2"]):
        assert ours.add_tokens(tokens) == theirs.add_tokens(tokens)
        assert ours.add_tokens(tokens, special_tokens=True) == theirs.add_tokens(
            tokens, special_tokens=True
        )
        assert ours.get_added_vocab() == theirs.get_added_vocab()
        assert ours.added_tokens_decoder == theirs.added_tokens_decoder


# ---- being a tokenizer of transformers


def test_an_accelerated_tokenizer_is_of_the_class_of_the_original() -> None:
    theirs = BertTokenizer(
        vocab={"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[PAD]": 3, "[MASK]": 4, "hug": 5}
    )
    ours = accelerate(theirs)
    assert isinstance(ours, BertTokenizer)
    assert type(ours).__name__ == "BertTokenizer"
    assert type(ours) is type(accelerate(theirs))
    assert accelerate(ours) is ours
    assert ours("hug")["input_ids"] == theirs("hug")["input_ids"]
    assert type(theirs._tokenizer) is tokenizers.Tokenizer


def test_saving_and_loading_gives_an_equal_tokenizer(name: str, tmp_path: Path) -> None:
    ours_of(name).save_pretrained(tmp_path / "ours")
    theirs_of(name).save_pretrained(tmp_path / "theirs")
    names = {path.name for path in (tmp_path / "theirs").iterdir()}
    assert {path.name for path in (tmp_path / "ours").iterdir()} == names
    config = "tokenizer_config.json"
    assert (tmp_path / "ours" / config).read_text() == (tmp_path / "theirs" / config).read_text()
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")
    for text in ("Hello world", "naïve 東京"):
        assert loaded(text)["input_ids"] == theirs_of(name)(text)["input_ids"]


def test_pickles_and_copies_encode_alike(name: str) -> None:
    ours = ours_of(name)
    expected = ours("Hello world", padding="max_length", max_length=12)
    for again in (pickle.loads(pickle.dumps(ours)), copy.copy(ours), copy.deepcopy(ours)):
        assert type(again) is type(ours)
        assert again("Hello world", padding="max_length", max_length=12) == expected
    encoded = pickle.loads(pickle.dumps(ours(["Hello world", "x"])))
    assert encoded.tokens(1) == ours(["Hello world", "x"]).tokens(1)


def test_copies_share_the_compiled_tables() -> None:
    backend = ours_of("gpt2").backend_tokenizer
    copied = copy.deepcopy(backend)
    assert copied.tokenizer._core.shares_tables_with(backend.tokenizer._core)
    copied.add_tokens(["a new token"])
    assert backend.token_to_id("a new token") is None


def test_retraining_gives_an_accelerated_tokenizer() -> None:
    ours = accelerate(theirs_of("gpt2"))
    texts = [["to be or not to be, that is the question"] * 5]
    found = ours.train_new_from_iterator(texts, 300)
    expected = theirs_of("gpt2").train_new_from_iterator(texts, 300)
    assert type(found) is type(ours)
    assert found("to be or question")["input_ids"] == expected("to be or question")["input_ids"]
    assert found.backend_tokenizer.refusal is None


def test_a_warning_about_length_is_given_once(caplog: pytest.LogCaptureFixture) -> None:
    transformers.logging.set_verbosity_warning()
    try:
        for tokenizer in (copy.deepcopy(theirs_of("gpt2")), copy.deepcopy(ours_of("gpt2"))):
            tokenizer.model_max_length = 3
            tokenizer.deprecation_warnings = {}
            tokenizer(["a b", "a b c d e", "a b c d e f g"])
            assert list(tokenizer.deprecation_warnings) == [
                "sequence-length-is-longer-than-the-specified-maximum"
            ]
    finally:
        transformers.logging.set_verbosity_error()


def test_threads_with_other_lengths_do_not_disturb_each_other() -> None:
    tokenizer = copy.copy(ours_of("gpt2"))
    tokenizer.pad_token = "<|endoftext|>"

    def lengths(max_length: int) -> set[int]:
        settings = {"padding": "max_length" if max_length % 2 else False, "truncation": True}
        calls = (tokenizer(["a " * 50], max_length=max_length, **settings) for _ in range(200))
        return {len(call["input_ids"][0]) for call in calls}

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lengths, range(2, 34))) == [{length} for length in range(2, 34)]
    finally:
        sys.setswitchinterval(interval)
    assert tokenizer.backend_tokenizer.truncation["max_length"] in range(2, 34)


def test_other_tokenizers_are_refused() -> None:
    with pytest.raises(InputTypeError, match="fast tokenizer"):
        accelerate("bert-base-uncased")


# ---- the other doors


def test_transformers_takes_a_backend_as_its_tokenizer_object(name: str) -> None:
    tok = pw.Tokenizer.load(tokenizer_json_of(name)).without_truncation().without_padding()
    ours = TokenizersBackend(tokenizer_object=BackendTokenizer(tok), **roles_of(name))
    theirs = theirs_of(name)
    rng = random.Random(f"backend {name}")
    for _ in range(60):
        arguments, settings = random_call(rng)
        expected = outcome(theirs, arguments, settings)
        assert_equal_outcome(ours, arguments, settings, expected)


def test_the_class_reads_files_and_tokenizers(name: str) -> None:
    theirs = theirs_of(name)
    tok = pw.Tokenizer.load(tokenizer_json_of(name)).without_truncation().without_padding()
    for ours in (
        PieceworkTokenizerFast(tokenizer_object=tok, **roles_of(name)),
        PieceworkTokenizerFast(tokenizer_file=tokenizer_json_of(name), **roles_of(name)),
    ):
        rng = random.Random(f"class {name}")
        for _ in range(40):
            arguments, settings = random_call(rng)
            expected = outcome(theirs, arguments, settings)
            assert_equal_outcome(ours, arguments, settings, expected)
        assert theirs.special_tokens_map.items() <= ours.special_tokens_map.items()


def test_the_class_builds_no_tokenizer_of_tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    tok = pw.Tokenizer.load(tokenizer_json_of("gpt2"))
    ours = PieceworkTokenizerFast(tokenizer_object=tok, **roles_of("gpt2"))
    ours(["Hello world", "x"], padding=True)
    ours.add_tokens(["<new>"])
    ours("a <new> one")
    assert not ours.backend_tokenizer._pipeline._has_model


def test_auto_tokenizer_returns_the_class(tmp_path: Path) -> None:
    register()
    tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
    fast = PieceworkTokenizerFast(tokenizer_object=tok, model_max_length=64)
    fast.save_pretrained(tmp_path)
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert type(loaded) is PieceworkTokenizerFast
    assert loaded("pun hugs") == fast("pun hugs")
    assert loaded.pad_token_id == tok.pad_token_id
    assert loaded.model_max_length == 64
    again = pickle.loads(pickle.dumps(loaded))
    assert again("pun hugs") == fast("pun hugs")


# ---- classes with constructors of their own

CLASSES = {
    "bert-base-uncased": "BertTokenizer",
    "gpt2": "GPT2Tokenizer",
    "roberta-base": "RobertaTokenizer",
    "clip": "CLIPTokenizer",
    "qwen2.5": "Qwen2Tokenizer",
    "xlm-roberta-base": "XLMRobertaTokenizer",
    "t5-small": "T5Tokenizer",
    "albert-v2": "AlbertTokenizer",
    "mistral-7b-v0.1": "LlamaTokenizer",
    "falcon": "TokenizersBackend",
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes_that_build_their_pipeline_encode_here(name: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(
        Path(tokenizer_json_of(name)).read_text("utf-8"), "utf-8"
    )
    cls = getattr(transformers, CLASSES[name])
    theirs = cls.from_pretrained(tmp_path)
    ours = accelerated_class(cls).from_pretrained(tmp_path)
    again = accelerate(theirs)
    rng = random.Random(name)
    for _ in range(80):
        arguments, settings = random_call(rng)
        expected = outcome(theirs, arguments, settings)
        assert_equal_outcome(ours, arguments, settings, expected)
        assert_equal_outcome(again, arguments, settings, expected)
    ids = theirs("Hello world , don't stop!")["input_ids"]
    assert ours.decode(ids) == theirs.decode(ids)
    assert ours.backend_tokenizer.refusal is None


def test_the_class_takes_the_settings_of_a_tokenizer(tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
    tok = tok.with_model_max_length(7).with_chat_template(CHAT)
    tok = tok.with_padding(side="left").with_truncation(5, side="left")
    chat = [{"role": "user", "content": "hugs"}]
    tok.save(tmp_path)
    for ours in (
        PieceworkTokenizerFast(tokenizer_object=tok),
        PieceworkTokenizerFast.from_pretrained(tmp_path),
        transformers.AutoTokenizer.from_pretrained(tmp_path),
    ):
        assert ours.model_max_length == 7
        assert (ours.padding_side, ours.truncation_side) == ("left", "left")
        assert ours.apply_chat_template(chat, tokenize=False) == "user: hugs\n"
        found = ours(["hugs", "pun hugs"], padding=True)["input_ids"]
        assert found == tok.encode_batch(["hugs", "pun hugs"]).to_lists()


def test_both_ways_to_a_folder_keep_ids_and_roles(tmp_path: Path) -> None:
    theirs = theirs_of("bert-base-uncased")
    theirs.save_pretrained(tmp_path / "theirs")
    tok = pw.Tokenizer.load(tmp_path / "theirs")
    assert tok.special_tokens_map == {
        name: token for name, token in theirs.special_tokens_map.items() if isinstance(token, str)
    }
    tok.save(str(tmp_path / "ours") + "/")
    again = PieceworkTokenizerFast.from_pretrained(tmp_path / "ours")
    assert again.special_tokens_map == theirs.special_tokens_map
    assert again("Hello world!")["input_ids"] == theirs("Hello world!")["input_ids"]


@pytest.mark.parametrize("file", ["bert-base-chinese/vocab.txt", "mistral/tokenizer.model.v1"])
def test_the_class_reads_folders_without_a_tokenizer_json(file: str, tmp_path: Path) -> None:
    path = need(f"vocab/{file}")
    (tmp_path / path.name.removesuffix(".v1")).write_bytes(path.read_bytes())
    ours = PieceworkTokenizerFast.from_pretrained(tmp_path)
    tok = pw.Tokenizer.load(tmp_path)
    for text in ("Hello world", "東京 is big"):
        assert ours(text)["input_ids"] == tok.encode(text).ids


def test_a_class_that_extends_an_accelerated_one_has_its_own_pickle() -> None:
    ours = accelerate(BertTokenizer(vocab={"[UNK]": 0, "hug": 1}))

    class Extended(type(ours)):  # type: ignore[misc]
        def __reduce__(self) -> Any:
            return accelerate, (ours,)

    extended = copy.copy(ours)
    extended.__class__ = Extended
    assert type(pickle.loads(pickle.dumps(extended))) is type(ours)


def test_a_backend_has_no_attributes_that_tokenizers_does_not_have() -> None:
    backend = BackendTokenizer(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})))
    with pytest.raises(AttributeError, match="no attribute 'added_token_ids'"):
        _ = backend.added_token_ids
    assert callable(backend.post_process)
