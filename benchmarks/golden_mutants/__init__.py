"""Mutants that judge golden files: thirty divergences of engines, planted in the reference one at a time."""
