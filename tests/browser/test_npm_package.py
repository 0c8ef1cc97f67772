"""The package for npm in Chromium: the examples of its pages, in a script and in a module worker."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serving_folder
from tests.wasm.module import PAGES, examples, install_package, is_at_hand

pytestmark = pytest.mark.skipif(
    not is_at_hand() or shutil.which("npm") is None, reason="make npm has not packed the module"
)

Open = Callable[..., Any]
HEAD = '<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">\n'
VOCAB = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhug\n##s\nor\nnot\n"
# Posts a text to a worker until it is ready, and shows what it answers.
CALL_WORKER = """<script type="module">
  const worker = new Worker("WORKER", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data === "ready") worker.postMessage("to be");
    else document.title = `${data} tokens`;
  };
  if (WORKER_ANSWERS) worker.postMessage("Hugs or not");
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, which a page would serve."""
    made = tmp_path_factory.mktemp("npm")
    install_package(made)
    (made / "vocab.txt").write_text(VOCAB, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    yield from serving_folder(folder)


def show(folder: Path, address: str, opened: Open, html: str) -> Any:
    """Return a page that Chromium opened."""
    (folder / "page.html").write_text(HEAD + html, encoding="utf-8")
    return opened(f"{address}page.html")


@pytest.mark.parametrize(("at", "shown"), [(0, "6 tokens"), (1, "4 tokens")])
def test_the_example_of_a_script_runs(
    folder: Path, address: str, opened: Open, at: int, shown: str
) -> None:
    [html] = examples(PAGES[at], "html")
    expect(show(folder, address, opened, html)).to_have_title(shown)


@pytest.mark.parametrize(("at", "shown"), [(0, "6 tokens"), (1, "4 tokens")])
def test_the_example_of_a_worker_runs(
    folder: Path, address: str, opened: Open, at: int, shown: str
) -> None:
    [script] = [text for text in examples(PAGES[at], "js") if "self." in text]
    (folder / f"worker_{at}.js").write_text(script, encoding="utf-8")
    html = CALL_WORKER.replace("WORKER_ANSWERS", "true" if at == 0 else "false")
    expect(show(folder, address, opened, html.replace("WORKER", f"worker_{at}.js"))).to_have_title(
        shown
    )


def test_a_worker_takes_the_compiled_module_of_its_page(
    folder: Path, address: str, opened: Open
) -> None:
    (folder / "worker.js").write_text(
        """
        import { init, Tokenizer } from "./node_modules/piecework/index.js";
        self.onmessage = async ({ data: [module, vocab] }) => {
          await init(module);
          self.postMessage(Tokenizer.load(vocab).count("hugs or"));
        };
        """,
        encoding="utf-8",
    )
    html = """<script type="module">
      import { init, Tokenizer } from "./node_modules/piecework/index.js";
      const address = "./node_modules/piecework/piecework_bg.wasm";
      const module = await WebAssembly.compileStreaming(fetch(address));
      await Promise.all([init(module), init()]);
      const vocab = await (await fetch("vocab.txt")).arrayBuffer();
      const here = Tokenizer.load(vocab).count("hugs or");
      const worker = new Worker("worker.js", { type: "module" });
      worker.onmessage = ({ data }) => { document.title = `${here} and ${data} tokens`; };
      worker.postMessage([module, vocab]);
    </script>"""
    expect(show(folder, address, opened, html)).to_have_title("5 and 5 tokens")


@pytest.mark.skipif(shutil.which("esbuild") is None, reason="apt install esbuild")
@pytest.mark.parametrize("is_imported", [False, True])
def test_a_bundle_finds_its_module(
    folder: Path, tmp_path: Path, opened: Open, is_imported: bool
) -> None:
    source = "new URL(module, import.meta.url)" if is_imported else ""
    (folder / "program.mjs").write_text(
        f"""
        import {{ init, Tokenizer }} from "piecework";
        {'import module from "piecework/piecework_bg.wasm";' if is_imported else ""}
        await init({source});
        const vocab = await (await fetch("vocab.txt")).arrayBuffer();
        document.title = `${{Tokenizer.load(vocab).count("Hugs or not")}} tokens`;
        """,
        encoding="utf-8",
    )
    options = ["--bundle", "--format=esm", "--loader:.wasm=file", f"--outdir={tmp_path}"]
    subprocess.run(["esbuild", "program.mjs", *options], cwd=folder, check=True)
    (tmp_path / "vocab.txt").write_text(VOCAB, encoding="utf-8")
    if not is_imported:
        shutil.copy(folder / "node_modules/piecework/piecework_bg.wasm", tmp_path)
    with contextmanager(serving_folder)(tmp_path) as address:
        script = '<script type="module" src="program.js"></script>'
        expect(show(tmp_path, address, opened, script)).to_have_title("6 tokens")


def test_a_missing_module_is_an_error_with_its_address(
    folder: Path, address: str, opened: Open
) -> None:
    html = """<script type="module">
      import { init } from "./node_modules/piecework/index.js";
      const error = await init(new URL("nowhere.wasm", location.href)).catch((error) => error);
      await init();
      document.title = `${error.kind}: ${error.message}`;
    </script>"""
    page = show(folder, address, opened, html)
    expect(page).to_have_title(
        "FileError: init: the WebAssembly module does not load: failed to fetch Wasm: "
        f"404 File not found fetching '{address}nowhere.wasm'"
    )
    opened.faults.clear()  # type: ignore[attr-defined]  # the browser says what it did not load
