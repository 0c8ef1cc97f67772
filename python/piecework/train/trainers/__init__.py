"""Trainers: word counts in, a model out; one frozen dataclass for each kind of model.

To add a trainer, write its module here, a `Trainer` or a `PresetTrainer`, and add the class to `TRAINERS` and
to the lists in `train/__init__.py` and `piecework/__init__.py`. Checks, options, tables of the reference and
`train/settings.py` come from the fields (`_internal/setting_fields.py`).
"""

from __future__ import annotations

from piecework.train.trainer import Trainer
from piecework.train.trainers.bpe import BPETrainer, ByteBPETrainer
from piecework.train.trainers.ranking import CharTrainer, WordLevelTrainer
from piecework.train.trainers.sentencepiece import SentencePieceTrainer
from piecework.train.trainers.unigram import ByteUnigramTrainer, UnigramTrainer
from piecework.train.trainers.wordpiece import WordPieceTrainer

TRAINERS: dict[str, type[Trainer]] = {
    trainer.kind: trainer
    for trainer in (
        WordPieceTrainer,
        BPETrainer,
        ByteBPETrainer,
        UnigramTrainer,
        ByteUnigramTrainer,
        SentencePieceTrainer,
        WordLevelTrainer,
        CharTrainer,
    )
}
