"""Write docs/reference/c-api.md below its marker: the functions of piecework.h, with their descriptions.

    python tools/c_reference.py          # write the page
    python tools/c_reference.py --check  # exit code 1 when it differs

A comment of the header becomes a sentence above its declaration; `---- Title` starts a section.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADER = ROOT / "crates" / "capi" / "include" / "piecework.h"
PAGE = ROOT / "docs" / "reference" / "c-api.md"
BEGIN = "<!-- written by tools/c_reference.py -->\n"
ITEM = re.compile(
    r"/\* ---- (?P<title>.+?) \*/"
    r"|(?:/\* (?P<comment>(?:(?!\*/).)+) \*/\n)?"
    r"(?P<code>(?:typedef|enum)[^;{]*\{.*?\}[^;]*;|(?!typedef|#)\w[^;{}]*\);)",
    re.DOTALL,
)


def page() -> str:
    """Return the page: what people wrote, and what the header says."""
    written = PAGE.read_text(encoding="utf-8").split(BEGIN)[0]
    body = HEADER.read_text(encoding="utf-8").split('extern "C" {\n#endif\n')[1]
    return written + BEGIN + "".join(lines(body))


def lines(header: str) -> list[str]:
    """Return the sections of the header as Markdown."""
    found = []
    for item in ITEM.finditer(header):
        if item["title"]:
            found.append(f"\n## {item['title']}\n")
            continue
        if item["comment"]:
            found.append("\n" + re.sub(r"\n \* ?", "\n", item["comment"]) + "\n")
        found.append(f"\n```c\n{wrapped(item['code'])}\n```\n")
    return found


def wrapped(code: str) -> str:
    """Return a declaration with a line for each parameter, if it is long."""
    if "{" in code or len(code) <= 100:
        return code
    start, parameters = code.split("(", 1)
    return f"{start}(\n  " + parameters.replace(", ", ",\n  ")


def main() -> None:
    """Write the page; with `--check`, exit with code 1 if it differs."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"out of date: {PAGE.name}: run python {sys.argv[0]}")


if __name__ == "__main__":
    main()
