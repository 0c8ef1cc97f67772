"""The steps of a learner on a small corpus, as JSON data for the slider of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import piecework as pw
from piecework._internal.validation import check_choice
from piecework.errors import ArgumentError
from piecework.train.plan import Plan

CORPUS_CHARS = 10_000
VOCAB_SIZE = 2_000
STEPS = 300
REMOVALS = 800
"""Steps of the pruning learner, most of the first of which change no word."""
_LONGEST_WORD = 10
_EXAMPLES = 3

PRESETS: Mapping[str, str] = {
    "bert-uncased": "lowercased, accents removed; split at spaces and punctuation",
    "bert-cased": "case and accents kept; split at spaces and punctuation",
    "sentencepiece": "NFKC, case and accents kept; split before spaces, which become ▁",
    "whitespace": "nothing changed; split at spaces",
    "punctuation": "nothing changed; split at spaces and punctuation",
    "metaspace": "nothing changed; split before spaces, which become ▁",
    "characters": "nothing changed; lines are not split",
}
"""The presets of the page, and what they do to a text."""
DEFAULTS = {"bpe": "whitespace"}  # symbols without a marker, as in published examples


def check_length(name: str, text: str, most: int) -> None:
    """Raise `ArgumentError` for a text of more than `most` characters.

    >>> check_length("text", "hug", 3)
    """
    if len(text) > most:
        raise ArgumentError(name, f"has {len(text):,} characters; the limit is {most:,}")


PRUNING = "wordpiece-pruning"
_WORDPIECE: dict[str, dict[str, Any]] = {
    PRUNING: {},
    "wordpiece-pmi": {"learner": pw.train.Merges("pmi"), "alphabet_forms": "seen"},  # as published
    "wordpiece-likelihood": {"learner": pw.train.Merges("likelihood")},
    "wordpiece-frequency": {"learner": pw.train.Merges("frequency")},
    "wordpiece-top-down": {"learner": pw.train.TopDown()},
}
LEARNERS = {
    **dict.fromkeys(_WORDPIECE, ("bert-uncased", "bert-cased", "whitespace", "punctuation")),
    **dict.fromkeys(("bpe", "unigram"), ("sentencepiece", "whitespace", "metaspace", "characters")),
}
"""The learners of the page, and the presets that each can have."""
PRESETS_OF_LEARNERS = {
    learner: {name: PRESETS[name] for name in names} for learner, names in LEARNERS.items()
}


def trainer_of(learner: str, vocab_size: int, special: tuple[str, ...]) -> pw.train.Trainer:
    """Return the trainer of a learner of the page; WordPiece has the special tokens.

    >>> trainer_of("bpe", 40, ()).vocab_size
    40
    """
    if learner in _WORDPIECE:
        how = _WORDPIECE[learner]
        return pw.WordPieceTrainer(vocab_size, min_frequency=1, special_tokens=special, **how)
    if learner == "bpe":
        return pw.BPETrainer(vocab_size, min_frequency=1)
    return pw.UnigramTrainer(vocab_size, special_tokens=("<unk>",))


def training_replay(
    example: str, text: str, learner: str, vocab_size: int, word: str = "", preset: str = ""
) -> dict[str, Any]:
    """Train on a published example, or on `text` if `example` is empty; return the trace.

    >>> found = training_replay("course", "", "wordpiece-pmi", 70)
    >>> found["steps"][0]["winner"]["left"], found["step_count"]
    ('a', 25)

    Unigram traces have the lattice of `word` at each step: a word of the corpus, else a long one. Texts are
    split by `preset`, or by the default of the learner; `preset` of the trace says what it does. It
    is None for the published words of an example, which the learners of WordPiece have without a `preset`.

    Raises `ArgumentError` for a corpus, a preset, a size or a learner outside the limits of the page, and the
    errors of the trainer.
    """
    check_choice("learner", learner, LEARNERS)
    if vocab_size > VOCAB_SIZE:
        raise ArgumentError("vocab_size", f"must be at most {VOCAB_SIZE:,}, not {vocab_size:,}")
    check_length("corpus", text, CORPUS_CHARS)
    if not example and not text.strip():
        raise ArgumentError("corpus", "has no words; give a text, or choose one of the examples")
    texts, counts, split_by = text.splitlines(), None, None
    special: tuple[str, ...] = ("[UNK]",)
    if example:
        found = pw.analysis.training_example(example)
        texts, special = list(found.texts), found.trainer.special_tokens
        if preset and not texts:
            raise ArgumentError("preset", "does not apply: this example is a list of words")
        # Learners other than WordPiece split the texts in their own way.
        if not preset and (learner.startswith("wordpiece") or not texts):
            counts = found.counts
    trainer = trainer_of(learner, vocab_size, special)
    if counts is None:
        plan = Plan.of(trainer, preset=preset or DEFAULTS.get(learner))
        counts = pw.count_texts(texts, preset=plan.pipeline, sentences=plan.sentences)
        split_by = _effect(plan, texts)
    shown = None
    if trainer.kind == "unigram":
        # A word of the corpus, else the first of the longest words that are drawn well.
        short = [one for one in counts.words if len(one) <= _LONGEST_WORD] or counts.words
        shown = word if word in counts.words else max(short, key=len, default=None)
    steps = f"1-{REMOVALS if learner == PRUNING else STEPS}"
    trace = pw.analysis.explain_training(counts, trainer, steps=steps, top=12, word=shown)
    data = trace.to_dict()
    for step in data["steps"]:
        step.pop("vocab", None)  # the page takes the first `vocab_size` entries of the vocabulary
    return {**data, "preset": split_by}


def _effect(plan: Plan, texts: list[str]) -> dict[str, Any]:
    """Return what the preset of a plan does, and which of the words between spaces it changes."""
    assert plan.preset is not None
    model = pw.spec.WordLevel({"<unk>": 0}, "<unk>")
    normalize = pw.Tokenizer(model, normalizer=plan.pipeline.normalizer).normalize
    words = dict.fromkeys(word for text in texts for word in text.split())
    changed = [(word, now) for word in words if (now := normalize(word)) != word]
    return {
        "name": plan.preset.name,
        "about": PRESETS.get(plan.preset.name, ""),
        "words": len(words),
        "changed": len(changed),
        "examples": changed[:_EXAMPLES],
    }
