"""What the configuration of a Hugging Face folder changes in the tokenizer that its file describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from piecework._internal._core import Core
from piecework._internal.warn import warn
from piecework.errors import FormatError, FormatWarning
from piecework.io import class_pipelines, merges_classes, sentencepiece_classes
from piecework.io.class_tables import BERT_ROLES, LIKE_BERT, NORMALIZE_AS_BERT, ROLE_ORDER
from piecework.io.core_parts import (
    NO_FLAGS,
    STRIP_TEXT,
    replacing,
    stages_of,
    steps_of_clean_up,
    with_decoder_steps,
    with_new_tokens,
    with_parts,
)
from piecework.io.folder_config import FolderConfig, model_config
from piecework.io.folder_settings import FolderSettings
from piecework.io.load_options import LoadOptions, unexpected
from piecework.io.source_bytes import plain_name

if TYPE_CHECKING:
    from piecework.spec import ParseSpecial

_SHOWN_TOKENS = 3

_RENUMBERED_NAME = "sentencepiece.bpe.model"
# Classes that read a vocab.txt as BERT does; the names of the general classes say nothing.
_READ_VOCAB_TXT = {None, *LIKE_BERT, "PreTrainedTokenizer", "TokenizersBackend"}


def folder_options(config: FolderConfig, options: LoadOptions, source: str) -> LoadOptions:
    """Return the load options with the settings of the configuration for the file `source`."""
    if plain_name(source) == "vocab.txt" and options.lowercase is None:
        lowercase = config.flag("do_lower_case")
        is_bert = config.is_folder and config.tokenizer_class in NORMALIZE_AS_BERT
        return options._replace(lowercase=True if lowercase is None and is_bert else lowercase)
    is_class = config.is_folder and merges_classes.is_class_of_merges(config, source)
    if is_class and options.special_tokens is None:
        return options._replace(special_tokens=())  # the class has no others
    return options


def configured(
    core: Core, parse_special: ParseSpecial, config: FolderConfig, source: str
) -> tuple[Core, ParseSpecial, FolderSettings]:
    """Return a core as its folder configures it, its `parse_special`, and the settings.

    `source` is the tokenizer file. If the file was loaded by its own name, its configuration is read for the
    settings only, and roles whose token does not exist are warned of. Raises `FormatError` if configuration
    and file contradict each other.
    """
    if config.is_folder:
        core, config = _as_class(core, config, source)
        core, config = _with_decoder_of_class(core, config)
        if config.flag("split_special_tokens"):
            parse_special = False
    _check_roles(core, config)
    return core, parse_special, _settings(config)


def _as_class(core: Core, config: FolderConfig, source: str) -> tuple[Core, FolderConfig]:
    """Return the tokenizer that a folder's class builds from its file, and the roles that it implies."""
    is_model = sentencepiece_classes.is_class_of_sentencepiece(core, config, source)
    if is_model or sentencepiece_classes.follows_class(core, config, source):
        config = sentencepiece_classes.with_settings_of_class(config)
        if is_model:
            core = sentencepiece_classes.read_as_class(core, config, source)
            _check_bytes(core, config, source)
        else:
            core = sentencepiece_classes.with_stages_of_class(core, config)
        core = _with_declared_tokens(core, config, source)
        return sentencepiece_classes.with_special_tokens(core, config, source), config
    if merges_classes.is_class_of_merges(config, source):
        config = merges_classes.with_roles_of_class(config)
        core = merges_classes.read_as_class(core, config, source)
        core = _with_declared_tokens(core, config, source)
        core = _with_named_tokens(core, config)
        return merges_classes.with_frame_of_class(core, config), config
    if config.tokenizer_class in LIKE_BERT and plain_name(source) == "vocab.txt":
        config = _with_roles_of_bert(config)
        core = _with_stages_of_class(with_parts(core, {"added_tokens": []}), config, source)
        core = _with_declared_tokens(core, config, source)
        core = _with_named_tokens(core, config)
        frame = sentencepiece_classes.template_of(core, config)
        return with_parts(core, {"post_processor": frame}), config
    is_file = plain_name(source) == "tokenizer.json"
    if is_file:
        _reject_versions(config, source)
        config = merges_classes.with_roles_of_class(config)
        config = class_pipelines.with_roles_of_class(core, config)
    core = _with_stages_of_class(core, config, source)
    core = _with_declared_tokens(core, config, source)
    core = _with_named_tokens(core, config)
    if is_file:
        core = class_pipelines.with_source_language(core, config)
        class_pipelines.warn_of_class(core, config, source)
        if config.flag("fix_mistral_regex"):
            core = merges_classes.with_fixed_pattern(core, model_config(source))
    return core, config


