"""Write what wheels carry about the crates that are linked into them: licenses, and a bill of materials.

    python tools/third_party.py           # write THIRD-PARTY-NOTICES and piecework.cdx.json
    python tools/third_party.py --check   # exit code 1 when a file differs
    python tools/third_party.py --webassembly FILE   # write the notices of the JavaScript module

Both come from Cargo.lock and the sources of the crates. `piecework.cdx.json` is CycloneDX 1.6 without time
and serial number, so that it is the same wherever it is made.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "piecework-bindings"
WEBASSEMBLY_PACKAGE = "piecework-wasm"
NOTICES = ROOT / "THIRD-PARTY-NOTICES"
SBOM = ROOT / "piecework.cdx.json"
RULE = "\n" + "-" * 80 + "\n"
INTRODUCTION = """\
The compiled module of piecework contains code of these packages. Of licenses to choose from, MIT is chosen
where it is offered. piecework itself is licensed as LICENSE says.
"""
STANDARD_LIBRARY = """\
Rust standard library
Copyright (c) The Rust Project Contributors
MIT OR Apache-2.0: the MIT License has the text below; https://github.com/rust-lang/rust
"""
UNICODE = """\
Unicode Character Database: the tables of crates/unicode are made from it
Unicode-3.0

"""


def main() -> None:
    """Write or check both files."""
    parser = argparse.ArgumentParser(
        description="Write THIRD-PARTY-NOTICES and piecework.cdx.json."
    )
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--webassembly", type=Path, metavar="FILE", help="write its notices")
    given = parser.parse_args()
    if given.webassembly:
        given.webassembly.write_text(notices(linked_crates(WEBASSEMBLY_PACKAGE)), encoding="utf-8")
        return
    check = given.check
    crates = linked_crates()
    stale = [
        path.name
        for path, text in {NOTICES: notices(crates), SBOM: bill_of_materials(crates)}.items()
        if not is_current(path, text, check)
    ]
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}: run python tools/third_party.py")


def is_current(path: Path, text: str, check: bool) -> bool:
    """Write a file, or compare it."""
    if check:
        return path.exists() and path.read_text(encoding="utf-8") == text
    path.write_text(text, encoding="utf-8")
    return True


# ---- crates


def linked_crates(package: str = PACKAGE) -> list[dict[str, Any]]:
    """Return the crates that are linked into a compiled module, sorted, each with its `needs`.

    Macros and build scripts run while compiling, and leave no code of their own.
    """
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    metadata = json.loads(done.stdout)
    crates = {package["id"]: package for package in metadata["packages"]}
    for node in metadata["resolve"]["nodes"]:
        crates[node["id"]]["needs"] = [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            and not is_macro(crates[dependency["pkg"]])
        ]
    found: dict[str, dict[str, Any]] = {}
    waiting = [identity for identity, crate in crates.items() if crate["name"] == package]
    while waiting:
        crate = crates[waiting.pop()]
        if crate["id"] not in found:
            found[crate["id"]] = crate
            waiting += crate["needs"]
    for crate in found.values():
        crate["needs"] = sorted(purl(crates[needed]) for needed in crate["needs"])
    return sorted(found.values(), key=lambda crate: (crate["name"], crate["version"]))


def is_macro(crate: dict[str, Any]) -> bool:
    """Return whether a crate is a procedural macro."""
    return any("proc-macro" in target["kind"] for target in crate["targets"])


def purl(crate: dict[str, Any]) -> str:
    """Return the package URL of a crate, which names it in the bill of materials."""
    return f"pkg:cargo/{crate['name']}@{crate['version']}"


def license_of(crate: dict[str, Any]) -> str:
    """Return the license as an SPDX expression; old crates write `/` for `OR`."""
    return str(crate["license"]).replace("/", " OR ")


# ---- THIRD-PARTY-NOTICES


def notices(crates: list[dict[str, Any]]) -> str:
    """Return the license texts of all crates of others, of the standard library, and of Unicode's data."""
    others = [crate for crate in crates if crate["source"] is not None]
    texts = [notice(crate) for crate in others]
    (tables,) = (crate for crate in others if crate["name"] == "regex-syntax")
    unicode_license = folder(tables) / "src/unicode_tables/LICENSE-UNICODE"
    texts.append(UNICODE + unicode_license.read_text(encoding="utf-8"))
    return RULE.join([INTRODUCTION, STANDARD_LIBRARY, *texts])


def notice(crate: dict[str, Any]) -> str:
    """Return the name of a crate, its license, and the text of it."""
    names = sorted(path.name for path in folder(crate).iterdir())
    found = [name for name in names if re.match("(?i)(licen[sc]e|copyright|notice)", name)]
    of_mit = [name for name in found if re.search("(?i)mit|notice", name)]
    if not found:
        sys.exit(f"{purl(crate)}: found no file with the license")
    texts = [(folder(crate) / name).read_text(encoding="utf-8").strip() for name in of_mit or found]
    head = f"{crate['name']} {crate['version']}\n{license_of(crate)}\n{crate['repository'] or ''}"
    return "\n\n".join([head.strip(), *texts]) + "\n"


def folder(crate: dict[str, Any]) -> Path:
    """Return the folder with the sources of a crate."""
    return Path(crate["manifest_path"]).parent


# ---- piecework.cdx.json


def bill_of_materials(crates: list[dict[str, Any]]) -> str:
    """Return the crates with versions, licenses and checksums, and what needs what, as CycloneDX JSON."""
    checksums = dict(checksums_of_lock())
    (bindings,) = (crate for crate in crates if crate["name"] == PACKAGE)
    name = f"pkg:pypi/piecework@{bindings['version']}"
    module = {
        "type": "library",
        "bom-ref": name,
        "name": "piecework",
        "version": bindings["version"],
        "licenses": [{"expression": license_of(bindings)}],
        "purl": name,
    }
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": module},
        "components": [component(crate, checksums) for crate in crates],
        "dependencies": [
            {"ref": name, "dependsOn": [purl(bindings)]},
            *({"ref": purl(crate), "dependsOn": crate["needs"]} for crate in crates),
        ],
    }
    return json.dumps(bom, indent=1) + "\n"


def component(crate: dict[str, Any], checksums: dict[str, str]) -> dict[str, Any]:
    """Return a crate as a component."""
    made = {
        "type": "library",
        "bom-ref": purl(crate),
        "name": crate["name"],
        "version": crate["version"],
        "licenses": [{"expression": license_of(crate)}],
        "purl": purl(crate),
    }
    if purl(crate) in checksums:
        made["hashes"] = [{"alg": "SHA-256", "content": checksums[purl(crate)]}]
    return made


def checksums_of_lock() -> Iterator[tuple[str, str]]:
    """Yield the package URL and the SHA-256 of each crate that comes from a registry."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    for package in lock["package"]:
        if "checksum" in package:
            yield purl(package), package["checksum"]


if __name__ == "__main__":
    main()
