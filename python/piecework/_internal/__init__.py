"""Helpers for all folders: validation, threads, progress, lazy imports. Nothing here is public."""
