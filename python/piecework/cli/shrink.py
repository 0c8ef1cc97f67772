"""`piecework shrink`: remove the tokens that were learned last."""

from __future__ import annotations

import piecework as pw
from piecework.cli.parameters import VocabSize, command, in_vocabulary
from piecework.cli.resizing import check_outputs, resizing_outputs, save_resized
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options

_EXAMPLE = """\b
Example:
  piecework shrink tokenizer.json --size 8000 -o smaller.json --map ids.npy
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@in_vocabulary(
    "--size",
    type=VocabSize(),
    metavar="N",
    required=True,
    help="Number of tokens to keep, added tokens included, such as 8000 or 8k.",
)
@tokenizer_options
@resizing_outputs(required=True)
def shrink(tokenizer: str, size: int, hints: Hints, map_path: str | None, path: str) -> None:
    """Remove the tokens of TOKENIZER that were learned last.

    BPE removes the last merges, Unigram and SentencePiece the tokens with the lowest scores, other models the
    highest ids. The alphabet and special tokens are kept.
    """
    loaded = load_one(tokenizer, hints)
    check_outputs(loaded, path, map_path)
    smaller, id_map = pw.vocabulary.shrink(loaded, size)
    save_resized(smaller, id_map, path, map_path)
