"""Add words to a vocabulary as ordinary entries, which the model segments as one token each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from piecework._internal._core import Core
from piecework._internal.validation import check_tokenizer, check_type
from piecework.errors import ArgumentError, InputTypeError
from piecework.spec import BPE, SentencePiece, TokenizerSpec, Unigram, WordPiece
from piecework.train.segmenter import compiled_model, segment
from piecework.vocabulary.alphabet import entry_scores
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, changed
from piecework.vocabulary.derivations import ListedMerges, MergeRules, merge_all, merge_rules
from piecework.vocabulary.entries import NewEntry, with_entries
from piecework.vocabulary.extension import lineage

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

_UNKNOWN_PENALTY = 10.0  # as in SentencePiece and tokenizers
_MAX_CHARACTERS = 256
_MARGIN = 1.0  # more than the rounding of a sum of 32-bit floats


def add_words(
    tokenizer: Tokenizer,
    words: Iterable[str] | Mapping[str, float],
    *,
    replace_unused: bool = False,
) -> ChangedVocabulary:
    """Add words as ordinary entries, one token each.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "[unused1]": 1, "hug": 2, "##s": 3}
    >>> tok = pw.Tokenizer(pw.spec.WordPiece(vocab), pre_tokenizer=pw.spec.WhitespaceSplit())
    >>> pw.vocabulary.add_words(tok, ["hugs"]).tokenizer.encode("hugs hug").tokens
    ['hugs', 'hug']
    >>> changed = pw.vocabulary.add_words(tok, ["hugs"], replace_unused=True)
    >>> changed.tokenizer.get_vocab()
    {'[UNK]': 0, 'hugs': 1, 'hug': 2, '##s': 3}

    Unlike added tokens, words are normalized and pre-tokenized as text is, and must be one pre-token;
    write a space before a word for a byte-level model that keeps it (GPT-2).

    - WordPiece and WordLevel get an entry.
    - BPE gets merges after all others, with the entries that they need in between and characters that the
      vocabulary lacks. Text without a new token is encoded as before.
    - Unigram gets an entry whose score is the lowest of the vocabulary, or one more than the
      score of the word's current segmentation. A mapping of words to log probabilities gives other scores.

    Ids follow the rules of `extend`. With `replace_unused`, the new entries take the ids of the entries
    `[unused0]`, `[unused1]`, ... (or `<unused0>`, ...) instead, and no other id changes. Words that already
    are entries change nothing. Raises `ArgumentError` for words of several pre-tokens, words longer than the
    model's limit, and more words than unused entries.
    """
    check_tokenizer(tokenizer)
    spec = tokenizer.spec
    given = _given(spec, words)
    known = spec.model.vocab.keys() | {token.content for token in spec.added_tokens}
    scores: dict[str, float | None] = {}
    for word, score in given.items():
        if word not in known:
            pre_token = _pre_token(tokenizer._core, word)
            if pre_token not in known:
                scores.setdefault(pre_token, score)
    merged, entries = _entries(spec, scores)
    return changed(tokenizer, *with_entries(merged, entries, replace_unused=replace_unused))


def _given(
    spec: TokenizerSpec, words: Iterable[str] | Mapping[str, float]
) -> Mapping[str, float | None]:
    """Return the words, with their scores if they have any."""
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise InputTypeError("words", f"must be a list of words, not {type(words).__name__}")
    given = dict(words) if isinstance(words, Mapping) else dict.fromkeys(words)
    for word, score in given.items():
        check_type("words", word, str, "str")
        if score is not None and not _is_unigram(spec):
            problem = f"has a score for {word!r}; only Unigram has scores: pass a list"
            raise ArgumentError("words", problem)
        if score is not None and not -1e9 < score <= 0:
            problem = f"the score {score} of {word!r} is not a log probability"
            raise ArgumentError("words", problem)
    return given


def _is_unigram(spec: TokenizerSpec) -> bool:
    model = spec.model
    return isinstance(model, Unigram) or (
        isinstance(model, SentencePiece) and model.kind in ("unigram", "word")
    )


def _pre_token(core: Core, word: str) -> str:
    """Return the only pre-token of a word; raise if it has several or none."""
    pre_tokens = [text for text, _ in core.pre_tokenize(word)]
    inner = "".join(pre_tokens).strip("▁")
    if len(pre_tokens) != 1 or not inner or "▁" in inner:
        problem = f"{word!r} splits into {pre_tokens}; add such words with with_added_tokens"
        raise ArgumentError("words", problem)
    if len(pre_tokens[0]) > _MAX_CHARACTERS:
        found = f"a word of {len(pre_tokens[0])} characters"
        raise ArgumentError("words", f"{found} is too long; the limit is {_MAX_CHARACTERS}")
    return pre_tokens[0]


def _entries(
    spec: TokenizerSpec, scores: Mapping[str, float | None]
) -> tuple[TokenizerSpec, list[NewEntry]]:
    """Return the specification with the merges of the words, and their entries."""
    model, words = spec.model, list(scores)
    rules = merge_rules(model)
    if rules is not None:
        return _merged_entries(spec, rules, words)
    if isinstance(model, WordPiece):
        _check_lengths(model, words)
    kind = model.kind if isinstance(model, SentencePiece) else type(model).__name__.lower()
    if kind == "char":
        for word in words:
            if len(word) > 1:
                problem = f"{word!r} must be one character, as the model has characters"
                raise ArgumentError("words", problem)
    if isinstance(model, Unigram | SentencePiece):
        return spec, _scored_entries(spec, model, scores)
    unknown = spec.model.vocab.get(spec.model.unk_token or "")
    segmented = segment(compiled_model(spec), words)
    return spec, [
        NewEntry(word, None, () if unknown in ids else tuple(ids))
        for word, ids in zip(words, segmented, strict=True)
    ]


def _check_lengths(model: WordPiece, words: Sequence[str]) -> None:
    for word in words:
        if len(word) > model.max_input_chars_per_word:
            problem = (
                f"a word of {len(word)} characters is too long; the limit is "
                f"{model.max_input_chars_per_word}, max_input_chars_per_word"
            )
            raise ArgumentError("words", problem)


def _merged_entries(
    spec: TokenizerSpec, rules: MergeRules, words: Sequence[str]
) -> tuple[TokenizerSpec, list[NewEntry]]:
    """Return entries for the words and for the symbols between, each made by a new last merge.

    Merging the characters of a word with all merges so far leaves some symbols. A merge of two of them is
    added after the others until one symbol is left; merges of two symbols whose token is not an entry yet
    come first, because they change no text that has none of the new tokens.
    """
    vocab = dict(spec.model.vocab)
    merge_of: dict[str, tuple[str, str]] = {}
    new: dict[str, None] = {}
    known = set(vocab)
    for word in words:
        start = rules.symbols(word) if isinstance(rules, ListedMerges) else list(word)
        new.update(dict.fromkeys(symbol for symbol in start if symbol not in vocab))
        symbols = merge_all(rules, start)
        while len(symbols) > 1:
            pairs = list(pairwise(symbols))
            unseen = [pair for pair in pairs if rules.merged(*pair) not in known]
            left, right = (unseen or pairs)[0]
            rules.add(left, right)
            known.add(rules.merged(left, right))
            merge_of.setdefault(rules.merged(left, right), (left, right))
            new.setdefault(rules.merged(left, right))
            symbols = merge_all(rules, start)
    fresh = [text for text in new if text not in vocab]
    sources = lineage(vocab, fresh, merge_of)
    if isinstance(spec.model, BPE) and isinstance(rules, ListedMerges):
        spec = replace(spec, model=replace(spec.model, merges=tuple(rules.ranks)))
    elif isinstance(spec.model, SentencePiece):
        _check_pieces(spec.model, fresh)
    return spec, [NewEntry(text, None, sources[text]) for text in fresh]


def _check_pieces(model: SentencePiece, texts: Sequence[str]) -> None:
    """Raise for words that contain a user-defined piece, which is always a token of its own."""
    symbols = [piece.text for piece in model.pieces if piece.type == "user_defined"]
    for text in texts:
        for symbol in symbols:
            if symbol in text:
                problem = (
                    f"{text!r} contains the user-defined piece {symbol!r}, which is "
                    "always a token of its own"
                )
                raise ArgumentError("words", problem)


def _scored_entries(
    spec: TokenizerSpec, model: Unigram | SentencePiece, scores: Mapping[str, float | None]
) -> list[NewEntry]:
    """Return entries whose scores make each word its own best segmentation.

    The score is the lowest of the vocabulary, or one more than the score of the word's present segmentation
    if this is higher. Shorter words come first, because they can be parts of longer ones.
    """
    if isinstance(model, SentencePiece):
        _check_pieces(model, list(scores))
    present = entry_scores(model)
    if model.unk_token is not None:
        present.pop(model.unk_token, None)
    lowest = min(entry_scores(model).values(), default=0.0)
    ids = segment(compiled_model(spec), list(scores))
    unknown = model.vocab.get(model.unk_token or "")
    sources = dict(zip(scores, ids, strict=True))
    chosen: dict[str, float] = {}
    for word in sorted(scores, key=len):
        best = _best_score(word, present, lowest - _UNKNOWN_PENALTY)
        given = scores[word]
        chosen[word] = max(lowest, best + _MARGIN) if given is None else max(given, lowest)
        present[word] = chosen[word]
    return [
        NewEntry(word, chosen[word], () if unknown in sources[word] else tuple(sources[word]))
        for word in scores
    ]


def _best_score(word: str, scores: Mapping[str, float], unknown: float) -> float:
    """Return the score of the best segmentation of a word (Viterbi)."""
    best = [0.0, *([float("-inf")] * len(word))]
    for end in range(1, len(word) + 1):
        best[end] = best[end - 1] + unknown
        for start in range(end):
            score = scores.get(word[start:end])
            if score is not None:
                best[end] = max(best[end], best[start] + score)
    return best[-1]
