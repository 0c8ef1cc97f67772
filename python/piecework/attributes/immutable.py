"""The error for setting an attribute of a tokenizer, with the method that returns a changed one."""

from __future__ import annotations

from piecework.attributes.roles import ROLES
from piecework.errors import ImmutableError

_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_METHODS = {
    # here
    **{f"{role}_id": f"with_roles({role}=...) with the token of that id" for role in ROLES},
    **{stage: f"with_{stage}(...)" for stage in _STAGES},
    "added_tokens": "with_added_tokens([...])",
    "chat_template": "with_chat_template(...)",
    "chat_templates": "with_chat_template(..., name=...)",
    "model_max_length": "with_model_max_length(...), or with_truncation(...) to truncate",
    "padding_side": "with_padding(side=...)",
    "special_tokens_map": "with_roles(...)",
    "truncation_side": "with_truncation(..., side=...)",
    "vocab_size": "piecework.vocabulary.shrink(tokenizer, size), or extend(tokenizer, corpus, n)",
    # tokenizers
    "encode_special_tokens": "with_parse_special(False)",
    "model": "Tokenizer(model, ...)",
    "padding": "with_padding(...)",
    "truncation": "with_truncation(...)",
    # transformers
    "add_bos_token": "with_post_processor(...)",
    "add_eos_token": "with_post_processor(...)",
    "additional_special_tokens": "with_added_tokens([...], special=True)",
    "clean_up_tokenization_spaces": "decode(ids, clean_up=...)",
    "split_special_tokens": "with_parse_special(False)",
}


def immutable_error(name: str, change: str, value: object = None) -> ImmutableError:
    """Return the error for a change, "an assignment" or "a deletion", of an attribute of a tokenizer."""
    method = _with_roles(name, value) if name in ROLES else _METHODS.get(name, "a with_... method")
    called = "which returns" if "with_" in method else "for"
    changed = "set" if change == "an assignment" else "deleted"
    problem = f"cannot be {changed}: a tokenizer does not change"
    return ImmutableError(name, f"{problem}; use {method}, {called} another tokenizer")


def _with_roles(role: str, value: object) -> str:
    token = repr(value) if value is None or isinstance(value, str) else "..."
    changed = f"with_roles({role}={token})"
    if role != "pad_token" or value is None:
        return changed
    return f"{changed}, or with_padding(pad_token={token}) to pad with it"
