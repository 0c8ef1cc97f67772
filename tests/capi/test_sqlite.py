"""The extension for SQLite, in its command line, alone and under valgrind."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import piecework as pw
from tests import data
from tests.capi.library import LIBRARY, ROOT, VALGRIND, run

EXTENSION = ROOT / "extensions" / "sqlite"


def lacks() -> str:
    """Return what the machine lacks."""
    if shutil.which("sqlite3") is None:
        return "needs the command line of SQLite: apt install sqlite3"
    found = run(["cc", "-xc", "-fsyntax-only", "-include", "sqlite3ext.h", os.devnull])
    return "needs sqlite3ext.h: apt install libsqlite3-dev" if found.returncode else ""


pytestmark = pytest.mark.skipif(bool(lacks()), reason=lacks() or "nothing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the extension and, in `tokenizers`, with files."""
    folder = tmp_path_factory.mktemp("sqlite")
    build(folder)
    (folder / "tokenizers").mkdir()
    vocab = "[PAD] [UNK] [CLS] [SEP] to be ##s or not ß".split()
    (folder / "tokenizers" / "words").write_text("\n".join(vocab), encoding="utf-8")
    (folder / "tokenizers" / "broken.json").write_text("{}", encoding="utf-8")
    (folder / "secret").write_text("[UNK]\n", encoding="utf-8")
    return folder


def build(folder: Path) -> None:
    """Compile the extension into a folder."""
    done = run(
        [
            *("make", "-C", EXTENSION, f"OUT={folder}", "CFLAGS=-g -Werror"),
            f"LDFLAGS=-Wl,-rpath,{LIBRARY / 'lib'}",
        ],
        env={**os.environ, "PKG_CONFIG_PATH": str(LIBRARY / "lib" / "pkgconfig")},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def sqlite(folder: Path, *statements: str, before: tuple[str, ...] = ()) -> tuple[str, str]:
    """Return what statements print, and their errors."""
    script = ["SELECT load_extension('./piecework') IS NULL;", *statements]
    command = [*before, "sqlite3", "-batch", ":memory:"]
    done = run(command, cwd=folder, input="\n".join(script))
    lines = done.stdout.splitlines()
    assert lines[:1] == ["1"], done.stderr
    return "\n".join(lines[1:]), done.stderr.strip()


def answer(folder: Path, *expressions: str) -> list[str]:
    """Return the values of expressions, whose connection reads the folder of tokenizers."""
    selects = [f"SELECT {expression};" for expression in expressions]
    found, errors = sqlite(folder, "SELECT piecework_folder('tokenizers');", *selects)
    assert errors == ""
    return found.splitlines()[1:]


def error(folder: Path, expression: str) -> str:
    found = sqlite(folder, "SELECT piecework_folder('tokenizers');", f"SELECT {expression};")
    return found[1]


def test_the_three_functions(folder: Path) -> None:
    calls = {
        "piecework_count('to bes', 'words')": "5",
        "piecework_count('to bes', 'words', 0)": "3",
        "piecework_encode('to bes ß', 'words')": "[2,4,5,6,9,3]",
        "piecework_encode('', 'words', 0)": "[]",
        "piecework_decode(' [2, 4,5,6, 9,3 ] ', 'words')": "to bes ß",
        "piecework_decode('[2,4]', 'words', 0)": "[CLS] to",
        "piecework_decode('[]', 'words') = ''": "1",
        "piecework_decode('[4,4294967295]', 'words')": "to",
        "piecework_count(NULL, 'words') IS NULL": "1",
        "piecework_count(12, 'words')": "3",
        "json_array_length(piecework_encode(replace(hex(zeroblob(45)), '00', '.'), 'words', 0))": "45",
        "piecework_count(CAST(x'746FFF' AS TEXT), 'words', 0)": "1",
    }
    assert dict(zip(calls, answer(folder, *calls), strict=True)) == calls


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "", ".", "..", ".hidden", "a/b", "c:d"]
)
def test_names_do_not_leave_the_folder(name: str, folder: Path) -> None:
    assert "is not the name of a file" in error(folder, f"piecework_count('to', '{name}')")


