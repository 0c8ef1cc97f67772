"""Errors about missing packages name the packages of the extra, as the metadata of piecework lists them."""

from __future__ import annotations

import importlib.metadata
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import piecework as pw
from piecework import integrations
from piecework._internal.extras import import_extra, install_command

ROOT = Path(__file__).parents[2]


def extras() -> list[str]:
    """Return the names of the extras in pyproject.toml; `tomllib` needs Python 3.11."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    return re.findall(r"^([a-z-]+) = \[", section, re.MULTILINE)


def test_a_missing_package_names_what_to_install() -> None:
    with pytest.raises(pw.errors.MissingExtraError) as caught:
        import_extra("no_such_module", "polars", "series")
    assert str(caught.value).startswith(
        "series: needs no_such_module, which is not installed; install the extra"
    )
    expected = "install the extra 'polars' of piecework: pip install 'polars>=1.0' 'pyarrow>=14'"
    assert str(caught.value).endswith(f"; {expected}")


def test_a_missing_package_is_named_once() -> None:
    with pytest.raises(pw.errors.MissingExtraError) as caught:
        import_extra("no_such_module", "arrow")
    expected = "install the extra 'arrow' of piecework: pip install 'pyarrow>=14'"
    assert str(caught.value) == f"no_such_module: is not installed; {expected}"


def test_a_library_to_compare_with_is_installed_without_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(pw.errors.MissingExtraError) as caught:
        import_extra("tokenizers", "bench")
    command = "install the extra 'bench' of piecework: pip install 'tokenizers>=0.20'"
    assert str(caught.value).startswith("tokenizers: is not installed")
    assert str(caught.value).endswith(f"; {command}")
    assert install_command("bench", "tiktoken") == "pip install 'tiktoken>=0.7'"
    assert install_command("polars", "polars").endswith(" 'pyarrow>=14'")


def test_a_package_that_cannot_be_imported_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_package.py").write_text("import no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(pw.errors.MissingExtraError) as caught:
        import_extra("broken_package", "arrow", "html")
    assert str(caught.value).startswith(
        "html: needs broken_package, which cannot be imported (No module named 'no_such_module'); install"
    )


@pytest.mark.parametrize("extra", extras())
def test_every_extra_has_a_command_without_piecework(extra: str) -> None:
    command = install_command(extra, "no-such-module")
    assert command.startswith("pip install '")
    assert "no-such-module" not in command
    assert "piecework" not in command


def test_without_metadata_the_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", missing)
    assert install_command("parquet", "pyarrow") == "pip install 'pyarrow'"


def test_the_page_on_installing_lists_every_extra() -> None:
    page = (ROOT / "docs/how-to/install.md").read_text(encoding="utf-8")
    section = page.partition("## Optional packages")[2]
    for extra in extras():
        assert f"`{extra}`" in section, extra


def test_the_table_of_integrations_lists_every_file_with_an_extra() -> None:
    rows = re.findall(
        r"^    (\w+)  +\S.*  piecework\[([a-z]+)\]$", integrations.__doc__ or "", re.M
    )
    modules = [module.name for module in pkgutil.iter_modules(integrations.__path__)]
    public = [name for name in modules if not name.startswith("_")]
    assert sorted(name for name, _ in rows) == sorted(public)
    assert {extra for _, extra in rows} <= set(extras())


def test_packages_of_developers_are_not_extras() -> None:
    names = extras()
    assert "wheel" not in names
    assert "lint" not in names
    assert not [extra for extra in names if extra.endswith("test")]


def test_no_document_installs_piecework_from_an_index() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "python").rglob("*.py")]
    for page in pages:
        if page != ROOT / "python/piecework/_internal/extras.py":
            assert "pip install 'piecework[" not in page.read_text(encoding="utf-8"), page
