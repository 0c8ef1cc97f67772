"""The module `sentencepiece.sentencepiece_model_pb2`: the messages of a `.model`, over protobuf.

>>> model = ModelProto()
>>> model.pieces.add(piece="▁hug", score=-1.5).type == ModelProto.SentencePiece.NORMAL
True
>>> model.trainer_spec.unk_piece
'<unk>'

The classes are built from the tables below when the module is imported. Requires `piecework[protobuf]`.
Source: the schema of SentencePiece 0.2.3 (`sentencepiece_model.proto`), whose numbers, types and defaults
every `.model` depends on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piecework._internal.extras import import_extra

_descriptors = import_extra("google.protobuf.descriptor_pb2", "protobuf", __name__)
_pools = import_extra("google.protobuf.descriptor_pool", "protobuf", __name__)
_factory = import_extra("google.protobuf.message_factory", "protobuf", __name__)

_PACKAGE = "piecework.sentencepiece"
# Numbers that programs may use for fields of their own.
_EXTENSIONS = (200, 536870912)

# Of each message, its fields: number, name, type and default. A type with * is repeated.
_TRAINER_SPEC = """
    1 input string*
    2 model_prefix string
    3 model_type enum:TrainerSpec.ModelType UNIGRAM
    4 vocab_size int32 8000
    5 accept_language string*
    6 self_test_sample_size int32 0
    7 input_format string
    10 character_coverage float 0.9995
    11 input_sentence_size uint64 0
    12 mining_sentence_size int32
    13 training_sentence_size int32
    14 seed_sentencepiece_size int32 1000000
    15 shrinking_factor float 0.75
    16 num_threads int32 16
    17 num_sub_iterations int32 2
    18 max_sentence_length int32 4192
    19 shuffle_input_sentence bool true
    20 max_sentencepiece_length int32 16
    21 split_by_unicode_script bool true
    22 split_by_whitespace bool true
    23 split_by_number bool true
    24 treat_whitespace_as_suffix bool false
    25 split_digits bool false
    26 allow_whitespace_only_pieces bool false
    30 control_symbols string*
    31 user_defined_symbols string*
    32 vocabulary_output_piece_score bool true
    33 hard_vocab_limit bool true
    34 use_all_vocab bool false
    35 byte_fallback bool false
    36 required_chars string
    40 unk_id int32 0
    41 bos_id int32 1
    42 eos_id int32 2
    43 pad_id int32 -1
    44 unk_surface string \N{SPACE}\N{DOUBLE QUESTION MARK}\N{SPACE}
    45 unk_piece string <unk>
    46 bos_piece string <s>
    47 eos_piece string </s>
    48 pad_piece string <pad>
    49 train_extremely_large_corpus bool false
    50 enable_differential_privacy bool false
    51 differential_privacy_noise_level float 0
    52 differential_privacy_clipping_threshold uint64 0
    53 pretokenization_delimiter string
    54 seed_sentencepieces_file string
    55 auto_character_coverage bool false
"""
_NORMALIZER_SPEC = """
    1 name string
    2 precompiled_charsmap bytes
    3 add_dummy_prefix bool true
    4 remove_extra_whitespaces bool true
    5 escape_whitespaces bool true
    6 normalization_rule_tsv string
"""
_SELF_TEST_DATA = """
    1 samples message:SelfTestData.Sample*
"""
_SAMPLE = """
    1 input string
    2 expected string
"""
_MODEL_PROTO = """
    1 pieces message:ModelProto.SentencePiece*
    2 trainer_spec message:TrainerSpec
    3 normalizer_spec message:NormalizerSpec
    4 self_test_data message:SelfTestData
    5 denormalizer_spec message:NormalizerSpec
"""
_SENTENCE_PIECE = """
    1 piece string
    2 score float
    3 type enum:ModelProto.SentencePiece.Type NORMAL
"""
_MODEL_TYPES = {"UNIGRAM": 1, "BPE": 2, "WORD": 3, "CHAR": 4}
_PIECE_TYPES = {
    "NORMAL": 1,
    "UNKNOWN": 2,
    "CONTROL": 3,
    "USER_DEFINED": 4,
    "UNUSED": 5,
    "BYTE": 6,
}


def message_classes(
    name: str, messages: Mapping[str, str], enums: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """Return the classes of the outer messages of a schema; `messages` has the fields of each message."""
    file = _descriptors.FileDescriptorProto(
        name=f"piecework/{name}.proto", package=_PACKAGE, syntax="proto2"
    )
    built: dict[str, Any] = {}
    for full_name, fields in messages.items():
        outer, _, own = full_name.rpartition(".")
        siblings = built[outer].nested_type if outer else file.message_type
        built[full_name] = message = siblings.add(name=own)
        message.extension_range.add(start=_EXTENSIONS[0], end=_EXTENSIONS[1])
        for line in fields.strip().splitlines():
            _add_field(message, *line.lstrip(" ").split(" ", 3))
    for full_name, values in enums.items():
        outer, _, own = full_name.rpartition(".")
        enum = built[outer].enum_type.add(name=own)
        for value, number in values.items():
            enum.value.add(name=value, number=number)
    pool = _pools.DescriptorPool()
    pool.Add(file)
    return {
        message.name: _factory.GetMessageClass(
            pool.FindMessageTypeByName(f"{_PACKAGE}.{message.name}")
        )
        for message in file.message_type
    }


def _add_field(message: Any, number: str, name: str, kind: str, default: str | None = None) -> None:
    scalar, _, reference = kind.rstrip("*").partition(":")
    field = message.field.add(number=int(number), name=name)
    field.type = getattr(_descriptors.FieldDescriptorProto, f"TYPE_{scalar.upper()}")
    label = "LABEL_REPEATED" if kind.endswith("*") else "LABEL_OPTIONAL"
    field.label = getattr(_descriptors.FieldDescriptorProto, label)
    if reference:
        field.type_name = f".{_PACKAGE}.{reference}"
    if default is not None:
        field.default_value = default


_CLASSES = message_classes(
    "sentencepiece_model",
    {
        "TrainerSpec": _TRAINER_SPEC,
        "NormalizerSpec": _NORMALIZER_SPEC,
        "SelfTestData": _SELF_TEST_DATA,
        "SelfTestData.Sample": _SAMPLE,
        "ModelProto": _MODEL_PROTO,
        "ModelProto.SentencePiece": _SENTENCE_PIECE,
    },
    {"TrainerSpec.ModelType": _MODEL_TYPES, "ModelProto.SentencePiece.Type": _PIECE_TYPES},
)
ModelProto = _CLASSES["ModelProto"]
NormalizerSpec = _CLASSES["NormalizerSpec"]
SelfTestData = _CLASSES["SelfTestData"]
TrainerSpec = _CLASSES["TrainerSpec"]
DESCRIPTOR = ModelProto.DESCRIPTOR.file