@pytest.mark.parametrize(
    "ids",
    [
        "",
        "4",
        "[",
        "[4",
        "[4,]",
        "[,4]",
        "[-1]",
        "[4 5]",
        "[4294967296]",
        "[4]x",
        "[1e3]",
        '["4"]',
        "{}",
    ],
)
def test_ids_that_are_no_array_are_errors(ids: str, folder: Path) -> None:
    assert "is not a JSON array of ids" in error(folder, f"piecework_decode('{ids}', 'words')")


def test_wrong_arguments_are_errors(folder: Path) -> None:
    assert "missing: found nothing to read" in error(folder, "piecework_count('to', 'missing')")
    assert "broken.json: model: found nothing" in error(
        folder, "piecework_count('to', 'broken.json')"
    )
    assert "no folder is set" in sqlite(folder, "SELECT piecework_count('to', 'words');")[1]
    assert "wrong number of arguments" in error(folder, "piecework_count('to')")


def test_results_of_every_length(folder: Path) -> None:
    # The first buffer is too small from some length on.
    numbers = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100)"
    text = "rtrim(replace(hex(zeroblob(n)), '00', '{}'), '{}')"
    ids = f"'[' || {text.format('1,', ',')} || ']'"
    encoded = f"piecework_encode({text.format('.', ' ')}, 'words', 0) = {ids}"
    special = f"'[' || {text.format('2,', ',')} || ']'"
    decoded = f"piecework_decode({special}, 'words', 0) = {text.format('[CLS] ', ' ')}"
    query = f"{numbers} SELECT min({encoded}), min({decoded}) FROM c;"
    found = sqlite(folder, f"SELECT piecework_folder('tokenizers'); {query}")
    assert found == ("tokenizers\n1|1", "")


def test_a_view_counts_but_does_not_choose_the_folder(folder: Path) -> None:
    chosen = "SELECT piecework_folder('tokenizers');"
    found, errors = sqlite(
        folder,
        "CREATE VIEW counts AS SELECT piecework_count('to', 'words') AS n;",
        "CREATE VIEW evil AS SELECT piecework_folder('/') AS n;",
        f"{chosen} SELECT n FROM counts; SELECT n FROM evil;",
    )
    assert found.splitlines() == ["tokenizers", "3"]
    assert "unsafe use of piecework_folder" in errors


def test_ids_are_those_of_python(folder: Path) -> None:
    tok = pw.Tokenizer.load(data.need("vocab/gpt2/tokenizer.json.gz"))
    tok.save(folder / "tokenizers" / "gpt2.json")
    texts = ["Hello world", "naïve 🤗 texts", "12:30"]
    found = answer(folder, *(f"piecework_encode('{text}', 'gpt2.json')" for text in texts))
    assert found == [str(list(tok.encode(text).ids)).replace(" ", "") for text in texts]
    assert answer(folder, *(f"piecework_decode('{ids}', 'gpt2.json')" for ids in found)) == texts


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind: apt install valgrind")
def test_valgrind_finds_no_error_and_no_leak(folder: Path) -> None:
    statements = [
        "SELECT piecework_folder('tokenizers'), piecework_count('to', 'words');",
        "SELECT piecework_encode('to be', 'words'), piecework_decode('[4,5]', 'words');",
        "SELECT piecework_decode('[4,', 'words');",
        "SELECT piecework_count('to', 'broken.json');",
        "SELECT piecework_folder('tokenizers'), piecework_count('to', 'words');",
    ]
    found, errors = sqlite(folder, *statements, before=VALGRIND)
    assert found.splitlines() == ["tokenizers|3", "[2,4,5,3]|to be", "tokenizers|3"]
    assert "definitely lost" not in errors
    assert "Invalid" not in errors
    assert "uninitialised" not in errors
