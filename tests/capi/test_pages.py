"""The programs and queries of the pages about C run and print what the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.capi import test_postgres, test_sqlite
from tests.capi.library import HEADER, ROOT, blocks, run_page
from tests.capi.test_postgres import Server, fingerprint_of, server
from tests.capi.test_sqlite import folder, sqlite

__all__ = ["folder", "server"]  # fixtures

GUIDES = ROOT / "docs" / "how-to"
PROGRAMS = [GUIDES / "use-from-c.md", ROOT / "crates" / "capi" / "README.md"]


@pytest.mark.parametrize("page", PROGRAMS, ids=[page.parent.name for page in PROGRAMS])
def test_programs_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    run_page(page, "c|cpp", tmp_path)


def queries(page: Path) -> list[tuple[str, str]]:
    """Return each query with the lines that the page shows below it."""
    text = "".join(block for _, block in blocks(page, "sql"))
    found = re.findall(r"^((?!--).+;)\n((?:-- .*\n)*)", text, re.MULTILINE)
    return [
        (query, re.sub(r"^-- ", "", shown, flags=re.MULTILINE).strip()) for query, shown in found
    ]


VOCAB = "[UNK]\n[CLS]\n[SEP]\nto\nbe\nor\nnot\n"


@pytest.mark.slow
@pytest.mark.skipif(bool(test_postgres.lacks()), reason=test_postgres.lacks() or "nothing")
def test_queries_of_postgres_print_what_the_page_shows(server: Server) -> None:
    (server.folder / "tokenizers" / "bert.txt").write_text(VOCAB, encoding="utf-8")
    server.answer("CREATE DATABASE page")
    fingerprint = fingerprint_of(server, "bert.txt")
    for query, shown in queries(GUIDES / "use-from-postgres.md"):
        query = query.replace("/srv/tokenizers", f"{server.folder}/tokenizers")
        found = server.answer(query.replace("FINGERPRINT", fingerprint), database="page")
        assert not shown or found == shown.replace("FINGERPRINT", fingerprint), query


@pytest.mark.skipif(bool(test_sqlite.lacks()), reason=test_sqlite.lacks() or "nothing")
def test_queries_of_sqlite_print_what_the_page_shows(folder: Path) -> None:
    (folder / "tokenizers" / "bert.txt").write_text(VOCAB, encoding="utf-8")
    found = queries(GUIDES / "use-from-sqlite.md")
    printed, errors = sqlite(folder, *(query for query, _ in found[1:]))
    assert (printed, errors) == ("\n".join(shown for _, shown in found[1:] if shown), "")
    assert found[0] == ("SELECT load_extension('./piecework') IS NULL;", "1")


def test_the_reference_names_every_function() -> None:
    page = (ROOT / "docs" / "reference" / "c-api.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\bpiecework_\w+(?=\()", HEADER.read_text(encoding="utf-8")))
    assert {name for name in names if f"{name}(" not in page} == set()


def test_the_program_of_the_readme_has_thirty_lines() -> None:
    assert blocks(PROGRAMS[1], "c")[0][1].count("\n") <= 30
