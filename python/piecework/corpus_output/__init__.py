"""Whole corpora encoded into files: lines of text in, files of tokens or ids out, in constant memory.

In the order of the data: `lines` reads, `overlap` keeps a few batches on their way through the
tokenizer, `formats` names what can be written, `text`, `arrays` and `tables` write it. `encode` tells
the story.
"""

from piecework.corpus_output.encode import EncodedFiles, encode_files
from piecework.corpus_output.formats import FORMATS

__all__ = ["FORMATS", "EncodedFiles", "encode_files"]
