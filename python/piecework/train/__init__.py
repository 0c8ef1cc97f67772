"""Training: corpus -> counts -> learner -> specification.

Counting (`count_files`, `count_texts`) is apart from learning, so counts can be made on many
machines, merged, saved, and learned from again with other settings.
"""

from piecework.corpus.files import read_corpus
from piecework.train.counting import Progress, count_files, count_texts
from piecework.train.counts import Counts
from piecework.train.learn import learn_spec, pipeline_of, relearn_spec
from piecework.train.pipeline import Pipeline
from piecework.train.plan import Plan
from piecework.train.presets import PRESETS, Preset, preset_for
from piecework.train.sentencepiece_presets import SENTENCEPIECE_PRESETS, SentencePiecePreset
from piecework.train.sentences import Reservoir, Sentences, sentences_of
from piecework.train.settings import RetrainSettings, TrainSettings
from piecework.train.trainers import (
    BYTE_ALPHABET,
    SCORES,
    SENTENCEPIECE_TYPES,
    TIES,
    WORDPIECE_TIES,
    BPETrainer,
    ByteBPETrainer,
    CharTrainer,
    Join,
    LearnedPieces,
    LearnedVocabulary,
    LearningStep,
    PlainTrainer,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    WordTrainer,
    kind_of,
    trainer_for,
)

__all__ = [
    "BYTE_ALPHABET",
    "PRESETS",
    "SCORES",
    "SENTENCEPIECE_PRESETS",
    "SENTENCEPIECE_TYPES",
    "TIES",
    "WORDPIECE_TIES",
    "BPETrainer",
    "ByteBPETrainer",
    "CharTrainer",
    "Counts",
    "Join",
    "LearnedPieces",
    "LearnedVocabulary",
    "LearningStep",
    "Pipeline",
    "PlainTrainer",
    "Plan",
    "Preset",
    "Progress",
    "Reservoir",
    "RetrainSettings",
    "SentencePiecePreset",
    "SentencePieceTrainer",
    "Sentences",
    "TrainSettings",
    "Trainer",
    "UnigramTrainer",
    "WordPieceTrainer",
    "WordTrainer",
    "count_files",
    "count_texts",
    "kind_of",
    "learn_spec",
    "pipeline_of",
    "preset_for",
    "read_corpus",
    "relearn_spec",
    "sentences_of",
    "trainer_for",
]
