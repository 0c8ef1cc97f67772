"""The notebooks run in a Jupyter kernel, and show there what they have stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

FOLDER = Path(__file__).parent.parent.parent / "docs" / "notebooks"


def outputs_of(notebook: Any) -> list[list[Any]]:
    """Return the outputs of each code cell, without their numbers."""
    return [
        [{k: v for k, v in out.items() if k != "execution_count"} for out in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_kernel_shows_what_is_stored(path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    # A slow machine flushes what one cell prints in several messages.
    NotebookClient(fresh, timeout=300, kernel_name="python3", coalesce_streams=True).execute()
    assert outputs_of(fresh) == outputs_of(stored)


def test_progress_is_a_bar_without_widgets() -> None:
    source = """
from piecework._internal.progress import progress_bar
import time
with progress_bar("counting <b>") as progress:
    for done in range(1, 4):
        time.sleep(0.15)
        progress(done, 4)
"""
    notebook = new_notebook(cells=[new_code_cell(source)])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    [output] = notebook.cells[0].outputs
    shown = output.data["text/plain"]
    assert "counting <b>" in shown
    assert "━" in shown
    assert "75%" in shown
    assert "<b>" not in output.data["text/html"]


def test_training_shows_a_bar_and_nothing_on_stderr() -> None:
    source = """
import piecework as pw
tok = pw.Tokenizer.train_from_iterator(["hug pug"] * 9, model="bpe", vocab_size=8, progress=True)
"""
    notebook = new_notebook(cells=[new_code_cell(source)])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert [out.output_type for out in outputs] == ["display_data"] * len(outputs)
    assert len(outputs) >= 1
