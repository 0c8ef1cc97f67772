"""Names of other tokenizer: libraries: those with a counterpart here raise and say which one."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import typing
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import pytest

import piecework as pw
from piecework._internal.names_of_other_libraries import (
    _ALIASES,
    _HERE,
    _KEYWORDS,
    _METHOD_FOR,
    _OF_BATCH,
    NameElsewhere,
    immutable_error,
)
from piecework._internal.role_attributes import ROLES
from piecework.errors import FileError, ImmutableError, InputTypeError

TOK = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("enable_padding", "with_padding"),
        ("enable_truncation", "with_truncation"),
        ("add_tokens", "with_added_tokens"),
        ("save_pretrained", r"save\('folder/'\), where the / makes it a folder"),
        ("batch_decode", "decode_batch"),
        ("EncodeAsIds", r"encode\(text\)\.ids"),
        ("n_vocab", r"len\(tokenizer\)"),
        ("vocab", r"get_vocab\(\)"),
        ("backend_tokenizer", r"piecework\.integrations\.transformers\.BackendTokenizer"),
    ],
)
def test_a_method_of_another_library_names_the_one_here(name: str, message: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}': use .*{message}"):
        getattr(TOK, name)


@pytest.mark.parametrize("name", ["from_pretrained", "from_buffer"])
def test_a_constructor_of_another_library_names_the_one_here(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}': use Tokenizer"):
        getattr(pw.Tokenizer, name)


def test_no_listed_name_exists_here() -> None:
    assert [name for name in _HERE if not isinstance(vars(pw.Tokenizer)[name], NameElsewhere)] == []


def test_completion_and_hasattr_do_not_show_them() -> None:
    assert [name for name in _HERE if name in dir(TOK) or hasattr(TOK, name)] == []
    assert [name for name in _HERE if name in dir(pw.Tokenizer)] == []
    assert {"encode", "fingerprint", "_core"} <= set(dir(TOK))


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    assert not hasattr(TOK, "no_such_name")
    with pytest.raises(AttributeError, match="'Tokenizer' object has no attribute 'no_such_name'$"):
        TOK.no_such_name  # noqa: B018


def test_calling_a_tokenizer_names_encode() -> None:
    message = r"^tokenizer: is not callable; use encode\(text\)\.ids, or encode_batch\(texts\)"
    with pytest.raises(InputTypeError, match=message + "$") as raised:
        TOK("a")  # type: ignore[operator]
    assert isinstance(raised.value, TypeError)
    with pytest.raises(InputTypeError, match=message + r"; tokenizer\.with_padding\(None\) for"):
        TOK(["a"], padding=True, no_such_name=1)  # type: ignore[operator]


@pytest.mark.parametrize("texts", [["a", "b"], ("a", "b"), [], [["a"]]])
def test_texts_in_place_of_one_text_name_encode_batch(texts: typing.Any) -> None:
    message = r"^text: must be str, not (list|tuple); use encode_batch\(texts\), or is_pretokenized=True for"
    refusing = TOK.with_parse_special("refuse")
    for call in (
        lambda: TOK.encode(texts),
        lambda: TOK.encode(texts, "a"),
        lambda: TOK.encode(texts, parse_special=["a"]),
        lambda: TOK.tokenize(texts),
        lambda: refusing.encode(texts),
    ):
        with pytest.raises(InputTypeError, match=message):
            call()
    with pytest.raises(InputTypeError, match="text: must be str, not int$"):
        TOK.encode(3)  # type: ignore[arg-type]


# ---- names that libraries look for on any tokenizer


def test_names_that_libraries_look_for_are_methods_here(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(TOK.to_str(), encoding="utf-8")
    assert pw.Tokenizer.from_file(str(path)) == TOK  # type: ignore[attr-defined]
    assert pw.Tokenizer.from_str(TOK.to_str()) == TOK
    encodings = TOK.encode_batch_fast(["ab", "b"], add_special_tokens=False)  # type: ignore[attr-defined]
    assert [encoding.ids for encoding in encodings] == [[1, 2], [2]]


def test_special_tokens_are_counted_and_listed_as_in_tokenizers() -> None:
    import tokenizers

    bert = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=30)
    theirs = tokenizers.Tokenizer.from_str(bert.to_str())
    for tok in (bert, bert.with_padding(9).with_truncation(2)):
        for is_pair in (False, True):
            count = tok.num_special_tokens_to_add(is_pair)  # type: ignore[attr-defined]
            assert count == theirs.num_special_tokens_to_add(is_pair)
    decoder = bert.get_added_tokens_decoder()  # type: ignore[attr-defined]
    expected = theirs.get_added_tokens_decoder()
    assert {id: (token.content, token.special) for id, token in decoder.items()} == {
        id: (token.content, token.special) for id, token in expected.items()
    }


@pytest.mark.parametrize("name", _ALIASES)
def test_aliases_work_and_no_list_shows_them(name: str) -> None:
    assert hasattr(TOK, name)
    assert callable(getattr(TOK, name))
    assert name not in {*dir(TOK), *dir(pw.Tokenizer), *_HERE}


def test_a_subclass_has_the_aliases_of_its_own_methods() -> None:
    class Loud(pw.Tokenizer):
        @classmethod
        def load(cls, path: str, **_: object) -> str:  # type: ignore[override]
            return f"{path}!"

    assert Loud.from_file("a") == "a!"  # type: ignore[attr-defined]


def test_ids_and_tokens_that_are_exchanged_name_the_other_method() -> None:
    with pytest.raises(InputTypeError, match="id: must be .*, not str"):
        TOK.id_to_token("a")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="token: must be .*, not int"):
        TOK.token_to_id(1)  # type: ignore[arg-type]


def test_encode_has_a_signature_and_annotations() -> None:
    assert pw.Tokenizer.encode.__qualname__ == "Tokenizer.encode"
    assert list(inspect.signature(pw.Tokenizer.encode).parameters)[:3] == ["self", "text", "pair"]
    assert inspect.signature(pw.Tokenizer.encode).return_annotation == "Encoding"


SIGNATURES = (
    "load",
    "from_bytes",
    "encode",
    "encode_batch",
    "decode",
    "decode_batch",
    "with_padding",
)


@pytest.mark.parametrize("name", [*SIGNATURES, "with_truncation"])
def test_a_signature_shows_no_argument_that_cannot_be_used(name: str) -> None:
    method = getattr(pw.Tokenizer, name)
    parameters = inspect.signature(method).parameters.values()
    assert all(one.kind is not one.VAR_KEYWORD and one.annotation != "None" for one in parameters)
    shown = [one.name for one in parameters if one.name != "self"]
    code = getattr(method, "__func__", method).__code__
    hidden = ["padding", "truncation", "max_length", "return_tensors"] * (name == "encode")
    assert [*shown, *hidden] == [*code.co_varnames[1 : 1 + len(shown) + len(hidden)]]
    assert code.co_argcount + code.co_kwonlyargcount == 1 + len(shown) + len(hidden)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: TOK.decode([1], errors="strict"),
            "errors: is not .* of decode; use encoding_errors=",
        ),
        (
            lambda: TOK.decode_batch([[1]], errors="strict"),
            "errors: is not .*; use encoding_errors=",
        ),
        (
            lambda: TOK.with_padding(direction="left"),
            "direction: is not .* of with_padding; use side=",
        ),
        (lambda: TOK.with_truncation(2, direction="left"), "direction: is not .*; use side="),
        (
            lambda: pw.Tokenizer.load("a", encoding="gpt2"),
            "encoding: is not .*; did you mean 'encoding_name'",
        ),
        (
            lambda: pw.Tokenizer.from_bytes(b"", padding=1),
            r"padding: is not .*; use tokenizer\.with_padding",
        ),
    ],
)
def test_an_unknown_argument_is_answered_with_the_one_to_use(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(InputTypeError, match=message):
        call()


def test_pickling_and_copying_do_not_meet_the_missing_names() -> None:
    assert pickle.loads(pickle.dumps(TOK)) == TOK


# ---- keyword arguments of transformers


@pytest.mark.parametrize(
    ("given", "use"),
    [
        (
            {"padding": True},
            r"^padding: is not an argument of \w+; use tokenizer\.with_padding\(None\) for the longest row,",
        ),
        (
            {"truncation": True, "max_length": 8},
            r"^truncation, max_length: is not an argument of \w+; use tokenizer\.with_truncation\(N\),",
        ),
        (
            {"max_length": 8},
            r"^max_length: is not an argument of \w+; use tokenizer\.with_truncation\(N\)",
        ),
        ({"return_tensors": "pt"}, r"^return_tensors: is not an argument of \w+; use"),
        (
            {"padding": False},
            r"^padding: is not an argument of \w+; use tokenizer\.with_padding\(None\) for the longest row,",
        ),
    ],
)
def test_keyword_arguments_of_transformers_name_the_calls_here(
    given: dict[str, typing.Any], use: str
) -> None:
    for call in (lambda: TOK.encode("a", **given), lambda: TOK.encode_batch(["a"], **given)):
        with pytest.raises(InputTypeError, match=use) as raised:
            call()
        assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("name", _KEYWORDS)
def test_every_listed_keyword_argument_of_encode_batch_is_named(name: str) -> None:
    given: dict[str, typing.Any] = {name: 1}
    with pytest.raises(InputTypeError, match=f"^{name}: is not an argument of encode_batch; use "):
        TOK.encode_batch(["a"], **given)
    assert name not in inspect.signature(TOK.encode_batch).parameters


def test_a_misspelled_keyword_argument_is_a_type_error() -> None:
    given: dict[str, typing.Any] = {"ofsets": True}
    with pytest.raises(
        InputTypeError, match="nothing: is not an argument of .*; it has texts, pairs, .*threads$"
    ):
        TOK.encode_batch(["a"], nothing=1)
    with pytest.raises(
        TypeError,
        match=r"^ofsets: is not an argument of encode_batch; did you mean 'offsets'\?$",
    ):
        TOK.encode_batch(["a"], **given)
    with pytest.raises(TypeError, match="unexpected keyword argument 'ofsets'"):
        TOK.encode("a", **given)


MESSAGES = [{"role": "user", "content": "a"}]
CHATTY = TOK.with_chat_template("{{ messages[0].content }}")


@pytest.mark.parametrize(
    ("given", "use"),
    [
        (
            {"tokenize": False},
            r"tokenize: is not .*; use text of the result for the prompt, which is to be read",
        ),
        (
            {"return_dict": True},
            r"return_dict: is not .*; use ids and encoding of the result",
        ),
        (
            {"enable_thinking": False},
            r"enable_thinking: is not .*; use variables={'enable_thinking': \.\.\.}",
        ),
        (
            {"padding": True},
            r"padding: is not .*; use tokenizer\.with_padding\(None\)",
        ),
        (
            {"tokenize": True, "max_length": 3},
            "tokenize, max_length: is not .*; use text .*; tokenizer.with_trunc",
        ),
        (
            {"any_name": 3},
            r"any_name: is not .*; use variables={\.\.\.} for a variable of the template",
        ),
    ],
)
def test_keyword_arguments_of_chats_name_the_calls_here(
    given: dict[str, typing.Any], use: str
) -> None:
    with pytest.raises(InputTypeError, match=f"^{use}"):
        pw.chat.apply_chat_template(CHATTY, MESSAGES, **given)
    names = list(inspect.signature(pw.chat.apply_chat_template).parameters)
    assert names[:2] == ["tokenizer", "messages"]
    assert "unknown" not in names


def test_a_chat_as_a_list_names_its_ids() -> None:
    pytest.importorskip("jinja2")
    chat = pw.chat.apply_chat_template(CHATTY, MESSAGES)
    segments = TOK.encode_segments([("a", False)])
    for result in (chat, segments):
        message = f"^{type(result).__name__}: has no items; use its ids"
        for call in (list, lambda one: one["input_ids"], lambda one: [*one], lambda one: one[0]):
            with pytest.raises(InputTypeError, match=message):
                call(result)
        with pytest.raises(AttributeError, match="no attribute 'input_ids': use ids"):
            result.input_ids  # type: ignore[union-attr]  # noqa: B018
        assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize("trainer", [pw.WordPieceTrainer, pw.UnigramTrainer, pw.WordLevelTrainer])
def test_settings_of_other_trainers_name_the_argument_here(trainer: type) -> None:
    name = trainer.__name__
    with pytest.raises(
        InputTypeError, match=f"^show_progress: is not a setting of {name}; use progress=True"
    ):
        trainer(vocab_size=9, show_progress=True)
    with pytest.raises(
        InputTypeError,
        match=f"^vocab_sise: is not a setting of {name}, which has .*vocab_size.*mean",
    ):
        trainer(vocab_sise=9)


# ---- names of the module


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("models", r"piecework\.spec, such as spec\.WordPiece"),
        ("pre_tokenizers", r"piecework\.spec, such as spec\.WhitespaceSplit"),
        ("trainers", r"piecework\.WordPieceTrainer and its like"),
        ("BpeTrainer", r"piecework\.BPETrainer"),
        ("AutoTokenizer", r"piecework\.Tokenizer\.load\(name\)"),
        ("AddedToken", r"piecework\.spec\.AddedToken"),
        ("get_encoding", r"piecework\.Tokenizer\.load\('cl100k_base'\)"),
        ("SentencePieceProcessor", r"piecework\.Tokenizer\.load\('m\.model'\)"),
    ],
)
def test_a_name_of_another_module_names_the_one_here(name: str, here: str) -> None:
    with pytest.raises(
        AttributeError, match=f"^module 'piecework' has no attribute '{name}': use {here}"
    ):
        getattr(pw, name)
    assert not hasattr(pw, name)
    assert name not in dir(pw)


def test_every_name_that_the_module_refers_to_exists() -> None:
    from piecework._internal.names_of_other_libraries import _OF_MODULE

    named = [
        name
        for text in _OF_MODULE.values()
        for name in re.findall(r"\bpiecework\.([\w.]+\w)", text)
    ]
    assert len(named) > 20
    for name in named:
        if name.startswith(("compat.", "integrations.")):
            module = ".".join(name.split(".")[:2])
            owner: typing.Any = importlib.import_module(f"piecework.{module}")
            name = name.removeprefix(f"{module}").lstrip(".")
        else:
            owner = pw
        assert not name or attrgetter(name)(owner)


def test_an_unknown_name_of_the_module_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(
        AttributeError, match="^module 'piecework' has no attribute 'no_such_name'$"
    ):
        pw.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", _OF_BATCH)
def test_columns_of_transformers_name_those_of_a_batch(name: str) -> None:
    batch = TOK.encode_batch(["a"])
    with pytest.raises(AttributeError, match=f"'Batch' has no attribute '{name}': use "):
        getattr(batch, name)
    assert not hasattr(batch, name)
    assert name not in {*dir(batch), *dir(pw.Batch)}


def test_a_column_as_a_key_of_a_batch_names_to_dict() -> None:
    with pytest.raises(
        InputTypeError, match=r"row: must be .*, not str.*to_dict\(\)\['input_ids'\]"
    ):
        TOK.encode_batch(["a"])["input_ids"]  # type: ignore[call-overload]


# ---- pairs as tuples


def test_tuples_are_pairs() -> None:
    framed = TOK.with_added_tokens(["[SEP]"], special=True)
    batch = framed.encode_batch([("ab", "b"), ("a", "")])
    assert batch.to_lists() == framed.encode_batch(["ab", "a"], ["b", ""]).to_lists()


def test_tuples_of_words_are_pairs_if_they_hold_lists() -> None:
    found = TOK.encode_batch([(["a", "b"], ["b"]), (["a"], ["a"])], is_pretokenized=True)  # type: ignore[list-item]
    expected = TOK.encode_batch([["a", "b"], ["a"]], [["b"], ["a"]], is_pretokenized=True)
    assert found == expected
    assert TOK.encode_batch([("a", "b")], is_pretokenized=True).to_lists() == [[1, 2]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([("a", "b"), "a"], r"texts\[1\]: must be a \(text, pair\) tuple, not str"),
        (["a", ("a", "b")], r"texts\[1\]: must be str, not tuple"),
        ([("a", "b", "a")], r"texts\[0\]: must be .*, not a tuple of 3"),
        ([("a", 1)], r"pairs\[0\]: must be .*, not int"),
    ],
)
def test_batches_name_inputs_that_are_not_pairs(texts: list[object], message: str) -> None:
    with pytest.raises(InputTypeError, match=message):
        TOK.encode_batch(texts)  # type: ignore[arg-type]


# ---- attributes, which: cannot be set


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("pad_token", "a", r"with_roles\(pad_token='a'\), or with_padding\(pad_token='a'\) to pad"),
        (
            "eos_token",
            "b",
            r"eos_token: cannot be set: a tokenizer does not change; use with_roles\(eos_token='b'\),",
        ),
        ("bos_token", None, r"with_roles\(bos_token=None\)"),
        ("eos_token_id", 2, r"with_roles\(eos_token=\.\.\.\)"),
        ("padding_side", "left", r"with_padding\(side=\.\.\.\)"),
        ("model_max_length", 512, r"with_model_max_length.*with_truncation"),
        ("chat_template", "{{ messages }}", "with_chat_template"),
        ("normalizer", None, "with_normalizer"),
        ("pre_tokenizer", None, "with_pre_tokenizer"),
        ("post_processor", None, "with_post_processor"),
        ("decoder", None, "with_decoder"),
        ("model", None, r"Tokenizer\(model, \.\.\.\), for another tokenizer"),
        ("truncation", None, "with_truncation"),
        ("encode_special_tokens", True, r"with_parse_special\(False\)"),
        ("additional_special_tokens", ["a"], r"with_added_tokens.*special=True"),
        ("encode", print, "a with_... method"),
        (
            "foo",
            5,
            "foo: cannot be set: a tokenizer does not change; use a with_... method, which returns",
        ),
    ],
)
def test_an_assignment_names_the_method_that_returns_a_changed_tokenizer(
    name: str, value: object, message: str
) -> None:
    with pytest.raises(ImmutableError, match=message) as caught:
        setattr(TOK, name, value)
    assert isinstance(caught.value, AttributeError)
    with pytest.raises(ImmutableError, match=f"{name}: cannot be deleted"):
        delattr(TOK, name)
    assert "foo" not in dir(TOK)


def test_every_method_that_an_assignment_names_exists() -> None:
    for name in (*_METHOD_FOR, *ROLES):
        for method in re.findall(r"with_[a-z_]+", str(immutable_error(name, "an assignment", "a"))):
            assert hasattr(pw.Tokenizer, method)


def test_a_subclass_has_attributes_of_its_own_and_no_others() -> None:
    class Named(pw.Tokenizer):
        def __init__(self, name: str) -> None:
            super().__init__(pw.spec.Char({"[UNK]": 0, "a": 1}))
            self.name = name

    named = Named("x")
    named.name = "y"
    assert named.name == "y"
    del named.name
    with pytest.raises(ImmutableError, match="with_roles"):
        named.eos_token = "a"  # type: ignore[misc]


# ---- what newcomers pass


@pytest.mark.parametrize("tokens", ["<abc>", "", b"<abc>", pw.spec.AddedToken("<abc>")])
def test_added_tokens_are_a_sequence(tokens: object) -> None:
    with pytest.raises(InputTypeError, match="tokens: must be a sequence.*, not .*"):
        TOK.with_added_tokens(tokens)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="contents: must be a sequence.*, not .*"):
        TOK.without_added_tokens(tokens)  # type: ignore[arg-type]


def test_an_added_token_in_place_of_a_sequence_is_shown_as_one() -> None:
    with pytest.raises(
        InputTypeError,
        match=r"tokens: must be a sequence, such as \['<abc>'\], not the str '<abc>'",
    ):
        TOK.with_added_tokens("<abc>")
    added = TOK.with_added_tokens(token for token in ("<abc>", "<d>"))  # type: ignore[arg-type]
    assert added.encode("<abc>").ids == [3]


def test_the_name_of_a_repository_says_how_it_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(FileError, match=r"bert-base-uncased: .*pass download.*huggingface-hub"):
        pw.Tokenizer.load("bert-base-uncased")


def test_the_name_of_an_encoding_says_where_its_ranks_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("PIECEWORK_TIKTOKEN_DIR", raising=False)
    with pytest.raises(FileError, match=r"cl100k_base\.tiktoken: .*PIECEWORK_TIKTOKEN_DIR"):
        pw.Tokenizer.load("cl100k_base")


@pytest.mark.parametrize("files", [["some text to learn from"], "some text to learn from" * 9])
def test_texts_in_place_of_files_name_train_from_iterator(files: str | list[str]) -> None:
    with pytest.raises(FileError, match="files: .*train_from_iterator"):
        pw.Tokenizer.train(files)


def test_a_file_name_may_have_spaces(tmp_path: Path) -> None:
    path = tmp_path / "my own corpus.txt"
    path.write_text("hug hugs\n" * 9)
    assert pw.Tokenizer.train(str(path), model="word").token_to_id("hugs")


@pytest.mark.parametrize("model", ["BPE", "Word", "wordpiece", "Byte-BPE"])
def test_models_are_named_in_any_case(model: str) -> None:
    named = pw.Tokenizer.train_from_iterator(["hug hugs"] * 9, model=model, vocab_size=270)
    assert named == pw.Tokenizer.train_from_iterator(
        ["hug hugs"] * 9, model=model.lower(), vocab_size=270
    )
