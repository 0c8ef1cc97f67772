"""Core and reference agree on random full specifications of every model family.

A case draws every stage, added tokens, truncation and padding, encodes a text or a pair, compares all
columns of the result and of its overflowing windows, and decodes the ids.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import PieceworkError
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework.spec import (
    BPE,
    AddedToken,
    BertNormalizer,
    ByteLevel,
    Char,
    Model,
    Padding,
    RobertaProcessing,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    SequenceProcessing,
    TokenizerSpec,
    Truncation,
    Unigram,
    WordLevel,
    WordPiece,
)
from piecework.train.trainers.bpe import BYTE_ALPHABET
from tests import components
from tests.component_cases import STAGES
from tests.laws.counting import compared, compares_some

patiently = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    max_examples=100,
)

COLUMNS = (
    "ids",
    "tokens",
    "offsets",
    "word_ids",
    "type_ids",
    "sequence_ids",
    "special_tokens_mask",
    "attention_mask",
)
UNITS = (*"ababé漢☃▁1.Aﬁ\n#", " ", "  ", "<m>", "[CLS]", "<x>", "ab", "aab", "\u0301", "İ")
# The first tokens have the ids that the post-processors of `components` use.
FIRST = tuple(components.VOCAB)
FLAG = st.booleans()


def texts(max_size: int = 12) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(UNITS), max_size=max_size).map("".join)


@st.composite
def tokens(draw: st.DrawFn, *prefixes: str) -> list[str]:
    """Draw tokens for a vocabulary; some begin with one of the prefixes."""
    body = st.text(st.sampled_from("abé漢▁1 "), min_size=1, max_size=4)
    token = st.tuples(st.sampled_from(("", *prefixes)), body).map("".join)
    bytes_ = [f"<0x{byte:02X}>" for byte in "é☃\n".encode()] if draw(FLAG) else []
    return list(dict.fromkeys([*FIRST, *draw(st.lists(token, max_size=15)), *bytes_]))


def numbered(entries: list[str]) -> dict[str, int]:
    return {token: id for id, token in enumerate(entries)}


# ---- models


@st.composite
def wordpieces(draw: st.DrawFn) -> WordPiece:
    return WordPiece(
        numbered(draw(tokens("##"))),
        max_input_chars_per_word=draw(st.sampled_from([100, 3])),
        unk=draw(st.sampled_from(["word", "char"])),
        segmentation=draw(st.sampled_from(["greedy", "shortest"])),
    )


@st.composite
def bpes(draw: st.DrawFn) -> BPE:
    """Draw merges of characters, bytes or the results of merges, in any order."""
    prefix, suffix = draw(st.sampled_from([("", ""), ("", ""), ("##", ""), ("", "</w>")]))
    vocab = draw(tokens(prefix, suffix))
    symbols = [prefix + c for c in "abé漢▁1 "] + [c + suffix for c in "ab"] + [*"abé漢▁1 #"]
    alphabet = draw(st.lists(st.sampled_from(symbols), min_size=3, unique=True))
    bytes_ = [token for token in vocab if token.startswith("<0x")]
    merges = merged_pairs(draw, [*alphabet, *bytes_], prefix)
    results = [left + right[len(prefix) :] for left, right in merges]
    return BPE(
        numbered(list(dict.fromkeys([*vocab, *alphabet, *results]))),
        tuple(draw(st.permutations(merges))),
        unk_token=draw(st.sampled_from([None, "[UNK]", "[UNK]"])),
        continuing_subword_prefix=prefix or None,
        end_of_word_suffix=suffix or None,
        fuse_unk=draw(FLAG),
        byte_fallback=draw(FLAG),
        ignore_merges=draw(FLAG),
    )


@st.composite
def byte_level_bpes(draw: st.DrawFn) -> BPE:
    alphabet = list(BYTE_ALPHABET)
    merges = merged_pairs(draw, [*"abĠÃ©1#"], "")
    results = [left + right for left, right in merges]
    vocab = numbered(list(dict.fromkeys([*FIRST, *alphabet, *results])))
    return BPE(vocab, tuple(merges), ignore_merges=draw(FLAG))


def merged_pairs(draw: st.DrawFn, symbols: list[str], prefix: str) -> list[tuple[str, str]]:
    merges: dict[tuple[str, str], None] = {}
    for _ in range(draw(st.integers(0, 8))):
        left = draw(st.sampled_from(symbols))
        right = draw(
            st.sampled_from([s for s in symbols if s.startswith(prefix) and s != prefix] or ["#"])
        )
        if not right.startswith(prefix) or right not in symbols:
            continue
        merges[left, right] = None
        symbols = [*symbols, left + right[len(prefix) :]]
    return list(merges)


@st.composite
def unigrams(draw: st.DrawFn) -> Unigram:
    entries = draw(tokens("▁"))
    score = st.integers(1, 50).map(lambda count: math.log(count / 51))
    return Unigram(
        tuple((token, draw(score)) for token in entries),
        unk_id=draw(st.sampled_from([0, 0, 0, None])),
        byte_fallback=draw(FLAG),
    )


@st.composite
def sentencepieces(draw: st.DrawFn, kind: Any) -> SentencePiece:
    byte_fallback = draw(FLAG)
    entries = [token for token in draw(tokens("▁")) if not token.startswith("<0x")]
    types: dict[str, Any] = {"[UNK]": "unknown", "[CLS]": "control", "[SEP]": "control"}
    score = st.integers(-9, 0).map(float) | st.floats(-15, 0, width=32)
    other = st.sampled_from(["normal"] * 6 + ["user_defined", "unused"])
    pieces = [ScoredPiece(token, draw(score), types.get(token) or draw(other)) for token in entries]
    if byte_fallback:
        pieces += [ScoredPiece(f"<0x{byte:02X}>", 0.0, "byte") for byte in range(256)]
    return SentencePiece(tuple(pieces), kind, byte_fallback)


MODELS: dict[str, st.SearchStrategy[Model]] = {
    "WordPiece": wordpieces(),
    "WordLevel": tokens().map(numbered).map(lambda vocab: WordLevel(vocab)),
    "Char": tokens().map(numbered).map(lambda vocab: Char(vocab)),
    "BPE": bpes(),
    "byte-level BPE": byte_level_bpes(),
    "Unigram": unigrams(),
    "SentencePiece unigram": sentencepieces("unigram"),
    "SentencePiece bpe": sentencepieces("bpe"),
    "SentencePiece word": sentencepieces("word"),
    "SentencePiece char": sentencepieces("char"),
}


# ---- the other stages


def stage(name: str) -> st.SearchStrategy[Any]:
    """Draw any component of a stage, or none."""
    return st.none() | components.STAGES[name].map(STAGES[f"{name}s"].from_json)


@st.composite
def sentencepiece_stages(draw: st.DrawFn) -> dict[str, Any]:
    flags = [draw(FLAG) for _ in range(4)]
    normalizer = SentencePieceNormalizer(b"", *flags, user_defined_symbols=("<x>",))
    decoder = SentencePieceDecoder(
        *flags[:2], unk_piece="[UNK]", control_symbols=("[CLS]",), byte_fallback=draw(FLAG)
    )
    return {"normalizer": normalizer, "decoder": decoder}


@st.composite
def stages(draw: st.DrawFn, family: str, model: Model) -> dict[str, Any]:
    found = {name: draw(stage(name)) for name in ("normalizer", "pre_tokenizer", "decoder")}
    if isinstance(model, SentencePiece) and draw(st.integers(0, 3)):
        found |= {"pre_tokenizer": None, **draw(sentencepiece_stages())}
    if family.startswith("byte-level"):
        found["pre_tokenizer"] = draw(st.builds(ByteLevel, FLAG, FLAG, FLAG))
    return {**found, "post_processor": draw(stage("post_processor"))}


@st.composite
def added_tokens(draw: st.DrawFn, model: Model) -> tuple[AddedToken, ...]:
    contents = st.sampled_from(["<m>", "<x>", "[CLS]", "[SEP]", "ab", "é", "b ", " ", "A", "<m>a"])
    vocab, next_id = model.vocab, len(model.vocab)
    added = []
    for content in draw(st.lists(contents, max_size=4, unique=True)):
        id = vocab.get(content, next_id)
        next_id += content not in vocab
        flags = [draw(FLAG) for _ in range(5)]
        added.append(AddedToken(content, id, *flags))
    return tuple(added)


truncations = st.none() | st.builds(
    Truncation,
    max_length=st.integers(1, 9),
    stride=st.integers(0, 2),
    strategy=st.sampled_from(["longest_first", "longest_first", "only_first", "only_second"]),
    side=st.sampled_from(["right", "left"]),
)
paddings = st.none() | st.builds(
    Padding,
    length=st.none() | st.integers(1, 12),
    side=st.sampled_from(["right", "left"]),
    pad_id=st.sampled_from([0, 5]),
    pad_type_id=st.integers(0, 2),
    pad_to_multiple_of=st.none() | st.integers(1, 5),
)


@st.composite
def specs(draw: st.DrawFn, family: str) -> TokenizerSpec:
    model = draw(MODELS[family])
    drawn = draw(stages(family, model))
    return TokenizerSpec(
        model,
        **drawn,
        added_tokens=draw(added_tokens(model)),
        truncation=draw(truncations),
        padding=draw(paddings),
        parse_special=draw(st.sampled_from([True, True, False, "refuse"])),
    )


# ---- the laws


def columns(encoding: Any) -> tuple[Any, ...]:
    """Return every column of an encoding and of its overflowing windows."""
    own = [getattr(encoding, name) for name in COLUMNS]
    return (*own, [columns(window) for window in encoding.overflowing])


def outcome(tokenizer: Any, *arguments: Any, **options: Any) -> Any:
    """Return the columns, or the type of the error that encoding raises."""
    try:
        return columns(tokenizer.encode(*arguments, **options))
    except PieceworkError as error:
        return type(error)


@pytest.mark.slow
@pytest.mark.parametrize("family", MODELS)
@compares_some
@given(data=st.data())
@patiently
def test_core_and_reference_agree_on_every_specification(family: str, data: st.DataObject) -> None:
    spec = data.draw(specs(family))
    try:
        core = pw.Tokenizer.from_spec(spec)
    except PieceworkError:
        assume(False)  # such as a stride longer than a window
    reference = ReferenceTokenizer(spec)
    for _ in range(3):
        text, pair = data.draw(texts()), data.draw(st.none() | texts(6))
        add_special_tokens = data.draw(FLAG)
        options = {"add_special_tokens": add_special_tokens}
        expected = outcome(reference, text, pair, **options)
        assert outcome(core, text, pair, **options) == expected
        compared()
        if isinstance(expected, tuple):
            skip = data.draw(FLAG)
            assert core.decode(expected[0], skip_special_tokens=skip) == reference.decode(
                expected[0], skip_special_tokens=skip
            )


@pytest.mark.parametrize("content", [" ", "漢"])
@pytest.mark.parametrize("prefix", [True, False])
def test_core_and_reference_agree_on_spaces_that_a_normalizer_inserts(
    content: str, prefix: bool
) -> None:
    vocab = numbered([*FIRST, "漢", " "])
    roberta = RobertaProcessing(("[SEP]", 7), ("[CLS]", 6), add_prefix_space=prefix)
    spec = TokenizerSpec(
        WordPiece(vocab),
        normalizer=BertNormalizer(),
        post_processor=SequenceProcessing((roberta,)),
        added_tokens=(AddedToken(content, vocab[content], normalized=True),),
    )
    core, reference = pw.Tokenizer.from_spec(spec), ReferenceTokenizer(spec)
    for text in ("漢", "a漢b", " 漢", "漢 ", "漢漢"):
        assert outcome(core, text) == outcome(reference, text), text


def test_dropout_draws_segmentations_that_the_core_can_draw() -> None:
    vocab = numbered([*FIRST, "aa", "aab", "bb"])
    model = BPE(vocab, (("a", "a"), ("b", "b"), ("aa", "b")), dropout=0.4)
    core = pw.Tokenizer(model)
    sampling = [pw.Sampling(seed=seed) for seed in range(300)]
    drawn = {tuple(core.encode("aaabb", sampling=one).tokens) for one in sampling}
    reference = ReferenceTokenizer(TokenizerSpec(model), random.Random(1))
    assert {tuple(reference.encode("aaabb").tokens) for _ in range(300)} == drawn
