"""One resolver of names: a path that exists, then encodings, models of OpenAI, repositories of the hub."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import ArgumentError, FileError
from piecework.io.rank_files import PACKAGES, Package
from tests import data
from tests.conftest import Run
from tests.hub_server import HubServer, commit_of, hub

NAME = "org/small-1.5"


def small(token: str = "hug") -> pw.Tokenizer:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, token: 1}))
    return tok.with_added_tokens(["[UNK]"], special=True)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache of the hub that this process and its children use."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "hf" / "hub"


def put_in_cache(cache: Path, name: str, tok: pw.Tokenizer, revision: str = "main") -> Path:
    """Write a repository in the layout of `huggingface_hub`."""
    commit = commit_of(name, revision)
    folder = cache / f"models--{name.replace('/', '--')}"
    snapshot = folder / "snapshots" / commit
    snapshot.mkdir(parents=True)
    tok.save(f"{snapshot}/")
    ref = folder / "refs" / revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(commit)
    return snapshot


# ---- encodings and models


@pytest.fixture
def tiktoken_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache of tiktoken with the ranks of cl100k_base, under the SHA-1 of their address."""
    encoding = pw.spec.ENCODINGS["cl100k_base"]
    folder = tmp_path / "ranks"
    folder.mkdir()
    source = data.need(f"vocab/tiktoken/{encoding.rank_file}")
    (folder / hashlib.sha1(encoding.url.encode()).hexdigest()).symlink_to(source)
    monkeypatch.delenv("PIECEWORK_TIKTOKEN_DIR", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return folder


def test_an_encoding_and_its_models_are_the_published_ranks(tiktoken_cache: Path) -> None:
    path = next(tiktoken_cache.iterdir())
    tok = pw.Tokenizer.load("cl100k_base")
    assert tok == pw.Tokenizer.load(path, encoding_name="cl100k_base")
    assert tok.encode("hello world").ids == [15339, 1917]
    for model in ("gpt-4", "gpt-3.5-turbo-0125", "text-embedding-3-small", "ft:gpt-4:org::1"):
        assert pw.Tokenizer.load(model) == tok


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.name)
def test_an_installed_package_that_carries_the_ranks_is_found(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = pw.spec.ENCODINGS["cl100k_base"]
    folder = tmp_path / package.module / package.folder
    folder.mkdir(parents=True)
    (tmp_path / package.module / "__init__.py").write_text("raise RuntimeError('imported')")
    source = data.need(f"vocab/tiktoken/{encoding.rank_file}")
    (folder / hashlib.sha1(encoding.url.encode()).hexdigest()).symlink_to(source)
    monkeypatch.delenv("PIECEWORK_TIKTOKEN_DIR", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "none"))
    with pytest.raises(pw.errors.FileError):
        pw.Tokenizer.load("cl100k_base")
    monkeypatch.syspath_prepend(tmp_path)
    assert pw.Tokenizer.load("cl100k_base").encode("hello world").ids == [15339, 1917]
    assert package.module not in sys.modules


def test_missing_ranks_name_the_packages_that_carry_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIECEWORK_TIKTOKEN_DIR", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    carried = {"gpt-4o": "litellm or llama-index-core", "p50k_edit": "litellm"}
    for name, packages in carried.items():
        with pytest.raises(pw.errors.FileError) as caught:
            pw.Tokenizer.load(name)
        assert str(caught.value).endswith(f", or install a package that carries it: {packages}")
    with pytest.raises(pw.errors.FileError) as caught:
        pw.Tokenizer.load("gpt2")
    assert "install" not in str(caught.value)


def test_the_other_cache_variable_of_tiktoken_is_read(
    tiktoken_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tiktoken_cache))
    assert pw.Tokenizer.load("cl100k_base").get_vocab_size(False) == 100256


