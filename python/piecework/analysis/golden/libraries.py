"""The answers of the libraries that own the formats to the rows of a golden file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from piecework import Tokenizer
from piecework._internal.validation import PathLike
from piecework.analysis.golden.file import GoldenRow
from piecework.analysis.golden.generate import encoding_of
from piecework.analysis.peers import Peer, read_peer
from piecework.errors import PieceworkError

Answers: TypeAlias = Mapping[int, Mapping[str, Any]]

_PARSES_SPECIAL = ("tokenizers", "transformers")


def library_answers(
    library: str, path: PathLike, tokenizer: Tokenizer, rows: Sequence[GoldenRow]
) -> tuple[str, Answers]:
    """Return the name and version of a library, and its answers by row.

    `tokenizer` is the loaded file. A row is skipped if the library lacks its mode, and the mode matters to
    the text.
    """
    peers = {
        adds: read_peer(library, path, tokenizer, add_special_tokens=adds) for adds in (False, True)
    }
    loaded = {adds: peer.fresh() for adds, peer in peers.items()}

    def answer(row: GoldenRow) -> Mapping[str, Any]:
        reason = _lacks(library, tokenizer, row, peers[row.add_special_tokens])
        if reason:
            return {"skip": reason}
        try:
            if library == "tokenizers":
                return {"ids": _tokenizers_ids(loaded[row.add_special_tokens], row)}
            peer = peers[row.add_special_tokens]
            [ids] = peer.rows(peer.encode(loaded[row.add_special_tokens], [row.text]))
            return {"ids": list(ids)}
        except Exception as error:  # each library has its own exceptions
            return {"error": " ".join(str(error).split()) or type(error).__name__}

    return f"{library} {peers[False].version}", {row.row: answer(row) for row in rows}


def _lacks(library: str, tokenizer: Tokenizer, row: GoldenRow, peer: Peer) -> str:
    """Return the mode of a row that a library lacks, "" if it has all of them."""
    if library == "tokenizers":
        return ""
    for name in ("pair", "truncation", "padding"):
        if getattr(row, name) is not None:
            return f"{library} is not called with {name}"
    adds = peer.adds_special_tokens or not row.add_special_tokens
    if not adds and _matters(tokenizer, row, add_special_tokens=False):
        return f"{library} adds no special tokens"
    parses = library in _PARSES_SPECIAL
    if row.parse_special != parses and _matters(tokenizer, row, parse_special=parses):
        return f"{library} {'parses' if parses else 'does not parse'} special tokens in text"
    return ""


def _matters(tokenizer: Tokenizer, row: GoldenRow, **mode: Any) -> bool:
    """Return whether a row has other ids in another mode."""
    return _ids(tokenizer, row) != _ids(tokenizer, replace(row, **mode))


def _ids(tokenizer: Tokenizer, row: GoldenRow) -> list[int] | None:
    try:
        return encoding_of(tokenizer, row).ids
    except PieceworkError:
        return None


def _tokenizers_ids(loaded: Any, row: GoldenRow) -> list[int]:
    """Return the ids of `tokenizers`, which has every mode."""
    loaded.encode_special_tokens = not row.parse_special
    loaded.no_truncation()
    loaded.no_padding()
    if row.truncation is not None:
        settings = dict(row.truncation)
        loaded.enable_truncation(direction=settings.pop("side"), **settings)
    if row.padding is not None:
        length, side, pad_id = (row.padding[name] for name in ("length", "side", "id"))
        token = loaded.id_to_token(pad_id)
        loaded.enable_padding(length=length, direction=side, pad_id=pad_id, pad_token=token)
    pair = () if row.pair is None else (row.pair,)
    encoding = loaded.encode(row.text, *pair, add_special_tokens=row.add_special_tokens)
    return list(encoding.ids)
