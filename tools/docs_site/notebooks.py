"""A notebook as a page: its text, its code, and the outputs that it stores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def notebook_page(file: Path) -> str:
    """Return a notebook as Markdown."""
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in parts_of(cell)) + "\n"


def parts_of(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the Markdown of a cell: text, or code and its outputs."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    yield from map(output, cell["outputs"])


def output(found: dict[str, Any]) -> str:
    """Return an output as Markdown: HTML where there is some, else text."""
    data = found.get("data", {})
    if "text/html" in data:
        # An empty line would end the HTML.
        html = re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))
        return f'<div class="cell-output">{html}</div>'
    text = "".join(found.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```"
