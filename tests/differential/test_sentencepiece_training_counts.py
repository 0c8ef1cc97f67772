"""Sentences with counts, and seeds with counts: what `spm_train` makes of them, and of as many sentences."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.compat.sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from piecework.reference import unigram_training as reference
from piecework.train import SentencePieceTrainer as Learner
from tests.differential.test_sentencepiece_training import CORPUS, FLAGS, options

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

TYPES = ("unigram", "bpe", "word", "char")
SENTENCES = list(dict.fromkeys(CORPUS))


def counted(seed: int) -> list[tuple[str, int]]:
    """Give words of the corpus and some sentences with counts, a few of them twice."""
    chance = random.Random(seed)
    texts = [*SENTENCES, *(word for sentence in SENTENCES for word in sentence.split())]
    return [(text, int(chance.paretovariate(1.5))) for text in texts]


def as_tsv(rows: list[tuple[str, int]]) -> str:
    return "".join(f"{text}\t{count}\n" for text, count in rows)


def learned(trainer: Any, lines: list[str], settings: dict[str, Any]) -> list[tuple[str, float]]:
    model = io.BytesIO()
    lists = {key: list(of) if isinstance(of, tuple) else of for key, of in settings.items()}
    trainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        input_format="tsv",
        hard_vocab_limit=False,
        minloglevel=2,
        **lists,
    )
    sp = SentencePieceProcessor(model_proto=model.getvalue())
    return [(sp.id_to_piece(id), sp.get_score(id)) for id in range(len(sp))]


@pytest.mark.filterwarnings("ignore:.*left out. longer than")
@pytest.mark.parametrize("flags", range(len(FLAGS)))
@pytest.mark.parametrize("kind", TYPES[1:])
def test_counting_models_are_the_same(kind: str, flags: int) -> None:
    settings = options(kind, "nmt_nfkc", flags)
    # Few enough that pairs still occur at the end: theirs goes on without.
    settings["vocab_size"] -= 25
    lines = as_tsv(counted(flags)).splitlines()
    ours, theirs = (
        learned(trainer, lines, settings)
        for trainer in (SentencePieceTrainer, sentencepiece.SentencePieceTrainer)
    )
    assert ours == theirs


@pytest.mark.parametrize("kind", TYPES)
def test_a_sentence_with_a_count_equals_that_many_sentences(kind: str, tmp_path: Path) -> None:
    """Also for Unigram, whose seeds `spm_train` takes without the counts."""
    rows = [(text, min(count, 50)) for text, count in counted(3)]
    settings = options(kind, "nmt_nfkc", 0)
    trainer = Learner(hard_vocab_limit=False, **settings)
    (tmp_path / "all.txt").write_text("".join(f"{text}\n" * count for text, count in rows))
    (tmp_path / "counts.tsv").write_text(as_tsv(rows))
    written_out = pw.Tokenizer.train(tmp_path / "all.txt", trainer)
    by_counts = pw.Tokenizer.train(
        tmp_path / "counts.tsv", Learner(hard_vocab_limit=False, input_format="tsv", **settings)
    )
    assert by_counts.spec.model.pieces == written_out.spec.model.pieces  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "wrong", ["hug", "hug\t0", "hug\t-1", "hug\t1.5", "hug\t3\t4", "hug\t", "hug\t0x10", "hug\tx"]
)
def test_a_line_of_counts_that_sentencepiece_rejects_is_an_error_here_too(
    wrong: str, tmp_path: Path
) -> None:
    lines = ["hug\t10", wrong]
    with pytest.raises(RuntimeError):
        learned(sentencepiece.SentencePieceTrainer, lines, {"model_type": "char"})
    with pytest.raises(pw.errors.CorpusError, match=r"texts\[1\].*count: found .*a tab and"):
        learned(SentencePieceTrainer, lines, {"model_type": "char"})
    (tmp_path / "c.tsv").write_text("\n".join(lines))
    with pytest.raises(pw.errors.CorpusError, match=r"c\.tsv.*line at byte 7"):
        pw.Tokenizer.train(tmp_path / "c.tsv", Learner(model_type="char", input_format="tsv"))


@pytest.mark.parametrize("right", ["hug\t3 ", "hug\t 3", "hug\t+3", "hug\t3\r", "\t3"])
def test_a_line_of_counts_that_sentencepiece_accepts_is_read(right: str) -> None:
    lines, settings = ["hug\t10", "pug\t5", right], {"model_type": "char"}
    theirs = learned(sentencepiece.SentencePieceTrainer, lines, settings)
    assert learned(SentencePieceTrainer, lines, settings) == theirs


# ---- seeds


def test_seeds_are_read_as_they_read_them(tmp_path: Path) -> None:
    """Pieces of one and other seeds; the rest of a line is passed over, as are the same seeds again."""
    rows = ["▁the\t12\tx", "▁sea\t 9", "an\t30", "▁the\t1", "qu\t4", "a b\t9", "漢字\t9", "F1\t5"]
    (tmp_path / "seeds.tsv").write_text("\n".join([*rows, *(f"{c}\t3" for c in "xyz")]))
    settings = {"vocab_size": 200, "seed_sentencepieces_file": str(tmp_path / "seeds.tsv")}
    lines = [f"{sentence}\t3" for sentence in SENTENCES]
    ours, theirs = (
        {piece for piece, _ in learned(trainer, lines, settings)}
        for trainer in (SentencePieceTrainer, sentencepiece.SentencePieceTrainer)
    )
    assert ours == theirs
    assert {"▁the", "▁sea", "an"} <= ours


def test_training_from_seeds_of_a_corpus_equals_training_from_it(tmp_path: Path) -> None:
    texts = ["hug hugs bug bugs a rug", "the bug hugs the rug", "rugs and bugs"] * 4
    trainer = Learner(vocab_size=24)
    counts = pw.count_texts(texts, preset=trainer.pipeline)
    found = reference.substring_counts(list(counts), 17)
    seeds = reference.seeds(list(counts), [], reference.Settings())
    rows = [f"{piece}\t{found[piece]}" for piece in seeds if len(piece) > 1]
    (tmp_path / "seeds.tsv").write_text("\n".join(rows))
    given = Learner(vocab_size=24, seed_sentencepieces_file=tmp_path / "seeds.tsv")
    assert given.learn(counts) == trainer.learn(counts)
