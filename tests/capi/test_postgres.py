"""The extension for PostgreSQL, in a server of its own that another user than root runs.

The programs of the server are copied, because a copy looks for extensions beside itself: nothing is
installed on the machine. Needs `apt install postgresql` and the headers of the server;
PIECEWORK_POSTGRES_HEADERS names their folder, which `make test-capi` finds or fetches.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import piecework as pw
from tests import data
from tests.capi.library import LIBRARY, ROOT, run

EXTENSION = ROOT / "extensions" / "postgres"


def ask(*arguments: str) -> Path:
    """Return a folder that pg_config names."""
    return Path(subprocess.check_output(["pg_config", *arguments], text=True).strip())


def headers() -> Path | None:
    """Return the folder of the headers of the server."""
    if named := os.environ.get("PIECEWORK_POSTGRES_HEADERS"):
        return Path(named)
    found = ask("--includedir-server") if shutil.which("pg_config") else Path("/nowhere")
    return found if (found / "postgres.h").is_file() else None


def lacks() -> str:
    """Return what the machine lacks."""
    if shutil.which("pg_config") is None or not (ask("--bindir") / "postgres").is_file():
        return "needs PostgreSQL: apt install postgresql"
    return (
        "" if headers() else "needs the headers of the server: apt install postgresql-server-dev-15"
    )


pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(lacks()), reason=lacks() or "nothing")]


class Server:
    """A PostgreSQL server in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.bin = folder / ask("--bindir").relative_to("/")
        self.log = folder / "log"
        self.user = user()
        self.last_log = ""

    def copy_programs(self) -> None:
        """Copy the programs and the files beside them; the libraries are links."""
        libraries = self.folder / ask("--pkglibdir").relative_to("/")
        shutil.copytree(ask("--sharedir"), self.folder / ask("--sharedir").relative_to("/"))
        shutil.copytree(ask("--pkglibdir"), libraries, copy_function=os.symlink)
        self.bin.mkdir(parents=True, exist_ok=True)
        for program in ("postgres", "initdb", "pg_ctl", "pg_config"):
            shutil.copy2(ask("--bindir") / program, self.bin / program)

    def as_user(self, *command: str | Path) -> str:
        """Run a program as the user of the server; return what it prints."""
        identity = [] if os.getuid() else ["setpriv", f"--reuid={self.user}", "--clear-groups"]
        environment = {**os.environ, "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        done = run([*identity, *command], env=environment, cwd=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self) -> None:
        self.as_user(
            self.bin / "initdb", "-D", self.data, "-A", "trust", "-N", "-U", "admin", "-E", "UTF8"
        )
        settings = f"-c listen_addresses= -c unix_socket_directories={self.folder}"
        # pg_ctl returns, and the server keeps no pipe of the test open.
        self.as_user(
            self.bin / "pg_ctl", "-D", self.data, "-w", "-o", settings, "-l", self.log, "start"
        )

    def stop(self) -> None:
        self.as_user(self.bin / "pg_ctl", "-D", self.data, "-m", "immediate", "stop")

    def psql(
        self, *statements: str, user: str = "admin", database: str = "postgres"
    ) -> subprocess.Popen[str]:
        """Start statements in one session."""
        options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        commands = [part for statement in statements for part in ("-c", statement)]
        address = ["-h", str(self.folder), "-U", user, database]
        return subprocess.Popen(
            ["psql", *options, *address, *commands],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def answer(self, *statements: str, user: str = "admin", database: str = "postgres") -> str:
        """Return what statements print."""
        out, err = (session := self.psql(*statements, user=user, database=database)).communicate()
        assert session.returncode == 0, err
        return out.strip()

    def error(self, *statements: str, user: str = "admin", database: str = "postgres") -> str:
        """Return the error of the last statement."""
        out, err = (session := self.psql(*statements, user=user, database=database)).communicate()
        assert session.returncode, out
        return err.strip()


def user() -> int:
    """Return a user who is not root."""
    names = ("postgres", "nobody")
    found = [each.pw_uid for each in pwd.getpwall() if each.pw_name in names]
    return os.getuid() or found[0]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server
    log = server.last_log
    assert "terminated by signal" not in log
    assert "PANIC" not in log


@contextmanager
def running_server() -> Iterator[Server]:
    """Run a server with the extension and some tokenizers."""
    # Folders of pytest are closed to other users, and the path of a socket is short.
    with tempfile.TemporaryDirectory(prefix="pw-", dir="/tmp") as name:
        server = Server(Path(name))
        server.copy_programs()
        shutil.copy(LIBRARY / "lib" / "libpiecework.so.0", server.folder)
        install(server)
        write_tokenizers(server.folder / "tokenizers")
        for path in (server.folder, *server.folder.rglob("*")):
            shutil.chown(path, server.user) if not path.is_symlink() else None
        server.start()
        try:
            settings = f"ALTER SYSTEM SET piecework.folder = '{server.folder}/tokenizers'"
            server.answer("CREATE EXTENSION piecework", "CREATE ROLE plain LOGIN")
            server.answer("LOAD 'piecework'", settings, "SELECT pg_reload_conf()")
            yield server
        finally:
            server.stop()
            server.last_log = server.log.read_text("utf-8")


def install(server: Server) -> None:
    """Run `make install` with the copied server."""
    flags = [f"-Wl,-rpath,{server.folder}", "-Werror", "-Wextra", "-Wno-unused-parameter"]
    done = run(
        [
            *("make", "-C", EXTENSION, "install", f"OUT={server.folder}", f"INCLUDES={headers()}"),
            *(f"PG_CONFIG={server.bin}/pg_config", f"LDFLAGS={' '.join(flags)}"),
        ],
        env={**os.environ, "PKG_CONFIG_PATH": str(LIBRARY / "lib" / "pkgconfig")},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def write_tokenizers(folder: Path) -> None:
    folder.mkdir()
    vocab = "[PAD] [UNK] [CLS] [SEP] to be ##s or not ß ##".split()
    (folder / "words").write_text("\n".join(vocab), encoding="utf-8")
    (folder / "broken.json").write_text("{}", encoding="utf-8")
    (folder.parent / "secret").write_text("[UNK]\n", encoding="utf-8")
    if source := data.find("vocab/gpt2/tokenizer.json.gz"):
        pw.Tokenizer.load(source).save(folder / "gpt2.json")


def test_the_three_functions_and_their_properties(server: Server) -> None:
    assert server.answer("SELECT piecework_count('to bes', 'words')") == "5"
    assert server.answer("SELECT piecework_count('to bes', 'words', false)") == "3"
    assert server.answer("SELECT piecework_encode('to bes ß', 'words')") == "{2,4,5,6,9,3}"
    assert server.answer("SELECT piecework_encode('', 'words', false)") == "{}"
    assert server.answer("SELECT piecework_decode('{2,4,5,6,9,3}', 'words')") == "to bes ß"
    assert server.answer("SELECT piecework_decode('{2,4}', 'words', false)") == "[CLS] to"
    assert server.answer("SELECT piecework_decode('{}', 'words') = ''") == "t"
    assert server.answer("SELECT piecework_count(NULL, 'words') IS NULL") == "t"
    rows = (
        "SELECT DISTINCT pronargs = 4, provolatile, proparallel, proisstrict "
        "FROM pg_proc WHERE proname ~ '^piece' ORDER BY 1"
    )
    assert server.answer(rows) == "f|s|s|t\nt|i|s|t"


def test_long_texts_and_many_ids(server: Server) -> None:
    assert (
        server.answer("SELECT piecework_count(repeat('to ', 1000000), 'words', false)") == "1000000"
    )
    # The first buffer is too small from some length on.
    lengths = "FROM generate_series(1, 100) n"
    ids = "piecework_encode(repeat('.', n), 'words', false) = array_fill(1, ARRAY[n])"
    text = "piecework_decode(array_fill(2, ARRAY[n]), 'words', false) = rtrim(repeat('[CLS] ', n))"
    assert server.answer(f"SELECT bool_and({ids}), bool_and({text}) {lengths}") == "t|t"
    text = "piecework_decode(array_fill(9, ARRAY[100000]), 'words')"
    assert server.answer(f"SELECT length({text})") == "199999"


def test_ids_are_those_of_python(server: Server) -> None:
    tok = pw.Tokenizer.load(data.need("vocab/gpt2/tokenizer.json.gz"))
    for text in ("Hello world", "naïve 🤗 texts", "it''s 12:30\n"):
        found = server.answer(f"SELECT piecework_encode('{text}', 'gpt2.json')")
        assert found == "{" + ",".join(map(str, tok.encode(text.replace("''", "'")).ids)) + "}"
        assert server.answer(f"SELECT piecework_decode('{found}', 'gpt2.json') = '{text}'") == "t"
    assert "0x00" in server.error("SELECT piecework_decode('{188}', 'gpt2.json')")  # a NUL byte


def test_other_encodings_are_converted(server: Server) -> None:
    server.answer("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    server.answer("CREATE EXTENSION piecework", database="latin")
    client = "SET client_encoding = 'UTF8'"
    encoded = "SELECT piecework_encode('to ß', 'words')"
    assert server.answer(client, encoded, database="latin") == "{2,4,9,3}"
    decoded = "SELECT piecework_decode('{4,9}', 'words')"
    assert server.answer(client, decoded, database="latin") == "to ß"
    if (server.folder / "tokenizers" / "gpt2.json").exists():
        kanji = "SELECT piecework_decode('{29826, 95}', 'gpt2.json')"
        assert "no equivalent in encoding" in server.error(client, kanji, database="latin")


def test_only_a_superuser_chooses_the_folder(server: Server) -> None:
    away = f"SET piecework.folder = '{server.folder}'"
    secret = "SELECT piecework_count('to', 'secret')"
    assert "permission denied" in server.error(
        "SELECT piecework_count('to', 'words')", away, user="plain"
    )
    # Before the library is loaded, the setting is a placeholder that any user may set.
    found = server.error(away, secret, user="plain")
    assert "secret" in found
    assert f"{server.folder}/secret" not in found
    assert server.answer(away, "SELECT piecework_count('to', 'secret')") == "1"
    assert server.answer("SELECT piecework_count('to', 'words')", user="plain") == "3"


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "", ".", "..", ".hidden", "a/b", "a\\b", "c:d"]
)
def test_names_do_not_leave_the_folder(name: str, server: Server) -> None:
    assert "is not the name of a file" in server.error(f"SELECT piecework_count('to', '{name}')")


def test_wrong_arguments_are_errors(server: Server) -> None:
    def error(call: str) -> str:
        return server.error(f"SELECT {call}")

    assert "missing: found nothing to read" in error("piecework_count('to', 'missing')")
    assert "broken.json: model: found nothing" in error("piecework_count('to', 'broken.json')")
    assert "-1 is not an id" in error("piecework_decode('{4,-1}', 'words')")
    assert "without NULL" in error("piecework_decode('{4,NULL}', 'words')")
    assert "one dimension" in error("piecework_decode('{{4},{5}}', 'words')")
    assert server.answer("SELECT piecework_decode('{4, 999999, 2147483647}', 'words')") == "to"
    unset = "SET piecework.folder = ''"
    assert "piecework.folder is not set" in server.error(
        unset, "SELECT piecework_count('to', 'words')"
    )


MANY = "SELECT sum(piecework_count(repeat('to be or not ', 100) || n, 'words')) FROM generate_series(1, {}) n"


def test_a_cancelled_query_is_an_error_and_the_session_goes_on(server: Server) -> None:
    timeout = "SET statement_timeout = 200"
    assert "canceling statement due to statement timeout" in server.error(
        timeout, MANY.format(10**8)
    )
    session = server.psql("SET application_name = 'cancelled'", MANY.format(10**8))
    activity = (
        "FROM pg_stat_activity WHERE application_name = 'cancelled' AND query ~ 'piecework_count'"
    )
    while server.answer(f"SELECT count(*) {activity}") == "0":
        time.sleep(0.05)
    assert server.answer(f"SELECT pg_cancel_backend(pid) {activity}") == "t"
    assert "canceling statement due to user request" in session.communicate()[1]
    call = "PERFORM piecework_count('to', 'missing')"
    caught = f"DO $$ BEGIN {call}; EXCEPTION WHEN undefined_file THEN NULL; END $$"
    assert server.answer(caught, "SELECT piecework_count('to', 'words')") == "3"


CPU = "SELECT split_part(pg_read_file('/proc/self/stat'), ' ', 14)"
"""The processor time of the backend."""


@pytest.mark.parametrize("function", ["count", "encode"])
def test_a_query_is_cancelled_inside_one_text(function: str, server: Server) -> None:
    def seconds(timeout: int, end: str) -> int:
        """Return the processor time of one long text, which must end in a certain way."""
        call = f"piecework_{function}(repeat('.', 40000000), 'slow.json')"
        done = f"PERFORM {call}; RAISE 'ended'"
        block = f"DO $$ BEGIN {done}; EXCEPTION WHEN {end} THEN NULL; END $$"
        return int(server.answer(f"SET statement_timeout = {timeout}", block, CPU))

    # Every piece starts at every dot, so 40 MB take seconds.
    pieces = [("<unk>", 0.0), *(("." * length, -1.0) for length in range(1, 17))]
    slow = pw.Tokenizer(pw.spec.Unigram(pieces, unk_id=0))
    slow.save(server.folder / "tokenizers" / "slow.json")
    assert seconds(500, "query_canceled") < seconds(0, "raise_exception") / 2


def fingerprint_of(server: Server, name: str) -> str:
    """Return what Python computes for a file of the server."""
    return pw.Tokenizer.load(server.folder / "tokenizers" / name).fingerprint


def test_a_fingerprint_makes_functions_immutable(server: Server) -> None:
    found = fingerprint_of(server, "words")
    assert server.answer("SELECT piecework_fingerprint('words')") == found
    pinned = f"'words', '{found}'"
    assert server.answer(f"SELECT piecework_count('to bes', {pinned})") == "5"
    assert server.answer(f"SELECT piecework_count('to bes', {pinned}, false)") == "3"
    assert server.answer(f"SELECT piecework_encode('to', {pinned})") == "{2,4,3}"
    assert server.answer(f"SELECT piecework_decode('{{2,4}}', {pinned}, false)") == "[CLS] to"
    error = "SELECT piecework_count('to', 'words', '{}')".format
    assert "is not a fingerprint of 64" in server.error(error(found[:16]))
    assert "is not a fingerprint of 64" in server.error(error(found.upper()))
    message = server.error(error("0" * 64))
    assert 'the file "words" has another fingerprint' in message
    assert f"DETAIL:  Found {found}, expected {'0' * 64}." in message
    assert "HINT:  Put the expected file back, or rebuild" in message


def test_wrong_fingerprints_take_no_memory(server: Server) -> None:
    lines = "\n".join(["[UNK]", *(f"token{number}" for number in range(20_000))])
    (server.folder / "tokenizers" / "large").write_text(lines, encoding="utf-8")
    call = f"PERFORM piecework_count('to', 'large', '{'0' * 64}')"
    caught = f"BEGIN {call}; EXCEPTION WHEN config_file_error THEN NULL; END"
    loop = "DO $$ BEGIN FOR n IN 1..{} LOOP " + caught + "; END LOOP; END $$"
    pages = "SELECT split_part(pg_read_file('/proc/self/statm'), ' ', 2)"
    answers = server.answer(loop.format(5), pages, loop.format(60), pages).split()
    assert int(answers[1]) - int(answers[0]) < 2_000  # of 4 KB; each tokenizer has 600


def test_an_index_on_the_count_is_used_and_a_swapped_file_is_an_error(server: Server) -> None:
    file = server.folder / "tokenizers" / "indexed"
    shutil.copy(file.with_name("words"), file)
    count = f"piecework_count(body, 'indexed', '{fingerprint_of(server, 'indexed')}')"
    server.answer(
        "CREATE TABLE indexed AS SELECT repeat('to ', n) AS body FROM generate_series(1, 1000) n",
        f"CREATE INDEX ON indexed (({count}))",
        f"ALTER TABLE indexed ADD tokens bigint GENERATED ALWAYS AS ({count}) STORED",
        "ANALYZE indexed",
    )
    assert "IMMUTABLE" in server.error("CREATE INDEX ON indexed (piecework_count(body, 'indexed'))")
    query = f"SELECT body, tokens FROM indexed WHERE {count} = 7"
    assert "Index Scan" in server.answer(f"EXPLAIN {query}")
    assert server.answer(query) == "to to to to to |7"

    before, after = file.read_text("utf-8"), "[UNK]\nt\n##o\n"
    insert = "INSERT INTO indexed VALUES ('to')"
    swap = f"COPY (SELECT unnest(ARRAY['[UNK]', 't', '##o'])) TO '{file}'"
    file.chmod(0o666)
    # A backend that has read the file goes on with it.
    assert server.answer(insert, swap, insert, f"{query} LIMIT 1") == "to to to to to |7"
    assert file.read_text("utf-8") == after
    assert "has another fingerprint" in server.error(insert)
    assert server.answer("SELECT count(*) FROM indexed WHERE body = 'to'") == "2"
    # With the new fingerprint, a backend that has the old file reads the new one.
    back = f"COPY (SELECT unnest(string_to_array($${before}$$, E'\\n'))) TO '{file}'"
    old = f"SELECT {count} FROM indexed LIMIT 1"
    new = f"SELECT piecework_count('to', 'indexed', '{fingerprint_of(server, 'indexed')}')"
    stable = "SELECT piecework_count('to', 'indexed')"
    answers = server.answer(new, back, old, stable, swap, old, new)
    assert answers.split("\n") == ["2", "3", "2", "3", "2"]


def test_parallel_workers_have_the_folder_and_the_same_counts(server: Server) -> None:
    server.answer(
        "CREATE TABLE texts AS SELECT 'to be ' || n AS body FROM generate_series(1, 20000) n"
    )
    forced = [
        "SET parallel_setup_cost = 0",
        "SET parallel_tuple_cost = 0",
        "SET min_parallel_table_scan_size = 0",
    ]
    query = "SELECT sum(piecework_count(body, 'words')) FROM texts"
    assert "Parallel Seq Scan" in server.answer("ANALYZE texts", *forced, f"EXPLAIN {query}")
    alone = server.answer("SET max_parallel_workers_per_gather = 0", query)
    assert server.answer(*forced, query) == alone
    # A folder that a session of a superuser sets reaches the workers, too.
    session = f"SET piecework.folder = '{server.folder}'"
    assert server.answer(*forced, session, query.replace("'words'", "'secret'")) == "60000"


def test_a_backend_reads_a_file_once(server: Server) -> None:
    file = server.folder / "tokenizers" / "changing"
    file.write_text("[UNK]\nto\nbe\n", encoding="utf-8")
    file.chmod(0o666)
    count = "SELECT piecework_count('to be', 'changing')"
    rewrite = f"COPY (SELECT unnest(ARRAY['[UNK]', 't', '##o', 'b', '##e'])) TO '{file}'"
    assert server.answer(count, rewrite, count).split() == ["2", "2"]
    assert server.answer(count) == "4"
