"""`piecework.h` has the functions, structures and constants of the code; only these are exported."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capi.library import HEADER, ROOT, SHARED, STATIC, run, static_libraries

SOURCE = ROOT / "crates" / "capi" / "src"
TYPES = {
    "u8": "char",
    "u32": "uint32_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "usize": "size_t",
    "bool": "bool",
    "()": "void",
    "Str": "piecework_str",
    "Span": "piecework_span",
    "Segment": "piecework_segment",
    "SpecialToken": "piecework_special_token",
    "Flag": "const volatile uint32_t *",
    "Tokenizer": "piecework_tokenizer",
    "Encoding": "piecework_encoding",
    "Batch": "piecework_batch",
    "Stream": "piecework_stream",
    "Growing": "piecework_growing_text",
    "Chunk": "piecework_chunk",
    "MessageOfC": "piecework_message",
    "Error": "piecework_error",
    "LoadSettings": "piecework_load_options",
    "EncodeSettings": "piecework_encode_options",
    "ChunkSettings": "piecework_chunk_options",
    "DecodeSettings": "piecework_decode_options",
    "TruncationSettings": "piecework_truncation",
    "PaddingSettings": "piecework_padding",
}
STRUCTURES = {
    "piecework_str": "Str",
    "piecework_span": "Span",
    "piecework_segment": "Segment",
    "piecework_special_token": "SpecialToken",
    "piecework_load_options": "LoadFields",
    "piecework_encode_options": "EncodeFields",
    "piecework_chunk_options": "ChunkFields",
    "piecework_chunk": "Chunk",
    "piecework_message": "MessageOfC",
    "piecework_decode_options": "DecodeFields",
    "piecework_truncation": "TruncationFields",
    "piecework_padding": "PaddingFields",
}
BYTES = re.compile(r"\b(void|uint8_t)(?= \*)")
"""What C calls bytes is `u8` in Rust."""


def in_c(rust: str) -> str:
    """Return a type of Rust as C writes it."""
    for form, written in (
        (r"In<(.+)>|\*const (.+)", "const {} *"),
        (r"InOut<(.+)>|Out<(.+)>|Owned<(.+)>|\*mut (.+)", "{} *"),
    ):
        if match := re.fullmatch(form, rust):
            inner = in_c(next(filter(None, match.groups())))
            return written.format(inner).replace("* *", "**")
    return TYPES[rust]


def code(path: Path) -> str:
    """Return a file in one line, without comments."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s+", " ", text)


def parameters(written: str) -> list[str]:
    """Return the types of a parameter list of C, with `char` for bytes."""
    found = [] if written == "void" else written.split(", ")
    return [BYTES.sub("char", re.sub(r"\w+$", "", each).strip()) for each in found]


def functions_of_c() -> dict[str, tuple[str, list[str]]]:
    declared = re.findall(r"([\w ]+?\*{0,2})(piecework_\w+)\(([^()]*)\);", code(HEADER))
    return {
        name: (BYTES.sub("char", returned.strip()), parameters(written))
        for returned, name, written in declared
    }


def functions_of_rust() -> dict[str, tuple[str, list[str]]]:
    text = code(SOURCE / "abi.rs")
    row = r"(piecework_\w+)\(([^()]*)\) -> (\(\)|[\w* ]+), (or|else) [^;]*?=> [\w:]+;"
    found = {}
    for name, written, returned, kind in re.findall(row, text):
        types = [in_c(each.split(": ")[1]) for each in written.split(", ") if each]
        found[name] = in_c(returned), types + ["piecework_error **"] * (kind == "or")
    return found


def fields_of_c() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for name, body in re.findall(r"typedef struct (\w+) \{ (.*?) \} \1;", code(HEADER)):
        yield name, re.findall(r"([\w ]+?(?: \*)?) ?(\w+);", body)


