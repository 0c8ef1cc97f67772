"""What is to be measured: definitions times vocabularies, corpora, threads, scores and engines.

A job is plain data, all that a worker needs to know. What is not on this machine is left out, with a
note: an engine, a vocabulary, a corpus (for which a small text stands in). Ours and the references must
be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from corpora import built_corpus
from processes import installed
from small_corpora import small_corpus
from tables import read_toml
from vocabularies import SOURCES, MissingVocabularyError, tokenizer_file

HERE = Path(__file__).parent
OURS = "piecework"
# What tells apart the cases of a definition: engines are compared within one.
CASE = ("definition", "vocabulary", "corpus", "threads", "score")

Record = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Choice:
    """What of everything is to be run, and where files are made for it."""

    folder: Path
    say: Say
    corpus: Path | None = None
    engines: tuple[str, ...] = ()
    is_smoke: bool = False


@cache
def read_definitions() -> dict[str, Record]:
    """Return all definitions by name, in the order of their file names."""
    found = [read_toml(path) for path in sorted((HERE / "definitions").glob("*.toml"))]
    return {definition["name"]: definition for definition in found}


def case_of(record: Record) -> tuple[Any, ...]:
    """Return what must be the same for two records to be compared."""
    return tuple(record.get(name) for name in CASE)


def jobs_of(definition: Record, choice: Choice) -> Iterator[Record]:
    """Give the jobs of one repetition, engine after engine within each case."""
    engines = [engine for engine in definition["engines"] if _is_wanted(engine, definition, choice)]
    sizes = definition["smoke" if choice.is_smoke else "sizes"]
    names = [
        definition.get(key, [None]) for key in ("vocabularies", "corpora", "threads", "scores")
    ]
    for vocabulary, corpus, threads, score in product(*names):
        try:
            files = _files(vocabulary, corpus, choice)
        except MissingVocabularyError as error:
            choice.say(f"{definition['name']}, {vocabulary}: left out: {error}")
            continue
        case = {"vocabulary": vocabulary, "corpus": corpus, "threads": threads, "score": score}
        if definition["task"] != "train":
            case |= {"threads": threads or 1, "decode": definition.get("decode")}
        if "small-" in Path(files.get("corpus", "")).name:
            case["is_small_text"] = True
        for engine in engines:
            if _can(engine, vocabulary, score):
                job = {
                    "definition": definition["name"],
                    "task": definition["task"],
                    "engine": engine,
                }
                yield {
                    **job,
                    **{k: v for k, v in case.items() if v is not None},
                    **sizes,
                    "files": files,
                }


def _can(engine: str, vocabulary: str | None, score: str | None) -> bool:
    if score is not None:
        return score in installed(engine).scores
    return vocabulary is None or installed(engine).reads(SOURCES[vocabulary]["model"])


def _is_wanted(engine: str, definition: Record, choice: Choice) -> bool:
    if engine == OURS or engine in definition["references"]:
        if not installed(engine).is_there:
            raise SystemExit(f"{definition['name']}: {engine} is needed: {installed(engine).note}")
        return True
    if choice.engines and engine not in choice.engines:
        return False
    if not installed(engine).is_there:
        choice.say(f"{engine} left out: {installed(engine).note}")
    return installed(engine).is_there


def _files(vocabulary: str | None, corpus: str | None, choice: Choice) -> dict[str, str]:
    files = {}
    if corpus is not None:
        files["corpus"] = str(_corpus(corpus, choice))
    if vocabulary is not None:
        files["tokenizer"] = str(tokenizer_file(vocabulary, choice.folder))
    return files


def _corpus(name: str, choice: Choice) -> Path:
    if choice.corpus is not None:
        return choice.corpus
    built = None if choice.is_smoke else built_corpus(name)
    if built is None and not choice.is_smoke:
        choice.say(f"{name}: a small text stands in for it; `make corpora` builds the corpus")
    return built or small_corpus(name, choice.folder)
