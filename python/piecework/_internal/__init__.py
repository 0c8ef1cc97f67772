"""Helpers that every folder uses: validation, threads, progress, lazy imports. No public names."""