def test_the_header_declares_what_the_code_exports() -> None:
    declared, exported = functions_of_c(), functions_of_rust()
    assert declared == exported
    assert len(exported) == code(SOURCE / "abi.rs").count("piecework_")


def test_structures_have_the_same_fields() -> None:
    rust = {
        name: re.findall(r"(\w+): ([\w<>]+),", body)
        for file in SOURCE.glob("*.rs")
        for name, body in re.findall(
            r"#\[repr\(C\)\](?: #\[derive[^]]*\])? pub\(crate\) struct (\w+) \{ (.*?) \}",
            code(file),
        )
    }
    found = dict(fields_of_c())
    assert found.keys() == STRUCTURES.keys()
    for name, fields in found.items():
        if fields[0] == ("size_t", "size"):
            del fields[0]
        expected = [(in_c(kind), field) for field, kind in rust[STRUCTURES[name]]]
        assert [(kind.strip(), field) for kind, field in fields] == expected, name


def test_constants_have_the_same_numbers() -> None:
    declared = dict(re.findall(r"PIECEWORK_ERROR_(\w+) = (\d+)", code(HEADER)))
    assert declared == dict(
        re.findall(r"const ([A-Z_0-9]+): u32 = (\d+);", code(SOURCE / "error.rs"))
    )
    version = re.search(
        r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text("utf-8"), re.MULTILINE
    )
    assert version is not None
    assert f'#define PIECEWORK_VERSION "{version[1]}"' in code(HEADER)


@pytest.mark.parametrize("standard", ["c99", "c11", "c17", "c++98", "c++17"])
def test_the_header_alone_compiles_without_a_warning(standard: str, tmp_path: Path) -> None:
    compiler = ["c++", "-xc++"] if "+" in standard else ["cc", "-xc"]
    command = [
        *compiler,
        f"-std={standard}",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        HEADER,
    ]
    done = run(command)
    assert done.returncode == 0, done.stderr


def exported(library: Path, *options: str) -> set[str]:
    """Return the names that a library defines for others."""
    command = ["nm", "--defined-only", "--extern-only", *options, str(library)]
    lines = subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL).splitlines()
    return {line.split()[2].split("@")[0] for line in lines if len(line.split()) == 3}


def test_only_the_functions_of_the_header_are_exported() -> None:
    declared = functions_of_c().keys()
    assert exported(SHARED, "--dynamic") - {"PIECEWORK_0"} == declared
    assert exported(STATIC) == declared


def test_the_shared_library_has_a_soname_and_versions() -> None:
    entries = subprocess.check_output(["readelf", "--dynamic", SHARED], text=True)
    assert "soname: [libpiecework.so.0]" in entries
    needed = set(re.findall(r"NEEDED.*\[(\w+)", entries))
    assert needed <= {"libgcc_s", "libc", "libm", "ld"}
    versions = subprocess.check_output(["readelf", "--version-info", "--wide", SHARED], text=True)
    assert "PIECEWORK_0" in versions
    assert SHARED.resolve().name.startswith("libpiecework.so.0.")


def test_a_program_runs_with_the_static_library(tmp_path: Path) -> None:
    source = ROOT / "tests" / "capi" / "programs" / "threads.c"
    program = tmp_path / "threads"
    include = f"-I{HEADER.parent}"
    for flags in ([], ["-static"]):
        command = ["cc", "-std=c99", *flags, source, include, STATIC, *static_libraries()]
        done = run([*command, "-o", program])
        assert done.returncode == 0, done.stderr
        assert run([program]).stdout == "equal\n"
        assert "libpiecework" not in run(["ldd", program]).stdout


def test_an_error_in_the_header_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "piecework.h"
    text = HEADER.read_text(encoding="utf-8")
    planted.write_text(text.replace("uint32_t id, size_t *len", "int32_t id, size_t *len"), "utf-8")
    monkeypatch.setattr("tests.capi.test_header.HEADER", planted)
    assert functions_of_c() != functions_of_rust()
