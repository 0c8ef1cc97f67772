"""Give the entries of a WordPiece vocabulary probabilities, so that it becomes a Unigram model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from piecework._internal._core import learn_unigram
from piecework._internal.progress import progress_bar
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Update
from piecework._internal.validation import check_tokenizer, whole_number
from piecework.errors import ArgumentError, CorpusError
from piecework.spec import (
    Metaspace,
    MetaspaceDecoder,
    SequencePreTokenizer,
    TokenizerSpec,
    Unigram,
    WordPiece,
)
from piecework.train import Counts
from piecework.train.relearn import counts_for
from piecework.train.segmenter import compiled_model, segment
from piecework.vocabulary.alphabet import all_ids
from piecework.vocabulary.changed_vocabulary import ChangedVocabulary, changed, map_of
from piecework.vocabulary.extension import check_counts

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

_METASPACE = "▁"
_LONGEST_PIECE = 512  # the limit of the trainer
_DROPPED_BELOW = 0.5  # the expected count below which EM drops a piece


def to_unigram(
    tokenizer: Tokenizer,
    corpus: Iterable[str | Sequence[str]] | Mapping[str, int] | Counts,
    *,
    iterations: int = 8,
    num_threads: int | None = None,
    progress: Progress = None,
) -> ChangedVocabulary:
    """Convert a WordPiece tokenizer to Unigram, keeping entries and ids.

    >>> import piecework as pw
    >>> entries = "[UNK] un unh so ##do ##happy ##appy ##me".split()
    >>> model = pw.spec.WordPiece({entry: id for id, entry in enumerate(entries)})
    >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    >>> unigram, _ = pw.vocabulary.to_unigram(tok, ["undo undo undo sohappy some some unhappy"])
    >>> tok.encode("unhappy").tokens, unigram.encode("unhappy").tokens
    (['unh', '##appy'], ['▁un', 'happy'])

    WordPiece takes the longest match at each position; Unigram takes the segmentation with the highest
    probability, whose boundaries are nearer to morpheme boundaries, for a few more tokens. The result is
    a Unigram model that `tokenizers` and transformers read. `hug` is written `▁hug`, and `##s` is `s`;
    `▁` alone is added after the last id. A character outside the vocabulary is one unknown token, where
    WordPiece makes the whole word unknown.

    `corpus` is texts, or word counts (`Counts`, or a dict) with the pipeline of this tokenizer
    (`train.pipeline_of(tok.spec)`). The probabilities are estimated by `iterations` EM steps (Kudo 2018,
    section 3.2), starting from WordPiece's segmentations. A piece with an expected count below 0.5, or of
    more than 512 characters, gets the score of 0.5 uses or the lowest score. Raises `ArgumentError` for
    another model and for ids with gaps, and `CorpusError` for a corpus without words.
    """
    check_tokenizer(tokenizer)
    iterations = whole_number("iterations", iterations, 1)
    spec = tokenizer.spec
    counts = counts_for(spec, corpus, num_threads=num_threads, progress=progress)
    model = spec.model
    if not isinstance(model, WordPiece):
        raise ArgumentError("model", f"must be WordPiece, not {type(model).__name__}")
    check_counts(spec, counts)
    reserved = {token.content for token in spec.added_tokens}
    if model.unk_token in model.vocab:
        reserved.add(model.unk_token)
    names = _names(spec, model, reserved)
    known = {name for name in names if name not in reserved}
    uses = _uses(spec, counts, names)
    total = sum(uses[name] for name in known)
    if total == 0:
        problem = "has no word without unknown characters; it needs text of the vocabulary"
        raise CorpusError("corpus", problem)
    with progress_bar("estimating", progress) as update:
        scores = _estimate(known, uses, counts, iterations, num_threads, update)
    least = math.log(_DROPPED_BELOW / total)
    lowest = min(least, *scores.values())
    pieces = tuple((name, scores.get(name, lowest) if name in known else 0.0) for name in names)
    first = () if spec.pre_tokenizer is None else (spec.pre_tokenizer,)
    metaspace = Metaspace(split=False)
    unigram = replace(
        spec,
        model=Unigram(pieces, unk_id=model.vocab.get(model.unk_token)),
        pre_tokenizer=SequencePreTokenizer((*first, metaspace)) if first else metaspace,
        decoder=MetaspaceDecoder(split=False),
    )
    before = all_ids(spec)
    id_map = map_of(before, int, before, dict.fromkeys(all_ids(unigram) - before, ()))
    # Without checks: the pieces are written otherwise than the entries.
    return ChangedVocabulary(changed(tokenizer, unigram, id_map).tokenizer, id_map)


def _names(spec: TokenizerSpec, model: WordPiece, reserved: set[str]) -> list[str]:
    """Return the piece of each id, and `▁`."""
    name_of = {
        id: token if token in reserved else _piece(token, model)
        for token, id in model.vocab.items()
    }
    for token in spec.added_tokens:
        name_of.setdefault(token.id, token.content)
    missing = next((id for id in range(len(name_of)) if id not in name_of), None)
    if missing is not None:
        problem = f"has no entry with id {missing}; its ids must be without gaps"
        raise ArgumentError("vocab", problem)
    names = [name_of[id] for id in range(len(name_of))]
    twice = next((name for name, uses in Counter(names).items() if uses > 1), None)
    if twice is not None:
        raise ArgumentError("vocab", f"has two entries that become the piece {twice!r}")
    return names if _METASPACE in names else [*names, _METASPACE]


def _piece(entry: str, model: WordPiece) -> str:
    prefix = model.continuing_subword_prefix
    is_continuation = entry.startswith(prefix) and len(entry) > len(prefix) > 0
    return _shown(entry.removeprefix(prefix)) if is_continuation else _word(entry)


def _word(text: str) -> str:
    shown = _shown(text)
    return shown if shown.startswith(_METASPACE) else _METASPACE + shown


def _shown(text: str) -> str:
    """Return text as the pre-tokenizer `Metaspace` writes it."""
    return text.replace(" ", _METASPACE)


def _uses(spec: TokenizerSpec, counts: Counts, names: Sequence[str]) -> dict[str, int]:
    """Return the number of uses of each piece in the segmentations by WordPiece."""
    uses = Counter[int]()
    segmented = segment(compiled_model(spec), counts.words)
    for ids, count in zip(segmented, counts.counts.tolist(), strict=True):
        for id in ids:
            uses[id] += count
    return {name: uses[id] for id, name in enumerate(names)}


def _estimate(
    known: set[str],
    uses: Mapping[str, int],
    counts: Counts,
    iterations: int,
    num_threads: int | None,
    progress: Update | None,
) -> dict[str, float]:
    """Return the log probabilities of the pieces that occur."""
    counts = counts._whole_words()
    words = [_word(word) for word in counts.words]
    size = 2 * len(known) + 1  # more than there can be: nothing is pruned
    learned = learn_unigram(
        Counts._of_columns(words, counts.counts, None)._raw,
        {
            "vocab_size": size,
            "special_tokens": (),
            "user_defined_symbols": (),
            "byte_fallback": False,
            "character_coverage": 1e-12,  # one character of the corpus, besides the characters of the pieces
            "initial_alphabet": "".join(sorted(set().union(*known))),
            "seed_size": size,
            "count_exponent": 1.0,
            "max_piece_length": _LONGEST_PIECE,
            "shrinking_factor": 0.5,
            "num_sub_iterations": iterations,
            # At most as many entries: pieces that are expected less than 0.5 times are dropped.
            "hard_limit": False,
            "only_given_characters": True,
            "seeds": [(piece, max(uses[piece], 1)) for piece in sorted(known)],
        },
        num_threads=thread_count(num_threads),
        progress=progress,
    )
    return {piece: score for piece, score in learned.pieces if piece in known}
