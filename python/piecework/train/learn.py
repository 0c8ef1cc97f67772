"""From counts and a trainer to a whole tokenizer specification, new or after an old one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from piecework.errors import ArgumentError
from piecework.spec import (
    BPE,
    AddedToken,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    ByteLevelProcessing,
    Char,
    CharDecoder,
    Decoder,
    Metaspace,
    MetaspaceDecoder,
    Model,
    PostProcessor,
    SequenceDecoder,
    TemplateProcessing,
    TokenizerSpec,
    Unigram,
    WordLevel,
    WordPiece,
    WordPieceDecoder,
)
from piecework.spec.renumbering import inserted_ids, renumbered
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.presets import Preset, preset_for
from piecework.train.sentencepiece_presets import SentencePiecePreset
from piecework.train.trainers import (
    BYTE_ALPHABET,
    ByteBPETrainer,
    PlainTrainer,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    kind_of,
    trainer_for,
)

_KINDS: dict[type[Model], str] = {
    WordPiece: "wordpiece",
    BPE: "bpe",
    Unigram: "unigram",
    WordLevel: "word",
    Char: "char",
}


def learn_spec(
    counts: Counts,
    trainer: Trainer,
    preset: Preset | SentencePiecePreset | str | None = None,
    *,
    progress: Progress | None = None,
    num_threads: int | None = None,
) -> TokenizerSpec:
    """Learn a model from counts and put the preset's pipeline around it.

    >>> from piecework.train import WordTrainer, count_texts
    >>> counts = count_texts(["hug pug"], pipeline="whitespace")
    >>> learn_spec(counts, WordTrainer(), "whitespace").model.vocab
    {'[UNK]': 0, 'hug': 1, 'pug': 2}

    The special tokens and symbols become added tokens. The preset's template frames sequences when
    all its tokens are among them. A `SentencePieceTrainer` has a pipeline of its own; of a
    `SentencePiecePreset` it takes the template.
    Raises `ArgumentError` when another pipeline made the counts.
    """
    if isinstance(trainer, SentencePieceTrainer):
        return _learn_sentencepiece(counts, trainer, preset, progress, num_threads)
    assert not isinstance(preset, SentencePiecePreset)
    chosen = preset_for(kind_of(trainer), preset)
    _refuse_other_pipeline(counts, chosen.pipeline, f"preset {chosen.name!r}")
    _refuse_characters(trainer, chosen.pipeline)
    model = trainer.learn(counts, progress, num_threads)
    return TokenizerSpec(
        model=model,
        normalizer=chosen.pipeline.normalizer,
        pre_tokenizer=chosen.pipeline.pre_tokenizer,
        post_processor=_post_processor(model, chosen),
        decoder=_decoder(model, chosen.pipeline),
        added_tokens=_added_tokens(trainer, model.vocab),
    )


def _learn_sentencepiece(
    counts: Counts,
    trainer: SentencePieceTrainer,
    preset: Preset | SentencePiecePreset | str | None,
    progress: Progress | None,
    num_threads: int | None,
) -> TokenizerSpec:
    if preset is not None and not isinstance(preset, SentencePiecePreset):
        expected = "None: SentencePieceTrainer has settings for all of the pipeline"
        raise ArgumentError("preset", repr(preset), expected)
    _refuse_other_pipeline(counts, trainer.pipeline, "the trainer")
    spec = trainer.specification(trainer.learn(counts, progress, num_threads))
    frame = None if preset is None else preset.frame(spec.model.vocab)
    return replace(spec, post_processor=frame)


def relearn_spec(
    spec: TokenizerSpec,
    counts: Counts,
    vocab_size: int,
    settings: Mapping[str, Any] | None = None,
    *,
    progress: Progress | None = None,
    num_threads: int | None = None,
) -> TokenizerSpec:
    """Learn a new vocabulary for the pipeline, model kind, options and added tokens of `spec`.

    The added tokens come first, in the order of their old ids, then what else the post-processor and
    padding insert; both get the new ids. `settings` are further settings of the trainer.
    """
    _refuse_other_pipeline(counts, pipeline_of(spec), "the tokenizer")
    if type(spec.model) not in _KINDS:
        expected = "WordPiece, BPE, Unigram, WordLevel or Char, which can be trained"
        raise ArgumentError("model", type(spec.model).__name__, expected)
    trainer = _trainer_after(spec, vocab_size, settings or {})
    learned = trainer.learn(counts, progress, num_threads)
    model = _relearned(spec.model, learned)
    moved = {old_id: _new_id(spec, old_id, model.vocab) for old_id in inserted_ids(spec)}
    added = _added_after(spec, trainer, settings or {})
    unnumbered = replace(spec, added_tokens=())
    return replace(
        renumbered(unnumbered, model, moved.__getitem__),
        added_tokens=tuple(replace(token, id=model.vocab[token.content]) for token in added),
    )


def pipeline_of(spec: TokenizerSpec) -> Pipeline:
    """Return the stages of a specification that make words of text."""
    return Pipeline(spec.normalizer, spec.pre_tokenizer)


def _refuse_other_pipeline(counts: Counts, pipeline: Pipeline, whose: str) -> None:
    if counts.pipeline is not None and not counts.pipeline.agrees_with(pipeline):
        raise ArgumentError(
            "counts", f"words made by {counts.pipeline}", f"those of {whose}: {pipeline}"
        )


def _refuse_characters(trainer: Trainer, pipeline: Pipeline) -> None:
    if isinstance(trainer, ByteBPETrainer) and not pipeline.is_byte_level:
        expected = "one with a byte-level pre-tokenizer, such as 'gpt2'"
        raise ArgumentError("preset", f"{pipeline}", expected)


# ---- a new specification


def _added_tokens(trainer: PlainTrainer, vocab: Mapping[str, int]) -> tuple[AddedToken, ...]:
    special = [AddedToken(token, vocab[token]) for token in trainer.special_tokens]
    symbols = trainer.user_defined_symbols if isinstance(trainer, UnigramTrainer) else ()
    return (*special, *(AddedToken(token, vocab[token], special=False) for token in symbols))


def _post_processor(model: Model, preset: Preset) -> PostProcessor | None:
    if preset.single:
        return _frame(model, preset)
    return ByteLevelProcessing(trim_offsets=False) if preset.pipeline.is_byte_level else None


def _frame(model: Model, preset: Preset) -> TemplateProcessing | None:
    tokens = {item.rpartition(":")[0] for item in preset.pair} - {"$A", "$B"}
    if not tokens <= model.vocab.keys():
        return None
    return TemplateProcessing(
        preset.single, preset.pair, {token: (model.vocab[token],) for token in sorted(tokens)}
    )


def _decoder(model: Model, pipeline: Pipeline) -> Decoder | None:
    if isinstance(model, WordPiece):
        return WordPieceDecoder(prefix=model.continuing_subword_prefix)
    if pipeline.is_byte_level:
        return ByteLevelDecoder()
    if isinstance(model, BPE) and model.end_of_word_suffix:
        return BPEDecoder(suffix=model.end_of_word_suffix)
    if pipeline.metaspace:
        return _spaced_decoder(model, pipeline.metaspace)
    return CharDecoder() if isinstance(model, Char) else None


def _spaced_decoder(model: Model, marks: Metaspace) -> Decoder:
    spaces = MetaspaceDecoder(marks.replacement, marks.prepend_scheme, marks.split)
    has_bytes = isinstance(model, Unigram) and model.byte_fallback
    return SequenceDecoder((ByteFallback(), spaces)) if has_bytes else spaces


# ---- a specification after an old one


def _relearned(old: Model, learned: Model) -> Model:
    """Put what was learned into the old model, whose other options stay."""
    if isinstance(learned, Unigram):
        return learned
    fields: dict[str, Any] = {"vocab": learned.vocab}
    if isinstance(learned, BPE):
        fields["merges"] = learned.merges
    return replace(old, **fields)


def _trainer_after(
    spec: TokenizerSpec, vocab_size: int, settings: Mapping[str, Any]
) -> PlainTrainer:
    tokens = [token.content for token in sorted(spec.added_tokens, key=lambda token: token.id)]
    unk_token = _unk_token(spec.model)
    if unk_token is not None and unk_token not in tokens:
        tokens.insert(0, unk_token)
    names = _names_by_id(spec)
    tokens += [names[id] for id in inserted_ids(spec) if id in names]
    inherited: dict[str, Any] = {
        "vocab_size": vocab_size,
        "special_tokens": tuple(dict.fromkeys(tokens)),
        "unk_token": unk_token,
    }
    if isinstance(spec.model, WordPiece):
        inherited["continuing_subword_prefix"] = spec.model.continuing_subword_prefix
    if isinstance(spec.model, BPE):
        inherited |= _inherited_bpe(spec, spec.model)
    if isinstance(spec.model, Unigram):
        inherited["byte_fallback"] = spec.model.byte_fallback
    for name in settings:
        if name in inherited and name != "special_tokens":
            raise ArgumentError(name, "a setting that comes from the tokenizer", "it left out")
    trainer = trainer_for(_KINDS[type(spec.model)], {**inherited, **settings})
    assert not isinstance(trainer, SentencePieceTrainer)
    return trainer


def _unk_token(model: Model) -> str | None:
    if isinstance(model, Unigram):
        return None if model.unk_id is None else model.pieces[model.unk_id][0]
    return model.unk_token


def _inherited_bpe(spec: TokenizerSpec, model: BPE) -> dict[str, Any]:
    marks = {
        "continuing_subword_prefix": model.continuing_subword_prefix or "",
        "end_of_word_suffix": model.end_of_word_suffix or "",
    }
    if pipeline_of(spec).is_byte_level:
        return marks | {"initial_alphabet": BYTE_ALPHABET}
    if model.byte_fallback:
        raise ArgumentError("model", "a BPE model with byte_fallback", "one without")
    return marks


def _added_after(
    spec: TokenizerSpec, trainer: PlainTrainer, settings: Mapping[str, Any]
) -> tuple[AddedToken, ...]:
    """Return the old added tokens with their flags, and plain special ones for tokens that are new.

    Ids are the old ones, or 0. A token that only the post-processor or padding inserts stays an entry of
    the vocabulary that is not looked for in text.
    """
    old = {token.content: token for token in spec.added_tokens}
    unsought = set() if "special_tokens" in settings else _inserted_tokens(spec) - old.keys()
    return tuple(
        old.get(content, AddedToken(content, 0))
        for content in trainer.special_tokens
        if content not in unsought or content == trainer.unk_token
    )


def _inserted_tokens(spec: TokenizerSpec) -> set[str]:
    names = _names_by_id(spec)
    return {names[id] for id in inserted_ids(spec) if id in names}


def _new_id(spec: TokenizerSpec, old_id: int, vocab: Mapping[str, int]) -> int:
    """Return the new id of the token that had `old_id`, which post-processor or padding inserts."""
    token = _names_by_id(spec).get(old_id)
    if token is None or token not in vocab:
        expected = f"{token!r} among them, which the post-processor or padding uses"
        raise ArgumentError("special_tokens", "not enough tokens", expected)
    return vocab[token]


def _names_by_id(spec: TokenizerSpec) -> dict[int, str]:
    names = {number: token for token, number in spec.model.vocab.items()}
    return names | {token.id: token.content for token in spec.added_tokens}
