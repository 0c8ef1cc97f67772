"""Thirty divergences that a golden file must catch, each as it was made by an engine or is easily made.

They were fixed before the generator of golden files was tuned, by somebody who had not read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

from piecework.reference import (
    aligned,
    bert,
    charsmap,
    normalizers,
    patterns,
    post_processors,
    pre_tokenizers,
    sentencepiece_model,
    sentencepiece_stages,
    sentencepiece_unigram,
    tokenizer,
    wordpiece_model,
)
from piecework.reference.encoding import Piece
from piecework.reference.lattice import Lattice, Segmentation
from piecework.spec import (
    BPE,
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    BertPreTokenizer,
    BertProcessing,
    ByteLevel,
    Lowercase,
    Metaspace,
    Normalizer,
    Precompiled,
    Prepend,
    PreTokenizer,
    Regex,
    Replace,
    RobertaProcessing,
    SentencePiece,
    SentencePieceNormalizer,
    SequenceNormalizer,
    Split,
    StripAccents,
    TemplateProcessing,
    TokenizerSpec,
    Unigram,
    Whitespace,
    WhitespaceSplit,
    WordPiece,
)
from piecework.spec.sequences import single_stages

from .engine import Mutant, Patches, ranks_of

Spec = TokenizerSpec


# ---- what a specification has


def normalizers_of(spec: Spec) -> list[Normalizer]:
    """Return the normalizers in their order, with the members of sequences."""
    return list(single_stages(spec.normalizer))


def pre_tokenizers_of(spec: Spec) -> list[PreTokenizer]:
    """Return the pre-tokenizers in their order, with the members of sequences."""
    return list(single_stages(spec.pre_tokenizer))


def patterns_of(spec: Spec) -> list[str]:
    """Return the regular expressions that split or replace text."""
    found = [one.pattern for one in pre_tokenizers_of(spec) if isinstance(one, Split)]
    found += [one.pattern for one in normalizers_of(spec) if isinstance(one, Replace)]
    sources = [pattern.pattern for pattern in found if isinstance(pattern, Regex)]
    if any(isinstance(one, ByteLevel) and one.use_regex for one in pre_tokenizers_of(spec)):
        sources.append(pre_tokenizers.GPT2_PATTERN.pattern)
    return sources


def has_pattern(*parts: str) -> Callable[[Spec], bool]:
    """Return whether a regular expression of a specification contains one of these parts."""
    return lambda spec: any(part in source for source in patterns_of(spec) for part in parts)


def has_normalizer(*types: type[Normalizer]) -> Callable[[Spec], bool]:
    """Return whether a specification has a normalizer of one of these types."""
    return lambda spec: any(isinstance(one, types) for one in normalizers_of(spec))


def map_normalizers(
    spec: Spec, new: Callable[[Normalizer], Sequence[Normalizer]], before: Sequence[Normalizer] = ()
) -> Spec:
    """Replace each normalizer by any number of others, and put some before all."""
    made = [part for one in normalizers_of(spec) for part in new(one)]
    return replace(spec, normalizer=SequenceNormalizer((*before, *made)))


def map_added_tokens(**changes: Any) -> Callable[[Spec], Spec]:
    """Return how to set fields of all added tokens."""

    def change(spec: Spec) -> Spec:
        return replace(
            spec, added_tokens=tuple(replace(token, **changes) for token in spec.added_tokens)
        )

    return change


def map_model(**changes: Any) -> Callable[[Spec], Spec]:
    """Return how to set fields of the model."""
    return lambda spec: replace(spec, model=replace(spec.model, **changes))


# ---- added tokens


def any_token(flag: str) -> Callable[[Spec], bool]:
    """Return whether an added token has a flag."""
    return lambda spec: any(getattr(token, flag) for token in spec.added_tokens)


def spaces_are_dropped(spec: Spec) -> str:
    """Return the argument if the whitespace beside an added token never reaches the model."""
    is_dropped = any(drops_spaces(one) for one in pre_tokenizers_of(spec)[:1])
    is_prefixed = any(isinstance(one, Metaspace) for one in pre_tokenizers_of(spec))
    return "the pre-tokenizer drops all whitespace" * (is_dropped and not is_prefixed)


def drops_spaces(one: PreTokenizer) -> bool:
    """Return whether a pre-tokenizer drops all whitespace."""
    if isinstance(one, Split):
        found = patterns.matches(one.pattern, "".join(sorted(patterns.WHITESPACE)))
        return one.behavior == "removed" and one.invert and not list(found)
    return isinstance(one, BertPreTokenizer | Whitespace | WhitespaceSplit)


def first_listed(text: str, forms: Any, permits: Any = tokenizer.everywhere) -> Any:
    """Find added tokens from left to right; at each position the first of the list, not the longest."""
    at = 0
    while at < len(text):
        permitted = (
            (at + len(form), token)
            for form, tokens in forms.items()
            if text.startswith(form, at)
            for token in tokens
            if permits(token, at, at + len(form))
        )
        end, token = next(permitted, (at + 1, None))
        if token is not None:
            yield at, end, token
        at = end


def no_prefix_listed_first(spec: Spec) -> str:
    """Return the argument if no added token that begins another one is listed before it."""
    in_order = sorted(spec.added_tokens, key=lambda token: token.id)
    contents = [token.content for token in in_order]
    seen: set[str] = set()
    for content in contents:
        if any(content[:length] in seen for length in range(1, len(content))):
            return ""
        seen.add(content)
    return "no added token begins with one that is listed before it"


ADDED = (
    Mutant(
        "single-word-ignored",
        "A port that finds every added token by substring search; `tokenizers` 0.11.3 had the converse"
        " (tokenizers#918).",
        any_token("single_word"),
        map_added_tokens(single_word=False),
    ),
    Mutant(
        "lstrip-ignored",
        "`<mask>` of RoBERTa and BART leaves the space before it as a token of its own"
        " (TensorRT-Model-Connect#1317).",
        any_token("lstrip"),
        map_added_tokens(lstrip=False),
        equivalent=spaces_are_dropped,
    ),
    Mutant(
        "rstrip-ignored",
        "Only the space before an added token is stripped: `rstrip` is the flag that ports forget next.",
        any_token("rstrip"),
        map_added_tokens(rstrip=False),
        equivalent=spaces_are_dropped,
    ),
    Mutant(
        "normalized-ignored",
        "All added tokens are sought in the raw text; llama.cpp stores no such attribute"
        " (llama.cpp#10883).",
        lambda spec: bool(normalizers_of(spec)) and any_token("normalized")(spec),
        map_added_tokens(normalized=False),
    ),
    Mutant(
        "added-token-first-listed",
        "Added tokens are tried in the order of the file, as in a regular expression of alternatives that"
        " nobody sorted by length.",
        lambda spec: len(spec.added_tokens) > 1,
        patches=lambda _: {"tokenizer.matches": first_listed},
        equivalent=no_prefix_listed_first,
    ),
    Mutant(
        "special-tokens-always-parsed",
        "Special tokens in text are parsed although the caller refused it (transformers#29279,"
        " `parse_special` of llama.cpp).",
        any_token("special"),
        map_added_tokens(special=False),
    ),
)


# ---- normalizers


def without_compatibility(spec: Spec) -> Spec:
    """Replace compatibility forms and charsmaps by canonical forms."""

    def canonical(one: Normalizer) -> list[Normalizer]:
        if isinstance(one, NFKC | Precompiled):
            return [NFC()]
        if isinstance(one, NFKD):
            return [NFD()]
        if isinstance(one, SentencePieceNormalizer) and one.charsmap:
            return [NFC(), replace(one, charsmap=b"")]
        return [one]

    return map_normalizers(spec, canonical)


def has_compatibility(spec: Spec) -> bool:
    """Return whether a specification has a compatibility form or a charsmap."""
    return any(
        isinstance(one, NFKC | NFKD | Precompiled)
        or (isinstance(one, SentencePieceNormalizer) and bool(one.charsmap))
        for one in normalizers_of(spec)
    )


def marks_are_stripped(spec: Spec) -> str:
    """Return the argument if every decomposition is followed by a step that drops all marks."""
    stages = [*normalizers_of(spec), None]
    for one, after in pairwise(stages):
        if isinstance(one, NFC | NFKC):
            return ""
        if isinstance(one, NFD | NFKD) and not isinstance(after, StripAccents):
            return ""
    return "the next step drops all marks, whatever their order"


def lowers(spec: Spec) -> bool:
    """Return whether a specification lowercases."""
    return any(
        isinstance(one, Lowercase) or (isinstance(one, BertNormalizer) and one.lowercase)
        for one in normalizers_of(spec)
    )


def lower_in_context(_: Spec) -> Patches:
    """Lowercase the whole text at once."""
    normalize_after = normalizers.normalize_after

    def normalize(before: Any, text: Any, spec: Normalizer) -> Any:
        if isinstance(spec, Lowercase):
            return bert.lowercase_in_context(text)
        return normalize_after(before, text, spec)

    return {"bert.lowercase": bert.lowercase_in_context, "normalizers.normalize_after": normalize}


def no_small_sigma(spec: Spec) -> str:
    """Return the argument if no entry has either form of a small sigma."""
    is_bytes = any(isinstance(one, ByteLevel) for one in pre_tokenizers_of(spec))
    if is_bytes or any("σ" in entry or "ς" in entry for entry in spec.model.vocab):
        return ""
    return "both forms of a small sigma are unknown"


def strips_accents(spec: Spec) -> bool:
    """Return whether a specification strips accents."""

    def strips(one: BertNormalizer) -> bool:
        return one.lowercase if one.strip_accents is None else one.strip_accents

    return any(
        isinstance(one, StripAccents) or (isinstance(one, BertNormalizer) and strips(one))
        for one in normalizers_of(spec)
    )


def strip_latin_block(_: Spec) -> Patches:
    """Strip the marks of one block only."""
    map_character = normalizers.map_character

    def is_dropped(c: str) -> bool:
        return "\u0300" <= c <= "\u036f"

    def strip(text: Any) -> Any:
        return [item for item in aligned.normal_form(text, "NFD") if not is_dropped(item[0])]

    def mapped(c: str, spec: Any) -> str:
        if isinstance(spec, StripAccents):
            return "" if is_dropped(c) else c
        return map_character(c, spec)

    return {"bert.strip_accents": strip, "normalizers.map_character": mapped}


def bert_normalizers(flag: str) -> Callable[[Spec], bool]:
    """Return whether BERT's normalizer has a flag."""
    return lambda spec: any(
        isinstance(one, BertNormalizer) and getattr(one, flag) for one in normalizers_of(spec)
    )


