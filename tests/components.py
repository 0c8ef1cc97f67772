"""Random components with random options, as the objects that a `tokenizer.json` has for them."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

VOCAB = {"[UNK]": 0, "a": 1, "b": 2, "##b": 3, "ab": 4, "é": 5, "[CLS]": 6, "[SEP]": 7, "</w>": 8}

_texts = st.text("ab ▁é☃[#", max_size=4)
_characters = st.sampled_from("a ▁é☃")
_flags = st.booleans()
_patterns = st.builds(lambda text: {"String": text}, _texts.filter(bool)) | st.sampled_from(
    [{"Regex": pattern} for pattern in (r"\s+", r"\p{L}+", "^a", "(?<=a)b")]
)
_behaviors = st.sampled_from(
    ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
)
_specials = st.sampled_from([[token, VOCAB[token]] for token in ("[CLS]", "[SEP]")])
# A trie of 256 empty units, which matches nothing, and one replacement.
_CHARSMAP = base64.b64encode((1024).to_bytes(4, "little") + bytes(1024) + b"x\0").decode()


def _object(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


def _sequence(one: st.SearchStrategy[Json], name: str) -> st.SearchStrategy[Json]:
    return st.recursive(
        one,
        lambda members: _object("Sequence", **{name: st.lists(members, max_size=3)}),
        max_leaves=5,
    )


_byte_level = _object("ByteLevel", add_prefix_space=_flags, trim_offsets=_flags, use_regex=_flags)
_metaspace = _object(
    "Metaspace",
    replacement=_characters,
    prepend_scheme=st.sampled_from(["always", "never", "first"]),
    split=_flags,
)

NORMALIZERS: dict[str, st.SearchStrategy[Json]] = {
    "BertNormalizer": _object(
        "BertNormalizer",
        clean_text=_flags,
        handle_chinese_chars=_flags,
        strip_accents=st.none() | _flags,
        lowercase=_flags,
    ),
    **{
        kind: _object(kind)
        for kind in "NFC NFD NFKC NFKD Lowercase StripAccents Nmt ByteLevel".split()
    },
    "Strip": _object("Strip", strip_left=_flags, strip_right=_flags),
    "Replace": _object("Replace", pattern=_patterns, content=_texts),
    "Prepend": _object("Prepend", prepend=_texts),
    "Precompiled": _object("Precompiled", precompiled_charsmap=st.just(_CHARSMAP)),
}
PRE_TOKENIZERS: dict[str, st.SearchStrategy[Json]] = {
    **{
        kind: _object(kind)
        for kind in "BertPreTokenizer UnicodeScripts Whitespace WhitespaceSplit".split()
    },
    "ByteLevel": _byte_level,
    "CharDelimiterSplit": _object("CharDelimiterSplit", delimiter=_characters),
    "Digits": _object("Digits", individual_digits=_flags),
    "FixedLength": _object("FixedLength", length=st.integers(1, 9)),
    "Metaspace": _metaspace,
    "Punctuation": _object("Punctuation", behavior=_behaviors),
    "Split": _object("Split", pattern=_patterns, behavior=_behaviors, invert=_flags),
}
DECODERS: dict[str, st.SearchStrategy[Json]] = {
    "WordPiece": _object("WordPiece", prefix=_texts, cleanup=_flags),
    "ByteLevel": _byte_level,
    "ByteFallback": _object("ByteFallback"),
    "BPEDecoder": _object("BPEDecoder", suffix=_texts),
    "Metaspace": _metaspace,
    "CTC": _object("CTC", pad_token=_texts, word_delimiter_token=_texts, cleanup=_flags),
    "Replace": _object("Replace", pattern=_patterns, content=_texts),
    "Fuse": _object("Fuse"),
    "Strip": _object("Strip", content=_characters, start=st.integers(0, 3), stop=st.integers(0, 3)),
}


@st.composite
def _templates(draw: st.DrawFn) -> Json:
    def special() -> Json:
        name = draw(st.sampled_from(["[CLS]", "[SEP]", "both"]))
        return {"SpecialToken": {"id": name, "type_id": draw(st.integers(0, 3))}}

    def sequence(name: str) -> Json:
        return {"Sequence": {"id": name, "type_id": draw(st.integers(0, 3))}}

    entries = {"[CLS]": ["[CLS]"], "[SEP]": ["[SEP]"], "both": ["[CLS]", "[SEP]"]}
    return {
        "type": "TemplateProcessing",
        "single": [special(), sequence("A"), special()],
        "pair": [sequence("A"), special(), sequence("B")],
        "special_tokens": {
            name: {"id": name, "ids": [VOCAB[token] for token in tokens], "tokens": tokens}
            for name, tokens in entries.items()
        },
    }


POST_PROCESSORS: dict[str, st.SearchStrategy[Json]] = {
    "BertProcessing": _object("BertProcessing", sep=_specials, cls=_specials),
    "RobertaProcessing": _object(
        "RobertaProcessing",
        sep=_specials,
        cls=_specials,
        trim_offsets=_flags,
        add_prefix_space=_flags,
    ),
    "ByteLevel": _byte_level,
    "TemplateProcessing": _templates(),
}

_vocabs = st.permutations(list(VOCAB)).map(lambda tokens: {token: VOCAB[token] for token in tokens})
MODELS: dict[str, st.SearchStrategy[Json]] = {
    "BPE": _object(
        "BPE",
        dropout=st.none() | st.floats(0, 1, width=32).map(lambda share: float(f"{share:.9g}")),
        unk_token=st.none() | st.just("[UNK]"),
        continuing_subword_prefix=st.none(),
        end_of_word_suffix=st.none() | st.just("</w>"),
        fuse_unk=_flags,
        byte_fallback=_flags,
        ignore_merges=_flags,
        vocab=_vocabs,
        merges=st.sampled_from([[], [["a", "b"]], ["a b"], ["#version: 0.2", "a b"]]),
    ),
    "WordPiece": _object(
        "WordPiece",
        unk_token=st.just("[UNK]"),
        continuing_subword_prefix=st.just("##"),
        max_input_chars_per_word=st.integers(0, 200),
        vocab=_vocabs,
    ),
    "WordLevel": _object("WordLevel", vocab=_vocabs, unk_token=st.just("[UNK]")),
    "Unigram": _object(
        "Unigram",
        unk_id=st.integers(0, len(VOCAB) - 1),
        vocab=st.lists(
            st.floats(-1e6, 0) | st.integers(-1000, 0), min_size=len(VOCAB), max_size=len(VOCAB)
        ).map(lambda scores: [list(piece) for piece in zip(VOCAB, scores, strict=True)]),
        byte_fallback=_flags,
    ),
}

STAGES: dict[str, st.SearchStrategy[Json]] = {
    "normalizer": _sequence(st.one_of(*NORMALIZERS.values()), "normalizers"),
    "pre_tokenizer": _sequence(st.one_of(*PRE_TOKENIZERS.values()), "pretokenizers"),
    "post_processor": _sequence(st.one_of(*POST_PROCESSORS.values()), "processors"),
    "decoder": _sequence(st.one_of(*DECODERS.values()), "decoders"),
    "model": st.one_of(*MODELS.values()),
}

ALONE = {
    "normalizer": NORMALIZERS,
    "pre_tokenizer": PRE_TOKENIZERS,
    "post_processor": POST_PROCESSORS,
    "decoder": DECODERS,
    "model": MODELS,
}


def document(**stages: Json) -> Json:
    """Return a document with these stages; the model is a word model unless one is given."""
    model = {"type": "WordLevel", "vocab": VOCAB, "unk_token": "[UNK]"}
    empty = dict.fromkeys(
        "truncation padding normalizer pre_tokenizer post_processor decoder".split()
    )
    return {"version": "1.0", **empty, "added_tokens": [], "model": model, **stages}


DOCUMENTS: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"model": STAGES["model"]},
    optional={stage: strategy for stage, strategy in STAGES.items() if stage != "model"},
).map(lambda stages: document(**stages))
