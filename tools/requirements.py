"""Print the requirements of extras and dependency groups of pyproject.toml, one a line.

python tools/requirements.py parquet test
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def main(names: list[str]) -> int:
    """Print the requirements of the extras and groups named; return the exit code."""
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    known = settings["project"]["optional-dependencies"] | settings["dependency-groups"]
    if unknown := [name for name in names if name not in known]:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    print("\n".join(requirement for name in names for requirement in known[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
