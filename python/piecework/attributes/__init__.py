"""Attributes of tokenizers and batches that are computed, name their place elsewhere, or cannot be set."""
