"""A third ten of divergences, each from a thread about a real engine; they succeed the ten of `ten_more.py`.

They were written and committed by somebody who had not seen the generator of golden files, before any of
them was tried on one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from piecework.reference import (
    bert,
    bpe_model,
    normalizers,
    post_processors,
    sentencepiece_model,
)
from piecework.reference.aligned import align, as_text, map_characters
from piecework.reference.encoding import Piece, Windows
from piecework.reference.lattice import Lattice, Segmentation
from piecework.spec import (
    BPE,
    NFKC,
    AddedToken,
    BertPreTokenizer,
    Lowercase,
    Metaspace,
    Nmt,
    Normalizer,
    Precompiled,
    ScoredPiece,
    SentencePiece,
    SentencePieceNormalizer,
    Split,
    Unigram,
)

from .engine import Mutant, Patches
from .mutants import (
    Spec,
    any_token,
    has_charsmap,
    has_pattern,
    is_bpe,
    is_unigram,
    lowers,
    map_normalizers,
    pre_tokenizers_of,
    spaces_are_dropped,
    with_expressions,
    writes_metaspaces,
)
from .ten import METASPACE, framed

# ---- normalizers


def lower_simply(_: Spec) -> Patches:
    """Lowercase a character if its lower case is one character; the only other one is `İ`."""
    map_character = normalizers.map_character

    def lower(c: str) -> str:
        return c.lower() if len(c.lower()) == 1 else c

    def mapped(c: str, spec: Any) -> str:
        return lower(c) if isinstance(spec, Lowercase) else map_character(c, spec)

    return {
        "bert.lowercase": lambda text: map_characters(text, lower),
        "normalizers.map_character": mapped,
    }


def no_dot_is_left(spec: Spec) -> str:
    """Return the argument if `İ` loses its dot before it is lowercased."""
    is_bare = as_text(normalizers.normalize(align("İ"), spec.normalizer)) == "i"
    return "`İ` is decomposed and loses its dot before it is lowercased" * is_bare


def compatibility_for_charsmap(spec: Spec) -> Spec:
    """Replace compiled rules by the stages that resemble them."""

    def resembling(one: Normalizer) -> list[Normalizer]:
        if isinstance(one, Precompiled):
            return [Nmt(), NFKC()]
        if isinstance(one, SentencePieceNormalizer) and one.charsmap:
            return [Nmt(), NFKC(), replace(one, charsmap=b"")]
        return [one]

    return map_normalizers(spec, resembling)


# ---- words


def punctuation_of_ascii(_: Spec) -> Patches:
    """Isolate the punctuation of ASCII only."""
    is_punctuation = bert.is_punctuation
    return {"bert.is_punctuation": lambda c: c < "\x80" and is_punctuation(c)}


def joins_spaces(spec: Spec) -> bool:
    """Return whether an entry has a metaspace inside and words are not split there."""
    has_entry = any(METASPACE in entry[1:] for entry in spec.model.vocab)
    stages = pre_tokenizers_of(spec)
    is_split = any(not isinstance(one, Metaspace) or one.split for one in stages)
    return writes_metaspaces(spec) and has_entry and not is_split


def split_before_metaspaces(spec: Spec) -> Spec:
    """Begin a word at every metaspace."""
    if spec.pre_tokenizer is None:
        return replace(spec, pre_tokenizer=Split(METASPACE, "merged_with_next"))
    return replace(spec, pre_tokenizer=replace(spec.pre_tokenizer, split=True))


# Of cl100k and its heirs, and of DeepSeek, whose expression has the characters themselves.
LINE_ENDS = (r"\s*[\r\n]+|", "\\s*[\r\n]+|")


def without_line_ends(source: str) -> str:
    """Leave out the branch of line ends."""
    for branch in LINE_ENDS:
        source = source.replace(branch, "")
    return source


# ---- models


def longest_entries(
    symbols: Sequence[Piece], longest: int, joined: Callable[[int, int], str | None]
) -> Iterator[Piece]:
    """Take the longest entry from left to right; `joined` returns the entry of a range of symbols."""
    at = 0
    while at < len(symbols):
        ends = range(min(len(symbols), at + longest), at + 1, -1)
        found = ((end, joined(at, end)) for end in ends)
        end, token = next((one for one in found if one[1]), (at + 1, symbols[at].token))
        yield Piece(token or "", symbols[at].start, symbols[end - 1].end)
        at = end


def longest_for_merges(spec: Spec) -> Patches:
    """Take the longest entry from left to right, and merge nothing."""
    longest = max(map(len, spec.model.vocab))

    def longest_of_word(word: str, model: BPE, *_: Any) -> list[Piece]:
        symbols = list(bpe_model.first_symbols(word, model))
        prefix = len(model.continuing_subword_prefix or "")

        def joined(start: int, end: int) -> str | None:
            others = (piece.token[prefix:] for piece in symbols[start + 1 : end])
            token = symbols[start].token + "".join(others)
            return token if token in model.vocab else None

        return list(longest_entries(symbols, longest, joined))

    def longest_of_text(text: str, model: SentencePiece) -> Iterator[Piece]:
        usable = {piece.text for piece in model.pieces if piece.type == "normal"}
        symbols = list(sentencepiece_model.characters(text, model))

        def joined(start: int, end: int) -> str | None:
            token = text[symbols[start].start : symbols[end - 1].end]
            return token if token in usable else None

        return longest_entries(symbols, longest, joined)

    return {"bpe_model.encode_word": longest_of_word, "sentencepiece_model.bpe": longest_of_text}


class PairLattice(Lattice):
    """A lattice whose scores are the order of merges."""

    def best(self) -> Segmentation:
        """Merge neighbours whose joined text is a piece: the highest score first, then the leftmost."""
        pieces = tuple(ScoredPiece(piece, score) for piece, score in self.scores.items())
        found = sentencepiece_model.bpe(self.word, SentencePiece(pieces, "bpe"))
        return Segmentation([self.word[piece.start : piece.end] for piece in found], 0.0)


def merge_by_score(spec: Spec) -> Patches:
    """Merge pairs by the scores of Unigram."""
    if isinstance(spec.model, Unigram):
        return {"tokenizer.Lattice": PairLattice}
    return {
        "sentencepiece_model.best_pieces": lambda text, model: list(
            sentencepiece_model.bpe(text, model)
        )
    }


# ---- added tokens


def only_special(spec: Spec) -> Spec:
    """Drop the added tokens that are not special."""
    return replace(spec, added_tokens=tuple(token for token in spec.added_tokens if token.special))


def strip_blanks(text: str, done: int, start: int, end: int, token: AddedToken) -> tuple[int, int]:
    """Extend a match over the spaces that its token strips, and no other whitespace."""
    if token.lstrip:
        start = max(done, len(text[:start].rstrip(" ")))
    if token.rstrip:
        end = len(text) - len(text[end:].lstrip(" "))
    return start, end


# ---- templates


def ends_with_special(spec: Spec) -> bool:
    """Return whether a special token follows a text."""
    return framed(spec)[-1].sequence_id is None


def one_end_token(_: Spec) -> Patches:
    """Put no end token after a text that ends with it."""
    post_process = post_processors.post_process

    def process(sequences: Any, spec: Any, *, add_special_tokens: bool = True) -> Windows:
        made = post_process(sequences, spec, add_special_tokens=add_special_tokens)
        text = sequences[-1][0]
        is_double = add_special_tokens and bool(text) and text[-1].token == made[0][-1].token
        return [window[:-1] for window in made] if is_double else made

    return {"tokenizer.post_process": process}


THIRD_TEN = (
    Mutant(
        "lower-case-of-one-character",
        "The lower case of a character is one character, so `İ` stays a capital: .NET (DevToys#1444).",
        lowers,
        patches=lower_simply,
        equivalent=no_dot_is_left,
    ),
    Mutant(
        "nmt-and-nfkc-for-charsmap",
        "Compiled rules are taken for the stages that `Nmt` and NFKC are, as `tokenizers` did before it read"
        " them (tokenizers#401, rust-tokenizers#57).",
        has_charsmap,
        compatibility_for_charsmap,
    ),
    Mutant(
        "punctuation-of-ascii",
        "BERT's words are split at the punctuation of ASCII only: `denied“` is one word, and unknown"
        " (tokenizers#83).",
        lambda spec: any(isinstance(one, BertPreTokenizer) for one in pre_tokenizers_of(spec)),
        patches=punctuation_of_ascii,
    ),
    Mutant(
        "split-before-every-space",
        "Words are split before every metaspace where the model sees the whole text, so runs of spaces are"
        " single spaces (tokenizers#1189, stable-diffusion.cpp#1975).",
        joins_spaces,
        split_before_metaspaces,
    ),
    Mutant(
        "no-branch-of-line-ends",
        r"The pattern has no `\s*[\r\n]+`, as GPT-2's has none: a space before a line end is a word"
        " (autotiktokenizer#22).",
        has_pattern(*LINE_ENDS),
        patches=with_expressions(without_line_ends),
    ),
    Mutant(
        "longest-entry-for-merges",
        "The longest entry from left to right, and no merges (whisper.cpp#1098, #1854, Camelid#518).",
        is_bpe,
        patches=longest_for_merges,
    ),
    Mutant(
        "merges-by-score-for-unigram",
        "Scores of Unigram order the merges of pairs, as for a SentencePiece BPE: XLM-R by the tokenizer of"
        " Llama (llama.cpp#5423, nurl#531).",
        is_unigram,
        patches=merge_by_score,
    ),
    Mutant(
        "only-special-tokens-found",
        "Added tokens that are not special are text: `<think>` and `<tool_call>` of Qwen (iree#24076).",
        lambda spec: not all(token.special for token in spec.added_tokens),
        only_special,
    ),
    Mutant(
        "strips-no-other-whitespace",
        "`lstrip` and `rstrip` take U+0020 only, and leave line ends and tabs"
        " (TensorRT-Model-Connect#1322 tests for it).",
        lambda spec: any_token("lstrip")(spec) or any_token("rstrip")(spec),
        patches=lambda _: {"tokenizer.with_stripped_space": strip_blanks},
        equivalent=spaces_are_dropped,
    ),
    Mutant(
        "one-end-token",
        "No end token after a text that ends with it, as the slow tokenizer of T5 does (transformers#5866).",
        ends_with_special,
        patches=one_end_token,
    ),
)
