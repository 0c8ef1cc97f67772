"""Learn a new vocabulary for an existing specification, with the same pipeline and special tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from piecework._internal.types import Progress
from piecework.errors import ArgumentError, InputTypeError
from piecework.spec import (
    BPE,
    AddedToken,
    Model,
    TokenizerSpec,
    Unigram,
    WordPiece,
)
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from piecework.spec.renumbering import inserted_ids, renumbered
from piecework.train.counting import count_texts
from piecework.train.counts import Counts, word_counts
from piecework.train.learn import check_pipeline, pipeline_of
from piecework.train.learners import Pruning, one_of
from piecework.train.plan import trainer_for
from piecework.train.presets import preset_of_words
from piecework.train.trainer import PresetTrainer
from piecework.train.trainers import TRAINERS
from piecework.train.trainers.bpe import BYTE_ALPHABET

_KIND_OF_MODEL = {
    trainer._model_class: kind for kind, trainer in TRAINERS.items() if trainer._model_class
}

_LEAST_SHARE = 1e-6
_WHITE_SPACE = tuple(CHARACTER_OF_BYTE[byte] for byte in b" \t\n\f\r")


def relearn_spec(
    spec: TokenizerSpec,
    counts: Counts,
    vocab_size: int,
    settings: Mapping[str, Any] | None = None,
    *,
    progress: Progress = None,
    num_threads: int | None = None,
) -> TokenizerSpec:
    """Learn a new vocabulary for the pipeline, kind of model, options and added tokens of `spec`.

    >>> from piecework.train import WordLevelTrainer, count_texts, learn_spec
    >>> spec = learn_spec(count_texts(["hug"], preset="whitespace"), WordLevelTrainer(), "whitespace")
    >>> relearn_spec(spec, count_texts(["bug"], preset="whitespace"), 2).model.vocab
    {'[UNK]': 0, 'bug': 1}

    The added tokens get the first ids, in their old order, then the other tokens that post-processor and
    padding insert. Post-processor and padding get the new ids. `settings` are further settings of the
    trainer.
    """
    check_pipeline(counts, pipeline_of(spec), "the pipeline of the tokenizer")
    if type(spec.model) not in _KIND_OF_MODEL:
        expected = one_of(model.__name__ for model in _KIND_OF_MODEL)
        raise ArgumentError("model", f"must be {expected}, not {type(spec.model).__name__}")
    trainer = _trainer_for(spec, vocab_size, settings or {})
    trainer._check_can_encode()
    learned = trainer.learn(
        counts._of_pipeline(pipeline_of(spec)), progress, num_threads=num_threads
    )
    model = _with_vocabulary_of(learned, spec.model)
    new_ids = {old_id: _new_id(spec, old_id, model.vocab) for old_id in inserted_ids(spec)}
    added = _added_tokens(spec, trainer, settings or {})
    without_added = replace(spec, added_tokens=())
    return replace(
        renumbered(without_added, model, new_ids.__getitem__),
        added_tokens=tuple(replace(token, id=model.vocab[token.content]) for token in added),
    )


def counts_for(
    spec: TokenizerSpec,
    corpus: Iterable[str | Sequence[str]] | Mapping[str, int] | Counts,
    *,
    num_threads: int | None,
    progress: Progress,
    name: str = "corpus",
) -> Counts:
    """Return word counts as they are; count texts with the pipeline of a specification."""
    corpus = word_counts(corpus, name)
    if isinstance(corpus, Counts):
        return corpus
    if isinstance(corpus, str | bytes) or not isinstance(corpus, Iterable):
        raise InputTypeError(name, f"must be texts or Counts, not {type(corpus).__name__}")
    return count_texts(corpus, preset=pipeline_of(spec), num_threads=num_threads, progress=progress)


def _with_vocabulary_of(learned: Model, old: Model) -> Model:
    """Return the learned model with the remaining options of the old one."""
    if isinstance(learned, Unigram):
        return learned
    fields: dict[str, Any] = {"vocab": learned.vocab}
    if isinstance(learned, BPE):
        fields["merges"] = learned.merges
    return replace(old, **fields)


def _trainer_for(
    spec: TokenizerSpec, vocab_size: int, settings: Mapping[str, Any]
) -> PresetTrainer:
    """Return a trainer with the settings of the specification and of the caller."""
    inherited = {"vocab_size": vocab_size, **_inherited_settings(spec)}
    if isinstance(spec.model, BPE) and preset_of_words(pipeline_of(spec)) is not None:
        settings = {"transition": _inherited_transition(spec), **settings}
    if isinstance(spec.model, WordPiece):
        settings = {"learner": Pruning(segmentation=spec.model.segmentation), **settings}
        _check_segmentation(settings["learner"], spec.model)
    for name in settings:
        if name in inherited and name != "special_tokens":
            raise ArgumentError(name, "does not apply: the tokenizer determines it")
    trainer = trainer_for(_KIND_OF_MODEL[type(spec.model)], {**inherited, **settings})
    assert isinstance(trainer, PresetTrainer)
    return trainer


def _check_segmentation(learner: object, model: WordPiece) -> None:
    """Raise `ArgumentError` for a learner whose segmentation differs from the model's."""
    if isinstance(learner, Pruning) and learner.segmentation != model.segmentation:
        problem = (
            f'{learner} must have segmentation="{model.segmentation}", which the '
            "tokenizer determines"
        )
        raise ArgumentError("learner", problem)


