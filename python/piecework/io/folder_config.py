"""Read the configuration files of a Hugging Face folder; every value that is used is checked.

No code is run: `auto_map` and other references to Python files are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from piecework._internal.role_attributes import ROLES
from piecework._internal.surrogates import first_surrogate
from piecework._internal.validation import check_text, check_type
from piecework.errors import ArgumentError, FileError, FormatError
from piecework.io.folder_settings import DEFAULT_TEMPLATE, FolderSettings
from piecework.io.load_options import unexpected
from piecework.io.read_file import file_bytes, json_object

CONFIG = "tokenizer_config.json"
MODEL_CONFIG = "config.json"
ROLES_MAP = "special_tokens_map.json"
ADDED_TOKENS = "added_tokens.json"
CHAT_TEMPLATE = "chat_template.jinja"
CHAT_TEMPLATES = "additional_chat_templates"
TEMPLATE_SUFFIX = ".jinja"

SIDES = ("left", "right")
# transformers writes 1e30 for "no limit", and takes every number above this one as such.
_UNLIMITED = 10**20
_MAX_ID = 2**32 - 1

_READ_KEYS = {
    *ROLES,
    "model_max_length",
    "max_len",
    "padding_side",
    "truncation_side",
    "chat_template",
    "additional_special_tokens",
    "split_special_tokens",
    "tokenizer_class",
    "added_tokens_decoder",
}
# Names of files and of code. The folder that `save` writes has other files, and no code.
_LOCAL_KEYS = {
    "auto_map",
    "custom_tokenizers",
    "fast_tokenizer_files",
    "gguf_file",
    "init_inputs",
    "is_local",
    "local_files_only",
    "merges_file",
    "name_or_path",
    "special_tokens_map_file",
    "spm_file",
    "tokenizer_file",
    "tokenizer_object",
    "vocab_file",
}
_EXTRA_TOKENS = ("additional_special_tokens", "extra_special_tokens")
# Class of transformers 5 -> the types of models in a config.json for which AutoTokenizer takes it.
_MODEL_TYPES = {
    "AlbertTokenizer": "albert",
    "BertTokenizer": "bert convbert distilbert electra layoutlm megatron-bert squeezebert",
    "BlenderbotTokenizer": "blenderbot",
    "CLIPTokenizer": "clip clipseg groupvit owlv2 owlvit xclip",
    "CodeLlamaTokenizer": "code_llama",
    "DebertaTokenizer": "deberta",
    "GPT2Tokenizer": "codegen gpt2 gpt_neo gptj opt phi starcoder2",
    "GPTNeoXTokenizer": "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv",
    "GemmaTokenizer": "gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text",
    "LxmertTokenizer": "lxmert",
    "MobileBertTokenizer": "mobilebert",
    "OpenAIGPTTokenizer": "openai-gpt",
    "Qwen2Tokenizer": "qwen2 qwen2_moe qwen2_vl qwen2_5_vl qwen3 qwen3_moe",
    "RobertaTokenizer": "bart led longformer roberta roberta-prelayernorm",
    "T5Tokenizer": "mt5 switch_transformers t5",
    "WhisperTokenizer": "whisper",
    "XLMRobertaTokenizer": "xlm-roberta",
    "XLNetTokenizer": "xlnet",
}
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class FolderConfig(NamedTuple):
    """The checked configuration of a folder.

    `values` is the `tokenizer_config.json`, `source` its path, for errors. `added_tokens` are the tokens
    declared in `added_tokens_place`, as objects of a `tokenizer.json`, by id. `is_folder` is False if
    only a file of the folder is loaded. `role_flags` are the flags of roles whose token is an object.
    `values` has the `tokenizer_class` that the `config.json` of a folder implies, if it names none itself.
    """

    source: str
    values: Mapping[str, Any]
    settings: FolderSettings
    added_tokens: Mapping[int, dict[str, Any]]
    added_tokens_place: str
    is_folder: bool
    role_flags: Mapping[str, Mapping[str, bool]]

    def with_roles(self, roles: Mapping[str, str | None]) -> FolderConfig:
        """Return the same configuration with roles that its files do not set."""
        roles = {**roles, **self.settings.roles}
        return self._replace(settings=self.settings.replace(roles=roles))

    def required_role(self, role: str, to: str = "every text") -> str:
        """Return the token of a role that the class adds to something; raises `FormatError` without one."""
        token = self.settings.roles.get(role)
        if token is None:
            expected = f"a token, which {self.tokenizer_class} adds to {to}"
            raise FormatError(f"{self.source}: {role}", f"found null, expected {expected}")
        return token

    def without(self, *keys: str) -> FolderConfig:
        """Return the same configuration without some keys of its `tokenizer_config.json`."""
        values = {key: value for key, value in self.values.items() if key not in keys}
        return self._replace(values=values)

    @property
    def tokenizer_class(self) -> str | None:
        """The class of transformers that the folder names, without "Fast"; None if it names none."""
        name = self.values.get("tokenizer_class")
        return name.removesuffix("Fast") if isinstance(name, str) else None

    def flag(self, key: str) -> bool | None:
        """Return a boolean of the configuration, None if it is not set; raises `FormatError`."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise unexpected(f"{self.source}: {key}", value, "true, false or null")
        return value

    def text(self, key: str, default: str) -> str | None:
        """Return a string of the configuration, `default` if it has no such key; raises `FormatError`."""
        value = self.values.get(key, default)
        if value is not None and not isinstance(value, str):
            raise unexpected(f"{self.source}: {key}", value, "a string or null")
        return value

    def number(self, key: str, default: int) -> int:
        """Return a number of tokens of the configuration, or `default`; raises `FormatError`."""
        value: int = self.values.get(key, default)
        if not _is_id(value):
            raise unexpected(f"{self.source}: {key}", value, "a number of tokens")
        return value

    @property
    def model_type(self) -> str | None:
        """The type of the model that the `config.json` of the folder names; None if it names none."""
        name = model_config(self.source).get("model_type")
        return name if isinstance(name, str) else None

    @property
    def extra_flags(self) -> dict[str, dict[str, bool]]:
        """The flags of special tokens without a role that are objects, by content."""
        flags = {}
        for key in _EXTRA_TOKENS:
            tokens = self.values.get(key)
            for token in tokens if isinstance(tokens, list) else ():
                if isinstance(token, dict):
                    flags[_token(self.source, token)] = _given_flags(f"{self.source}: {key}", token)
        return flags

    @property
    def extra_tokens(self) -> tuple[str, ...] | None:
        """The special tokens without a role that `tokenizer_config.json` lists; None if it has no list."""
        lists = [self.values.get(key, {}) for key in _EXTRA_TOKENS]
        if all(isinstance(tokens, dict) for tokens in lists):
            return None
        return tuple(dict.fromkeys(_extra_tokens(self.source, self.values)))

    @property
    def named_tokens(self) -> tuple[str, ...]:
        """The special tokens with a name that is not a role, such as `image_token`."""
        named = {
            key: value
            for key, value in self.values.items()
            if key.endswith("_token") and key not in ROLES and isinstance(value, str)
        }
        mapping = self.values.get("extra_special_tokens")
        if not named and not isinstance(mapping, dict):
            mapping = self.values.get("model_specific_special_tokens")
        if isinstance(mapping, dict):
            tokens = mapping.items()
            named |= {key: _token(f"{self.source}: {key}", value) for key, value in tokens}
        return tuple(dict.fromkeys(named.values()))