def keep_format_characters(_: Spec) -> Patches:
    """Keep characters of category Cf."""
    is_dropped = bert.is_dropped
    return {"bert.is_dropped": lambda c: is_dropped(c) and bert.unicodedata.category(c) != "Cf"}


def has_charsmap(spec: Spec) -> bool:
    """Return whether a specification has compiled rules."""
    return any(
        isinstance(one, Precompiled) or (isinstance(one, SentencePieceNormalizer) and one.charsmap)
        for one in normalizers_of(spec)
    )


def other_charsmap_match(_: Spec) -> Patches:
    """Take the longest rule at each character where graphemes take the shortest, and the converse."""

    def longest(text: Any, blob: bytes) -> Any:
        rules = charsmap.parse(blob)
        plain, at, changes = aligned.as_text(text), 0, []
        while at < len(plain):
            old, new = longest_match(rules, plain[at:])
            old, new = (old, new) if old else (plain[at], plain[at])
            charsmap.add_change(changes, old, new)
            at += len(old)
        return aligned.rewrite(text, changes)

    def shortest(rules: charsmap.Charsmap, text: str) -> tuple[str, str]:
        key = text.encode()
        length, new = next(charsmap.matches(rules, key), (0, ""))
        return key[:length].decode(), new

    longest_match = sentencepiece_stages.longest_match
    return {
        "normalizers.apply_charsmap": longest,
        "sentencepiece_stages.longest_match": shortest,
    }


