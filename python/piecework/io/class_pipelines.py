"""Warn of, or reject, files that a class of transformers 5 reads differently from piecework.

transformers 5 takes the entries of a `tokenizer.json` and sets the stages by the class. Here the file wins,
as in transformers 4 and `tokenizers`, except for the classes that `sentencepiece_classes` follows.
"""

from __future__ import annotations

from piecework._internal._core import Core
from piecework._internal.warn import warn
from piecework.errors import FormatError, FormatWarning
from piecework.io import class_tables as classes
from piecework.io import sentencepiece_classes
from piecework.io.core_parts import Json, stages_of, with_parts
from piecework.io.folder_config import FolderConfig
from piecework.spec.split_patterns import PATTERNS

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
# Texts on which pipelines differ: spaces, digits, contractions, marks, letters of several scripts.
PROBES = (
    *("a b", " a", "a", "a  b", "  a", "a\n\nb", "a \n b", " ", "\t", "A", "don't", "I'LL", "123"),
    *("12345 1.5", "a_b", "a.b, c!", "a , b", "1234567", "(a)...", "café", "cafe\u0301"),
    *("ÉCOLE", "日本 語"),
    *("ﬁ ½", "``a''", "x\u00a0y", "안녕", "हिन्दी", "😁"),
)


def with_roles_of_class(core: Core, config: FolderConfig) -> FolderConfig:
    """Return the configuration with the roles that a SentencePiece class gives to existing tokens."""
    return config.with_roles(
        {
            role: token
            for role, token in classes.ROLES.get(config.tokenizer_class or "", {}).items()
            if token is None or core.token_to_id(token) is not None
        }
    )


def with_source_language(core: Core, config: FolderConfig) -> Core:
    """Return the core of a `tokenizer.json` with the source language that a translation class sets."""
    if config.tokenizer_class not in classes.DEFAULT_LANGUAGES:
        return core
    template = sentencepiece_classes.template_of(core, config)
    return core if template is None else with_parts(core, {"post_processor": template})


def unreadable(config: FolderConfig, source: str, kind: str, otherwise: str) -> FormatError:
    """Return the error for a file that a class reads in a way that piecework does not support.

    `otherwise` says what the file gives when it is loaded by its own path.
    """
    problem = f"is {kind} of {config.tokenizer_class}, whose ids are not read from this file"
    beside = "put a tokenizer.json beside it, which save_pretrained of transformers writes"
    hint = f"load the file by its own path {otherwise}, or {beside}"
    return FormatError(source, problem, hint=hint)


def warn_of_class(core: Core, config: FolderConfig, source: str) -> None:
    """Warn with `FormatWarning` if a class of transformers 5 gives other ids to a `tokenizer.json`."""
    name = config.tokenizer_class or ""
    file = stages_of(core)
    stages = _stages_of_class(config, file)
    changed = ("normalizer", "pre_tokenizer")
    if stages is None or all(file[stage] == stages[stage] for stage in changed):
        return
    if config.model_type in classes.READ_AS_FILES:
        return
    found = _difference(core, with_parts(core, stages))
    if found is not None:
        text, ids, others = found
        versions = "5.0 to 5.21" if name == "LlamaTokenizer" and _is_byte_level(file) else "5"
        message = (
            f"{source}: read as the file says: {name} of transformers {versions} replaces its normalizer and "
            f"pre-tokenizer, so that {text!r} is {others} there and {ids} here"
        )
        warn(message, FormatWarning)


def _stages_of_class(config: FolderConfig, file: Json) -> Json | None:
    name = config.tokenizer_class or ""
    if name in classes.NORMALIZE_AS_BERT:
        pre_tokenizer = {"type": "BertPreTokenizer"}
        return {"normalizer": bert_normalizer(config), "pre_tokenizer": pre_tokenizer}
    if name not in classes.ROLES:
        return byte_level_stages(config)
    charsmap = sentencepiece_classes.charsmap_of(file["normalizer"])
    return sentencepiece_classes.stages_of_class(config, charsmap)


def bert_normalizer(config: FolderConfig) -> Json:
    """Return the normalizer of a class of BERT; the uncased models have the defaults."""
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": config.flag("tokenize_chinese_chars") is not False,
        "strip_accents": config.flag("strip_accents"),
        "lowercase": config.flag("do_lower_case") is not False,
    }


def byte_level_stages(config: FolderConfig) -> Json | None:
    """Return normalizer and pre-tokenizer of a class of byte-level BPE, None for another class."""
    name = config.tokenizer_class or ""
    byte_level = {**BYTE_LEVEL, "add_prefix_space": adds_prefix_space(config)}
    if name in classes.PLAIN_BYTE_LEVEL:
        return {"normalizer": None, "pre_tokenizer": byte_level}
    if name == "GPTNeoXTokenizer":
        return {"normalizer": {"type": "NFC"}, "pre_tokenizer": byte_level}
    if name == "CohereTokenizer":
        steps = [{"type": "Digits", "individual_digits": True}, byte_level]
    elif name in classes.PATTERN_NAMES:
        steps = [split_by(classes.PATTERN_NAMES[name]), {**byte_level, "use_regex": False}]
    else:
        return None
    return {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
    }


def adds_prefix_space(config: FolderConfig) -> bool:
    """Return whether a class of byte-level BPE inserts a space before a text."""
    flag = config.flag("add_prefix_space")
    return config.tokenizer_class == "BlenderbotTokenizer" if flag is None else flag


def split_by(name: str) -> Json:
    """Return the pre-tokenizer of a named pattern."""
    [pattern] = PATTERNS[name]
    split = {"pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Split", **split}


def _is_byte_level(stages: Json) -> bool:
    return "'ByteLevel'" in repr([stages["pre_tokenizer"], stages["decoder"]])


def _difference(core: Core, other: Core) -> tuple[str, list[int], list[int]] | None:
    """Return the first probe that two tokenizers encode in different ways, with both rows of ids."""
    first, second = (each.with_truncation(None).with_padding(None) for each in (core, other))
    for text in PROBES:
        ids, others = (each.encode_text(text, False, True).ids for each in (first, second))
        if ids != others:
            return text, ids, others
    return None
