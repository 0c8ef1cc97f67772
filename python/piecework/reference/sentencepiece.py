"""SentencePiece: train and encode raw text, spaces included, so that decoding is lossless.

The idea: do not split the text into words first. Replace each space by the visible character ▁ and put
one before the text. Then ▁ is a character like any other, a piece such as `▁the` contains the space
before it, and joining the pieces restores the text. The model that learns and segments the pieces is
Unigram or BPE; this step around it makes it work for languages that write no spaces.

Source: Kudo and Richardson 2018, "SentencePiece". `sentencepiece_training` has the options of its
trainer, `sentencepiece_stages` and `sentencepiece_model` its stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from piecework.reference import sentencepiece_stages, unigram_training
from piecework.reference.aligned import align, as_text
from piecework.reference.sentencepiece_model import encode_text
from piecework.reference.sentencepiece_training import Shape, bpe, words
from piecework.reference.words import count_parts
from piecework.spec import (
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
)

SPECIAL = (
    ScoredPiece("<unk>", 0.0, "unknown"),
    ScoredPiece("<s>", 0.0, "control"),
    ScoredPiece("</s>", 0.0, "control"),
)


def train(
    texts: Iterable[str], vocab_size: int, kind: Literal["unigram", "bpe"] = "unigram"
) -> SentencePiece:
    """Learn a model from raw texts; the special pieces come first.

    >>> texts = ["hug pug pun bun hugs", "hug hugs pun"]
    >>> model = train(texts, vocab_size=15, kind="bpe")
    >>> [piece.text for piece in model.pieces[3:7]]
    ['ug', '▁h', '▁hug', 'un']

    Raises `TrainingError` when a Unigram vocabulary of this size cannot be learned.
    """
    counts = Counter(word for text in texts for word in words(normalize(text), Shape()))
    learn = learn_bpe if kind == "bpe" else learn_unigram
    return SentencePiece((*SPECIAL, *learn(counts, vocab_size - len(SPECIAL))), kind)


def learn_bpe(counts: Counter[str], size: int) -> list[ScoredPiece]:
    """Return the merged pieces, then the characters by decreasing count; a score is the negative rank.

    >>> learn_bpe(Counter({"ab": 2}), 3)[0]
    ScoredPiece(text='ab', score=0.0, type='normal')
    """
    characters = count_parts(counts.items(), iter)
    ranked = sorted(characters, key=lambda c: (-characters[c], c))
    pieces = [*bpe(counts, size - len(ranked), Shape()), *ranked]
    return [ScoredPiece(piece, float(-rank)) for rank, piece in enumerate(pieces)]


def learn_unigram(counts: Counter[str], size: int) -> list[ScoredPiece]:
    """Return the learned pieces with their log probabilities.

    >>> [piece.text for piece in learn_unigram(Counter({"▁ab": 4, "▁a": 2}), 4)]
    ['▁ab', 'b', '▁', 'a']
    """
    settings = unigram_training.Settings(vocab_size=size, special_tokens=())
    return [
        ScoredPiece(*scored) for scored in unigram_training.learn(list(counts.items()), settings)
    ]


def normalize(text: str) -> str:
    """Replace spaces by ▁, drop repeated ones and put one before the text.

    >>> normalize("Hello  world.")
    '▁Hello▁world.'
    """
    spec = SentencePieceNormalizer()
    return as_text(sentencepiece_stages.normalize(align(text), spec))


def encode(text: str, model: SentencePiece) -> list[str]:
    """Split a raw text into pieces.

    >>> model = train(["hug pug pun bun hugs", "hug hugs pun"], vocab_size=15, kind="bpe")
    >>> encode("hug bun", model)
    ['▁hug', '▁', 'b', 'un']
    """
    return [piece.token for piece in encode_text(normalize(text), model)]


def decode(pieces: Sequence[str]) -> str:
    """Join the pieces and turn ▁ back into spaces.

    >>> decode(["▁Hello", "▁wor", "ld."])
    'Hello world.'
    """
    return sentencepiece_stages.decode(pieces, SentencePieceDecoder())
