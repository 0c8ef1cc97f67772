"""Ten divergences more, each from a thread about a real engine; the figure on record is theirs.

They were written and committed by somebody who had not seen the generator of golden files, before any of
them was tried on one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any

from piecework.reference import (
    bert,
    charsmap,
    lattice,
    normalizers,
    patterns,
    post_processors,
    pre_tokenizers,
    sentencepiece_model,
    sentencepiece_stages,
    sentencepiece_unigram,
    wordpiece_model,
)
from piecework.reference.aligned import Aligned, Span, align, as_text, split_by
from piecework.reference.encoding import Piece, Token, Windows
from piecework.reference.lattice import Edge, Lattice
from piecework.reference.sentencepiece_unigram import Reached
from piecework.spec import (
    BPE,
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    Normalizer,
    Pattern,
    Precompiled,
    SentencePiece,
    SentencePieceNormalizer,
    Truncation,
    Unigram,
    WordPiece,
)

from .engine import Mutant, Patches
from .mutants import (
    Spec,
    drops_spaces,
    has_normalizer,
    has_pattern,
    map_added_tokens,
    map_normalizers,
    normalizers_of,
    pre_tokenizers_of,
    prefixes,
    with_expressions,
)

METASPACE = sentencepiece_stages.METASPACE


def is_byte_level(spec: Spec) -> bool:
    """Return whether the model sees bytes."""
    return any(isinstance(one, ByteLevel) for one in pre_tokenizers_of(spec))


# ---- clusters


@cache
def cluster_ends(word: str) -> list[int]:
    """Return where the grapheme clusters of a word end."""
    return list(accumulate(map(len, charsmap.clusters(word))))


class ClusterLattice(Lattice):
    """A lattice whose nodes are the positions between grapheme clusters."""

    def edges(self, start: int) -> Iterator[Edge]:
        """Return the pieces that begin at a position, the longest first."""
        ends = [end for end in cluster_ends(self.word) if end > start]
        for end in reversed(ends):
            piece = self.word[start:end]
            if piece in self.scores:
                yield Edge(piece, start, end, self.scores[piece])
            elif end == ends[0]:
                yield Edge(piece, start, end, lattice.unknown_score(self.scores), known=False)


def by_clusters(spec: Spec) -> Patches:
    """Let no token begin or end inside a grapheme cluster."""
    matches_at = wordpiece_model.matches_at

    def matches(word: str, start: int, model: WordPiece) -> list[Piece]:
        found = matches_at(word, start, model)
        return [piece for piece in found if piece.end in cluster_ends(word)]

    def spelled(word: str, model: BPE) -> list[str]:
        prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
        clusters = list(charsmap.clusters(word))
        clusters[1:] = [prefix + cluster for cluster in clusters[1:]]
        return [*clusters[:-1], clusters[-1] + suffix]

    if isinstance(spec.model, SentencePiece):
        return {
            "sentencepiece_model.best_pieces": best_of_clusters,
            "sentencepiece_model.symbols": symbols_of_clusters,
        }
    if isinstance(spec.model, Unigram):
        return {"tokenizer.Lattice": ClusterLattice}
    if isinstance(spec.model, WordPiece):
        return {"wordpiece_model.matches_at": matches}
    return {"bpe_model.spelled": spelled}


def symbols_of_clusters(text: str, model: SentencePiece) -> list[tuple[int, int, bool]]:
    """Return the spans of user-defined pieces and of the clusters between them."""
    spans: list[tuple[int, int, bool]] = []
    for start, end, is_fixed in SYMBOLS(text, model):
        is_inside = start > 0 and start not in cluster_ends(text)
        if is_inside and not is_fixed and not spans[-1][2]:
            start = spans.pop()[0]
        spans.append((start, end, is_fixed))
    return spans


SYMBOLS = sentencepiece_model.symbols


def best_of_clusters(text: str, model: SentencePiece) -> list[Piece]:
    """Return the segmentation with the highest 32-bit sum, over clusters."""
    single = sentencepiece_unigram.single
    scores = sentencepiece_unigram.piece_scores(model)
    unknown = sentencepiece_unigram.lowest_score(model) - sentencepiece_unigram.UNKNOWN_PENALTY
    best = {0: Reached(0.0, Piece("", 0, 0))}
    for start in [0, *cluster_ends(text)[:-1]]:
        for edge in ClusterLattice(text, scores).edges(start):
            token = edge.piece if edge.known else model.unk_token or ""
            score = edge.score if edge.known else single(unknown)
            total = single(best[start].score + score)
            if edge.end not in best or total > best[edge.end].score:
                best[edge.end] = Reached(total, Piece(token, start, edge.end))
    return sentencepiece_unigram.backtrace([best.get(at) for at in range(len(text) + 1)])


def no_cluster_is_known(spec: Spec) -> str:
    """Return the argument if a word with a cluster of several characters is unknown in both ways."""
    characters = set("".join(spec.model.vocab))
    joined = any(
        charsmap.extends(c) or c in charsmap.PREPENDED or charsmap.jamo(c) for c in characters
    )
    is_whole = isinstance(spec.model, WordPiece) and spec.model.unk == "word"
    argument = "a word with a cluster has a character in no entry, so it is unknown"
    return argument * (is_whole and not joined)


# ---- words


def soft_hyphen_as_itself(_: Spec) -> Patches:
    """Write byte 0xAD as U+00AD, like its neighbours."""

    def printable(text: str) -> str:
        return patterns.to_printable(text).replace(patterns.CHARACTER_OF_BYTE[0xAD], "\xad")

    return {"pre_tokenizers.to_printable": printable, "normalizers.to_printable": printable}


def without_symbols(_: Spec) -> Patches:
    """Split at symbols and drop them."""
    isolate = bert.isolate_punctuation

    def is_symbol(c: str) -> bool:
        return bert.unicodedata.category(c).startswith("S")

    def isolated(runs: Any) -> Any:
        parts = (part for run in runs for part in split_by(run, is_symbol))
        return isolate([run for run, dropped in parts if not dropped])

    return {"bert.isolate_punctuation": isolated}


def in_code_units(_: Spec) -> Patches:
    """Match patterns in UTF-16: a character beyond U+FFFF is two units of no class."""
    pattern_matches = pre_tokenizers.pattern_matches

    def matches(piece: Aligned, pattern: Pattern) -> Iterator[tuple[Aligned, bool]]:
        units = [(unit, span) for c, span in piece for unit in code_units(c)]
        for part, is_match in pattern_matches(units, pattern):
            yield list(from_code_units(part)), is_match

    return {"pre_tokenizers.pattern_matches": matches}


def code_units(c: str) -> list[str]:
    """Return the UTF-16 code units of a character, each as a character."""
    data = c.encode("utf-16-be", "surrogatepass")
    return [chr(int.from_bytes(data[at : at + 2], "big")) for at in range(0, len(data), 2)]


def from_code_units(units: Aligned) -> Iterator[tuple[str, Span]]:
    """Yield the characters of code units; half of a pair alone is U+FFFD."""
    at = 0
    while at < len(units):
        unit, span = units[at]
        is_pair = "\ud800" <= unit < "\udc00" and units[at + 1 : at + 2]
        if is_pair:
            pair = (unit + units[at + 1][0]).encode("utf-16-be", "surrogatepass")
            yield pair.decode("utf-16-be"), span
        else:
            yield "\ufffd" if "\ud800" <= unit < "\ue000" else unit, span
        at += 2 if is_pair else 1


def cases_of_ascii(source: str) -> str:
    """Write the classes of capital and small letters as llama.cpp does."""
    capitals, small = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    return source.replace(capitals, r"(?:(?=\p{L})[^a-z])").replace(small, r"(?:(?=\p{L})[^A-Z])")


def other_prefix_before_space(_: Spec) -> Patches:
    """Put no prefix before a space where one always is, and one where a space needs none."""
    prepend, normalize = normalizers.prepend, sentencepiece_stages.normalize
    split_metaspace = pre_tokenizers.split_metaspace
    split_byte_level = pre_tokenizers.split_byte_level

    def prepend_unless_space(text: Any, content: str) -> Any:
        return text if as_text(text[:1]) in (" ", content) else prepend(text, content)

    def normalize_unless_space(text: Any, one: SentencePieceNormalizer) -> Any:
        is_prefixed = one.add_dummy_prefix and as_text(text[:1]) not in (" ", METASPACE)
        return normalize(text, replace(one, add_dummy_prefix=is_prefixed))

    def doubled(piece: Any) -> Any:
        return [(" ", piece[0][1]), *piece] if piece[0][0] in (" ", METASPACE) else piece

    def metaspace(piece: Any, one: Metaspace) -> Any:
        is_first = piece[0][1][0] == 0
        prepends = one.prepend_scheme == "always" or (one.prepend_scheme == "first" and is_first)
        return split_metaspace(doubled(piece) if prepends else piece, one)

    def byte_level(piece: Any, one: ByteLevel) -> Any:
        prepends = one.add_prefix_space and piece[0][0] == " "
        return split_byte_level(doubled(piece) if prepends else piece, one)

    return {
        "normalizers.prepend": prepend_unless_space,
        "sentencepiece_stages.normalize": normalize_unless_space,
        "pre_tokenizers.split_metaspace": metaspace,
        "pre_tokenizers.split_byte_level": byte_level,
    }


def keeps_first_space(spec: Spec) -> bool:
    """Return whether a specification puts a prefix before a text and does not strip the text first."""
    strips = any(
        isinstance(one, SentencePieceNormalizer) and one.remove_extra_whitespaces
        for one in normalizers_of(spec)
    )
    return prefixes(spec) and not strips


def no_word_begins_with_space(spec: Spec) -> str:
    """Return the argument if compiled rules turn the metaspace into a space, and spaces are dropped."""
    is_dropped = any(drops_spaces(one) for one in pre_tokenizers_of(spec)[:1])
    match normalizers_of(spec):
        case [Precompiled() as one] if is_dropped:
            rules = charsmap.parse(one.charsmap)
            is_mapped = as_text(normalizers.normalize(align(METASPACE), one)) == " "
            if is_mapped and METASPACE.encode() not in rules.replacements:
                return (
                    "no word begins with a space or a metaspace after the normalizer and the split"
                )
    return ""


# ---- normal forms and added tokens


def without_normal_form(spec: Spec) -> Spec:
    """Leave out the normal forms."""

    def kept(one: Normalizer) -> Sequence[Normalizer]:
        return [] if isinstance(one, NFC | NFD | NFKC | NFKD) else [one]

    return map_normalizers(spec, kept)


# ---- templates and truncation


def framed(spec: Spec) -> list[Token]:
    """Return one token of text with the special tokens around it."""
    [window] = post_processors.post_process([[[Token("", sequence_id=0)]]], spec.post_processor)
    return window


def one_begin_token(_: Spec) -> Patches:
    """Put no begin token before a text that begins with it."""
    post_process = post_processors.post_process

    def process(sequences: Any, spec: Any, *, add_special_tokens: bool = True) -> Windows:
        made = post_process(sequences, spec, add_special_tokens=add_special_tokens)
        text = sequences[0][0]
        is_double = add_special_tokens and bool(text) and text[0].token == made[0][0].token
        return [window[1:] for window in made] if is_double else made

    return {"tokenizer.post_process": process}


def framed_then_cut(_: Spec) -> Patches:
    """Cut after the special tokens are in place."""
    post_process, pending = post_processors.post_process, []

    def keep(sequences: Any, spec: Truncation | None, inserted: int = 0) -> list[Windows]:
        pending.append(spec)
        return [[sequence] for sequence in sequences]

    def process(sequences: Any, spec: Any, *, add_special_tokens: bool = True) -> Windows:
        [window] = post_process(sequences, spec, add_special_tokens=add_special_tokens)
        cut = pending.pop() if pending else None
        if cut is None or len(window) <= cut.max_length:
            return [window]
        start = 0 if cut.side == "right" else len(window) - cut.max_length
        return [window[start : start + cut.max_length]]

    return {"tokenizer.truncate": keep, "tokenizer.post_process": process}


TEN = (
    Mutant(
        "clusters-are-characters",
        "All models walk grapheme clusters, the characters of Swift (swift-transformers#352).",
        lambda spec: not is_byte_level(spec),
        patches=by_clusters,
        equivalent=no_cluster_is_known,
    ),
    Mutant(
        "symbols-dropped",
        "BERT's words are split at symbols (category S) and lose them: `$`, `+`, `°`"
        " (dotnet/machinelearning#7725).",
        lambda spec: any(isinstance(one, BertPreTokenizer) for one in pre_tokenizers_of(spec)),
        patches=without_symbols,
    ),
    Mutant(
        "byte-ad-as-itself",
        "The table of bytes maps 0xAD, the soft hyphen, to itself, as all from 0xA1 to 0xFF, so `í` and `歯`"
        " are unknown (cactus#806, baseRT#22).",
        is_byte_level,
        patches=soft_hyphen_as_itself,
    ),
    Mutant(
        "patterns-in-code-units",
        r"A character beyond U+FFFF is two surrogates for the pattern, so `\p{L}` and `\p{N}` lack it"
        " (dotnet/corefx#7569, dotnet/runtime#36425).",
        has_pattern(r"\p{"),
        patches=in_code_units,
    ),
    Mutant(
        "cases-of-ascii",
        r"`\p{Lu}` and `\p{Ll}` as `[^a-z]` and `[^A-Z]` among the letters: CamelCase in Cyrillic is one"
        " word (llama.cpp#21675, #8579).",
        has_pattern(r"\p{Lu}"),
        patches=with_expressions(cases_of_ascii),
    ),
    Mutant(
        "other-prefix-before-space",
        "A text that begins with a space gets no prefix where SentencePiece adds one, or two where one is"
        " enough (swift-transformers#96, llama.cpp#2721, #23840).",
        keeps_first_space,
        patches=other_prefix_before_space,
        equivalent=no_word_begins_with_space,
    ),
    Mutant(
        "no-normal-form",
        "NFC and its kin in the file are passed over, as llama.cpp does without them (llama.cpp#24371,"
        " wordchipper#387).",
        has_normalizer(NFC, NFD, NFKC, NFKD),
        without_normal_form,
    ),
    Mutant(
        "special-tokens-in-normalized-text",
        "All added tokens are sought in the normalized text, so `[mask]` is `[MASK]`"
        " (transformers#14364, BlingFire#118).",
        lambda spec: (
            bool(normalizers_of(spec)) and any(not token.normalized for token in spec.added_tokens)
        ),
        map_added_tokens(normalized=True),
    ),
    Mutant(
        "one-begin-token",
        "No begin token before a text that begins with it, to repair rendered chats (llama.cpp#7107,"
        " vllm#27515).",
        lambda spec: framed(spec)[0].sequence_id is None,
        patches=one_begin_token,
    ),
    Mutant(
        "framed-then-cut",
        "Truncation after the template cuts the end token off (SLIP#18, fastembed#598).",
        lambda spec: len(framed(spec)) > 1,
        patches=framed_then_cut,
    ),
)
