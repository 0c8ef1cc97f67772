"""Load and save tokenizers; atomic files.

`loading` and `saving` are the entry points. To add a tokenizer format, name it in `format_detection`, write
its reader in `format_readers` and its writer in `saving`.
"""
