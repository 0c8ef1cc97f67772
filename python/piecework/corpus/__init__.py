"""Read texts from files, folders, URLs and stdin, with the line or row of each.

`read_corpus` reads everything that training, counting, comparing and encoding read, through the one reader in
`reader`. `paths` expands folders, patterns and URLs, and `formats` has a row for each format: how it is
opened and read. `plain_text`, `json_lines`, `csv_rows` and `columns` are the readers; `rows` has what they
share. `text_stream` opens an input, rejects binary data and splits text into lines, `urls` opens URLs with
`fsspec`, `compression` decompresses. `skipped` counts what `on_error="skip"` skips. `iterables` makes rows of
the texts of an iterator.
"""

from piecework.corpus.formats import FORMATS, Format, formats_text
from piecework.corpus.paths import corpus_files
from piecework.corpus.reader import Corpus, read_corpus
from piecework.corpus.rows import Rows

__all__ = ["FORMATS", "Corpus", "Format", "Rows", "corpus_files", "formats_text", "read_corpus"]