SPACE_RUNS = re.compile(r"^(?: \{2,\}|\\s\+| \+)$")


def collapses_runs(one: Normalizer) -> bool:
    """Return whether a normalizer replaces runs of spaces by one."""
    is_pattern = isinstance(one, Replace) and isinstance(one.pattern, Regex)
    return is_pattern and bool(SPACE_RUNS.match(one.pattern.pattern))


def writes_metaspaces(spec: Spec) -> bool:
    """Return whether a specification turns spaces into metaspaces."""
    return (
        any(isinstance(one, Metaspace) for one in pre_tokenizers_of(spec))
        or any(isinstance(one, Replace) and one.content == "▁" for one in normalizers_of(spec))
        or has_normalizer(SentencePieceNormalizer)(spec)
    )


def other_space_runs(spec: Spec) -> Spec:
    """Keep runs of spaces that are collapsed, and collapse those that are kept."""

    def other(one: Normalizer) -> list[Normalizer]:
        if isinstance(one, SentencePieceNormalizer):
            return [replace(one, remove_extra_whitespaces=not one.remove_extra_whitespaces)]
        return [] if collapses_runs(one) else [one]

    collapsed = has_normalizer(SentencePieceNormalizer)(spec) or any(
        collapses_runs(one) for one in normalizers_of(spec)
    )
    return map_normalizers(spec, other, () if collapsed else [Replace(Regex(" {2,}"), " ")])


def spaces_only_split(spec: Spec) -> str:
    """Return the argument if whitespace only splits words, so that its number has no effect."""
    is_dropped = any(drops_spaces(one) for one in pre_tokenizers_of(spec)[:1])
    return "words are split at all whitespace first, which is dropped" if is_dropped else ""


