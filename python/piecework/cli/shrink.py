"""`piecework shrink`: remove the tokens that were learned last."""

from __future__ import annotations

import piecework as pw
from piecework.cli.outputs import saves_resized
from piecework.cli.parameters import VocabSize, command, in_vocabulary
from piecework.cli.tokenizer_options import with_tokenizer

_EXAMPLE = """\b
Example:
  piecework shrink tokenizer.json --size 8000 -o smaller.json --map ids.npy
"""


@command(epilog=_EXAMPLE)
@with_tokenizer
@in_vocabulary(
    "--size",
    type=VocabSize(),
    metavar="N",
    required=True,
    help="Number of tokens to keep, added tokens included, such as 8000 or 8k.",
)
@saves_resized
def shrink(tokenizer: pw.Tokenizer, size: int) -> tuple[pw.Tokenizer, pw.IdMap]:
    """Remove the tokens of TOKENIZER that were learned last.

    BPE removes the last merges, Unigram and SentencePiece the tokens with the lowest scores, other models the
    highest ids. The alphabet and special tokens are kept.
    """
    return pw.vocabulary.shrink(tokenizer, size)
