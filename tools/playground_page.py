"""Write the playground as a static page: `python tools/playground_page.py MODULE FOLDER [DATA]`.

MODULE is the folder with the WebAssembly module that `make wasm` builds, DATA the test data, whose published
vocabularies the page offers as examples. FOLDER gets the page, which works under any address and asks for
nothing but its own files:

    index.html, page/         the page and the style that reports share with it
    static/                   its scripts, module and tokenizers; page_data.json: presets, examples, encodings
    vocabulary-notices.txt    the licenses of published vocabularies
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from pathlib import Path
from pydoc_data import topics
from typing import Any

import piecework as pw
from piecework._internal.binary_data import kinds_of_magic
from piecework.analysis.drawing import PAGE_FILES
from piecework.cli.playground.application import STATIC
from piecework.cli.playground.training_replay import (
    DEFAULTS,
    LEARNERS,
    PRESETS_OF_LEARNERS,
    VOCAB_SIZE,
    trainer_of,
)
from piecework.spec import ENCODINGS, named_encoding, named_pre_tokenizer
from piecework.train.plan import Plan

SPECIAL = ("[UNK]",)
EXAMPLE_SIZE = 4_000
# Published vocabularies: the file in the test data, and on the page.
PUBLISHED = {
    "gpt2": ("vocab/gpt2/tokenizer.json.gz", "gpt2.json"),
    "bert-base-uncased": ("vocab/bert-base-uncased/vocab.txt", "bert-base-uncased.txt"),
    "cl100k_base": ("vocab/tiktoken/cl100k_base.tiktoken", "cl100k_base.txt"),
}
NOTICES = Path(__file__).parent / "vocabulary_notices.txt"
MODULE_FILES = ("piecework.js", "piecework_bg.wasm")
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types piecework-worker"
)
_MAIN = '<script type="module" src="static/main.js"></script>'
# It starts the worker, which loads the module meanwhile.
_BACKEND = '<script type="module" src="static/browser_backend.js"></script>'
NOT_PRELOADED = {"server_backend.js", "stepper.js", "wasm_worker.js"}
_NEEDS = (
    "This page needs JavaScript and a web server: run <code>python -m http.server</code> in its folder "
    "and open <code>http://localhost:8000</code>."
)


def write_page(module: Path, folder: Path, data_folder: Path | None = None) -> None:
    """Write the page with the module of a folder, and published vocabularies of the test data."""
    shutil.rmtree(folder, ignore_errors=True)
    scripts = folder / "static"
    shutil.copytree(
        STATIC, scripts, ignore=shutil.ignore_patterns("page.html", "server_backend.js")
    )
    shutil.copytree(PAGE_FILES, folder / "page", ignore=shutil.ignore_patterns("*.html"))
    (scripts / "wasm").mkdir()
    for name in MODULE_FILES:
        shutil.copy(module / name, scripts / "wasm")
    (folder / "index.html").write_text(static_page(), encoding="utf-8")
    data = page_data()
    data["tokenizers"] = write_examples(scripts)
    data["published"] = copy_vocabularies(data_folder, scripts) if data_folder else []
    if data["published"]:
        shutil.copy(NOTICES, folder / "vocabulary-notices.txt")
    (scripts / "page_data.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def static_page() -> str:
    """Return the HTML of the page without a server, whose tokenizers run in the browser.

    >>> 'data-backend="browser"' in static_page()
    True
    """
    html = (STATIC / "page.html").read_text(encoding="utf-8")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    for served, static in (
        ('data-backend="server"', 'data-backend="browser"'),
        ('<meta charset="utf-8">', f'<meta charset="utf-8">\n{policy}'),
        (_MAIN, "\n".join([_BACKEND, _MAIN, *preloads()])),
        ("This page needs JavaScript.", _NEEDS),
    ):
        assert served in html, served
        html = html.replace(served, static)
    return html


def preloads() -> list[str]:
    """Return links for the scripts, so that a browser need not find one in another."""
    scripts = sorted({path.name for path in STATIC.glob("*.js")} - NOT_PRELOADED)
    return [f'<link rel="modulepreload" href="static/{name}">' for name in scripts]


def page_data() -> dict[str, Any]:
    """Return what the scripts need of the package: presets, templates, examples, encodings."""
    templates = {
        learner: {name: template(learner, name) for name in {*names, default_preset(learner)}}
        for learner, names in PRESETS_OF_LEARNERS.items()
    }
    return {
        "version": pw.__version__,
        "presets": PRESETS_OF_LEARNERS,
        "templates": templates,
        "defaults": {learner: default_preset(learner) for learner in LEARNERS},
        "examples": {name: example(name) for name in pw.analysis.training.EXAMPLES},
        "binaryKinds": {magic.hex(): kind for magic, kind in kinds_of_magic().items()},
        "encodings": {encoding["sha256"]: encoding for encoding in map(published, ENCODINGS)},
    }


def default_preset(learner: str) -> str:
    """Return the preset that a learner has without another."""
    if learner in DEFAULTS:
        return DEFAULTS[learner]
    preset = Plan.of(trainer_of(learner, VOCAB_SIZE, SPECIAL)).preset
    assert preset is not None
    return preset.name


def template(learner: str, preset: str, special: tuple[str, ...] = SPECIAL) -> str:
    """Return a tokenizer.json with everything but the learned vocabulary."""
    plan = Plan.of(trainer_of(learner, VOCAB_SIZE, special), preset=preset)
    return pw.Tokenizer.from_spec(plan.smallest_spec()).to_str()


def example(name: str) -> dict[str, Any]:
    """Return the text of a published example, and the templates of learners that take its published words."""
    found = pw.analysis.training_example(name)
    special = found.trainer.special_tokens
    if found.texts:
        learners = [learner for learner in LEARNERS if learner.startswith("wordpiece")]
        templates = {learner: template(learner, found.preset, special) for learner in learners}
        return {"text": "\n".join(found.texts), "templates": templates}
    words = " ".join(word for word, count in found.counts for _ in range(count))
    return {
        "text": words,
        "templates": {learner: template(learner, "whitespace", special) for learner in LEARNERS},
    }


def published(name: str) -> dict[str, Any]:
    """Return the hash of published ranks, and what their file lacks."""
    encoding = named_encoding(name)
    pipeline = {"pre_tokenizer": named_pre_tokenizer(encoding.pattern).to_json()}
    special = encoding.special_tokens
    return {
        "name": name,
        "sha256": encoding.sha256,
        "pipeline": json.dumps(pipeline),
        "tokens": [*special],
        "ids": [*special.values()],
    }


def copy_vocabularies(data: Path, folder: Path) -> list[dict[str, str]]:
    """Copy the published vocabularies that the test data have; return their names and files."""
    copied = []
    for name, (source, file) in PUBLISHED.items():
        if (data / source).is_file():
            content = (data / source).read_bytes()
            unpacked = gzip.decompress(content) if source.endswith(".gz") else content
            (folder / file).write_bytes(unpacked)
            copied.append({"name": name, "file": f"./{file}"})
    return copied


def write_examples(folder: Path) -> list[dict[str, str]]:
    """Train the tokenizers that the page has before a file is opened, on text that comes with Python."""
    texts = [topic for _, topic in sorted(topics.topics.items())]
    files = []
    for name, model in (("WordPiece", "wordpiece"), ("BPE", "byte-bpe"), ("Unigram", "unigram")):
        tokenizer = pw.Tokenizer.train_from_iterator(
            texts, model=model, vocab_size=EXAMPLE_SIZE, progress=False
        )
        file = f"example_{model}.json"
        tokenizer.save(folder / file)
        files.append({"name": f"{name} example", "file": f"./{file}"})
    return files


if __name__ == "__main__":
    write_page(*map(Path, sys.argv[1:]))
