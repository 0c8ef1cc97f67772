"""Write docs/reference/rust-api.txt: the public names of the crate `piecework`.

    python tools/rust_api.py          # write the listing
    python tools/rust_api.py --check  # exit code 1 when it differs

It is read from the source, which rustfmt wrote, so no compiler is needed: functions, fields, variants,
implementations of traits and re-exports of the crate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from public_api import write_or_check

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "crates" / "piecework" / "src"
LISTING = ROOT / "docs" / "reference" / "rust-api.txt"
_TYPE = re.compile(r"^pub (?:struct|enum|trait|type) (\w+)(.*)")
_IMPL = re.compile(r"^(?:pub )?impl(?:<.*?>)? (.+?) \{\}?$")
_MEMBER = re.compile(r"^    pub (?:const )?(?:fn )?(\w+)(.*)")
_VARIANT_FIELD = re.compile(r"^        (\w+): (.+),$")
_VARIANT = re.compile(r"^    ([A-Z]\w*)(.*),$|^    ([A-Z]\w*) \{$")
_USE = re.compile(r"^pub use (.+?);$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Write or check the listing."""
    write_or_check("List the public names of the crate.", LISTING, rust_api)


def rust_api() -> dict[str, str]:
    """Return each public name with its signature."""
    found = {
        f"piecework::{name}": signature
        for file in SOURCE.glob("*.rs")
        for name, signature in names_of(file.read_text(encoding="utf-8"))
    }
    return dict(sorted(found.items()))


def names_of(source: str) -> Iterator[tuple[str, str]]:
    r"""Yield the public names of a source file that rustfmt wrote, each with its signature.

    >>> list(names_of("impl A {\n    pub fn f(\n        &self,\n    ) -> u8 {\n        1\n    }\n}\n"))
    [('A::f', '(&self) -> u8')]
    >>> list(names_of("pub enum E {\n    /// One.\n    One,\n}\nimpl From<u8> for E {\n}\n"))
    [('E', ''), ('E::One', ''), ('E as From<u8>', '')]
    >>> list(names_of("pub struct S {\n    pub a: u8,\n    b: u8,\n}\n"))
    [('S', ''), ('S.a', 'u8')]
    >>> list(names_of("pub struct S(u8);\n#[doc(hidden)]\nimpl From<u8> for S {\n}\n"))
    [('S', '')]
    """
    source = re.sub(r"#\[cfg\(test\)\].*", "", source, flags=re.DOTALL)
    source = re.sub(r"#\[doc\(hidden\)\]\nimpl.*?\n}\n", "", source, flags=re.DOTALL)
    for use in _USE.findall(source):
        yield from ((name, "") for name in re.findall(r"(\w+)(?=\s*[,}]|$)", use))
    owner, variant, is_trait = "", "", False
    lines = iter(re.sub(r" *//[^\n]*", "", source).splitlines())
    for line in lines:
        if type_of := _TYPE.match(line):
            owner, is_trait = type_of[1], False
            yield owner, re.sub(r"\((?!pub ).*\)", "", type_of[2]).strip(" {;")
        elif implementation := _IMPL.match(line):
            trait, _, target = implementation[1].rpartition(" for ")
            owner, is_trait = re.sub(r"<.*", "", target), bool(trait)
            if trait:
                yield f"{owner} as {trait}", ""
        elif line.startswith(("}", "    }")):
            owner, variant = "" if line.startswith("}") else owner, ""
        elif variant and (field := _VARIANT_FIELD.match(line)):
            yield f"{owner}::{variant}.{field[1]}", field[2]
        elif owner and not is_trait and (member := _member(line, lines)):
            yield f"{owner}{member[0]}", member[1]
            variant = (
                member[0].removeprefix("::") if line.endswith(" {") and " fn " not in line else ""
            )


def _member(line: str, lines: Iterator[str]) -> tuple[str, str] | None:
    """Return a public function, field or variant with its signature, which can go on in further lines."""
    if variant := _VARIANT.match(line):
        return f"::{variant[1] or variant[3]}", variant[2] or ""
    member = _MEMBER.match(line)
    if member is None:
        return None
    text = member[2]
    while " fn " in line and not text.endswith(("{", ";")):
        text += " " + next(lines).strip()
    text = re.sub(r"\(\s+", "(", re.sub(r",? \)", ")", text)).strip()
    is_field = " fn " not in line and " const " not in line
    name = f"{'.' if is_field else '::'}{member[1]}"
    return name, text.removesuffix("{").rstrip(" ,;").removeprefix(": ")


if __name__ == "__main__":
    main()
