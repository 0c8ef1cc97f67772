"""Print the requirements of optional extras of pyproject.toml, one a line.

python tools/extras.py test lint
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def main(extras: list[str]) -> int:
    """Print the requirements of the extras named; return the exit code."""
    known = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    if unknown := [extra for extra in extras if extra not in known]:
        print(f"extras: found {', '.join(unknown)}, expected {', '.join(known)}", file=sys.stderr)
        return 2
    print("\n".join(requirement for extra in extras for requirement in known[extra]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
