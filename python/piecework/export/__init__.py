"""Encode text files into files of ids or tokens or into memory, corpora into shards, and read ids back.

`encode_files` runs the steps in the order of the data: `input_lines` reads (with `corpus.reader`),
`prefetch` encodes on a background thread, and one module for each format writes (`text_files`, `npy_files`,
`arrow_files`, `megatron_files`). `read_ids` reads all these formats. Memory is constant. To add a format,
write its module and add it to `file_arguments` and `ids_reader`.

`encode_lines` (`lines_in_memory`) reads in the same way and returns a batch.

`encode_corpus` (`corpus_encoding`) writes many files with a manifest, so that a run can continue; its formats
are in `shard_formats`.
"""

from piecework.export.chats import EncodedChats, encode_chats
from piecework.export.corpus_encoding import EncodedCorpus, encode_corpus
from piecework.export.encoded_files import EncodedFiles, encode_files
from piecework.export.file_arguments import FORMATS
from piecework.export.ids_reader import read_ids
from piecework.export.lines_in_memory import encode_lines
from piecework.export.packing import STRATEGIES
from piecework.export.shard_formats import SHARD_FORMATS

__all__ = [
    "FORMATS",
    "SHARD_FORMATS",
    "STRATEGIES",
    "EncodedChats",
    "EncodedCorpus",
    "EncodedFiles",
    "encode_chats",
    "encode_corpus",
    "encode_files",
    "encode_lines",
    "read_ids",
]