NORMALIZERS = (
    Mutant(
        "canonical-for-compatibility",
        "NFC is at hand and NFKC is not, or the charsmap is taken for NFC: llama.cpp does without NFKC"
        " (llama.cpp#28845).",
        has_compatibility,
        without_compatibility,
    ),
    Mutant(
        "marks-in-text-order",
        "A hand-written normal form decomposes and composes but does not sort marks by their class"
        " (llama.cpp#5496 had a table of single characters).",
        has_normalizer(NFC, NFD, NFKC, NFKD),
        patches=lambda _: {"aligned.in_canonical_order": list},
        equivalent=marks_are_stripped,
    ),
    Mutant(
        "final-sigma",
        "The lower case of the whole text: `str::to_lowercase` of Rust, `toLowerCase` of Java and JavaScript"
        " (fastokens#72, opennlp#1165).",
        lowers,
        patches=lower_in_context,
        equivalent=no_small_sigma,
    ),
    Mutant(
        "accents-of-one-block",
        "Only U+0300 to U+036F are accents (swift-transformers#157).",
        strips_accents,
        patches=strip_latin_block,
    ),
    Mutant(
        "han-without-extensions",
        "Only U+4E00 to U+9FFF are ideographs, as in many a regular expression of ports.",
        bert_normalizers("handle_chinese_chars"),
        patches=lambda _: {"bert.CJK_RANGES": ((0x4E00, 0x9FFF),)},
    ),
    Mutant(
        "format-characters-kept",
        "Cleaning drops what `iscntrl` says: category Cc, not the zero-width characters of Cf.",
        bert_normalizers("clean_text"),
        patches=keep_format_characters,
    ),
    Mutant(
        "other-charsmap-match",
        "The longest rule for the shortest of a grapheme cluster, or the converse: `tokenizers` and"
        " SentencePiece differ in it (tokenizers#2116, #2334).",
        has_charsmap,
        patches=other_charsmap_match,
    ),
    Mutant(
        "other-space-runs",
        "`remove_extra_whitespaces` has another default in each converter (llama.cpp#8089).",
        lambda spec: (
            writes_metaspaces(spec) or any(collapses_runs(one) for one in normalizers_of(spec))
        ),
        other_space_runs,
        equivalent=spaces_only_split,
    ),
)


# ---- words


def prefixes(spec: Spec) -> bool:
    """Return whether a specification puts a space or a metaspace before a text."""
    return (
        any(
            (isinstance(one, Metaspace) and one.prepend_scheme != "never")
            or (isinstance(one, ByteLevel) and one.add_prefix_space)
            for one in pre_tokenizers_of(spec)
        )
        or has_normalizer(Prepend)(spec)
        or any(
            isinstance(one, SentencePieceNormalizer) and one.add_dummy_prefix
            for one in normalizers_of(spec)
        )
    )


def other_prefix_parts(spec: Spec) -> Patches:
    """Put the prefix before the first part only where every part has one, and the converse."""
    prepend, normalize = normalizers.prepend, sentencepiece_stages.normalize
    split_metaspace = pre_tokenizers.split_metaspace
    split_byte_level = pre_tokenizers.split_byte_level

    def is_first(text: Any) -> bool:
        return bool(text) and text[0][1][0] == 0

    def prepend_first(text: Any, content: str) -> Any:
        return prepend(text, content) if is_first(text) else text

    def normalize_first(text: Any, one: SentencePieceNormalizer) -> Any:
        return normalize(text, one if is_first(text) else replace(one, add_dummy_prefix=False))

    def metaspace(piece: Any, one: Metaspace) -> Any:
        other = {"first": "always", "always": "first", "never": "never"}[one.prepend_scheme]
        return split_metaspace(piece, replace(one, prepend_scheme=other))

    def byte_level(piece: Any, one: ByteLevel) -> Any:
        is_prefixed = one.add_prefix_space and is_first(piece)
        return split_byte_level(piece, replace(one, add_prefix_space=is_prefixed))

    return {
        "normalizers.prepend": prepend_first,
        "sentencepiece_stages.normalize": normalize_first,
        "pre_tokenizers.split_metaspace": metaspace,
        "pre_tokenizers.split_byte_level": byte_level,
    }


def one_part(spec: Spec) -> str:
    """Return the argument if nothing splits a text before the prefix."""
    return (
        "" if spec.added_tokens else "no added token splits a text, so its first part is all of it"
    )


def with_classes(new: Callable[[str], str]) -> Callable[[Spec], Patches]:
    """Return how to replace the members of classes such as `p{N}`, written as ranges for brackets."""
    return lambda _: {
        "patterns.ranges": new,
        "patterns.compiled": cache(patterns.compiled.__wrapped__),
    }


def without_next_line(name: str) -> str:
    """Return the members of a class; `s` lacks U+0085."""
    return RANGES(name).replace("\\u0085", "") if name == "s" else RANGES(name)


