"""Corpus readers: files, pipes and iterators in, blocks of text or lists of texts out.

`files` reads paths for training and analysis, and `input_format` chooses the format of each path.
`json_lines` parses JSON lines. `text_stream` opens one input, `compression` decompresses it, and
`binary_input` rejects data that is not UTF-8 text. `batches` collects texts from an iterator.

To add a format, write its reader here and add its suffixes to `input_format`. Two dispatchers choose a
reader by format: `_Source.read` in `files`, and `LineSource` in `export.input_lines`, which reads line by
line. mypy rejects a dispatcher without the new format.
"""
