"""Build the tokenizers that classes of transformers 5 make of a SentencePiece model.

These classes take from the model its pieces, their scores and its table of characters, and set the stages
themselves. For example, their ids differ from those of SentencePiece in runs of spaces and beside special
tokens.
"""

from __future__ import annotations

from piecework._core import Core
from piecework.errors import FormatError
from piecework.io.core_parts import stages_of, with_parts
from piecework.io.folder_config import FolderConfig
from piecework.io.source_bytes import plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    Json: TypeAlias = dict[str, Any]

_LLAMA_ROLES = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
_ALBERT_ROLES = {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "unk_token": "<unk>",
    "sep_token": "[SEP]",
    "pad_token": "<pad>",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
# Class -> the roles of special tokens that a configuration does not set.
_ROLES: dict[str, dict[str, str]] = {
    "AlbertTokenizer": _ALBERT_ROLES,
    "CodeLlamaTokenizer": _LLAMA_ROLES,
    "GemmaTokenizer": {
        "unk_token": "<unk>",
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    },
    "LlamaTokenizer": _LLAMA_ROLES,
    "T5Tokenizer": {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
    "XLMRobertaTokenizer": {
        **_LLAMA_ROLES,
        "sep_token": "</s>",
        "cls_token": "<s>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    },
    "XLNetTokenizer": {
        **_LLAMA_ROLES,
        "sep_token": "<sep>",
        "pad_token": "<pad>",
        "cls_token": "<cls>",
        "mask_token": "<mask>",
    },
}
_LIKE_LLAMA = {"CodeLlamaTokenizer", "GemmaTokenizer", "LlamaTokenizer"}
_PADS_LEFT = {*_LIKE_LLAMA, "XLNetTokenizer"}
# The order in which transformers adds tokens of roles.
_ROLE_ORDER = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
# The roles whose tokens come before and after the pieces.
_ROLES_OF_XLM_ROBERTA = (("bos_token", "pad_token", "eos_token", "unk_token"), ("mask_token",))
_INFILLING_TOKENS = ("▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>", "<FILL_ME>")
_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def is_class_of_sentencepiece(core: Core, config: FolderConfig, source: str) -> bool:
    """Return whether `core`, read from `source`, is a model of which a known class makes a tokenizer."""
    return (
        plain_name(source).endswith(".model")
        and config.tokenizer_class in _ROLES
        and (stages_of(core)["normalizer"] or {}).get("type") == "SentencePiece"
    )


def with_settings_of_class(config: FolderConfig) -> FolderConfig:
    """Return the configuration with the roles and the padding side that its class implies."""
    name = config.tokenizer_class or ""
    settings = config.settings
    side = settings.padding_side or ("left" if name in _PADS_LEFT else None)
    roles = {**_ROLES[name], **settings.roles}
    return config.with_settings(settings.replace(roles=roles, padding_side=side))


def read_as_class(core: Core, config: FolderConfig, source: str) -> Core:
    """Return the tokenizer that the class of the configuration makes of a SentencePiece model.

    Of the special tokens, it has those with an id in the model. `with_special_tokens` adds the others, after
    the tokens that the configuration declares.
    """
    import json

    read: Json = json.loads(core.to_json(False))
    pieces: list[tuple[str, float, str]] = [
        (*piece, "normal")[:3] for piece in read["model"]["pieces"]
    ]
    name, charsmap = config.tokenizer_class or "", read["normalizer"]["precompiled_charsmap"]
    if name in _LIKE_LLAMA:
        stages = _gemma_stages() if name == "GemmaTokenizer" else _llama_stages(config)
        model = _bpe(pieces, None if name == "LlamaTokenizer" else _role(config, "unk_token"))
    else:
        stages = _unigram_stages(config, charsmap)
        model = _unigram(pieces, config)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "post_processor": None,
        **stages,
        "model": model,
    }
    made = Core.from_json(json.dumps(document, ensure_ascii=False).encode(), source)
    return with_parts(made, {"added_tokens": _tokens_with_ids(made, _special(pieces, config))})


def with_special_tokens(core: Core, config: FolderConfig) -> Core:
    """Add the template, and the special tokens of the class that have no id, with the next ids."""
    added = stages_of(core)["added_tokens"]
    known = {token["content"] for token in added}
    next_id = max([core.vocab_size(False), *(token["id"] + 1 for token in added)])
    for token in _role_tokens(config):
        if token["content"] not in known:
            known.add(token["content"])
            added.append({"id": next_id, **token})
            next_id += 1
    core = with_parts(core, {"added_tokens": sorted(added, key=lambda token: token["id"])})
    ids = {token["content"]: token["id"] for token in added}
    return with_parts(core, {"post_processor": _template(config, ids)})


def _role(config: FolderConfig, role: str) -> str | None:
    return config.settings.roles.get(role)


# ---- models


def _bpe(pieces: list[tuple[str, float, str]], unk_token: str | None) -> Json:
    """Return a BPE model that merges any two pieces whose concatenation is a piece, lowest id first."""
    # Imported here because `piecework.spec` takes longer to import than most files to load.
    from piecework.spec.ranked_merges import all_merges

    ids = {text: id for id, (text, _, _) in enumerate(pieces)}
    merges = [merge for splits in all_merges(ids).values() for merge in splits]
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unk_token,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": True,
        "ignore_merges": False,
        "vocab": ids,
        "merges": merges,
    }


def _unigram(pieces: list[tuple[str, float, str]], config: FolderConfig) -> Json:
    name = config.tokenizer_class
    vocab: list[list[Any]] = [[text, score] for text, score, _ in pieces]
    unk_id = {"T5Tokenizer": 2, "AlbertTokenizer": 1, "XLMRobertaTokenizer": 3}.get(name or "")
    if unk_id is None:
        unk_id = next(id for id, piece in enumerate(pieces) if piece[2] == "unknown")
    if name == "T5Tokenizer":
        vocab += [[token, 0.0] for token in reversed(_extra_ids(config))]
    if name == "XLMRobertaTokenizer":
        first, last = (_entries_of_roles(config, *roles) for roles in _ROLES_OF_XLM_ROBERTA)
        vocab = [*first, *vocab[3:], *last]
    return {"type": "Unigram", "unk_id": unk_id, "vocab": vocab, "byte_fallback": False}


def _entries_of_roles(config: FolderConfig, *roles: str) -> list[list[Any]]:
    tokens = {role: _role(config, role) for role in roles}
    for role, token in tokens.items():
        if token is None:
            expected = f"a token, which {config.tokenizer_class} adds to the pieces"
            raise FormatError(f"{config.source}: {role}", "null", expected)
    return [[token, 0.0] for token in tokens.values()]


def _extra_ids(config: FolderConfig) -> list[str]:
    return [f"<extra_id_{index}>" for index in range(config.count("extra_ids", 100))]


# ---- stages


def _llama_stages(config: FolderConfig) -> Json:
    has_prefix = config.flag("add_prefix_space") is not False
    scheme = "never"
    if has_prefix:
        is_legacy = config.flag("legacy") and config.tokenizer_class == "LlamaTokenizer"
        scheme = "always" if is_legacy else "first"
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": scheme,
            "split": False,
        },
        "decoder": _byte_fallback_decoder([strip] if has_prefix else []),
    }


