"""Small tokenizers of each kind, and tokenizers and texts that try to become markup."""

from __future__ import annotations

import piecework as pw
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER

HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "</textarea><script>window.hacked=1</script>",
    "</title></style></script><svg onload=window.hacked=1>",
    "\"'><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "javascript:window.hacked=1",
    "&lt;b&gt;&amp;&#60;script&#62;",
    "${window.hacked=1}",
    "{{constructor.constructor('window.hacked=1')()}}",
    "<!--", "-->", "]]>", "<?xml", "%3Cscript%3E",
    "\u202e\u2066gnirts\u2069", "a\u0300\u0301\u0302\u0303", "\x00\x1b[31m\x7f", "\u2028\u2029",
    "__proto__", "constructor", "toString",
]  # fmt: skip
"""Tokens and texts that a careless page would run, or that change how text is shown."""


def wordpiece() -> pw.Tokenizer:
    entries = [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "hug",
        "hugs",
        "un",
        "##s",
        "##hap",
        "##py",
        "##h",
        ",",
        "café",
    ]
    return pw.Tokenizer(
        pw.spec.WordPiece({token: id for id, token in enumerate(entries)}),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        post_processor=pw.spec.TemplateProcessing.bert(cls_id=1, sep_id=2),
    )


def uncased() -> pw.Tokenizer:
    """Return a tokenizer that lowercases, removes accents and drops control characters."""
    entries = ["[UNK]", "the", "zur", "##ich", "cafe", "##s", "is", "of"]
    return pw.Tokenizer(
        pw.spec.WordPiece({token: id for id, token in enumerate(entries)}),
        normalizer=pw.spec.BertNormalizer(),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
    )


def compatible() -> pw.Tokenizer:
    """Return a tokenizer of pieces, some of several words, that replaces compatibility characters."""
    pieces = [("<unk>", 0.0), ("▁the▁fi", -1.0), ("▁", -3.0), ("f", -4.0), ("i", -4.0)]
    return pw.Tokenizer(
        pw.spec.Unigram(tuple(pieces), 0),
        normalizer=pw.spec.NFKC(),
        pre_tokenizer=pw.spec.Metaspace(split=False),
    )


def unigram() -> pw.Tokenizer:
    pieces = [
        ("<unk>", 0.0),
        ("▁hug", -2.5),
        ("▁hu", -2.0),
        ("gs", -1.0),
        ("s", -1.25),
        ("g", -3.0),
    ]
    return pw.Tokenizer(
        pw.spec.Unigram(tuple(pieces), 0), pre_tokenizer=pw.spec.Metaspace(), decoder=None
    )


def byte_bpe() -> pw.Tokenizer:
    alphabet = sorted(BYTE_OF_CHARACTER, key=BYTE_OF_CHARACTER.__getitem__)
    vocab = {token: id for id, token in enumerate([*alphabet, "ug", "hug", "Ġhug"])}
    merges = (("u", "g"), ("h", "ug"), ("Ġ", "hug"))
    return pw.Tokenizer(
        pw.spec.BPE(vocab, merges),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
    )


def hostile() -> pw.Tokenizer:
    """Return a tokenizer whose tokens are the hostile texts, and characters."""
    vocab = {token: id for id, token in enumerate(["[UNK]", *dict.fromkeys(HOSTILE)])}
    added = [pw.spec.AddedToken(token, id) for token, id in vocab.items() if id]
    return pw.Tokenizer(pw.spec.WordLevel(vocab, "[UNK]"), added_tokens=added)


def all_kinds() -> dict[str, pw.Tokenizer]:
    return {"wordpiece": wordpiece(), "bytes": byte_bpe(), "unigram": unigram()}
