"""Corpus readers: files, URLs, pipes and iterators in, blocks of text or lists of texts out.

`files` reads paths for training and analysis: `paths` expands them, and `input_format` chooses the format of
each. `json_lines`, `csv_rows` and `columns` read one field of records (`field_path`); `rows` has what they
share. `text_stream` opens one input, `urls` those of `fsspec`; `compression` decompresses it, `binary_input`
rejects data that is not UTF-8 text, and `line_blocks` splits it into lines. `skipped` counts what
`on_error="skip"` skips. `batches` collects texts from an iterator.

To add a format, write its reader here and add its suffixes to `input_format`. Two dispatchers choose a
reader by format: `_Source.read` in `files`, and `LineSource` in `export.input_lines`, which reads line by
line. mypy rejects a dispatcher without the new format.
"""
