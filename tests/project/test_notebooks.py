"""The notebooks of docs/notebooks run, and what they show is what they print."""

from __future__ import annotations

import ast
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the code cells of a notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield cell


def run_cell(source: str, namespace: dict[str, Any]) -> tuple[str, Any]:
    """Run a cell; return what it prints, and the value of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    return printed.getvalue(), value


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def without_spaces(text: str) -> str:
    return "".join(text.split())


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_print_what_the_notebook_shows(path: Path) -> None:
    namespace: dict[str, Any] = {}
    for cell in cells(path):
        printed, value = run_cell(joined(cell["source"]), namespace)
        outputs = cell["outputs"]
        streams = [out for out in outputs if out["output_type"] == "stream"]
        assert all(out["name"] == "stdout" for out in streams)
        assert printed == "".join(joined(out["text"]) for out in streams)
        results = [out["data"] for out in outputs if out["output_type"] == "execute_result"]
        assert len(outputs) == len(streams) + len(results)
        assert (value is None) == (not results)
        for shown in results:
            check_value(value, shown)


def check_value(value: Any, shown: dict[str, Any]) -> None:
    """Check the stored forms of a value: HTML and text."""
    plain = joined(shown["text/plain"])
    if "text/html" in shown:
        assert value._repr_html_() == joined(shown["text/html"])
        if type(value).__name__ not in plain:
            assert str(value).strip() == plain.strip()
            # A dataclass has a `__repr__` of its own, which IPython prefers to methods of base classes.
            assert "_repr_pretty_" in vars(type(value))
    else:
        assert without_spaces(repr(value)) == without_spaces(plain)
