"""The APIs of other tokenizer libraries over this package: `tiktoken` and `sentencepiece`."""
