"""Encode text files into files or memory, encode corpora into shards, and read ids back.

`pipeline` has `encode_files`, `encode_corpus` and `encode_lines`, and the steps of all three: read, encode,
arrange, write. `settings` declares what they take. `line_encoder` and `chats` encode, `arranging` shuffles
and packs, `files` and `shards` have what differs between files and shards, and `formats` has a row for each
output format, whose writers are in `text_files`, `npy_files`, `arrow_files` and `megatron_files`.
`ids_reader` reads all these formats back.
"""

from piecework.export.chats import encode_chats
from piecework.export.formats import FORMATS, SHARD_FORMATS
from piecework.export.ids_reader import read_ids
from piecework.export.pipeline import encode_corpus, encode_files, encode_lines
from piecework.export.settings import STRATEGIES

__all__ = [
    "FORMATS",
    "SHARD_FORMATS",
    "STRATEGIES",
    "encode_chats",
    "encode_corpus",
    "encode_files",
    "encode_lines",
    "read_ids",
]
