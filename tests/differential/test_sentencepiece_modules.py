"""What programs over sentencepiece import and read beside its classes: protos, settings, the version."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece as there
from sentencepiece import sentencepiece_model_pb2 as there_model
from sentencepiece import sentencepiece_pb2 as there_text

from piecework.compat import sentencepiece as here
from piecework.compat.sentencepiece import sentencepiece_model_pb2, sentencepiece_pb2
from piecework.errors import ArgumentError
from tests import data

TEXT = "I saw a girl with a telescope. \u543e\u8f29"


@pytest.fixture(scope="module")
def path() -> Path:
    return data.need("vocab/sentencepiece-tests/test_model.model")


@pytest.fixture
def processor(path: Path) -> Any:
    return here.SentencePieceProcessor(model_file=str(path))


def described(message: Any) -> list[tuple[Any, ...]]:
    """Return number, name, type and default of every field of a message."""
    return sorted(
        (
            field.number,
            field.name,
            field.type,
            None if field.message_type else field.default_value,
        )
        for field in message.DESCRIPTOR.fields
    )


# See docs/reference/conformance.md.
ABSENT = {
    "ThreadPool",
    *("ConvertToFlatbuffer", "SetDataDir", "SetMinLogLevel", "SetNBestTimeout"),
    *("convert_to_flatbuffer", "set_data_dir", "set_min_log_level", "set_nbest_timeout"),
}


def test_every_public_name_of_sentencepiece_is_here() -> None:
    modules = {"csv", "importlib", "io", "os", "sys"}
    public = {name for name in dir(there) if not name.startswith("_")} - modules
    assert public - set(dir(here)) == ABSENT
    assert here.__version__ == there.__version__


@pytest.mark.parametrize("name", ["TrainerSpec", "NormalizerSpec"])
def test_messages_of_a_model_have_the_fields_and_defaults_of_the_schema(name: str) -> None:
    found = described(getattr(sentencepiece_model_pb2, name))
    assert found == described(getattr(there_model, name))


def test_messages_of_texts_have_the_fields_and_defaults_of_the_schema() -> None:
    for mine, other in (
        (sentencepiece_pb2.SentencePieceText, there_text.SentencePieceText),
        (
            sentencepiece_pb2.SentencePieceText.SentencePiece,
            there_text.SentencePieceText.SentencePiece,
        ),
        (sentencepiece_pb2.NBestSentencePieceText, there_text.NBestSentencePieceText),
    ):
        assert described(mine) == described(other)


def test_a_model_is_edited_as_a_message(path: Path) -> None:
    model, other = sentencepiece_model_pb2.ModelProto(), there_model.ModelProto()
    for each in (model, other):
        each.ParseFromString(path.read_bytes())
        each.pieces.add(piece="<mask>", score=0.0, type=each.SentencePiece.USER_DEFINED)
        each.normalizer_spec.add_dummy_prefix = False
    assert model.SerializeToString() == other.SerializeToString()
    edited = here.SentencePieceProcessor(model_proto=model)
    assert edited.id_to_piece(len(edited) - 1) == "<mask>"
    types = sentencepiece_model_pb2.TrainerSpec
    assert (types.UNIGRAM, types.BPE, types.WORD, types.CHAR) == (1, 2, 3, 4)


def test_the_modules_of_protos_import_with_the_module_replaced(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "sentencepiece"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sentencepiece", here)
    from sentencepiece import sentencepiece_model_pb2 as replaced

    model = replaced.ModelProto.FromString(path.read_bytes())
    assert replaced is sentencepiece_model_pb2 or replaced.__file__.startswith(
        str(Path(here.__file__).parent)
    )
    assert model.pieces[0].piece == "<unk>"


def test_serialized_texts_are_read_by_their_message(processor: Any) -> None:
    text = sentencepiece_pb2.SentencePieceText()
    serialized = processor.encode(TEXT, out_type="serialized_proto")
    assert text.ParseFromString(serialized) == len(serialized)
    assert text == processor.encode(TEXT, out_type="proto")
    nbest = processor.nbest_encode(TEXT, out_type="proto", nbest_size=3)
    read = sentencepiece_pb2.NBestSentencePieceText.FromString(nbest.SerializeToString())
    assert [one.pieces for one in read.nbests] == [one.pieces for one in nbest.nbests]


@pytest.mark.parametrize("text", ["ｈｅｌｌｏ", "", 'a "b" \\ \t\x07é', "hello 🤗"])
def test_texts_are_printed_as_protobuf_prints_them(processor: Any, text: str) -> None:
    one = processor.encode(text, out_type="proto")
    several = processor.nbest_encode(text, out_type="proto", nbest_size=3)
    for mine in (one, several):
        theirs = getattr(there_text, type(mine).__name__)()
        theirs.ParseFromString(mine.SerializeToString())
        assert str(mine) == str(theirs)
    assert "score" not in str(one)


def test_immutable_texts_have_their_bytes_and_are_pickled(processor: Any) -> None:
    proto = processor.encode(TEXT, out_type="immutable_proto")
    assert proto.text_as_bytes == TEXT.encode()
    assert proto.pieces[0].piece_as_bytes == "\u2581I".encode()
    assert pickle.loads(pickle.dumps(proto)) == proto


def test_arrays_of_ids_are_read_only(processor: Any, path: Path) -> None:
    other = there.SentencePieceProcessor(model_file=str(path))
    for ids in (other.encode(TEXT, return_type="numpy"), processor.encode_as_numpy(TEXT)):
        assert isinstance(ids, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            ids[0] = 1


def test_the_state_of_earlier_versions_is_the_model(processor: Any, path: Path) -> None:
    restored = here.SentencePieceProcessor.__new__(here.SentencePieceProcessor)
    restored.__setstate__(path.read_bytes())
    assert restored.encode(TEXT) == processor.encode(TEXT)


@pytest.mark.parametrize("rules", [[("foo", "foo")], [("foo", "a"), ("foo", "b")]])
def test_rules_without_effect_and_rules_given_twice_are_refused(rules: Any) -> None:
    for normalizer in (here.SentencePieceNormalizer, there.SentencePieceNormalizer):
        with pytest.raises(ValueError):  # noqa: PT011 - each library has its own message
            normalizer(norm_map=rules)
    with pytest.raises(ArgumentError, match="norm_map: contains 'foo'"):
        here.SentencePieceNormalizer(norm_map=rules)
    pairs = here.SentencePieceNormalizer(norm_map=[(b"foo", b"bar")]).decompile()
    assert pairs == [("foo", "bar")]
