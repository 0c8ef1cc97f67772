"""Cargo compiles a crate once for the C library and for the Python package, if its features are equal."""

from __future__ import annotations

import subprocess

from tests.capi.library import ROOT


def features(package: str) -> dict[str, str]:
    """Return the features of each crate that a package is built from."""
    options = ["--edges", "normal,build", "--format", "{p}\t{f}", "--prefix", "none"]
    command = ["cargo", "tree", "--locked", "--offline", "--package", package, *options]
    lines = subprocess.check_output(command, text=True, cwd=ROOT).splitlines()
    return dict(line.removesuffix(" (*)").split("\t") for line in lines)


def test_crates_have_the_same_features_for_both() -> None:
    for_c, for_python = features("piecework-capi"), features("piecework-bindings")
    shared = for_c.keys() & for_python.keys()
    assert len([name for name in shared if name.startswith("piecework-")]) == 5
    assert {name: for_c[name] for name in shared} == {name: for_python[name] for name in shared}
