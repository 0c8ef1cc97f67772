"""Publish the crates of the workspace one by one, each after the crates that it needs.

    python tools/publish_crates.py                # crates.io
    python tools/publish_crates.py --list         # print the order and stop

A version that exists is skipped, so an interrupted run can be repeated. A registry limits how many new crates
it takes in a time; the run waits, and goes on. Any other failure ends it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Of cargo itself, and of a registry.
EXISTS = re.compile(r"already exists on|is already uploaded")
LIMITED = re.compile(r"too many (new )?(crates|versions|updates)|429 Too Many Requests", re.I)


def main() -> None:
    """Publish the crates, or print their order."""
    parser = argparse.ArgumentParser(description="Publish the crates of the workspace, in order.")
    parser.add_argument("--list", action="store_true", help="print the order and stop")
    parser.add_argument("--workspace", type=Path, default=ROOT, help="the folder of the workspace")
    parser.add_argument("--registry", help="a registry that cargo knows by name; else crates.io")
    parser.add_argument("--no-verify", action="store_true", help="do not compile the packages")
    parser.add_argument("--wait", type=float, default=630, help="seconds after a refusal by limit")
    parser.add_argument("--waits", type=int, default=12, help="refusals by limit until it gives up")
    arguments = parser.parse_args()
    crates = list(in_order(arguments.workspace))
    if arguments.list:
        print("\n".join(crates))
        return
    options = ["--registry", arguments.registry] if arguments.registry else []
    options += ["--no-verify"] if arguments.no_verify else []
    for crate in crates:
        publish(crate, arguments.workspace, options, arguments.wait, arguments.waits)
    print(f"all {len(crates)} crates are published")


def in_order(workspace: Path) -> Iterator[str]:
    """Yield the names of the crates that are published, each after the crates that it needs."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    done = subprocess.run(command, cwd=workspace, stdout=subprocess.PIPE, check=True)
    packages: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    published = {one["name"]: one for one in packages if one["publish"] != []}
    # Dependencies of tests are paths without a version, which no published crate has.
    needs = {
        name: [need["name"] for need in one["dependencies"] if need["kind"] != "dev"]
        for name, one in sorted(published.items())
    }
    needs = {name: sorted(published.keys() & set(them)) for name, them in needs.items()}
    yield from TopologicalSorter(needs).static_order()


def publish(crate: str, workspace: Path, options: list[str], wait: float, waits: int) -> None:
    """Publish one crate unless its version exists; exit for a failure that waiting does not mend."""
    command = ["cargo", "publish", "--package", crate, *options]
    for _ in range(waits + 1):
        done = subprocess.run(command, cwd=workspace, capture_output=True, text=True)
        if done.returncode == 0:
            print(f"{crate}: published", flush=True)
            return
        if EXISTS.search(done.stderr):
            print(f"{crate}: this version exists, skipped", flush=True)
            return
        if not LIMITED.search(done.stderr):
            sys.exit(f"{crate}: not published\n{done.stderr}")
        print(f"{crate}: the registry takes no more new crates now; waiting {wait:g} s", flush=True)
        time.sleep(wait)
    sys.exit(f"{crate}: not published after {waits} waits: run this again later")


if __name__ == "__main__":
    main()
