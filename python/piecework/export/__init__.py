"""Whole corpora encoded into files: lines of text in, files of tokens or ids out, and back to rows of ids.

In the order of the data: `lines` reads, `overlap` keeps a few batches on their way through the
tokenizer, `formats` names what can be written, `text`, `arrays` and `tables` write it, `encode` runs these
steps. `ids_input` reads ids from any of the formats. Memory is constant.
"""

from piecework.export.encoded_files import EncodedFiles, encode_files
from piecework.export.ids_reader import read_ids
from piecework.export.output_formats import FORMATS
from piecework.export.parallel_lines import read_lines

__all__ = ["FORMATS", "EncodedFiles", "encode_files", "read_ids", "read_lines"]
