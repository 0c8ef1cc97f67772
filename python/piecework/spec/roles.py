"""The roles of special tokens (`pad_token`, `eos_token`, ...), as a tokenizer file declares them."""

from __future__ import annotations

from collections.abc import Iterator

from piecework._internal.role_attributes import ROLES
from piecework.spec.post_processors import BertProcessing, RobertaProcessing
from piecework.spec.sentencepiece import SentencePiece
from piecework.spec.tokenizer_spec import TokenizerSpec

# Names that stand for one role in every published vocabulary. `<|endoftext|>`, for instance, does not.
_NAMED = {
    "unk_token": ("[UNK]", "<unk>"),
    "bos_token": ("<s>", "<bos>", "<|begin_of_text|>"),
    "eos_token": ("</s>", "<eos>", "<|end_of_text|>"),
    "sep_token": ("[SEP]", "<sep>"),
    "pad_token": ("[PAD]", "<pad>"),
    "cls_token": ("[CLS]", "<cls>"),
    "mask_token": ("[MASK]", "<mask>"),
}


def declared_roles(spec: TokenizerSpec) -> dict[str, str]:
    """Return the special token of each role that the specification declares.

    In this order: the unknown token of the model, the padding token of the padding settings, the tokens
    of a BERT or RoBERTa post-processor, and special tokens whose name states the role, such as `[MASK]`.
    A role without a declared token is absent.
    """
    roles = dict(_stated(spec))
    special = {token.content for token in spec.added_tokens if token.special}
    if isinstance(spec.model, SentencePiece):
        special |= {piece.text for piece in spec.model.pieces if piece.type == "control"}
    for role in ROLES:
        names = [name for name in _NAMED[role] if name in special]
        if role not in roles and len(names) == 1:
            roles[role] = names[0]
    return {role: roles[role] for role in ROLES if role in roles}


def _stated(spec: TokenizerSpec) -> Iterator[tuple[str, str]]:
    unk_token = getattr(spec.model, "unk_token", None)
    if unk_token:
        yield "unk_token", unk_token
    if spec.padding is not None:
        yield "pad_token", spec.padding.pad_token
    if isinstance(spec.post_processor, BertProcessing | RobertaProcessing):
        yield "cls_token", spec.post_processor.cls[0]
        yield "sep_token", spec.post_processor.sep[0]