def ascii_numbers(name: str) -> str:
    """Return the members of a class; numbers are the ASCII digits."""
    return "0-9" if name in ("p{N}", "p{Nd}") else RANGES(name)


def letters_and_marks(name: str) -> str:
    """Return the members of a class; marks are letters."""
    return RANGES("p{L}") + RANGES("p{M}") if name == "p{L}" else RANGES(name)


def marks_are_named(spec: Spec) -> str:
    """Return the argument if words of letters contain marks, and only their first character is negated."""
    words = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+".replace(r"\r\n", "\r\n")
    sources = [source.replace(words, "") for source in patterns_of(spec)]
    is_named = not any(r"\p{L}" in source for source in sources)
    return "words contain marks too, and may begin with one" if is_named else ""


def no_space_arrives(spec: Spec) -> str:
    """Return the argument if the splits before a lookahead have dropped all whitespace."""
    first, *others = pre_tokenizers_of(spec)
    has_own = isinstance(first, Split) and LOOKAHEAD in first.pattern.pattern
    is_dropped = drops_spaces(first) and not has_own and bool(others)
    return "no whitespace reaches the pattern" if is_dropped else ""


def with_expressions(new: Callable[[str], str]) -> Callable[[Spec], Patches]:
    """Return how to rewrite every regular expression."""

    def patches(_: Spec) -> Patches:
        compiled = patterns.compiled

        def rewritten(pattern: Any) -> Any:
            is_text = isinstance(pattern, str)
            return compiled(pattern if is_text else Regex(new(pattern.pattern)))

        return {"patterns.compiled": cache(rewritten)}

    return patches


def other_contraction_case(source: str) -> str:
    """Let contractions in capitals match where they do not, and the converse."""
    if "(?i:" in source:
        return source.replace("(?i:", "(?:")
    return source.replace(CONTRACTIONS, f"(?i:{CONTRACTIONS})")


CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
RANGES = patterns.ranges
LOOKAHEAD = r"\s+(?!\S)|"

WORDS = (
    Mutant(
        "prefix-of-other-parts",
        "A prefix space after every added token, or only at the start of the text: `legacy` of Llama and T5"
        " (transformers#24565, llama.cpp#7094).",
        prefixes,
        patches=other_prefix_parts,
        equivalent=one_part,
    ),
    Mutant(
        "next-line-is-no-space",
        r"`\s` without U+0085: ASCII and categories Zs, Zl and Zp, or JavaScript's (surogate#176).",
        has_pattern(r"\s"),
        patches=with_classes(without_next_line),
    ),
    Mutant(
        "numbers-of-ascii",
        r"`\p{N}` as `[0-9]`: a scanner by hand asks `isdigit` (TensorRT-Model-Connect#1158).",
        has_pattern(r"\p{N}", r"\p{Nd}"),
        patches=with_classes(ascii_numbers),
    ),
    Mutant(
        "marks-are-letters",
        r"`\p{L}` as the alphabetic property, which includes vowel signs and other marks (`isalpha` of C++"
        " libraries, `char::is_alphabetic`).",
        has_pattern(r"\p{L}"),
        patches=with_classes(letters_and_marks),
        equivalent=marks_are_named,
    ),
    Mutant(
        "no-lookahead",
        r"`\s+(?!\S)` is left out, since RE2 and Rust's `regex` have no lookahead: the last space of a run"
        " stays with the run.",
        has_pattern(LOOKAHEAD),
        patches=with_expressions(lambda source: source.replace(LOOKAHEAD, "")),
        equivalent=no_space_arrives,
    ),
    Mutant(
        "other-case-of-contractions",
        "`'S` taken for `'s`, or not: one pattern for GPT-2 and cl100k (llama.cpp#6920,"
        " tiktoken-go/tokenizer#25).",
        has_pattern(CONTRACTIONS, "(?i:"),
        patches=with_expressions(other_contraction_case),
    ),
)


# ---- models


def is_unigram(spec: Spec) -> bool:
    """Return whether the model is Unigram, of either format."""
    model = spec.model
    return isinstance(model, Unigram) or (
        isinstance(model, SentencePiece) and model.kind == "unigram"
    )


def is_bpe(spec: Spec) -> bool:
    """Return whether the model merges pairs."""
    model = spec.model
    return isinstance(model, BPE) or (isinstance(model, SentencePiece) and model.kind == "bpe")


