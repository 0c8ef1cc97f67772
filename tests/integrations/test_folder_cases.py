"""Folders by class: what `Tokenizer.load` and `AutoTokenizer` make of the same files, check by check.

Ids alone and in batches, with and without special tokens, decoding in both ways, roles, pairs, truncation,
padding and chats of 66 texts a folder, 330 with PIECEWORK_FULL, where vocabularies have all their entries.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.io.class_pipelines import PROBES
from piecework.io.class_tables import READ_AS_FILES
from tests.folder_cases import CASES, FILE_WINS, MORE, REFUSED, ROLES, differences, texts

os.environ.setdefault("HF_HUB_OFFLINE", "1")
transformers = pytest.importorskip("transformers")


# Folders whose class makes a `tokenizer.json` of another file.
SAVED = {
    **{name: case for name, case in MORE.items() if "tokenizer.json" not in case.files},
    "NLLB": REFUSED["NLLB"],
}


def opened(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(str(folder))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_folder_gives_the_ids_of_its_class(name: str, tmp_path: Path) -> None:
    folder = CASES[name].write(tmp_path / "f")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pw.errors.FormatWarning)
        ours = pw.Tokenizer.load(folder)
    found = list(differences(ours, opened(folder), texts(CASES[name].left_out)))
    assert not found, f"{len(found)} checks differ, first {found[:3]}"


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_a_saved_folder_gives_the_same_ids(name: str, tmp_path: Path) -> None:
    folder = CASES[name].write(tmp_path / "f")
    ours = pw.Tokenizer.load(folder)
    ours.save(f"{tmp_path}/g/")
    inputs = texts(CASES[name].left_out)[:50]
    ids = ours.encode_batch(inputs).to_lists()
    assert pw.Tokenizer.load(tmp_path / "g").encode_batch(inputs).to_lists() == ids
    assert opened(tmp_path / "g")(inputs)["input_ids"] == ids


@pytest.mark.slow
@pytest.mark.parametrize("name", SAVED)
def test_what_its_class_saves_is_read_as_its_class_reads_it(name: str, tmp_path: Path) -> None:
    opened(SAVED[name].write(tmp_path / "f")).save_pretrained(tmp_path / "g")
    config = json.loads((tmp_path / "g" / "tokenizer_config.json").read_text())
    changed: list[dict[str, Any]] = [{}]
    if "src_lang" in config:
        codes = ("deu_Latn", "fra_Latn") if name == "NLLB" else ("de_DE", "fr_XX")
        changed += [{"src_lang": code, "legacy_behaviour": True} for code in codes]
    for changes in changed:
        (tmp_path / "g" / "tokenizer_config.json").write_text(json.dumps({**config, **changes}))
        ours, theirs = pw.Tokenizer.load(tmp_path / "g"), opened(tmp_path / "g")
        found = list(differences(ours, theirs, texts(SAVED[name].left_out)))
        assert not found, f"{changes}: {len(found)} checks differ, first {found[:3]}"


@pytest.mark.slow
@pytest.mark.parametrize("name", FILE_WINS)
def test_a_file_that_its_class_would_change_is_read_as_it_is(name: str, tmp_path: Path) -> None:
    case = FILE_WINS[name]
    folder = case.write(tmp_path / "f")
    with pytest.warns(pw.errors.FormatWarning, match="read as the file says") as found:
        ours = pw.Tokenizer.load(folder)
    assert len(found) == 1
    roles = {role: getattr(ours, role) for role in ROLES}
    config = {**case.config, **roles, "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    theirs = opened(folder)
    for text in texts(case.left_out):
        assert ours.encode(text).ids == theirs(text)["input_ids"], text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["GPT-2 class of Qwen", "GPT-2 class of Falcon", "Qwen class of DeepSeek"]
)
def test_the_warning_shows_a_text_with_the_ids_of_both(name: str, tmp_path: Path) -> None:
    folder = FILE_WINS[name].write(tmp_path / "f")
    with pytest.warns(pw.errors.FormatWarning) as found:
        ours = pw.Tokenizer.load(folder)
    theirs = opened(folder)
    message = str(found[0].message)
    text = next(text for text in PROBES if repr(text) in message)
    there = theirs(text, add_special_tokens=False)["input_ids"]
    here = ours.encode(text, add_special_tokens=False).ids
    assert message.endswith(f"so that {text!r} is {there} there and {here} here")


@pytest.mark.parametrize("name", REFUSED)
def test_a_class_that_is_not_read_is_refused(name: str, tmp_path: Path) -> None:
    case = REFUSED[name]
    folder = case.write(tmp_path / "f")
    named = case.config["tokenizer_class"].removesuffix("Fast")
    with pytest.raises(pw.errors.FormatError, match=f"{named}, whose .* by its own path"):
        pw.Tokenizer.load(folder)
    merges = folder / "merges.txt" if "merges.txt" in case.files else None
    assert pw.Tokenizer.load(folder / next(iter(case.files)), merges=merges).encode("a b").ids


def test_model_types_for_which_transformers_reads_the_file() -> None:
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    general = ("TokenizersBackend", "MistralCommonBackend")
    expected = {name for name, cls in TOKENIZER_MAPPING_NAMES.items() if cls in general}
    assert expected == READ_AS_FILES
