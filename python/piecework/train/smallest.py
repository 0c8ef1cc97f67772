"""The smallest model of a trainer, to ask before training what a file format can store."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, islice

from piecework.spec import Char, Model, SentencePiece, Unigram, WordLevel
from piecework.train.trainers import (
    BPETrainer,
    ByteBPETrainer,
    CharTrainer,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
)
from piecework.train.trainers.bpe import BYTE_ALPHABET
from piecework.train.trainers.common import LearnedVocabulary, Merge, vocabulary_of
from piecework.train.trainers.meta_pieces import with_learned

_FILLERS = 0x4E00  # characters that no symbol of a model has


def smallest_model(trainer: Trainer) -> Model:
    """Return the model of a trainer with its special tokens, the smallest alphabet and, for BPE, one merge.

    >>> list(smallest_model(WordPieceTrainer(special_tokens=("[UNK]",))).vocab)
    ['[UNK]', 'a']
    """
    if isinstance(trainer, SentencePieceTrainer):
        return _sentencepiece(trainer)
    if isinstance(trainer, UnigramTrainer):
        return _unigram(trainer)
    if isinstance(trainer, ByteBPETrainer):
        return _bpe(trainer, trainer.by_characters(), BYTE_ALPHABET)
    if isinstance(trainer, BPETrainer):
        return _bpe(trainer, trainer, "a")
    entries = tuple(dict.fromkeys((*trainer.special_tokens, "a")))
    if isinstance(trainer, WordPieceTrainer):
        return trainer.model_of(LearnedVocabulary(entries, (), None))
    model = Char if isinstance(trainer, CharTrainer) else WordLevel
    return model(vocabulary_of(entries), unk_token=trainer.unk_token)


def _bpe(
    trainer: BPETrainer | ByteBPETrainer, settings: BPETrainer, alphabet: Iterable[str]
) -> Model:
    last = "a" + settings.end_of_word_suffix
    merge = Merge("a", settings.continuing_subword_prefix + last, "a" + last, 1, 1.0)
    entries = dict.fromkeys((*trainer.special_tokens, *alphabet, merge.right, merge.token))
    return trainer.model_of(LearnedVocabulary(tuple(entries), (merge,), None))


def _unigram(trainer: UnigramTrainer) -> Unigram:
    found = [*trainer.special_tokens, *trainer.user_defined_symbols]
    if trainer.byte_fallback:
        found += [f"<0x{byte:02X}>" for byte in range(256)]
    names = list(dict.fromkeys((*found, "a")))
    unk_id = None if trainer.unk_token is None else names.index(trainer.unk_token)
    pieces = tuple((name, -1.0 if name == "a" else 0.0) for name in names)
    return Unigram(pieces, unk_id=unk_id, byte_fallback=trainer.byte_fallback)


def _sentencepiece(trainer: SentencePieceTrainer) -> SentencePiece:
    """Return the model with the characters of its symbols as pieces, as a large corpus would give."""
    meta_pieces = trainer.meta_pieces
    symbols = {piece.text for piece in meta_pieces.values()}
    characters = dict.fromkeys(("▁", "a", *(c for symbol in symbols for c in symbol)))
    learned = [character for character in characters if character not in symbols]
    gaps = max(meta_pieces) + 1 - len(meta_pieces) - len(learned)
    learned += map(chr, islice(count(_FILLERS), max(0, gaps)))
    return SentencePiece(
        with_learned(meta_pieces, [(character, -1.0) for character in learned]),
        kind=trainer.model_type,
        byte_fallback=trainer.byte_fallback,
        bos_piece=trainer.bos_piece,
        eos_piece=trainer.eos_piece,
        pad_piece=trainer.pad_piece,
    )
