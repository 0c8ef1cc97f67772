"""Read the files of `conformance/`: a key that no test reads or a missing expectation is an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFORMANCE = Path(__file__).parent.parent / "conformance"
ENGINE_NAMES = {"reference", "core", "tokenizers"}


class Keys(NamedTuple):
    """The keys of a table: all of `required`, at least one of each of `one_of`, any of `optional`."""

    required: str
    optional: str = ""
    one_of: tuple[str, ...] = ()

    def faults(self, table: dict[str, Any]) -> list[str]:
        """Return what is wrong with the keys of a table."""
        groups = [group.split() for group in self.one_of]
        known = {*self.required.split(), *self.optional.split(), "engines"}.union(*groups)
        faults = [f"unknown key {key!r}" for key in table if key not in known]
        faults += [f"no key {key!r}" for key in self.required.split() if key not in table]
        faults += [f"none of {', '.join(g)}" for g in groups if not set(g) & set(table)]
        faults += [f"{key!r} is empty" for key in ("examples", "vocab") if table.get(key, 1) == []]
        engines = table.get("engines", ["core"])
        if not engines or not set(engines) <= ENGINE_NAMES:
            faults.append(f"engines must be names of {sorted(ENGINE_NAMES)}, not {engines}")
        return faults


# By file, or by folder for the cases of components; by kind of case; then for each of its examples.
CASES: dict[str, dict[str, Keys]] = {
    "bert_words.toml": {"case": Keys("row name text words", "normalizer")},
    "bpe_training.toml": {
        "case": Keys("name words settings merges vocab", "row encodings"),
        "replay": Keys("row name prefix merges pieces"),
        "size": Keys("row name alphabet merges special_tokens vocab_size"),
    },
    "decoding.toml": {"case": Keys("row name tokens text", "clean_up")},
    "encoding.toml": {
        "case": Keys("row name examples", "preset special_tokens model", ("vocab vocab_of",))
    },
    "training.toml": {
        "case": Keys(
            "row name settings vocab",
            "alphabet pair_scores merges later_scores preset word_counts",
            ("words texts",),
        ),
        "retrain": Keys("row name preset old_texts old_settings new_case"),
        "replay": Keys("row name merges word pieces"),
    },
    "unigram.toml": {"case": Keys("row name word pieces segmentations total")},
    "unigram_training.toml": {
        "case": Keys("row name words settings seeds sizes vocab_size", one_of=("vocab vocab_end",))
    },
    "words.toml": {
        "case": Keys("row name kind text pieces", "offsets"),
        "vocabulary": Keys("row name model preset texts vocab_size vocab text ids"),
    },
    **{
        folder: {"case": Keys("name examples", "options")}
        for folder in ("decoders", "normalizers", "post_processors", "pre_tokenizers")
    },
}
EXAMPLES: dict[str, Keys] = {
    "encoding.toml": Keys("", "add_special_tokens", ("text repeat", "tokens ids offsets count")),
    "decoders": Keys("tokens text", "tokenizers reason"),
    "normalizers": Keys("text normalized offsets", "tokenizers reason"),
    "post_processors": Keys(
        "text vocab tokens", "pair add_special_tokens pre_tokenizer tokenizers reason"
    ),
    "pre_tokenizers": Keys("text pieces", "tokenizers reason"),
}


def read_cases(name: str) -> dict[str, list[dict[str, Any]]]:
    """Read a file by its path in `conformance/`; return its cases by kind."""
    content = tomllib.loads((CONFORMANCE / name).read_text(encoding="utf-8"))
    check_cases(name, content)
    return {kind: found for kind, found in content.items() if isinstance(found, list)}


def check_cases(name: str, content: dict[str, Any]) -> None:
    """Raise ValueError unless every key is known, every expectation there and every name unique."""
    where = str(Path(name).parent) if Path(name).parent != Path() else name
    expected = CASES[where]
    faults = [f"unknown kind {kind!r}" for kind in content if kind not in {*expected, "row"}]
    faults += [f"no {kind}" for kind in expected if not content.get(kind)]
    for kind, keys in expected.items():
        names = [case.get("name") for case in content.get(kind, [])]
        faults += [f"{name!r} twice" for name in sorted(set(names)) if names.count(name) > 1]
        for case in content.get(kind, []):
            faults += [f"{case.get('name')}: {fault}" for fault in keys.faults(case)]
            for number, example in enumerate(case.get("examples", [])):
                found = EXAMPLES[where].faults(example)
                faults += [f"{case.get('name')}, example {number}: {fault}" for fault in found]
    if faults:
        raise ValueError(f"conformance/{name}: {'; '.join(faults)}")