def merge_with(order: Callable[[float, int], Any]) -> Callable[[Any], bool]:
    """Return SentencePiece's merge of the best pair by another order of scores and positions."""

    def merge_best(merger: Any) -> bool:
        pairs = [(at, merger.joined(at)) for at in range(len(merger.spans) - 1)]
        ranked = [at for at, joined in pairs if joined is not None]
        if not ranked:
            return False
        at = min(ranked, key=lambda at: order(-merger.scores[merger.joined(at)], at))
        merger.spans[at : at + 2] = [(merger.spans[at][0], merger.spans[at + 1][1], False)]
        merger.note_parts(at - 1)
        merger.note_parts(at)
        return True

    return merge_best


class RightmostMerger(sentencepiece_model.Merger):
    """SentencePiece's search, which merges the rightmost of equally good pairs."""

    merge_best = merge_with(lambda rank, at: (rank, -at))


def merge_rightmost(spec: Spec) -> Patches:
    """Merge the rightmost of equally good pairs."""
    if not isinstance(spec.model, BPE):
        return {"sentencepiece_model.Merger": RightmostMerger}
    ranks = ranks_of(spec.model)

    def best_pair(symbols: Sequence[str], *_: Any) -> tuple[int, int] | None:
        found = [(ranks[pair], -at) for at, pair in enumerate(pairwise(symbols)) if pair in ranks]
        best = min(found, default=None)
        return best and (best[0], -best[1])

    return {"bpe_model.best_pair": best_pair}


def merge_by_id(spec: Spec) -> Patches:
    """Merge any two symbols whose joined text is an entry, the lowest id first."""
    ids = spec.model.vocab
    if not isinstance(spec.model, BPE):
        by_id = {piece: (float(-id)) for piece, id in ids.items()}

        class MergerById(sentencepiece_model.Merger):
            def __init__(self, text: str, model: SentencePiece) -> None:
                super().__init__(text, model)
                self.scores = {piece: by_id[piece] for piece in self.scores}

        return {"sentencepiece_model.Merger": MergerById}
    prefix = len(spec.model.continuing_subword_prefix or "")

    def best_pair(symbols: Sequence[str], *_: Any) -> tuple[int, int] | None:
        joined = (left + right[prefix:] for left, right in pairwise(symbols))
        return min(((ids[text], at) for at, text in enumerate(joined) if text in ids), default=None)

    return {"bpe_model.best_pair": best_pair}


def ids_are_ranks(spec: Spec) -> str:
    """Return the argument if merging by id takes the merges of the file in their order.

    A pair merges inside a word as in the entry that it makes: no merge has crossed its ends. So it suffices
    to merge every entry by id, and to find its last pair in the file, with ranks in the order of ids.
    """
    model = spec.model
    if not isinstance(model, BPE):
        return scores_follow_ids(spec)
    ids, made = model.vocab, ["".join(pair) for pair in model.merges]
    is_ordered = all(text in ids for text in made) and all(
        ids[first] < ids[second] for first, second in pairwise(made)
    )
    if model.continuing_subword_prefix or not is_ordered:
        return ""
    merges, best_pair = set(model.merges), merge_by_id(spec)["bpe_model.best_pair"]
    suffix = model.end_of_word_suffix or ""
    for entry in ids:
        last = last_merge(first_symbols(entry, suffix), best_pair)
        if last is not None and last not in merges:
            return ""
    return "by id, every entry is made by its merge of the file, and ids have the order of ranks"


def first_symbols(entry: str, suffix: str) -> list[str]:
    """Return the characters of an entry, the last one with the suffix of the end of a word."""
    has_suffix = bool(suffix) and entry.endswith(suffix) and len(entry) > len(suffix)
    symbols = list(entry.removesuffix(suffix)) if has_suffix else list(entry)
    return [*symbols[:-1], symbols[-1] + suffix] if has_suffix else symbols


def last_merge(symbols: list[str], best_pair: Callable[..., Any]) -> tuple[str, ...] | None:
    """Merge symbols while a pair can be merged; return the pair that made one symbol of all."""
    while len(symbols) > 1 and (pair := best_pair(symbols)):
        at = pair[1]
        if len(symbols) == 2:
            return tuple(symbols)
        symbols[at : at + 2] = ["".join(symbols[at : at + 2])]
    return None


def scores_follow_ids(spec: Spec) -> str:
    """Return the argument if the scores of SentencePiece's pieces have the order of their ids."""
    kinds = ("normal", "user_defined", "unused")
    scores = [piece.score for piece in spec.model.pieces if piece.type in kinds]
    is_sorted = all(first > second for first, second in pairwise(scores))
    return "scores fall with the ids" if is_sorted else ""


def splits_unknown_runs(spec: Spec) -> Spec:
    """Turn the setting that decides what becomes one unknown token."""
    if isinstance(spec.model, WordPiece):
        return map_model(unk="word" if spec.model.unk == "char" else "char")(spec)
    if isinstance(spec.model, BPE):
        return map_model(fuse_unk=not spec.model.fuse_unk)(spec)
    return spec