def _inherited_settings(spec: TokenizerSpec) -> dict[str, Any]:
    model = spec.model
    inherited: dict[str, Any] = {
        "special_tokens": _special_tokens(spec),
        "unk_token": _unk_token(model),
    }
    if isinstance(model, WordPiece):
        inherited["continuing_subword_prefix"] = model.continuing_subword_prefix
    if isinstance(model, BPE):
        inherited |= _inherited_bpe_settings(spec, model)
    if isinstance(model, Unigram):
        inherited["byte_fallback"] = model.byte_fallback
        if pipeline_of(spec).is_byte_level:
            inherited["initial_alphabet"] = BYTE_ALPHABET
    return inherited


def _special_tokens(spec: TokenizerSpec) -> tuple[str, ...]:
    """Return the tokens that get the first ids: added tokens, then other inserted tokens."""
    tokens = [token.content for token in sorted(spec.added_tokens, key=lambda token: token.id)]
    unk_token = _unk_token(spec.model)
    if unk_token is not None and unk_token not in tokens:
        tokens.insert(0, unk_token)
    token_of_id = _token_of_id(spec)
    tokens += [token_of_id[id] for id in inserted_ids(spec) if id in token_of_id]
    return tuple(dict.fromkeys(tokens))


def _unk_token(model: Model) -> str | None:
    if isinstance(model, Unigram):
        return None if model.unk_id is None else model.pieces[model.unk_id][0]
    return model.unk_token


def _inherited_bpe_settings(spec: TokenizerSpec, model: BPE) -> dict[str, Any]:
    inherited = {
        "continuing_subword_prefix": model.continuing_subword_prefix or "",
        "end_of_word_suffix": model.end_of_word_suffix or "",
    }
    if pipeline_of(spec).is_byte_level:
        return inherited | {"initial_alphabet": BYTE_ALPHABET}
    if model.byte_fallback:
        message = "a BPE model with byte_fallback cannot be trained anew"
        raise ArgumentError("model", message)
    return inherited


def _inherited_transition(spec: TokenizerSpec) -> float:
    """Return the share of the learned entries that come before the first one across spaces."""
    model = spec.model
    assert isinstance(model, BPE), model
    crosses = (at for at, pair in enumerate(model.merges) if _crosses_spaces("".join(pair)))
    later = len(model.merges) - next(crosses, len(model.merges))
    share = 1 - later / max(1, len(model.merges))
    return min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)


def _crosses_spaces(entry: str) -> bool:
    """Return whether a byte-level entry has a space after a character that is not whitespace."""
    return any(two == _WHITE_SPACE[0] and one not in _WHITE_SPACE for one, two in pairwise(entry))


def _added_tokens(
    spec: TokenizerSpec, trainer: PresetTrainer, settings: Mapping[str, Any]
) -> tuple[AddedToken, ...]:
    """Return the old added tokens with their flags, and new special tokens with default flags.

    Ids are not final. A token that only post-processor or padding inserts stays an entry of the vocabulary
    and does not become an added token, because text must not match it.
    """
    old = {token.content: token for token in spec.added_tokens}
    token_of_id = _token_of_id(spec)
    inserted = {token_of_id[id] for id in inserted_ids(spec) if id in token_of_id}
    unmatched = set() if "special_tokens" in settings else inserted - old.keys()
    return tuple(
        old.get(content, AddedToken(content, 0))
        for content in trainer.special_tokens
        if content not in unmatched or content == trainer.unk_token
    )


def _new_id(spec: TokenizerSpec, old_id: int, vocab: Mapping[str, int]) -> int:
    """Return the new id of a token that post-processor or padding inserts."""
    token = _token_of_id(spec).get(old_id)
    if token is None or token not in vocab:
        problem = f"must contain {token!r}, which the post-processor or padding uses"
        raise ArgumentError("special_tokens", problem)
    return vocab[token]


def _token_of_id(spec: TokenizerSpec) -> dict[int, str]:
    tokens = {id: token for token, id in spec.model.vocab.items()}
    return tokens | {token.id: token.content for token in spec.added_tokens}
