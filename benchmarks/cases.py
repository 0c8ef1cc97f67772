"""What is to be measured: definitions times vocabularies, corpora, threads, scores, inputs and engines.

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
# What tells apart the cases of a definition: engines are compared within one. The input is the form in which
# an engine is given the texts; cases and records have it unless it is a list of `str`.
CASE = ("definition", "vocabulary", "corpus", "threads", "score", "input")

Record = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Choice:
    """What of everything is to be run, and where files are made for it."""

    folder: Path
    say: Say
    corpus: Path | None = None
    engines: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    is_smoke: bool = False


@cache
def read_definitions() -> dict[str, Record]:
    """Return all definitions by name, in the order of their file names."""
    found = [read_toml(path) for path in sorted((HERE / "definitions").glob("*.toml"))]
    return {definition["name"]: definition for definition in found}


def label(record: Record) -> str:
    """Return the engine of a record, with its kernel level if that is not the best."""
    level = record.get("forced_level")
    return f"{record['engine']} ({level})" if level else str(record["engine"])


def case_of(record: Record) -> tuple[Any, ...]:
    """Return what must be the same for two records to be compared."""
    return tuple(record.get(name) for name in CASE)


def jobs_of(definition: Record, choice: Choice) -> Iterator[Record]:
    """Give the jobs of one repetition, engine after engine within each case."""
    engines = [engine for engine in definition["engines"] if _is_wanted(engine, definition, choice)]
    sizes = definition["smoke" if choice.is_smoke else "sizes"]
    forced = _forced_levels(definition, choice)
    for case in _cases_of(definition):
        if not installed(OURS).takes(case.get("input")):
            choice.say(f"{definition['name']}, input {case['input']}: {OURS} needs pyarrow for it")
            continue
        try:
            files = _files(case, choice)
        except MissingVocabularyError as error:
            choice.say(f"{definition['name']}, {case['vocabulary']}: left out: {error}")
            continue
        for engine in engines:
            if not _can(engine, case):
                continue
            job = {**case, "engine": engine, **sizes, **files}
            if installed(engine).takes(case.get("input")):
                yield job
                for level in forced if engine == OURS else ():
                    yield {**job, "forced_level": level}
            elif engine in definition["references"]:
                yield {**job, "answers_only": True}


def _forced_levels(definition: Record, choice: Choice) -> list[str]:
    """Return the kernel levels below the best at which our engine is measured as well."""
    if definition["task"] == "start":  # measured in processes that choose their own level
        return []
    wanted = [*definition.get("levels", ()), *choice.levels]
    found = installed(OURS).levels
    for level in wanted:
        if level not in found:
            choice.say(f"kernel level {level} left out: this processor has {', '.join(found)}")
    return [level for level in dict.fromkeys(wanted) if level in found[:-1]]


def _cases_of(definition: Record) -> Iterator[Record]:
    """Give what tells the cases of a definition apart, without what it does not vary."""
    keys = {
        "vocabulary": "vocabularies",
        "corpus": "corpora",
        "threads": "threads",
        "score": "scores",
        "input": "inputs",
    }
    # Training has all processors, everything else one unless it says otherwise.
    usual = {} if definition["task"] == "train" else {"threads": [1]}
    values = [definition.get(key, usual.get(key, [None])) for key in keys.values()]
    shared = {name: definition[name] for name in ("task", "decode") if name in definition}
    for chosen in product(*values):
        case = {name: one for name, one in zip(keys, chosen, strict=True) if one is not None}
        if case.get("input") == "str":
            del case["input"]
        elif not _has_input(definition, case):
            continue
        yield {"definition": definition["name"], **shared, **case}


def _has_input(definition: Record, case: Record) -> bool:
    """Tell whether the definition measures this corpus from this input."""
    named = definition.get("input_corpora", {})
    return case.get("input") not in named or case["corpus"] in named[case["input"]]


def _can(engine: str, case: Record) -> bool:
    if "score" in case:
        return case["score"] in installed(engine).scores
    return installed(engine).reads(SOURCES[case["vocabulary"]]["model"])


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


def _files(case: Record, choice: Choice) -> Record:
    """Return the files of a case, and whether a small text stands in for its corpus."""
    files: dict[str, str] = {}
    if "vocabulary" in case:
        files["tokenizer"] = str(tokenizer_file(case["vocabulary"], choice.folder))
    if "corpus" not in case:
        return {"files": files}
    corpus = choice.corpus or (None if choice.is_smoke else built_corpus(case["corpus"]))
    if corpus is not None:
        return {"files": {**files, "corpus": str(corpus)}}
    if not choice.is_smoke:
        choice.say(f"{case['corpus']}: a small text stands in; `make corpora` builds the corpus")
    files["corpus"] = str(small_corpus(case["corpus"], choice.folder))
    return {"files": files, "is_small_text": True}
