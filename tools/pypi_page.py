"""Write crates/bindings/README.md, the page that PyPI shows: README.md with links that work everywhere.

python tools/pypi_page.py          # write the page
python tools/pypi_page.py --check  # exit code 1 if it differs

PyPI shows the page without the files beside it, so a relative link or image of README.md leads nowhere there.
Links lead to the tag of the version: the page of an old release keeps showing its own documents.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGE = ROOT / "crates/bindings/README.md"
LINK = re.compile(r"(?P<is_image>!)?\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
WRITTEN_BY = "<!-- Written by tools/pypi_page.py from README.md. -->\n\n"


def main() -> int:
    """Write or check the page; return the exit code."""
    parser = argparse.ArgumentParser(description="Write the page that PyPI shows.")
    parser.add_argument("--check", action="store_true", help="exit with 1 if the page differs")
    is_check = parser.parse_args().check
    page = page_of(README.read_text(encoding="utf-8"), repository(), f"v{version()}")
    if is_check:
        if PAGE.read_text(encoding="utf-8") == page:
            return 0
        print(f"{PAGE.relative_to(ROOT)} differs from README.md: run tools/pypi_page.py")
        return 1
    PAGE.write_text(page, encoding="utf-8")
    return 0


def repository() -> str:
    """Return the address of the repository that pyproject.toml states."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address


def version() -> str:
    """Return the version of the workspace."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    found: str = manifest["workspace"]["package"]["version"]
    return found


def page_of(readme: str, repository: str, tag: str) -> str:
    """Return a page whose links lead to files of the repository at a tag."""

    def absolute(link: re.Match[str]) -> str:
        image, text, target = link["is_image"] or "", link["text"], link["target"]
        if not target.startswith(("#", "https://", "http://")):
            target = f"{repository}/{'raw' if image else 'blob'}/{tag}/{target}"
        return f"{image}[{text}]({target})"

    return WRITTEN_BY + LINK.sub(absolute, readme)


if __name__ == "__main__":
    sys.exit(main())
