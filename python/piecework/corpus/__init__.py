"""Corpus readers: files, pipes and iterators in, blocks of text out.

`files` reads paths, `json_lines` parses JSON lines, `text_stream` opens and decompresses one input,
`compression` and `recognize` look at its first bytes, and `batches` collects texts from an iterator. To add
a format, recognize it in `files` and write its reader beside `json_lines`.
"""