def unknown_one_by_one(spec: Spec) -> Patches:
    """Give every unknown character of Unigram or SentencePiece a token of its own."""
    unknown_run, resolved = tokenizer.unknown_run, sentencepiece_model.resolved

    def single_runs(word: str, run: list[Piece], model: Unigram) -> list[Piece]:
        return [made for piece in run for made in unknown_run(word, [piece], model)]

    def single_pieces(text: str, pieces: list[Piece], model: SentencePiece) -> Iterator[Piece]:
        for piece in pieces:
            yield from resolved(text, [piece], model)

    if isinstance(spec.model, Unigram):
        return {"tokenizer.unknown_run": single_runs}
    if isinstance(spec.model, SentencePiece):
        return {"sentencepiece_model.resolved": single_pieces}
    return {}


def has_unknown(spec: Spec) -> bool:
    """Return whether the model has an unknown token."""
    return getattr(spec.model, "unk_token", None) is not None


def nothing_is_unknown(spec: Spec) -> str:
    """Return the argument if all bytes have entries."""
    model, vocab = spec.model, spec.model.vocab
    suffix = getattr(model, "end_of_word_suffix", None) or ""
    needed: list[str] = []
    if getattr(model, "byte_fallback", False):
        needed = [f"<0x{byte:02X}>" for byte in range(256)]
    elif any(isinstance(one, ByteLevel) for one in pre_tokenizers_of(spec)):
        symbols = [patterns.CHARACTER_OF_BYTE[byte] for byte in range(256)]
        needed = [*symbols, *(symbol + suffix for symbol in symbols)]
    is_complete = bool(needed) and all(entry in vocab for entry in needed)
    return "every byte has an entry, so nothing is unknown" * is_complete


def limit_in_bytes(_: Spec) -> Patches:
    """Count the bytes of a word, not its characters, against its limit."""
    encode_word = wordpiece_model.encode_word

    def limited(word: str, model: WordPiece) -> list[Piece]:
        if len(word.encode()) > model.max_input_chars_per_word:
            return [Piece(model.unk_token, 0, len(word))]
        return encode_word(word, model)

    return {"wordpiece_model.encode_word": limited}


class OtherLattice(Lattice):
    """A lattice whose search rounds sums, or prefers the later of equal ones."""

    rounded: Callable[[float], float] = staticmethod(float)
    later_wins = False

    def best(self) -> Segmentation:
        """Return the segmentation with the highest sum."""
        reached: list[Any] = [(0.0, None)] + [None] * len(self.word)
        for start in range(len(self.word)):
            for edge in self.edges(start):
                total = self.rounded(reached[start][0] + self.rounded(edge.score))
                before = reached[edge.end]
                better = before is None or total > before[0]
                if better or (self.later_wins and total == before[0]):
                    reached[edge.end] = total, edge
        pieces, end = [], len(self.word)
        while end:
            edge = reached[end][1]
            pieces.append(edge.piece)
            end = edge.start
        return Segmentation(pieces[::-1], reached[-1][0])


class LaterLattice(OtherLattice):
    """A lattice whose search prefers the later of equal sums."""

    later_wins = True


class SingleLattice(OtherLattice):
    """A lattice whose sums are 32-bit floats."""

    rounded = staticmethod(sentencepiece_unigram.single)


class LaterWins(float):
    """A sum that replaces an equal one."""

    __gt__ = float.__ge__


def later_of_equal_sums(spec: Spec) -> Patches:
    """Let the later of equal sums win, whose last piece is shorter."""
    if isinstance(spec.model, Unigram):
        return {"tokenizer.Lattice": LaterLattice}
    single = sentencepiece_unigram.single
    return {"sentencepiece_unigram.single": lambda value: LaterWins(single(value))}


def other_float_width(spec: Spec) -> Patches:
    """Sum in 32 bits where the library sums in 64, and the converse."""
    if isinstance(spec.model, Unigram):
        return {"tokenizer.Lattice": SingleLattice}
    return {"sentencepiece_unigram.single": float}


def unknown_score_of_file(spec: Spec) -> Patches:
    """Score unknown characters as the unknown piece of the file."""
    model = spec.model
    if isinstance(model, Unigram):
        score = model.pieces[model.unk_id][1] if model.unk_id is not None else 0.0
        return {"lattice.unknown_score": lambda _: score}
    [score] = [piece.score for piece in model.pieces if piece.type == "unknown"]
    lowest = score + sentencepiece_unigram.UNKNOWN_PENALTY
    return {"sentencepiece_unigram.lowest_score": lambda _: lowest}