def _reject_versions(config: FolderConfig, source: str) -> None:
    """Raise `FormatError` if the configuration lists files for versions of transformers."""
    listed = config.values.get("fast_tokenizer_files")
    for name in listed if isinstance(listed, list) else ():
        if isinstance(name, str) and name.startswith("tokenizer.") and name != "tokenizer.json":
            place = f"{config.source}: fast_tokenizer_files"
            problem = f"lists {name}, which transformers can read in place of {source}"
            raise FormatError(place, problem, hint="load one of them by its own path")


# ---- added tokens


def _with_declared_tokens(core: Core, config: FolderConfig, source: str) -> Core:
    """Add the tokens that the configuration declares; where both know a token, its flags decide.

    So does transformers, except that it gives another id to a token whose id is taken.
    """
    if not config.added_tokens:
        return core
    present = stages_of(core)["added_tokens"]
    tokens = {token["content"]: token for token in present}
    ids = {token["id"]: token["content"] for token in present}
    for id, token in config.added_tokens.items():
        content = token["content"]
        known = core.token_to_id(content)
        if known is None and content in tokens:
            known = tokens[content]["id"]
        if known is not None and known != id:
            found = f"the id {id} for {content!r}, which has the id {known} in {source}"
            raise _contradiction(config, found)
        other = ids.get(id) or core.id_to_token(id)
        if known is None and other is not None:
            found = f"the id {id} for {content!r}, which {other!r} has in {source}"
            raise _contradiction(config, found)
        tokens[content], ids[id] = token, content
    by_id = sorted(tokens.values(), key=lambda token: token["id"])
    return with_parts(core, {"added_tokens": by_id})


def _with_named_tokens(core: Core, config: FolderConfig) -> Core:
    """Add the tokens of roles and the extra special tokens that are not added tokens yet.

    As in transformers, a token that no file has gets the next id.
    """
    tokens = {
        content: {"content": content, **NO_FLAGS, **flags}
        for content, flags in _named_tokens(config)
    }
    return with_parts(core, {"added_tokens": with_new_tokens(core, tokens.values())})


def _named_tokens(config: FolderConfig) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """Yield the special tokens of the configuration with their flags, in the order of transformers."""
    for role in ROLE_ORDER:
        content = config.settings.roles.get(role)
        if content is not None:
            yield content, {**config.role_flags.get(role, {}), "special": True}
    for content in config.named_tokens:
        yield content, {"special": True}
    flags = config.extra_flags  # of which an object can say that the token is not special
    for content in config.settings.extra_special_tokens or ():
        yield content, flags.get(content, {"special": True})


def _contradiction(config: FolderConfig, found: str) -> FormatError:
    problem = f"contradicts the tokenizer file: it has {found}"
    hint = "load that file by its own name to ignore these tokens"
    return FormatError(config.added_tokens_place, problem, hint=hint)


# ---- stages that a class of transformers adds to a vocabulary


def _with_stages_of_class(core: Core, config: FolderConfig, source: str) -> Core:
    name = plain_name(source)
    if name == "vocab.txt":
        return _with_bert_settings(core, config, source)
    if name == "tokenizer.json" and config.tokenizer_class in NORMALIZE_AS_BERT:
        return _with_bert_normalizer(core, config)
    if name == "tokenizer.json":
        return merges_classes.with_prefix_space(core, config)
    if name.endswith(".model"):
        return _with_frame(core, config, source)
    return core


def _with_bert_settings(core: Core, config: FolderConfig, source: str) -> Core:
    if config.tokenizer_class not in _READ_VOCAB_TXT:
        raise class_pipelines.unreadable(config, source, "a vocabulary", "for the ids of BERT")
    settings = {
        "handle_chinese_chars": config.flag("tokenize_chinese_chars"),
        "strip_accents": config.flag("strip_accents"),
    }
    given = {key: value for key, value in settings.items() if value is not None}
    return with_parts(core, {"normalizer": {**stages_of(core)["normalizer"], **given}})


def _with_roles_of_bert(config: FolderConfig) -> FolderConfig:
    """Return the configuration with the roles that BERT's class implies.

    Raises `FormatError` for an unknown token that the model of a vocab.txt does not have.
    """
    config = config.with_roles(BERT_ROLES)
    roles = config.settings.roles
    if roles["unk_token"] != "[UNK]":
        expected = "[UNK], which a vocab.txt has for unknown words"
        raise unexpected(f"{config.source}: unk_token", roles["unk_token"], expected)
    for role in ("cls_token", "sep_token"):
        config.required_role(role)
    return config


