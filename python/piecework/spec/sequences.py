"""The stages within sequences of stages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from piecework.spec.decoders import SequenceDecoder
from piecework.spec.normalizers import SequenceNormalizer
from piecework.spec.post_processors import SequenceProcessing
from piecework.spec.pre_tokenizers import SequencePreTokenizer


def single_stages(stage: Any) -> Iterator[Any]:
    """Yield the stages of nested sequences in order, and nothing for None.

    >>> from piecework.spec import NFC, Lowercase
    >>> list(single_stages(SequenceNormalizer((NFC(), SequenceNormalizer((Lowercase(),))))))
    [NFC(), Lowercase()]
    """
    match stage:
        case (
            SequenceNormalizer(normalizers=parts)
            | SequencePreTokenizer(pretokenizers=parts)
            | SequenceProcessing(processors=parts)
            | SequenceDecoder(decoders=parts)
        ):
            for part in parts:
                yield from single_stages(part)
        case None:
            return
        case _:
            yield stage
