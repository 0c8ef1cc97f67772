"""The module `sentencepiece.sentencepiece_pb2`: the messages of segmented texts, over protobuf.

>>> SentencePieceText.FromString(b"\\n\\x03hug").text
'hug'

Requires `piecework[protobuf]`. Source: the schema of SentencePiece 0.2.3 (`sentencepiece.proto`).
"""

from __future__ import annotations

from piecework.compat.sentencepiece.sentencepiece_model_pb2 import message_classes

_TEXT = """
    1 text string
    2 pieces message:SentencePieceText.SentencePiece*
    3 score float
"""
_PIECE = """
    1 piece string
    2 id uint32
    3 surface string
    4 begin uint32
    5 end uint32
"""
_NBEST = """
    1 nbests message:SentencePieceText*
"""
_CLASSES = message_classes(
    "sentencepiece",
    {
        "SentencePieceText": _TEXT,
        "SentencePieceText.SentencePiece": _PIECE,
        "NBestSentencePieceText": _NBEST,
    },
    {},
)
SentencePieceText = _CLASSES["SentencePieceText"]
NBestSentencePieceText = _CLASSES["NBestSentencePieceText"]
