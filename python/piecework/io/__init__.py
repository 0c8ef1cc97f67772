"""Tokenizer files: loading every format, compiled caches, and files written whole or not at all."""
