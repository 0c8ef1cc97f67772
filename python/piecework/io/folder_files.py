"""Write a Hugging Face folder, which transformers opens with the same ids, roles and settings."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from piecework._internal.role_attributes import ROLES
from piecework._internal.surrogates import first_surrogate
from piecework._internal.warn import warn
from piecework.errors import FileError, PortabilityWarning
from piecework.io.atomic_files import atomic_file
from piecework.io.folder_config import (
    ADDED_TOKENS,
    CHAT_TEMPLATE,
    CHAT_TEMPLATES,
    CONFIG,
    ROLES_MAP,
    TEMPLATE_SUFFIX,
)
from piecework.io.folder_settings import DEFAULT_TEMPLATE, FolderSettings
from piecework.io.stored_lengths import core_of_folder

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

TOKENIZER = "tokenizer.json"
# The class that reads a tokenizer.json without changing it, by the name that transformers 4 and 5 know.
_CLASS = "PreTrainedTokenizerFast"
_WITHOUT_TYPE_IDS = ["input_ids", "attention_mask"]
_WITH_TYPE_IDS = ["input_ids", "token_type_ids", "attention_mask"]


def save_folder(tokenizer: Tokenizer, folder: str, *, strict: bool = False) -> None:
    """Write the files of a tokenizer into a folder, which is created if its parent exists.

    Files of an earlier tokenizer that would change this one are removed: `added_tokens.json` and chat
    templates. A failure leaves the old files. Raises what `Tokenizer.save` documents.
    """
    files = folder_files(tokenizer, strict=strict)
    has_templates = any("/" in name for name in files)
    directories = (folder, *([os.path.join(folder, CHAT_TEMPLATES)] if has_templates else []))
    made = [directory for directory in directories if not os.path.isdir(directory)]
    with FileError.while_writing(folder):
        for directory in made:
            os.mkdir(directory)
    try:
        with ExitStack() as stack:
            for name, data in files.items():
                path = os.path.join(folder, name)
                stack.enter_context(atomic_file(path)).write_bytes(data)
    except BaseException:
        for directory in reversed(made):
            with suppress(OSError):
                os.rmdir(directory)
        raise
    _remove_stale(folder, files)


def folder_files(tokenizer: Tokenizer, *, strict: bool = False) -> dict[str, bytes]:
    """Return the files of a folder: name, with the folder of named chat templates, and content."""
    settings = tokenizer._settings
    parsing = tokenizer
    if tokenizer.parse_special is False:  # a setting of the configuration, not of tokenizer.json
        parsing = tokenizer.with_parse_special(True)
    text = parsing._variant(core_of_folder(parsing._core, settings)).to_str(
        pretty=True, strict=strict
    )
    added = _added_tokens(text)
    roles: dict[str, str | None] = {role: None for role in ROLES if role in settings.roles}
    roles.update(tokenizer._role_tokens())
    _warn_of_new_matches(roles, added)
    extra = _extra_special_tokens(settings, roles, added)
    named = {role: token for role, token in roles.items() if token is not None}
    files = {
        TOKENIZER: text.encode(),
        CONFIG: _json_bytes(_config(tokenizer, roles, extra)),
        ROLES_MAP: _json_bytes(
            {**named, **({"additional_special_tokens": extra} if extra else {})}
        ),
    }
    for name, template in settings.chat_templates.items():
        is_default = name == DEFAULT_TEMPLATE
        file = CHAT_TEMPLATE if is_default else f"{CHAT_TEMPLATES}/{name}{TEMPLATE_SUFFIX}"
        files[file] = template.encode()
    return files


def _added_tokens(text: str) -> dict[str, bool]:
    """Return the added tokens of a tokenizer.json, and whether each is special; the rest is not parsed.

    Inside a string the quotes of the key would be escaped, and no other object of the file has this key.
    """
    key = '"added_tokens":'
    start = text.index("[", text.index(key) + len(key))
    tokens, _ = json.JSONDecoder().raw_decode(text, start)
    return {token["content"]: token["special"] for token in tokens}


# ---- tokenizer_config.json


def _config(tokenizer: Tokenizer, roles: dict[str, str | None], extra: list[str]) -> dict[str, Any]:
    settings = tokenizer._settings
    config: dict[str, Any] = {
        "clean_up_tokenization_spaces": False,  # decoders clean up by themselves
        "model_input_names": _model_input_names(tokenizer),
        **settings.other,
        **roles,
        "padding_side": tokenizer.padding_side,
        "truncation_side": tokenizer.truncation_side,
        "tokenizer_class": _CLASS,
    }
    # Not extra_special_tokens: transformers 4 expects a mapping of that name.
    if extra:
        config["additional_special_tokens"] = extra
    if settings.model_max_length is not None:
        config["model_max_length"] = settings.model_max_length
    if tokenizer.parse_special is False:
        config["split_special_tokens"] = True
    # transformers 4 sets the prefix space of byte-level pre-tokenizers.
    config.pop("add_prefix_space", None)
    if getattr(tokenizer.spec.pre_tokenizer, "add_prefix_space", False):
        config["add_prefix_space"] = True
    return config


def _model_input_names(tokenizer: Tokenizer) -> list[str]:
    """Return the arguments of the model; only models of BERT's kind take type ids."""
    roles = tokenizer._role_tokens()
    if "cls_token" not in roles or "sep_token" not in roles:
        return _WITHOUT_TYPE_IDS
    bare = tokenizer.without_truncation().without_padding()
    return _WITH_TYPE_IDS if any(bare.encode("", "").type_ids) else _WITHOUT_TYPE_IDS


def _extra_special_tokens(
    settings: FolderSettings, roles: dict[str, str | None], added: dict[str, bool]
) -> list[str]:
    """Return the special tokens without a role that the configuration declared, or all."""
    named = set(roles.values())
    if settings.extra_special_tokens is None:
        return [token for token, special in added.items() if special and token not in named]
    return [token for token in settings.extra_special_tokens if token in added]


def _warn_of_new_matches(roles: dict[str, str | None], added: dict[str, bool]) -> None:
    """Warn if transformers will match the token of a role in text, where this tokenizer does not."""
    tokens = {
        token: role for role, token in roles.items() if token is not None and token not in added
    }
    for token, role in tokens.items():
        message = (
            f"the {role} {token!r} is not an added token; transformers matches it whole in the text, as "
            f"with_added_tokens([{token!r}], special=True) does"
        )
        warn(message, PortabilityWarning)


def _json_bytes(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    if first_surrogate(text) is not None:  # which the configuration wrote as an escape
        text = json.dumps(value, indent=2, sort_keys=True)
    return f"{text}\n".encode()


# ---- the folder


def _remove_stale(folder: str, files: dict[str, bytes]) -> None:
    stale = [name for name in (ADDED_TOKENS, CHAT_TEMPLATE) if name not in files]
    with suppress(OSError):
        for name in os.listdir(os.path.join(folder, CHAT_TEMPLATES)):
            inside = f"{CHAT_TEMPLATES}/{name}"
            if name.endswith(TEMPLATE_SUFFIX) and inside not in files:
                stale.append(inside)
    for name in stale:
        path = os.path.join(folder, name)
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise FileError.removing(path, error) from error
