"""The steps of a learner on a small corpus, as JSON data for the slider of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import piecework as pw
from piecework.errors import ArgumentError
from piecework.playground.limits import CORPUS_CHARS, REMOVALS, STEPS, VOCAB_SIZE, check_length
from piecework.train.plan import Plan

_TOP = 12
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

Special: TypeAlias = tuple[str, ...]


def _wordpiece(
    learner: Any, alphabet_forms: str = "possible"
) -> Callable[[int, Special], pw.train.Trainer]:
    return lambda size, special: pw.WordPieceTrainer(
        size,
        learner,
        min_frequency=1,
        special_tokens=special,
        alphabet_forms=alphabet_forms,
    )


PRUNING = "wordpiece-pruning"
LEARNERS: Mapping[str, Callable[[int, Special], pw.train.Trainer]] = {
    PRUNING: _wordpiece(pw.train.Pruning()),
    # As published examples print it.
    "wordpiece-pmi": _wordpiece(pw.train.Merges("pmi"), "seen"),
    "wordpiece-likelihood": _wordpiece(pw.train.Merges("likelihood")),
    "wordpiece-frequency": _wordpiece(pw.train.Merges("frequency")),
    "bpe": lambda size, _: pw.BPETrainer(size, min_frequency=1, special_tokens=("<unk>",)),
    "unigram": lambda size, _: pw.UnigramTrainer(size, special_tokens=("<unk>",)),
}
"""The learners of the page, by name; each takes a vocabulary size, and special tokens for WordPiece."""


def presets_of_learners() -> dict[str, dict[str, str]]:
    """Return learner -> preset -> what the preset does, for the presets that a learner can have.

    >>> list(presets_of_learners()["bpe"])
    ['sentencepiece', 'whitespace', 'metaspace', 'characters']
    """
    return {
        name: {preset: about for preset, about in PRESETS.items() if _suits(learner, preset)}
        for name, learner in LEARNERS.items()
    }


def _suits(learner: Callable[[int, Special], pw.train.Trainer], preset: str) -> bool:
    try:
        Plan.of(learner(VOCAB_SIZE, ("[UNK]",)), None, preset, {})
    except ArgumentError:
        return False
    return True


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
    if learner not in LEARNERS:
        raise ArgumentError("learner", repr(learner), " or ".join(LEARNERS))
    if not 1 <= vocab_size <= VOCAB_SIZE:
        raise ArgumentError("vocab_size", f"{vocab_size:,}", f"a number from 1 to {VOCAB_SIZE:,}")
    if preset and preset not in PRESETS:
        raise ArgumentError("preset", repr(preset), " or ".join(PRESETS))
    check_length("corpus", text, CORPUS_CHARS)
    if not example and not text.strip():
        raise ArgumentError("corpus", "has no words; give a text, or choose one of the examples")
    corpus: pw.Counts | list[str] = text.splitlines()
    special: Special = ("[UNK]",)
    if example:
        found = pw.analysis.training_example(example)
        special = found.trainer.special_tokens
        # Learners other than WordPiece split the texts in their own way.
        other = preset or (found.texts and not learner.startswith("wordpiece"))
        if preset and not found.texts:
            raise ArgumentError("preset", "= does not apply: this example is a list of words")
        corpus = list(found.texts) if other else found.counts
    trainer = LEARNERS[learner](vocab_size, special)
    split_by = None
    if isinstance(corpus, pw.Counts):
        counts = corpus
    else:
        plan = Plan.of(trainer, None, preset or DEFAULTS.get(learner), {})
        counts = pw.count_texts(corpus, preset=plan.pipeline, sentences=plan.sentences)
        split_by = _effect(plan, corpus)
    shown = _word(counts, word) if trainer.kind == "unigram" else None
    if learner == PRUNING:
        _check_removals(counts, trainer)
    steps = f"1-{REMOVALS if learner == PRUNING else STEPS}"
    trace = pw.analysis.explain_training(counts, trainer, steps=steps, top=_TOP, word=shown)
    data = trace.to_dict()
    for step in data["steps"]:
        step.pop("vocab", None)  # the page takes the first `vocab_size` entries of the vocabulary
    return {**data, "preset": split_by}


def _check_removals(counts: pw.Counts, trainer: Any) -> None:
    """Raise `ArgumentError` if the pruning learner removes more entries than the page replays in time."""
    found = len(trainer.learn_removals(counts).removals)
    if found > REMOVALS:
        problem = f"has {found:,} entries to remove; the limit is {REMOVALS:,}: give a shorter text"
        raise ArgumentError("corpus", problem)


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


def _word(counts: pw.Counts, wanted: str) -> str | None:
    """Return the word if the corpus has it, else the first of the longest words that are drawn well."""
    words = [word for word in counts.words if len(word) <= _LONGEST_WORD] or counts.words
    if wanted in counts.words or not words:
        return wanted if words else None
    return max(words, key=len)