def read_config(path: str) -> FolderConfig | None:
    """Return the configuration of a folder, or of the folder of a file; None if it has none.

    Raises `FormatError` for a file that is not a JSON object, and for wrong types and values.
    """
    is_folder = os.path.isdir(path)
    folder = path if is_folder else os.path.dirname(path)
    sources = {
        name: os.path.join(folder, name)
        for name in (CONFIG, ROLES_MAP, ADDED_TOKENS, CHAT_TEMPLATE)
    }
    found = {name for name, source in sources.items() if os.path.isfile(source)}
    templates = os.path.join(folder, CHAT_TEMPLATES)
    values = json_object(sources[CONFIG]) if CONFIG in found else {}
    implied = None
    if is_folder and values.get("tokenizer_class") is None:
        implied = _class_of_model(sources[CONFIG])
    if not found and implied is None and not os.path.isdir(templates):
        return None
    if implied is not None:
        values = {**values, "tokenizer_class": implied}
    # As in transformers: added_tokens_decoder replaces the other files, which win over the configuration.
    is_old = "added_tokens_decoder" not in values
    role_map = json_object(sources[ROLES_MAP]) if is_old and ROLES_MAP in found else {}
    source = sources[CONFIG]
    roles = {**_roles(source, values), **_roles(sources[ROLES_MAP], role_map)}
    if any(isinstance(values.get(key), list) for key in _EXTRA_TOKENS):
        role_map.pop(_EXTRA_TOKENS[0], None)
    extra = (*_extra_tokens(source, values), *_extra_tokens(sources[ROLES_MAP], role_map))
    settings = FolderSettings(
        roles=roles,
        model_max_length=_max_length(source, values),
        padding_side=_side(source, values, "padding_side"),
        truncation_side=_side(source, values, "truncation_side"),
        chat_templates=_chat_templates(source, values, sources[CHAT_TEMPLATE], templates),
        extra_special_tokens=tuple(dict.fromkeys(extra)) if values or role_map else None,
        other=_other(values),
    )
    special = {token for token in (*roles.values(), *extra) if token is not None}
    place = f"{source}: added_tokens_decoder"
    if not is_old:
        declared = _added_tokens_decoder(source, values["added_tokens_decoder"])
    elif ADDED_TOKENS in found:
        place = sources[ADDED_TOKENS]
        declared = _added_tokens_json(place, special)
    else:
        declared = {}
    role_flags = _role_flags(source, values, special=False)
    role_flags = {role: flags for role, flags in role_flags.items() if role not in role_map}
    role_flags |= _role_flags(sources[ROLES_MAP], role_map, special=True)
    return FolderConfig(source, values, settings, declared, place, is_folder, role_flags)


