"""Encode text files into files of ids or tokens, and read ids back.

`encode_files` runs the steps in the order of the data: `input_lines` reads, `prefetch` encodes on a
background thread, and one module for each format writes (`text_files`, `npy_files`, `arrow_files`,
`megatron_files`). `read_ids` reads all these formats. Memory is constant. To add a format, write its
module and add it to `output_formats` and `ids_reader`.
"""

from piecework.export.encoded_files import EncodedFiles, encode_files
from piecework.export.ids_reader import read_ids
from piecework.export.input_lines import read_lines
from piecework.export.output_formats import FORMATS

__all__ = ["FORMATS", "EncodedFiles", "encode_files", "read_ids", "read_lines"]