def test_damaged_ranks_in_the_cache_are_refused(tiktoken_cache: Path) -> None:
    path = next(tiktoken_cache.iterdir())
    path.unlink()
    path.write_text("aGk= 0\n")
    with pytest.raises(pw.errors.FormatError, match="SHA-256"):
        pw.Tokenizer.load("cl100k_base")


def test_an_encoding_takes_no_other_settings(tiktoken_cache: Path) -> None:
    with pytest.raises(
        ArgumentError,
        match="encoding_name: 'o200k_base' contradicts gpt-4, whose encoding is 'cl100k_base'",
    ):
        pw.Tokenizer.load("gpt-4", encoding_name="o200k_base")
    with pytest.raises(
        ArgumentError,
        match="pattern: 'gpt2' does not apply to a named encoding, which contains this setting",
    ):
        pw.Tokenizer.load("gpt-4", pattern="gpt2")
    with pytest.raises(
        ArgumentError, match="revision: 'v1' does not apply to the encoding cl100k_base"
    ):
        pw.Tokenizer.load("gpt-4", revision="v1")


@pytest.mark.slow
def test_commands_take_names(cli: Run, tiktoken_cache: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "t.json"
    text.write_text("hello world\n")
    assert cli("encode", "gpt-4", str(text))[:2] == (0, "15339 1917\n")
    code, _, err = cli("convert", "cl100k_base", str(out))
    assert code == 0, err
    assert err.startswith("converted tiktoken ranks (cl100k_base) to tokenizer.json")
    assert cli("explain", "gpt-4", "hello")[0] == 0
    pytest.importorskip("tiktoken")
    code, _, err = cli(
        "bench",
        "cl100k_base",
        *[str(text)] * 4,
        "--repetitions",
        "1",
        "--against",
        "tiktoken",
        "--json",
    )
    assert code == 0, err


# ---- paths win


def test_an_existing_path_wins(
    cache: Path, tmp_path: Path, tiktoken_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_cache(cache, NAME, small("hub"))
    put_in_cache(cache, "plain", small("hub"))
    assert pw.Tokenizer.load(NAME).get_vocab() == {"[UNK]": 0, "hub": 1}
    for name in (NAME, "plain", "cl100k_base", "gpt-4"):
        (tmp_path / name).mkdir(parents=True)
        small("path").save(tmp_path / name)
        assert pw.Tokenizer.load(name).get_vocab() == {"[UNK]": 0, "path": 1}


@pytest.mark.parametrize(
    "path",
    [
        "missing.json",
        "gpt-4-tokenizer.json",
        "org/vocab.txt",
        "./cl100k_base",
        "../cl100k_base",
        "a/b/c",
        "org/",
        "/cl100k_base",
        "org/..",
        "org/na--me",
        "org\\name",
        "C:\\models\\bert",
        "C:bert",
        "~/bert",
        "",
        "org/" + "n" * 97,
        "org/náme",
    ],
)
def test_an_unknown_name_is_a_path_that_does_not_exist(
    cache: Path, tiktoken_cache: Path, path: str
) -> None:
    with pytest.raises(FileError) as caught:
        pw.Tokenizer.load(path)
    assert caught.value.message.startswith("cannot be read: ")


def test_a_null_character_is_refused() -> None:
    with pytest.raises(ArgumentError, match="null characters"):
        pw.Tokenizer.load("org/name\0")
    with pytest.raises(ArgumentError, match="a lone surrogate at character 4"):
        pw.Tokenizer.load("org/\ud800")


def test_a_path_object_is_never_a_name(cache: Path) -> None:
    put_in_cache(cache, "plain", small())
    assert pw.Tokenizer.load("plain").get_vocab_size() == 2
    with pytest.raises(FileError, match="no such file"):
        pw.Tokenizer.load(Path("plain"))


@pytest.mark.parametrize("url", ["https://huggingface.co/org/name", "hf://org/name", "file:///x"])
def test_an_address_is_refused(url: str) -> None:
    with pytest.raises(ArgumentError, match="without an address"):
        pw.Tokenizer.load(url)


# ---- repositories in the local cache


def test_a_repository_is_read_from_the_cache_without_the_library(cache: Path) -> None:
    snapshot = put_in_cache(cache, NAME, small())
    code = (
        "import sys; sys.modules['huggingface_hub'] = None; import piecework as pw; "
        f"print(pw.Tokenizer.load({NAME!r}).get_vocab())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'[UNK]': 0, 'hug': 1}\n"
    assert pw.Tokenizer.load(NAME) == pw.Tokenizer.load(snapshot)


def test_a_revision_is_a_branch_a_tag_or_a_commit(cache: Path) -> None:
    put_in_cache(cache, NAME, small("main"))
    put_in_cache(cache, NAME, small("other"), "feature/other")
    assert "main" in pw.Tokenizer.load(NAME).get_vocab()
    for revision in ("feature/other", commit_of(NAME, "feature/other")):
        assert "other" in pw.Tokenizer.load(NAME, revision=revision).get_vocab()
    with pytest.raises(FileError, match="no tokenizer of this name"):
        pw.Tokenizer.load(NAME, revision="v2")


@pytest.mark.parametrize(
    "revision", ["", "..", "../../x", "a/../b", "/main", "a\\b", "a\0", "a:b", 3]
)
def test_a_revision_cannot_leave_the_cache(cache: Path, revision: str) -> None:
    put_in_cache(cache, NAME, small())
    with pytest.raises(ArgumentError, match="revision: must be a branch, a tag or a commit, not"):
        pw.Tokenizer.load(NAME, revision=revision)


TRAVERSAL = [
    "../x",
    "a/../b",
    "a/../../b",
    "%2e%2e/x",
    "a/..%2f",
    "a/b@../v",
    "a/b\n",
    "a\\..\\b",
    "C:x",
    "a/b:c",
]


@pytest.mark.parametrize("name", TRAVERSAL)
@pytest.mark.parametrize("download", [False, True])
def test_a_name_cannot_leave_the_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch, name: str, download: bool
) -> None:
    monkeypatch.setattr("piecework.io.hub.import_extra", lambda *_: pytest.fail("a download"))
    cache.mkdir(parents=True, exist_ok=True)
    for path in (cache / "x", cache / "models--a--b"):
        small().save(f"{path}/")
    with pytest.raises(FileError):
        pw.Tokenizer.load(name, download=download)


@pytest.mark.parametrize("commit", ["../../../outside", "/outside", "", ".", "\xff"])
def test_a_ref_cannot_leave_the_cache(cache: Path, tmp_path: Path, commit: str) -> None:
    small().save(f"{tmp_path}/outside/")
    snapshot = put_in_cache(cache, NAME, small())
    (snapshot.parent.parent / "refs" / "main").write_text(commit, encoding="latin-1")
    with pytest.raises(FileError, match="no tokenizer of this name"):
        pw.Tokenizer.load(NAME)


def test_a_repository_without_its_tokenizer_says_so(cache: Path) -> None:
    snapshot = put_in_cache(cache, NAME, small())
    (snapshot / "tokenizer.json").unlink()
    with pytest.raises(FileError, match=r"no tokenizer file of this repository.*pass download"):
        pw.Tokenizer.load(NAME)


def test_other_places_of_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_cache(cache, NAME, small())
    monkeypatch.delenv("HF_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent.parent))
    (cache.parent).rename(cache.parent.parent / "huggingface")
    assert pw.Tokenizer.load(NAME).get_vocab_size() == 2
    monkeypatch.setenv("HF_HUB_CACHE", "$XDG_CACHE_HOME/none")
    with pytest.raises(FileError):
        pw.Tokenizer.load(NAME)


def test_names_that_are_nearly_right_are_suggested(cache: Path) -> None:
    with pytest.raises(FileError, match="give cl100k_base, or a path"):
        pw.Tokenizer.load("cl100_base")
    with pytest.raises(FileError, match="give gpt-4o or .*, or a path"):
        pw.Tokenizer.load("gpt4o")
    with pytest.raises(FileError, match="give a path, an encoding"):
        pw.Tokenizer.load("zebra")


def test_the_command_line_says_how_to_download(cli: Run, cache: Path) -> None:
    code, _, err = cli("inspect", NAME)
    assert code == 2
    assert "to fetch a repository, pass download, which needs the extra 'hub'" in err
    put_in_cache(cache, NAME, small(), "v2")
    assert cli("inspect", NAME, "--revision", "v2")[0] == 0
    assert cli("compare", NAME, "--revision", "v2", "--corpus", __file__, "--json")[0] == 0
    code, _, err = cli("inspect", __file__, "--revision", "v2")
    assert (code, err) == (
        2,
        "piecework: error: --revision: 'v2' does not apply to a path\n",
    )


# ---- downloads

LOAD = """
import sys, piecework as pw
name, settings = sys.argv[1], eval(sys.argv[2])
try:
    print(pw.Tokenizer.load(name, download=True, **settings).get_vocab())
except pw.PieceworkError as error:
    print(type(error).__name__, error)
"""


def load(name: str, environment: dict[str, str], **settings: str) -> str:
    """Load a tokenizer with `download=True` in another process, which reads the environment once."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, name, repr(settings)],
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HubServer]:
    """Serve a repository with a tokenizer, weights and code."""
    pytest.importorskip("huggingface_hub")
    revisions = {}
    for revision in ("main", "v2"):
        folder = tmp_path / "served" / revision
        folder.mkdir(parents=True)
        small(revision).with_chat_template("{{ x }}", name="tool").save(folder)
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        others = {"model.safetensors": b"0" * 9, "tokenization_x.py": b"1/0"}
        revisions[revision] = {**files, "config.json": b"{}", **others}
    with hub({NAME: revisions, "org/empty": {"main": {"README.md": b"{}"}}}) as running:
        yield running


@pytest.mark.slow
def test_a_download_fetches_only_the_files_of_the_tokenizer(server: HubServer, cache: Path) -> None:
    endpoint = {"HF_ENDPOINT": server.url}
    assert load(NAME, endpoint) == "{'[UNK]': 0, 'main': 1}"
    assert sorted(set(server.fetched)) == [
        "additional_chat_templates/tool.jinja",
        "config.json",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert "main" in pw.Tokenizer.load(NAME).get_vocab()  # from the cache, offline
    assert load(NAME, endpoint, revision="v2") == "{'[UNK]': 0, 'v2': 1}"
    assert "v2" in pw.Tokenizer.load(NAME, revision="v2").get_vocab()
    assert pw.Tokenizer.load(NAME).chat_templates == {"tool": "{{ x }}"}


@pytest.mark.slow
def test_a_download_that_fails_is_a_typed_error(server: HubServer, cache: Path) -> None:
    endpoint = {"HF_ENDPOINT": server.url}
    assert load("org/none", endpoint).startswith(
        "FileError org/none: cannot be downloaded: RepositoryNotFound"
    )
    assert load(NAME, endpoint, revision="v3").startswith(
        f"FileError {NAME}: cannot be downloaded: RevisionNotFound"
    )
    assert load("org/empty", endpoint).startswith(
        "FileError org/empty: is a repository without a tokenizer file"
    )
    offline = {**endpoint, "HF_HUB_OFFLINE": "1"}
    assert load(NAME, offline).startswith(f"FileError {NAME}: cannot be downloaded: ")
    assert not server.fetched
    assert load(NAME, endpoint) == "{'[UNK]': 0, 'main': 1}"
    assert load(NAME, offline) == "{'[UNK]': 0, 'main': 1}"


def test_a_download_without_the_extra_names_it(cache: Path) -> None:
    code = (
        "import sys; sys.modules['huggingface_hub'] = None; import piecework as pw\n"
        "try: pw.Tokenizer.load('org/name', download=True)\n"
        "except pw.errors.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'huggingface-hub>=1.0'" in done.stdout
