"""The module `sentencepiece.sentencepiece_pb2`: segmented texts, without protobuf.

>>> text = SentencePieceText()
>>> text.ParseFromString(b"\\n\\x03hug")
5
>>> text.text
'hug'
"""

from __future__ import annotations

from piecework.compat.sentencepiece.proto_messages import NBestSentencePieceText, SentencePieceText

__all__ = ["NBestSentencePieceText", "SentencePieceText"]