# ---- files


def model_config(beside: str) -> dict[str, Any]:
    """Return the `config.json` in the folder of a file; an empty object without one."""
    source = os.path.join(os.path.dirname(beside), MODEL_CONFIG)
    return json_object(source) if os.path.isfile(source) else {}


def _class_of_model(beside: str) -> str | None:
    """Return the class that AutoTokenizer chooses for a `config.json`; None if it chooses none."""
    model = model_config(beside)
    named, type_of_model = model.get("tokenizer_class"), model.get("model_type")
    if isinstance(named, str):
        return named
    of_type = (name for name, types in _MODEL_TYPES.items() if type_of_model in types.split())
    return next(of_type, None)


def _template_file(source: str) -> str:
    """Return the text of a template; as in transformers, every line ends with one newline character."""
    try:
        text = file_bytes(source, "a chat template").decode()
    except UnicodeDecodeError as error:
        problem = f"found invalid UTF-8 at byte {error.start}, expected UTF-8 text"
        raise FormatError(source, problem) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ---- values


def _roles(source: str, values: Mapping[str, Any]) -> dict[str, str | None]:
    roles: dict[str, str | None] = {}
    for role in ROLES:
        if role in values:
            value = values[role]
            roles[role] = None if value in (None, "") else _token(f"{source}: {role}", value)
    return roles


def _role_flags(
    source: str, values: Mapping[str, Any], *, special: bool
) -> dict[str, dict[str, bool]]:
    """Return the flags of roles whose token is an object; `special` is the default of that flag."""
    tokens = {role: values[role] for role in ROLES if isinstance(values.get(role), dict)}
    return {
        role: _given_flags(f"{source}: {role}", {"special": special, **token})
        for role, token in tokens.items()
    }


def _given_flags(place: str, token: Mapping[str, Any]) -> dict[str, bool]:
    """Return the flags of a token that is an object, with the defaults of tokenizers."""
    flags = {name: token.get(name, False) for name in _FLAGS}
    # A token that is not special matches in normalized text unless it says otherwise.
    flags["normalized"] = token.get("normalized", not flags["special"])
    return _flags(place, flags)


