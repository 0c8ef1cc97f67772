"""Helpers for all folders: validation, threads, progress. Nothing here is public."""