MODELS = (
    Mutant(
        "merges-from-the-right",
        "A heap without positions, or `<=` for `<`: of equal pairs the last one merges first.",
        is_bpe,
        patches=merge_rightmost,
    ),
    Mutant(
        "merges-by-id",
        "Any two symbols merge whose joined text is an entry, the lowest id first: tiktoken's algorithm for"
        " a file with merges, or ids for scores.",
        is_bpe,
        patches=merge_by_id,
        equivalent=ids_are_ranks,
    ),
    Mutant(
        "other-unknown-runs",
        "A word with an unknown part keeps its known parts (tensorflow/text#73), or `fuse_unk` is turned"
        " (sentencepiece#558).",
        has_unknown,
        splits_unknown_runs,
        unknown_one_by_one,
        nothing_is_unknown,
    ),
    Mutant(
        "no-byte-fallback",
        "Unknown characters are the unknown token although the file has byte entries (llama.cpp#167).",
        lambda spec: getattr(spec.model, "byte_fallback", False),
        map_model(byte_fallback=False),
    ),
    Mutant(
        "word-limit-in-bytes",
        "`max_input_chars_per_word` counts bytes: `len` of Go, C++ and Rust (tensorflow/text#78).",
        lambda spec: isinstance(spec.model, WordPiece),
        patches=limit_in_bytes,
    ),
    Mutant(
        "later-of-equal-sums",
        "Of equal sums the one with the shorter last piece: `>=` for `>` in the search (tokenizers#1213).",
        is_unigram,
        patches=later_of_equal_sums,
    ),
    Mutant(
        "other-float-width",
        "Sums of 32 bits for `tokenizers`, of 64 bits for SentencePiece (sentencepiece#843).",
        is_unigram,
        patches=other_float_width,
    ),
    Mutant(
        "unknown-score-of-file",
        "An unknown character scores 0, as the file says of `<unk>`, not 10 less than the worst piece.",
        lambda spec: is_unigram(spec) and has_unknown(spec),
        patches=unknown_score_of_file,
    ),
)


# ---- pairs


def cut_first_only(lengths: list[int], room: int, strategy: str) -> list[int]:
    """Cut the first of two texts before the second, whatever their lengths."""
    excess = sum(lengths) - room
    if excess <= 0 or len(lengths) == 1 or strategy != "longest_first":
        return KEPT_LENGTHS(lengths, room, strategy)
    first = max(0, lengths[0] - excess)
    return [first, min(lengths[1], room - first)]


KEPT_LENGTHS = post_processors.kept_lengths


def processors_of(spec: Spec) -> list[Any]:
    """Return the post-processors in their order, with the members of sequences."""
    return list(single_stages(spec.post_processor))


def between(items: Sequence[str]) -> slice:
    """Return where the items between the first text and the second are."""
    names = [item.rpartition(":")[0] for item in items]
    return slice(names.index("$A") + 1, names.index("$B"))


def has_separator(spec: Spec) -> bool:
    """Return whether special tokens stand between two texts."""
    return any(
        isinstance(one, BertProcessing | RobertaProcessing)
        or (isinstance(one, TemplateProcessing) and bool(one.pair[between(one.pair)]))
        for one in processors_of(spec)
    )


def without_separator(_: Spec) -> Patches:
    """Leave out the special tokens between two texts."""
    arranged = post_processors.arranged

    def arrange(parts: Any, template: TemplateProcessing, add_special_tokens: bool) -> Any:
        pair = list(template.pair)
        del pair[between(pair)]
        return arranged(parts, replace(template, pair=tuple(pair)), add_special_tokens)

    def process(parts: Any, spec: Any, add_special_tokens: bool) -> Any:
        made = PROCESS(parts, spec, add_special_tokens)
        is_framed = isinstance(spec, BertProcessing | RobertaProcessing) and add_special_tokens
        if not is_framed or len(parts) == 1:
            return made
        first, second = made
        start = int(isinstance(spec, RobertaProcessing))
        return [[window[:-1] for window in first], [window[start:] for window in second]]

    return {"post_processors.arranged": arrange, "post_processors.process": process}


PROCESS = post_processors.process

PAIRS = (
    Mutant(
        "pair-cut-at-the-first",
        "`longest_first` cuts the first text only (transformers#5472, tokenizers#91).",
        lambda _: True,
        patches=lambda _: {"post_processors.kept_lengths": cut_first_only},
    ),
    Mutant(
        "pair-without-separator",
        "Nothing between the texts of a pair: a reranker that concatenates (FlagEmbedding#1208,"
        " llama.cpp#9510).",
        has_separator,
        patches=without_separator,
    ),
)

MUTANTS = (*ADDED, *NORMALIZERS, *WORDS, *MODELS, *PAIRS)
