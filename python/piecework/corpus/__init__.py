"""Corpus readers: files, pipes and iterators in, blocks of text out."""
