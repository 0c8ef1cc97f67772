"""Training in two steps: count words (`count_files`, `count_texts`), then learn (the trainers).

Counts of shards can be made on many machines, merged, saved, and used again with other settings.
`Tokenizer.train` runs both steps.
"""

from piecework.corpus.files import corpus_files, read_corpus
from piecework.train.counting import count_files, count_files_to, count_texts
from piecework.train.counts import Counts
from piecework.train.counts_files import CountsSummary
from piecework.train.learn import learn_spec, pipeline_of
from piecework.train.pipeline import Pipeline
from piecework.train.plan import Plan
from piecework.train.presets import PRESETS, Preset
from piecework.train.sentencepiece_presets import SENTENCEPIECE_PRESETS, SentencePiecePreset
from piecework.train.sentences import Sentences
from piecework.train.settings import RetrainSettings, TrainSettings
from piecework.train.trainers import (
    BPETrainer,
    ByteBPETrainer,
    CharTrainer,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    WordTrainer,
)
from piecework.train.trainers.common import LearnedVocabulary
from piecework.train.trainers.unigram import LearnedPieces

__all__ = [
    "PRESETS",
    "SENTENCEPIECE_PRESETS",
    "BPETrainer",
    "ByteBPETrainer",
    "CharTrainer",
    "Counts",
    "CountsSummary",
    "LearnedPieces",
    "LearnedVocabulary",
    "Pipeline",
    "Plan",
    "Preset",
    "RetrainSettings",
    "SentencePiecePreset",
    "SentencePieceTrainer",
    "Sentences",
    "TrainSettings",
    "Trainer",
    "UnigramTrainer",
    "WordPieceTrainer",
    "WordTrainer",
    "corpus_files",
    "count_files",
    "count_files_to",
    "count_texts",
    "learn_spec",
    "pipeline_of",
    "read_corpus",
]
