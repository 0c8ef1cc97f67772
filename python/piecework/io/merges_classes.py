"""Build the tokenizer that a class of transformers 5 builds from `vocab.json` and `merges.txt`.

These classes take entries and merges from the files, and set stages and special tokens themselves. Special
tokens come only from roles, the configuration and `added_tokens_decoder`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piecework._internal._core import Core
from piecework.errors import FormatError
from piecework.io import class_tables as classes
from piecework.io.class_pipelines import (
    BYTE_LEVEL,
    adds_prefix_space,
    byte_level_stages,
    split_by,
    unreadable,
)
from piecework.io.core_parts import Json, added_ids, stages_of, with_parts
from piecework.io.folder_config import FolderConfig
from piecework.io.load_options import unexpected
from piecework.io.sentencepiece_classes import bos_eos_template, template_of
from piecework.io.source_bytes import plain_name

_END = "<|endoftext|>"
_GPT2_ROLES = {"bos_token": _END, "eos_token": _END, "unk_token": _END}
_QWEN_ROLES = {"eos_token": _END, "unk_token": _END, "pad_token": _END}
# Class -> the roles of special tokens that a configuration does not set.
_ROLES: dict[str, Mapping[str, str | None]] = {
    "CLIPTokenizer": {**_GPT2_ROLES, "bos_token": "<|startoftext|>", "pad_token": _END},
    "CodeGenTokenizer": _GPT2_ROLES,
    "GPT2Tokenizer": _GPT2_ROLES,
    "GPTNeoXTokenizer": {**_GPT2_ROLES, "pad_token": "<|padding|>"},
    "OpenAIGPTTokenizer": {"unk_token": "<unk>"},
    "DebertaTokenizer": classes.DEBERTA_ROLES,
    "Qwen2Tokenizer": _QWEN_ROLES,
    **dict.fromkeys(classes.LIKE_ROBERTA, classes.ROBERTA_ROLES),
}
# The same for classes that are read from a tokenizer.json only.
_ROLES_OF_FILES = {**_ROLES, "Qwen3_5Tokenizer": _QWEN_ROLES, "WhisperTokenizer": _GPT2_ROLES}
# Names that say nothing about a vocabulary with merges: the entries decide.
_GENERAL = (None, "PreTrainedTokenizer", "PythonBackend", "TokenizersBackend")
# The normalizers of CLIP and of GPT, which entries in </w> show, and what to call the entries.
_NORMALIZERS = {"CLIPTokenizer": "Sequence", "OpenAIGPTTokenizer": "BertNormalizer"}
_KINDS = {
    None: "GPT-2, which have no </w>",
    "Sequence": "CLIP, which end in </w>",
    "BertNormalizer": "GPT, which end in </w>",
}
# Classes that set `add_prefix_space` of the pre-tokenizer, in transformers 4 and 5, also beside a
# tokenizer.json; the default is False, for Blenderbot True.
_SETS_PREFIX_SPACE = classes.PLAIN_BYTE_LEVEL - {"MvpTokenizer"} | {"GPTNeoXTokenizer"}
# The models whose pattern `fix_mistral_regex` replaces: types, first version without them, size.
_MODELS_OF_MISTRAL = (None, "mistral", "mistral3", "voxtral", "ministral", "pixtral")
_FIXED_IN = 5
_MIN_SIZE_OF_MISTRAL = 100_000


def is_class_of_merges(config: FolderConfig, source: str) -> bool:
    """Return whether `source` is a vocabulary with merges from which a class builds a tokenizer.

    Raises `FormatError` for a class that makes something else of it.
    """
    name = config.tokenizer_class
    if plain_name(source) != "vocab.json" or name in _GENERAL:
        return False
    if name not in _ROLES:
        otherwise = "with merges for the ids of its entries alone"
        raise unreadable(config, source, "a vocabulary", otherwise)
    return True


def with_roles_of_class(config: FolderConfig) -> FolderConfig:
    """Return the configuration with the roles that its class implies."""
    return config.with_roles(_ROLES_OF_FILES.get(config.tokenizer_class or "", {}))


def read_as_class(core: Core, config: FolderConfig, source: str) -> Core:
    """Return the tokenizer that the configuration's class builds from a vocabulary with merges.

    It has no special tokens and no post-processor; `with_frame_of_class` adds the latter. Raises
    `FormatError` for entries that do not fit the class.
    """
    name = config.tokenizer_class or ""
    stages = stages_of(core)
    found = (stages["normalizer"] or {}).get("type")
    if found != _NORMALIZERS.get(name):
        problem = f"has entries of {_KINDS[found]}, from which {name} makes no tokenizer"
        raise FormatError(source, problem)
    if name == "OpenAIGPTTokenizer" and config.settings.roles.get("unk_token") != "<unk>":
        expected = "<unk>, which the entries have for unknown characters"
        unk_token = config.settings.roles.get("unk_token")
        raise unexpected(f"{config.source}: unk_token", unk_token, expected)
    parts: Json = {"post_processor": None}
    # Another one is the pattern that the caller passed.
    if stages["pre_tokenizer"] == BYTE_LEVEL:
        parts |= byte_level_stages(config) or {}
    return with_parts(core, parts)


def with_frame_of_class(core: Core, config: FolderConfig) -> Core:
    """Add the post-processor of the class, now that its tokens have ids."""
    name = config.tokenizer_class
    roles = config.settings.roles
    ids = added_ids(core)
    if name == "DebertaTokenizer":
        return with_parts(core, {"post_processor": template_of(core, config)})
    if name not in (*classes.LIKE_ROBERTA, "CLIPTokenizer"):
        bos, eos = roles.get("bos_token"), roles.get("eos_token")
        return with_parts(core, {"post_processor": bos_eos_template(config, bos, eos, ids)})
    is_roberta = name != "CLIPTokenizer"
    ends = ("cls_token", "sep_token") if is_roberta else ("bos_token", "eos_token")
    cls, sep = map(config.required_role, ends)
    frame = {
        "type": "RobertaProcessing",
        "sep": [sep, ids[sep]],
        "cls": [cls, ids[cls]],
        "trim_offsets": is_roberta and config.flag("trim_offsets") is not False,
        "add_prefix_space": is_roberta and adds_prefix_space(config),
    }
    return with_parts(core, {"post_processor": frame})


def with_prefix_space(core: Core, config: FolderConfig) -> Core:
    """Return the core of a `tokenizer.json` with `add_prefix_space` as its class sets it.

    Another pre-tokenizer than `ByteLevel` alone stays as it is in the file.
    """
    if config.tokenizer_class not in _SETS_PREFIX_SPACE:
        return core
    stages = stages_of(core)
    parts = {}
    for name, kind in (("pre_tokenizer", "ByteLevel"), ("post_processor", "RobertaProcessing")):
        stage = stages[name] or {}
        if stage.get("type") == kind and stage.get("use_regex") is not False:
            parts[name] = {**stage, "add_prefix_space": adds_prefix_space(config)}
    return with_parts(core, parts) if "pre_tokenizer" in parts else core


def with_fixed_pattern(core: Core, model: Mapping[str, Any]) -> Core:
    """Return the core of a `tokenizer.json` with the pattern that `fix_mistral_regex` selects.

    As in transformers, this needs the `config.json` of a model of Mistral that was saved before version 5,
    and a large vocabulary.
    """
    version = str(model.get("transformers_version") or "0").partition(".")[0]
    is_old = model and version.isdecimal() and int(version) < _FIXED_IN
    is_large = core.vocab_size(True) > _MIN_SIZE_OF_MISTRAL
    if not is_old or not is_large or model.get("model_type") not in _MODELS_OF_MISTRAL:
        return core
    words = stages_of(core)["pre_tokenizer"]
    steps = words["pretokenizers"][1:] if words["type"] == "Sequence" else [words]
    if words["type"] == "Metaspace":
        steps = [{**BYTE_LEVEL, "use_regex": False}]
    fixed = {"type": "Sequence", "pretokenizers": [split_by("tekken"), *steps]}
    return with_parts(core, {"pre_tokenizer": fixed})
