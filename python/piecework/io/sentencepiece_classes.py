"""Build the tokenizer that a class of transformers 5 builds from a SentencePiece model.

These classes take from the model its pieces, their scores and its table of characters, and set the stages
themselves. For example, their ids differ from SentencePiece's in runs of spaces and beside special
tokens. `class_tables` says what each class sets. Beside a `tokenizer.json`, they take entries and merges
from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from piecework._internal._core import Core
from piecework.errors import FormatError
from piecework.io import class_tables as classes
from piecework.io.core_parts import (
    NO_FLAGS,
    Json,
    replacing,
    stages_of,
    with_new_tokens,
    with_parts,
)
from piecework.io.folder_config import FolderConfig
from piecework.io.source_bytes import plain_name

_INFILLING_TOKENS = ("▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>", "<FILL_ME>")
# The roles whose tokens come before the pieces of the fairseq models.
_FAIRSEQ_ROLES = ("bos_token", "pad_token", "eos_token", "unk_token")
# Classes that transformers follows beside a `tokenizer.json`, and that are followed here.
_FOLLOWED = classes.LIKE_LLAMA | {"AlbertTokenizer", "T5Tokenizer", "XLMRobertaTokenizer"}
_ADDS = ("add_bos_token", "add_eos_token")
_PRIVATE_USE = "\U000f1234"


def is_class_of_sentencepiece(core: Core, config: FolderConfig, source: str) -> bool:
    """Return whether `core`, read from `source`, is a model from which a known class builds a tokenizer."""
    return (
        plain_name(source).endswith(".model")
        and config.tokenizer_class in classes.ROLES
        and (stages_of(core)["normalizer"] or {}).get("type") == "SentencePiece"
    )


def follows_class(core: Core, config: FolderConfig, source: str) -> bool:
    """Return whether the class of the configuration decides the stages of the `tokenizer.json` in `source`.

    transformers 5 sets them whatever the file says. Here the file has to be one of SentencePiece: BPE that
    falls back to bytes or Unigram, ▁ for spaces, nothing byte-level, and the unknown piece of the class.
    """
    name = config.tokenizer_class
    if name not in _FOLLOWED or plain_name(source) != "tokenizer.json":
        return False
    stages = stages_of(core)
    pipeline = repr([stages[stage] for stage in ("normalizer", "pre_tokenizer", "decoder")])
    if "▁" not in pipeline or "'ByteLevel'" in f"{pipeline} {stages['post_processor']}":
        return False
    is_unigram = core.scores_segmentations
    if name in classes.LIKE_LLAMA:
        fits = not is_unigram and _falls_back_to_bytes(core)
    else:
        unk = with_settings_of_class(config).settings.roles.get("unk_token")
        fits = is_unigram and core.id_to_token(classes.UNK_IDS[name]) == unk
    return fits and config.model_type not in classes.READ_AS_FILES


def _falls_back_to_bytes(core: Core) -> bool:
    """Return whether a character outside every vocabulary becomes four byte tokens."""
    plain = core.with_truncation(None).with_padding(None)
    ids = plain.encode_text(_PRIVATE_USE, False, False).ids
    tokens = [f"<0x{byte:02X}>" for byte in _PRIVATE_USE.encode()]
    return [core.id_to_token(id) for id in ids[-4:]] == tokens


def with_settings_of_class(config: FolderConfig) -> FolderConfig:
    """Return the configuration with the roles and the padding side that its class implies."""
    name = config.tokenizer_class or ""
    settings = config.settings
    side = settings.padding_side or ("left" if name in classes.PADS_LEFT else None)
    roles = {**classes.ROLES[name], **settings.roles}
    return config._replace(settings=settings.replace(roles=roles, padding_side=side))


def read_as_class(core: Core, config: FolderConfig, source: str) -> Core:
    """Return the tokenizer that the configuration's class builds from a SentencePiece model.

    It has the special tokens with an id in the model. `with_special_tokens` adds the others, after the tokens
    that the configuration declares.
    """
    import json

    read: Json = json.loads(core.to_json(False))
    pieces: list[tuple[str, float, str]] = [
        (*piece, "normal")[:3] for piece in read["model"]["pieces"]
    ]
    charsmap = read["normalizer"]["precompiled_charsmap"]
    model = _bpe(pieces, config) if _is_bpe(config) else _unigram(pieces, config, source)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "post_processor": None,
        **stages_of_class(config, charsmap),
        "model": model,
    }
    made = Core.from_json(json.dumps(document, ensure_ascii=False).encode(), source)
    return with_parts(made, {"added_tokens": _tokens_with_ids(made, _special(pieces, config))})


def with_stages_of_class(core: Core, config: FolderConfig) -> Core:
    """Return the core of a `tokenizer.json` with the stages that the class of the configuration sets."""
    charsmap = charsmap_of(stages_of(core)["normalizer"])
    return with_parts(core, stages_of_class(config, charsmap))


def with_special_tokens(core: Core, config: FolderConfig, source: str) -> Core:
    """Add the template and the special tokens of the class; tokens without an id get the next ids."""
    parts: Json = {"added_tokens": with_new_tokens(core, _role_tokens(config))}
    ids = {token["content"]: token["id"] for token in parts["added_tokens"]}
    name, is_file = config.tokenizer_class, plain_name(source) == "tokenizer.json"
    of_file = stages_of(core)["post_processor"]
    keeps = name in ("GemmaTokenizer", "LlamaTokenizer") or (name == "AlbertTokenizer" and of_file)
    if not (is_file and keeps):
        # transformers ignores add_bos_token and add_eos_token beside a tokenizer.json.
        parts["post_processor"] = _template(config.without(*_ADDS) if is_file else config, ids)
    return with_parts(core, parts)


def _role(config: FolderConfig, role: str) -> str | None:
    return config.settings.roles.get(role)


# ---- models


def _is_bpe(config: FolderConfig) -> bool:
    return config.tokenizer_class in classes.LIKE_LLAMA | {"ReformerTokenizer"}


def _bpe(pieces: list[tuple[str, float, str]], config: FolderConfig) -> Json:
    """Return a BPE model that merges any two pieces whose concatenation is a piece, lowest id first."""
    # Imported here because `piecework.spec` takes longer to import than most files to load.
    from piecework.spec.ranked_merges import all_merges

    ids = {text: id for id, (text, _, _) in enumerate(pieces)}
    merges = [merge for splits in all_merges(ids).values() for merge in splits]
    name = config.tokenizer_class
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None if name == "LlamaTokenizer" else _role(config, "unk_token"),
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": name in classes.LIKE_LLAMA,
        "ignore_merges": False,
        "vocab": ids,
        "merges": merges,
    }


def _unigram(pieces: list[tuple[str, float, str]], config: FolderConfig, source: str) -> Json:
    vocab = _entries(pieces, config)
    unk_id = _unk_id(pieces, vocab, config)
    if unk_id is None or unk_id >= len(vocab):
        name, unk = config.tokenizer_class, _role(config, "unk_token")
        problem = f"has no piece {unk!r} where {name} of transformers expects its unknown piece"
        hint = f"load {plain_name(source)} by its own path for the ids of SentencePiece"
        raise FormatError(source, problem, hint=hint)
    return {"type": "Unigram", "unk_id": unk_id, "vocab": vocab, "byte_fallback": False}


def _entries(pieces: list[tuple[str, float, str]], config: FolderConfig) -> list[list[Any]]:
    """Return the pieces with the entries that the class puts before and after them, with scores."""
    name = config.tokenizer_class
    vocab: list[list[Any]] = [[text, score] for text, score, _ in pieces]
    if name == "T5Tokenizer":
        return vocab + _without_score(reversed(_extra_ids(config)))
    if name in ("XLMRobertaTokenizer", *classes.LANGUAGES):
        first, last = _tokens_of(config, *_FAIRSEQ_ROLES), _tokens_of(config, "mask_token")
        if name == "MBart50Tokenizer":
            first[0] = _tokens_of(config, "cls_token")[0]
        last = [*classes.LANGUAGES.get(name, ()), *last]
        return _without_score(first) + vocab[3:] + _without_score(last)
    if name == "CamembertTokenizer":
        pad, unk, mask = _tokens_of(config, "pad_token", "unk_token", "mask_token")
        first = ["<s>NOTUSED", pad, "</s>NOTUSED", unk]
        return [*_without_score(first), ["<unk>NOTUSED", -100.0], *vocab[1:], [mask, 0.0]]
    if name == "PegasusTokenizer":
        pad, eos = _tokens_of(config, "pad_token", "eos_token")
        masks = [mask for mask in _masks_of_pegasus(config) if mask is not None]
        unused = [[token, -100.0] for token in _unused_of_pegasus(config)]
        return _without_score([pad, eos, *dict.fromkeys(masks)]) + unused + vocab[2:]
    return vocab


def _without_score(tokens: Iterable[str]) -> list[list[Any]]:
    return [[token, 0.0] for token in tokens]


def _unk_id(
    pieces: list[tuple[str, float, str]], vocab: list[list[Any]], config: FolderConfig
) -> int | None:
    name, unk = config.tokenizer_class or "", _role(config, "unk_token")
    if name in classes.UNK_IDS:
        return classes.UNK_IDS[name]
    unknown = next(id for id, piece in enumerate(pieces) if piece[2] == "unknown")
    if name == "XLNetTokenizer":
        return unknown
    is_scored = name == "CamembertTokenizer"  # the others look for the piece with the score 0
    ids = (id for id, (text, score) in enumerate(vocab) if text == unk and (is_scored or not score))
    absent = {"BigBirdTokenizer": 100, "CamembertTokenizer": 0, "DebertaV2Tokenizer": unknown}
    return next(ids, absent.get(name))


def _tokens_of(config: FolderConfig, *roles: str) -> list[str]:
    """Return the tokens of roles; the first role of the fairseq models may have none."""
    if config.tokenizer_class == "MBart50Tokenizer" and _role(config, "bos_token") is None:
        config = config._replace(
            settings=config.settings.replace(roles={**config.settings.roles, "bos_token": "<s>"})
        )
    return [config.required_role(role, to="the pieces") for role in roles]


def _extra_ids(config: FolderConfig) -> list[str]:
    return [f"<extra_id_{index}>" for index in range(config.number("extra_ids", 100))]


def _masks_of_pegasus(config: FolderConfig) -> tuple[str | None, str | None]:
    """Return the masks of words and of sentences among the entries; their defaults are not the roles."""
    mask = _role(config, "mask_token") if "mask_token" in config.values else "<mask_1>"
    return mask, config.text("mask_token_sent", "<mask_2>")


def _unused_of_pegasus(config: FolderConfig) -> list[str]:
    return [f"<unk_{index}>" for index in range(2, config.number("offset", 103))]


# ---- stages


def stages_of_class(config: FolderConfig, charsmap: str) -> Json:
    """Return the normalizer, pre-tokenizer and decoder of a class of `class_tables.ROLES`."""
    name = config.tokenizer_class or ""
    if name == "GemmaTokenizer":
        return _gemma_stages()
    if name in classes.LIKE_LLAMA:
        return _llama_stages(config)
    scheme = "always"
    if config.flag("add_prefix_space") is False:
        scheme = classes.WITHOUT_PREFIX_SPACE.get(name, scheme)
    metaspace = _metaspace(scheme, split=True)
    words: list[Json] = [{"type": "WhitespaceSplit"}] if name in classes.SPLITS_WHITESPACE else []
    if name == "DebertaV2Tokenizer" and config.flag("split_by_punct"):
        words.append({"type": "Punctuation", "behavior": "Isolated"})
    words.append(metaspace)
    sequence = {"type": "Sequence", "pretokenizers": words}
    return {
        "normalizer": _normalizer(config, charsmap),
        "pre_tokenizer": sequence if len(words) > 1 else metaspace,
        "decoder": metaspace,
    }


def _metaspace(scheme: str, *, split: bool) -> Json:
    settings = {"replacement": "▁", "prepend_scheme": scheme, "split": split}
    return {"type": "Metaspace", **settings}


def charsmap_of(normalizer: Json | None) -> str:
    """Return the table of characters of a normalizer or of the first step that has one, "" without one."""
    steps = [normalizer or {}]
    steps += steps[0].get("normalizers", [])
    tables = (step["precompiled_charsmap"] for step in steps if step.get("type") == "Precompiled")
    return next(tables, "")


def _llama_stages(config: FolderConfig) -> Json:
    has_prefix = config.flag("add_prefix_space") is not False
    scheme = "never"
    if has_prefix:
        is_legacy = config.flag("legacy") and config.tokenizer_class == "LlamaTokenizer"
        scheme = "always" if is_legacy else "first"
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "normalizer": None,
        "pre_tokenizer": _metaspace(scheme, split=False),
        "decoder": _byte_fallback_decoder([strip] if has_prefix else []),
    }


def _gemma_stages() -> Json:
    return {
        "normalizer": replacing("String", " ", "▁"),
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        "decoder": _byte_fallback_decoder([]),
    }


def _byte_fallback_decoder(after: list[Json]) -> Json:
    spaces = replacing("String", "▁", " ")
    steps = [spaces, {"type": "ByteFallback"}, {"type": "Fuse"}, *after]
    return {"type": "Sequence", "decoders": steps}


def _normalizer(config: FolderConfig, charsmap: str) -> Json | None:
    name = config.tokenizer_class or ""
    steps = [step for each in classes.NORMALIZERS[name] for step in _steps(each, config, charsmap)]
    if name == "ReformerTokenizer" and not charsmap:
        return None
    if not steps or (len(steps) == 1 and name in classes.SPLITS_WHITESPACE):
        return steps[0] if steps else None
    return {"type": "Sequence", "normalizers": steps}


def _steps(name: str, config: FolderConfig, charsmap: str) -> list[Json]:
    """Return the normalizers of a step of `class_tables.NORMALIZERS`, none if it does not apply."""
    named = config.tokenizer_class
    if name == "charsmap" and charsmap:
        return [{"type": "Precompiled", "precompiled_charsmap": charsmap}]
    if name == "charsmap":
        return [replacing("Regex", "\n", " ")] if named == "PegasusTokenizer" else []
    if name == "accents":
        # XLNetTokenizer strips accents whatever its `keep_accents` says.
        kept = named != "XLNetTokenizer" and config.flag("keep_accents")
        return [] if kept else [{"type": "NFKD"}, {"type": "StripAccents"}]
    if name == "lowercase":
        flag = config.flag("do_lower_case")
        lowercases = named == "AlbertTokenizer" if flag is None else flag
        return [{"type": "Lowercase"}] if lowercases else []
    return _PLAIN_STEPS[name]


_PLAIN_STEPS: dict[str, list[Json]] = {
    "NFC": [{"type": "NFC"}],
    "lines": [replacing("Regex", r"\s{2,}|[\n\r\t]", " ")],
    "quotes": [replacing("String", quotes, '"') for quotes in ("``", "''")],
    "spaces": [replacing("Regex", " {2,}", " ")],
    "spaces to ▁": [replacing("Regex", " {2,}", "▁")],
    "strip end": [{"type": "Strip", "strip_left": False, "strip_right": True}],
}


# ---- special tokens


def _special(pieces: list[tuple[str, float, str]], config: FolderConfig) -> list[Json]:
    """Return the special tokens that class and model name, without ids; the last of equal ones wins."""
    tokens = list(_role_tokens(config))
    roles = {_role(config, role) for role in classes.ROLE_ORDER}
    if config.extra_tokens is None and config.tokenizer_class != "PegasusTokenizer":
        tokens += [
            {"content": text, **NO_FLAGS, "special": kind == "control" or text in roles}
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
    for role in classes.ROLE_ORDER:
        content = _role(config, role)
        if content is not None:
            strips = role == "mask_token" and config.tokenizer_class in classes.LSTRIP_MASK
            flags = config.role_flags.get(role, {"lstrip": strips})
            tokens.append({"content": content, **NO_FLAGS, **flags, "special": True})
    others = (*config.named_tokens, *_extra_tokens(config))
    return [*tokens, *({"content": content, **NO_FLAGS, "special": True} for content in others)]


def _extra_tokens(config: FolderConfig) -> Sequence[str]:
    name = config.tokenizer_class or ""
    listed = config.extra_tokens
    if name == "MBart50Tokenizer":
        return (*(listed or ()), *classes.LANGUAGES[name])
    if listed is not None:
        return listed
    if name == "T5Tokenizer":
        return _extra_ids(config)
    if name == "PegasusTokenizer":
        sentence = config.text("mask_token_sent", "<mask_1>")
        return [*([] if sentence is None else [sentence]), *_unused_of_pegasus(config)]
    return classes.LANGUAGES.get(name, _INFILLING_TOKENS if name == "CodeLlamaTokenizer" else ())


# ---- templates


def template_of(core: Core, config: FolderConfig) -> Json | None:
    """Return the template of a class of `class_tables.TEMPLATES`, None if a token of it is absent."""
    default = classes.DEFAULT_LANGUAGES.get(config.tokenizer_class or "", "")
    language = config.text("src_lang", default) or ""
    tokens = [language, *filter(None, config.settings.roles.values())]
    ids = {token: id for token in tokens if (id := core.token_to_id(token)) is not None}
    return _template(config, ids)


def _template(config: FolderConfig, ids: Mapping[str, int]) -> Json | None:
    name = config.tokenizer_class or ""
    tokens = {role.removesuffix("_token"): _role(config, role) for role in classes.ROLE_ORDER}
    if name not in classes.TEMPLATES:
        adds_bos = name == "CodeLlamaTokenizer"
        return bos_eos_template(config, tokens["bos"], tokens["eos"], ids, adds_bos=adds_bos)
    if name in classes.DEFAULT_LANGUAGES:
        default = classes.DEFAULT_LANGUAGES[name]
        tokens["lang"] = config.text("src_lang", default) or default

    def items(template: str) -> list[str]:
        parts = (part.partition(":") for part in template.split(" "))
        return [f"{tokens.get(part, part)}:{type_id}" for part, _, type_id in parts]

    # The first NLLB tokenizers put the language where MBartTokenizer does.
    is_legacy = name == "NllbTokenizer" and config.flag("legacy_behaviour")
    single, pair = classes.TEMPLATES["MBartTokenizer" if is_legacy else name]
    return _template_json(items(single), items(pair), ids)


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
