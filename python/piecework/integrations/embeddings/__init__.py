"""Move the embedding tables of a model to the ids of a changed vocabulary.

    resize_embeddings  move the rows of files and torch modules to new ids, make rows for added tokens
    map_between        map the ids of one tokenizer to the ids of another, which was not made from it
    donor_rows         find the row of a donor model's table for each id of a tokenizer

The files of a model need no extra; torch modules require `piecework[torch]`.
"""

from __future__ import annotations

from piecework.integrations.embeddings.resizing import resize_embeddings
from piecework.integrations.embeddings.transplantation import donor_rows, map_between

__all__ = ["donor_rows", "map_between", "resize_embeddings"]