def _gemma_stages() -> Json:
    return {
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        "decoder": _byte_fallback_decoder([]),
    }


def _byte_fallback_decoder(after: list[Json]) -> Json:
    spaces = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    steps = [spaces, {"type": "ByteFallback"}, {"type": "Fuse"}, *after]
    return {"type": "Sequence", "decoders": steps}


def _unigram_stages(config: FolderConfig, charsmap: str) -> Json:
    takes_prefix = config.tokenizer_class in ("AlbertTokenizer", "XLMRobertaTokenizer")
    has_prefix = not takes_prefix or config.flag("add_prefix_space") is not False
    metaspace = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always" if has_prefix else "never",
        "split": True,
    }
    words = [{"type": "WhitespaceSplit"}, metaspace]
    return {
        "normalizer": _unigram_normalizer(config, charsmap),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": words},
        "decoder": metaspace,
    }


def _unigram_normalizer(config: FolderConfig, charsmap: str) -> Json | None:
    table = [{"type": "Precompiled", "precompiled_charsmap": charsmap}] if charsmap else []
    name = config.tokenizer_class
    if name not in ("AlbertTokenizer", "XLNetTokenizer"):
        return table[0] if table else None
    lowercase = config.flag("do_lower_case")
    steps: list[Json] = [
        {"type": "Replace", "pattern": {"String": quotes}, "content": '"'}
        for quotes in ("``", "''")
    ]
    # XLNetTokenizer strips accents whatever its `keep_accents` says.
    if name == "XLNetTokenizer" or not config.flag("keep_accents"):
        steps += [{"type": "NFKD"}, {"type": "StripAccents"}]
    if (name == "AlbertTokenizer") if lowercase is None else lowercase:
        steps.append({"type": "Lowercase"})
    return {"type": "Sequence", "normalizers": [*steps, *table]}


# ---- special tokens


