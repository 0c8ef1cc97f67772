"""The Java package: its declarations, its ids, what it refuses, and the programs of its page."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from tests.capi.answers import CONFORMANCE, GOLDEN, UTF16, Job, answers, differences, jobs
from tests.capi.library import PROGRAMS, ROOT, SHARED, environment, run, run_page
from tests.capi.test_header import functions_of_c

PACKAGE = ROOT / "extensions" / "java"
NATIVE = PACKAGE / "io" / "github" / "piecework" / "Native.java"
GUIDE = ROOT / "docs" / "how-to" / "use-from-java.md"
OLDEST = 22
"""The first version of Java with java.lang.foreign."""


@cache
def java_home() -> Path | None:
    """Return a JDK that is new enough: JAVA_HOME, or of `javac`, or where Debian installs them."""
    named = os.environ.get("JAVA_HOME")
    on_path = shutil.which("javac")
    places = [Path(named)] if named else []
    places += [Path(on_path).resolve().parents[1]] if on_path else []
    for place in [*places, *sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)]:
        if (place / "bin" / "javac").is_file():
            version = re.search(r"(\d+)", run([place / "bin" / "javac", "-version"]).stdout)
            if version is not None and int(version[1]) >= OLDEST:
                return place
    return None


def lacks() -> str:
    """Return what the machine lacks."""
    return "" if java_home() else f"needs a JDK {OLDEST} or newer: set JAVA_HOME"


pytestmark = pytest.mark.skipif(bool(lacks()), reason=lacks() or "nothing")


def settings(**others: str) -> dict[str, str]:
    """Return an environment whose `java` and JAVA_HOME are the JDK."""
    home = str(java_home())
    return environment(JAVA_HOME=home, PATH=f"{home}/bin:{os.environ['PATH']}") | others


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, as its Makefile builds it."""
    out = tmp_path_factory.mktemp("jar")
    flags = "JAVAC_FLAGS=-Werror"
    done = run(["make", "-C", PACKAGE, f"OUT={out}", flags], env=settings())
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "piecework.jar"


def tool(name: str) -> Path:
    return Path(str(java_home()), "bin", name)


FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED")


def java(*arguments: object, library: Path = SHARED) -> list[object]:
    return [tool("java"), *FLAGS, f"-Dpiecework.library={library}", *arguments]


def compile_java(source: Path, jar: Path, folder: Path) -> str:
    """Compile a program; return its class path."""
    done = run([tool("javac"), "-Xlint:all", "-Werror", "-cp", jar, "-d", folder, source])
    assert done.returncode == 0, done.stderr
    return f"{jar}:{folder}"


def test_methods_do_what_they_say_in_any_number_of_threads(jar: Path, tmp_path: Path) -> None:
    classes = compile_java(PROGRAMS / "Calls.java", jar, tmp_path)
    done = run(java("-cp", classes, "Calls", tmp_path), cwd=tmp_path)  # for the report of a crash
    assert (done.returncode, done.stdout, done.stderr) == (0, "equal\n", "")


@pytest.fixture(scope="module")
def all_jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Job]:
    return jobs(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def answered(
    jar: Path, all_jobs: dict[str, Job], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    classes = compile_java(PROGRAMS / "Answers.java", jar, tmp_path_factory.mktemp("answers"))
    return answers(java("-cp", classes, "Answers"), all_jobs)


@pytest.mark.parametrize("name", [*CONFORMANCE, *GOLDEN])
def test_ids_tokens_and_offsets_are_those_of_python(
    name: str, all_jobs: dict[str, Job], answered: dict[str, list[str]]
) -> None:
    if name not in all_jobs:
        pytest.skip(f"the tokenizer of {name} is not at hand: make test-data")
    assert differences(all_jobs[name], answered[name], UTF16) == []


C_TYPES = {"size_t": "SIZE", "uint32_t": "U32", "bool": "BOOL", "void": "VOID"}


def in_java(written: str) -> str:
    return "POINTER" if "*" in written else C_TYPES[written]


def test_declarations_equal_the_header() -> None:
    text = NATIVE.read_text(encoding="utf-8")
    declared = re.findall(r'= function\("(\w+)", ([\w, ]+)\)', text)
    expected = {
        name: [in_java(returned), *map(in_java, types)]
        for name, (returned, types) in functions_of_c().items()
    }
    assert len(declared) == text.count('function("')
    assert {name: types.split(", ") for name, types in declared} == {
        name: expected[name] for name, _ in declared
    }
    unused = {"piecework_error_position", "piecework_token_bytes"}
    of_budgets = {name for name in expected if name.startswith("piecework_growing_text_")}
    of_budgets |= {"piecework_chunk_text", "piecework_fit_messages"}
    assert expected.keys() - dict(declared).keys() == unused | of_budgets


VERSION = """
import io.github.piecework.Tokenizer;

public class Version {
  public static void main(String[] arguments) {
    try {
      Tokenizer.version();
    } catch (UnsatisfiedLinkError error) {
      System.out.println(error.getMessage());
    }
    System.out.println(Tokenizer.version());
  }
}
"""


def test_a_library_that_cannot_be_used_is_named(jar: Path, tmp_path: Path) -> None:
    (tmp_path / "Version.java").write_text(VERSION, encoding="utf-8")
    program = ["-cp", compile_java(tmp_path / "Version.java", jar, tmp_path), "Version"]
    missing = run(java(*program, library=tmp_path / "none.so"))
    assert f"cannot open {tmp_path / 'none.so'}, the property piecework.library" in missing.stdout
    assert "make install-capi" in missing.stdout
    assert "UnsatisfiedLinkError: piecework: cannot open" in missing.stderr  # at every call

    on_path = [tool("java"), *FLAGS, *program]
    absent = run(on_path, env=settings(LD_LIBRARY_PATH=""))
    assert "found no libpiecework.so.0 on the loader's path" in absent.stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run(on_path, env=settings()).stdout)

    run(["cc", "-shared", "-xc", os.devnull, "-o", tmp_path / "empty.so"])
    empty = run(java(*program, library=tmp_path / "empty.so"))
    assert "the library lacks piecework_version" in empty.stdout


def test_programs_print_what_the_page_shows(jar: Path, tmp_path: Path) -> None:
    shutil.copy(jar, tmp_path)
    run_page(GUIDE, "java", tmp_path, settings())
