"""Which tokens can come out of encoding: each is tried on the text it stands for.

A token at word starts is reachable when its own text encodes to it alone. One inside words is tried
behind single characters, until one of them leaves it whole. A few encodings a token, in batches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import piecework as pw

_MAX_CARRIERS = 64


def unreachable_tokens(tokenizer: pw.Tokenizer, prefix: str) -> list[str]:
    """Return the tokens for which no text was found, in id order; added tokens count as reachable."""
    vocab = tokenizer.get_vocab()
    added = {token.content for token in tokenizer.spec.added_tokens}
    tokens = [token for token in sorted(vocab, key=vocab.__getitem__) if token not in added]
    plain = [token for token in tokens if not (prefix and token.startswith(prefix))]
    inside = [token for token in tokens if prefix and token.startswith(prefix)]
    missing = set(_not_last(tokenizer, plain, plain, length=1))
    # A plain token may begin with the prefix's characters: "##" itself, or "#".
    for carrier in _carriers(plain):
        inside = _not_last(
            tokenizer, inside, [carrier + token[len(prefix) :] for token in inside], length=2
        )
    missing.update(inside)
    return [token for token in tokens if token in missing]


def _carriers(plain: Sequence[str]) -> list[str]:
    """Return characters to put before the tokens inside words, letters first."""
    single = [token for token in plain if len(token) == 1]
    return sorted(single, key=lambda token: not token.isalpha())[:_MAX_CARRIERS]


def _not_last(
    tokenizer: pw.Tokenizer, tokens: Sequence[str], texts: Sequence[str], length: int
) -> list[str]:
    """Return the tokens that are not the last of exactly `length` tokens of their text."""
    if not tokens:
        return []
    batch = tokenizer.encode_batch(
        list(texts), add_special_tokens=False, sampling=pw.Sampling(alpha=0)
    )
    vocab = tokenizer.get_vocab()
    wanted = np.array([vocab[token] for token in tokens], np.int64)
    last = np.maximum(batch.row_offsets[1:] - 1, 0)
    found = (batch.lengths == length) & (_take(batch.ids, last) == wanted)
    return [token for token, ok in zip(tokens, found.tolist(), strict=True) if not ok]


def _take(ids: npt.NDArray[np.uint32], at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return ids[np.minimum(at, len(ids) - 1)].astype(np.int64) if len(ids) else np.full(len(at), -1)