def _extra_tokens(source: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the special tokens without a role; a mapping of named tokens stays in `other`.

    As in transformers 5, a list of `extra_special_tokens` replaces one of `additional_special_tokens`.
    """
    additional, extra = _EXTRA_TOKENS
    is_replaced = isinstance(values.get(extra), list) and values[extra]
    for key in (extra,) if is_replaced else (additional, extra):
        tokens = values.get(key) or []
        if isinstance(tokens, dict) and key == "extra_special_tokens":
            continue
        if not isinstance(tokens, list):
            raise unexpected(f"{source}: {key}", tokens, "a list of tokens")
        for position, token in enumerate(tokens):
            yield _token(f"{source}: {key}[{position}]", token)


def _token(place: str, value: object) -> str:
    """Return the text of a token, which is a string or an object with `content`."""
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str):
        raise unexpected(place, value, "a token: a string, or an object with content")
    return _valid_text(place, content)


def _valid_text(place: str, text: str) -> str:
    if first_surrogate(text) is not None:
        problem = f"found a lone surrogate in {text!r}, expected text that UTF-8 can encode"
        raise FormatError(place, problem)
    return text


def _max_length(source: str, values: Mapping[str, Any]) -> int | None:
    for key in ("model_max_length", "max_len"):
        value = values.get(key)
        if value is None:
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and value > _UNLIMITED:
            return None
        if not is_number or not value >= 1 or value != int(value):
            raise unexpected(f"{source}: {key}", value, "a positive number of tokens")
        return int(value)
    return None


def _side(source: str, values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    if value is not None and value not in SIDES:
        raise unexpected(f"{source}: {key}", value, '"left" or "right"')
    return value


def _chat_templates(
    source: str, values: Mapping[str, Any], default: str, folder: str
) -> dict[str, str]:
    """Return name -> template; files in Jinja replace what the configuration contains."""
    files = dict(_template_files(default, folder))
    if files:
        return files
    place, value = f"{source}: chat_template", values.get("chat_template")
    if value is None:
        return {}
    if isinstance(value, str):
        return {DEFAULT_TEMPLATE: _valid_text(place, value)}
    if isinstance(value, list):
        pairs = [
            (one.get("name"), one.get("template")) if isinstance(one, dict) else (None, None)
            for one in value
        ]
    else:
        pairs = list(value.items()) if isinstance(value, dict) else [(None, None)]
    templates = {}
    for name, template in pairs:
        if not isinstance(name, str) or not isinstance(template, str):
            raise unexpected(place, value, "a string, or a list of objects with name and template")
        if not is_template_name(name):
            raise FormatError(place, f"the name {name!r} contains a separator of paths")
        templates[name] = _valid_text(place, template)
    return templates


def _template_files(default: str, folder: str) -> Iterator[tuple[str, str]]:
    if os.path.isfile(default):
        yield DEFAULT_TEMPLATE, _template_file(default)
    if not os.path.isdir(folder):
        return
    with FileError.while_reading(folder):
        names = sorted(os.listdir(folder))
    for name in names:
        if name.endswith(TEMPLATE_SUFFIX) and is_template_name(name):
            yield name.removesuffix(TEMPLATE_SUFFIX), _template_file(os.path.join(folder, name))


def templates_with(templates: Mapping[str, str], name: str, template: str | None) -> dict[str, str]:
    """Return the chat templates with one replaced or added; None removes it."""
    check_type("template", template, str | None, "str or None")
    if template is not None:
        check_text("template", template)
    if not is_template_name(name):
        raise ArgumentError("name", f"must be a name without separators of paths, not {name!r}")
    others = {other: text for other, text in templates.items() if other != name}
    return others if template is None else {**others, name: template}


def is_template_name(name: object) -> bool:
    """Return whether a chat template of this name can be a file: `NAME.jinja`.

    >>> is_template_name("tool_use"), is_template_name("../x")
    (True, False)
    """
    return (
        isinstance(name, str)
        and 0 < len(name) <= 200
        and not name.startswith(".")
        and not any(character in name for character in "/\\:\0")
        and first_surrogate(name) is None
    )


def _other(values: Mapping[str, Any]) -> dict[str, Any]:
    unused = _READ_KEYS | _LOCAL_KEYS
    other = {key: value for key, value in values.items() if key not in unused}
    if not isinstance(other.get("extra_special_tokens"), dict):
        other.pop("extra_special_tokens", None)
    return other


# ---- declared added tokens


def _added_tokens_decoder(source: str, value: object) -> dict[int, dict[str, Any]]:
    place = f"{source}: added_tokens_decoder"
    if not isinstance(value, dict):
        raise unexpected(place, value, "an object from ids to tokens")
    tokens: dict[int, dict[str, Any]] = {}
    for key, token in value.items():
        inside = f"{place}[{key}]"
        if not (key.isascii() and key.isdecimal()) or len(key) > 10 or int(key) > _MAX_ID:
            raise FormatError(inside, f"found {key[:60]!r}, expected an id from 0 to 4294967295")
        if not isinstance(token, dict):
            raise unexpected(inside, token, "an object with content")
        content = _token(inside, token)
        tokens[int(key)] = {"id": int(key), "content": content, **_given_flags(inside, token)}
    return dict(sorted(tokens.items()))


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_ID


def _flags(place: str, flags: dict[str, Any]) -> dict[str, bool]:
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise unexpected(f"{place}.{name}", flag, "true or false")
    return flags


def _added_tokens_json(source: str, special: set[str]) -> dict[int, dict[str, Any]]:
    tokens: dict[int, dict[str, Any]] = {}
    for content, id in json_object(source).items():
        place = f"{source}: {content!r}"
        if not _is_id(id):
            raise unexpected(place, id, "an id from 0 to 4294967295")
        if id in tokens:
            found = f"has the id {id} of {tokens[id]['content']!r}"
            raise FormatError(place, f"{found}; each token needs an id of its own")
        is_special = content in special
        flags = dict.fromkeys(_FLAGS, False)
        flags["normalized"], flags["special"] = not is_special, is_special
        tokens[id] = {"id": id, "content": _valid_text(place, content), **flags}
    return dict(sorted(tokens.items()))