def _special(pieces: list[tuple[str, float, str]], config: FolderConfig) -> list[Json]:
    """Return the special tokens that class and model name, without ids; of equal ones, the last decides."""
    tokens = list(_role_tokens(config))
    if config.extra_tokens is None:
        tokens += [
            {"content": text, **_FLAGS, "special": kind == "control"}
            for text, _, kind in pieces
            if kind in ("control", "user_defined")
        ]
    return tokens


def _tokens_with_ids(core: Core, tokens: list[Json]) -> list[Json]:
    by_content: dict[str, Json] = {}
    for token in tokens:
        id = core.token_to_id(token["content"])
        if id is not None:
            by_content[token["content"]] = {"id": id, **token}
    return sorted(by_content.values(), key=lambda token: token["id"])


def _role_tokens(config: FolderConfig) -> list[Json]:
    """Return the special tokens of roles, of the class and of the configuration, in this order."""
    tokens = []
    for role in _ROLE_ORDER:
        content = _role(config, role)
        if content is not None:
            is_mask_of_xlnet = role == "mask_token" and config.tokenizer_class == "XLNetTokenizer"
            flags = config.role_flags.get(role, {"lstrip": is_mask_of_xlnet})
            tokens.append({"content": content, **_FLAGS, **flags, "special": True})
    others = (*config.named_tokens, *_extra_tokens(config))
    return [*tokens, *({"content": content, **_FLAGS, "special": True} for content in others)]


def _extra_tokens(config: FolderConfig) -> Sequence[str]:
    if config.extra_tokens is not None:
        return config.extra_tokens
    if config.tokenizer_class == "T5Tokenizer":
        return _extra_ids(config)
    return _INFILLING_TOKENS if config.tokenizer_class == "CodeLlamaTokenizer" else ()


# ---- templates


def _template(config: FolderConfig, ids: Mapping[str, int]) -> Json | None:
    bos, eos, sep, cls = (_role(config, f"{role}_token") for role in ("bos", "eos", "sep", "cls"))
    name = config.tokenizer_class
    if name == "T5Tokenizer":  # which has no type ids
        single = ["$A:0", f"{eos}:0"]
        return _template_json(single, [*single, "$B:0", f"{eos}:0"], ids)
    if name == "AlbertTokenizer":
        single = [f"{cls}:0", "$A:0", f"{sep}:0"]
        return _template_json(single, [*single, "$B:1", f"{sep}:1"], ids)
    if name == "XLNetTokenizer":
        first = ["$A:0", f"{sep}:0"]
        pair = [*first, "$B:1", f"{sep}:1", f"{cls}:2"]
        return _template_json([*first, f"{cls}:2"], pair, ids)
    if name == "XLMRobertaTokenizer":
        single = [f"{bos}:0", "$A:0", f"{eos}:0"]
        return _template_json(single, [*single, f"{eos}:0", "$B:0", f"{eos}:0"], ids)
    return bos_eos_template(config, bos, eos, ids, adds_bos=name == "CodeLlamaTokenizer")


def bos_eos_template(
    config: FolderConfig,
    bos: str | None,
    eos: str | None,
    ids: Mapping[str, int],
    *,
    adds_bos: bool = False,
) -> Json | None:
    """Return the template of `add_bos_token` and `add_eos_token`; `adds_bos` is the default of the former.

    None if it adds nothing, or a token without id.
    """
    flag = config.flag("add_bos_token")
    has_bos = bos is not None and (adds_bos if flag is None else flag)
    has_eos = eos is not None and config.flag("add_eos_token")

    def framed(text: str, type_id: int) -> list[str]:
        before = [f"{bos}:{type_id}"] if has_bos else []
        after = [f"{eos}:{type_id}"] if has_eos else []
        return [*before, f"{text}:{type_id}", *after]

    return _template_json(framed("$A", 0), [*framed("$A", 0), *framed("$B", 1)], ids)


def _template_json(single: list[str], pair: list[str], ids: Mapping[str, int]) -> Json | None:
    """Return the post-processor of a template; items are `$A`, `$B` or a token, a colon, and the type id."""
    tokens = [item.rpartition(":")[0] for item in pair if not item.startswith("$")]
    if not tokens or any(token not in ids for token in tokens):
        return None

    def piece(item: str) -> Json:
        name, _, type_id = item.rpartition(":")
        kind = "Sequence" if name.startswith("$") else "SpecialToken"
        return {kind: {"id": name.removeprefix("$"), "type_id": int(type_id)}}

    return {
        "type": "TemplateProcessing",
        "single": [piece(item) for item in single],
        "pair": [piece(item) for item in pair],
        "special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in tokens
        },
    }