def _with_bert_normalizer(core: Core, config: FolderConfig) -> Core:
    """Return a core whose BERT normalizer has the settings of the class; uncased BERT has the defaults."""
    normalizer = stages_of(core)["normalizer"]
    if normalizer is None or normalizer["type"] != "BertNormalizer":
        return core
    changed = {**normalizer, **class_pipelines.bert_normalizer(config)}
    return with_parts(core, {"normalizer": changed})


def _with_frame(core: Core, config: FolderConfig, source: str) -> Core:
    """Add the special tokens that the configuration of a SentencePiece model adds to every text."""
    named = config.tokenizer_class
    if named is not None:
        otherwise = "for the ids of SentencePiece"
        raise class_pipelines.unreadable(config, source, "a SentencePiece model", otherwise)
    if plain_name(source) == _RENUMBERED_NAME:
        message = f"{source}: has the ids of SentencePiece; most models with this file change them"
        warn(message, FormatWarning)
    roles = config.settings.roles
    bos, eos = roles.get("bos_token") or "<s>", roles.get("eos_token") or "</s>"
    ids = {token: id for token in (bos, eos) if (id := core.token_to_id(token)) is not None}
    template = sentencepiece_classes.bos_eos_template(config, bos, eos, ids)
    return core if template is None else with_parts(core, {"post_processor": template})


def _check_bytes(core: Core, config: FolderConfig, source: str) -> None:
    """Warn about a model for which `LlamaTokenizer`, which has no unknown token, drops characters."""
    if config.tokenizer_class != "LlamaTokenizer":
        return
    if any(core.token_to_id(f"<0x{byte:02X}>") is None for byte in range(256)):
        message = (
            f"{source}: has no pieces for all bytes: LlamaTokenizer drops characters that have no piece; the "
            ".model by its own name keeps them as unknown tokens"
        )
        warn(message, FormatWarning)


# ---- decoders

# transformers 5 ignores the first flag for BPE without the second.
_CLEANS_UP = (
    "clean_up_tokenization_spaces",
    "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
)
_BYTE_LEVEL = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
# What no decoder does; no token begins with this prefix, which would join it to the one before.
_JOINED_BY_SPACES = {"type": "WordPiece", "prefix": "\0", "cleanup": False}


def _with_decoder_of_class(core: Core, config: FolderConfig) -> tuple[Core, FolderConfig]:
    """Return the core with the decoder of its class, which cleans up texts if the configuration says so.

    The configuration then no longer says so, because transformers would clean up again.
    """
    if config.tokenizer_class == "CLIPTokenizer" and core.is_bpe:
        ends_words = [replacing("String", "</w>", " "), STRIP_TEXT]
        core = with_decoder_steps(core, {"type": "ByteLevel", **_BYTE_LEVEL}, ends_words)
    settings = config.settings
    kept = {key: value for key, value in settings.other.items() if key not in _CLEANS_UP}
    is_cleaned = config.flag(_CLEANS_UP[0]) and (not core.is_bpe or config.flag(_CLEANS_UP[1]))
    if is_cleaned:
        decoder = stages_of(core)["decoder"] or _JOINED_BY_SPACES
        # A .model is read as SentencePiece reads it, unless a class makes something else of it.
        if decoder["type"] != "SentencePiece":
            core = with_decoder_steps(core, decoder, steps_of_clean_up())
    return core, config._replace(settings=settings.replace(other=kept))


# ---- roles and settings


def _check_roles(core: Core, config: FolderConfig) -> None:
    """Warn about special tokens that a single file lacks; transformers adds them with new ids."""
    settings = config.settings
    missing = [
        f"{role} {token!r}"
        for role, token in settings.roles.items()
        if token is not None and core.token_to_id(token) is None
    ]
    extra = settings.extra_special_tokens or ()
    lacking = [repr(token) for token in extra if core.token_to_id(token) is None]
    if lacking:
        more = f" and {len(lacking) - _SHOWN_TOKENS} more" if len(lacking) > _SHOWN_TOKENS else ""
        missing.append(f"extra special tokens {', '.join(lacking[:_SHOWN_TOKENS])}{more}")
    for named in missing:
        message = (
            f"{config.source}: {named}: not in the vocabulary, and ignored; "
            "transformers adds such tokens with new ids, as with_added_tokens does"
        )
        warn(message, FormatWarning)


def _settings(config: FolderConfig) -> FolderSettings:
    """Return the settings; what the class implies is written out, because `save` names a general class."""
    settings = config.settings
    if config.tokenizer_class == "DistilBertTokenizer":
        other = {"model_input_names": ["input_ids", "attention_mask"], **settings.other}
        settings = settings.replace(other=other)
    return settings
