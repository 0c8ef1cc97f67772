"""Training, counting and comparing take iterators of texts, and of batches of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import piecework as pw
from piecework.train import SentencePieceTrainer

TEXTS = ["low lower lowest", "new newer", "newest slow", "", "wide wider widest"] * 7


def batches(texts: list[str] = TEXTS, size: int = 3) -> Iterator[list[str]]:
    """Yield lists, as the course of Hugging Face does."""
    return (texts[start : start + size] for start in range(0, len(texts), size))


def test_training_takes_batches_as_tokenizers_does() -> None:
    flat = pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=40)
    assert pw.Tokenizer.train_from_iterator(batches(), vocab_size=40) == flat
    assert pw.Tokenizer.train_from_iterator(list(batches()), vocab_size=40) == flat
    new = flat.train_new_from_iterator(TEXTS[:10], 30)
    assert flat.train_new_from_iterator(batches(TEXTS[:10]), 30) == new
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.train_from_iterator(batches(), tokenizers.trainers.BpeTrainer(show_progress=False))
    assert theirs.get_vocab_size() > 0


def test_counting_and_other_calls_take_batches() -> None:
    counts = pw.count_texts(TEXTS)
    assert pw.count_texts(batches()) == counts
    assert pw.count_texts(batches()).first.tolist() == counts.first.tolist()
    assert pw.count_texts([tuple(TEXTS)]) == counts
    sentences = SentencePieceTrainer(input_sentence_size=4, seed=1).sentences
    sampled = pw.count_texts(TEXTS, sentences=sentences)
    assert pw.count_texts(batches(), sentences=sentences) == sampled
    tok = pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=40)
    assert pw.vocabulary.extend(tok, batches(), 2)[0] == pw.vocabulary.extend(tok, TEXTS, 2)[0]
    compared = [pw.analysis.compare({"a": tok}, texts) for texts in (TEXTS, batches())]
    assert compared[0].to_dict() == compared[1].to_dict()


def test_a_batch_can_be_a_column() -> None:
    pa = pytest.importorskip("pyarrow")
    columns = [pa.array(batch) for batch in batches()]
    assert pw.count_texts(columns) == pw.count_texts(TEXTS)


def test_progress_counts_texts_not_batches() -> None:
    seen: list[tuple[int, int]] = []
    pw.count_texts(list(batches()), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(TEXTS), 0)
    pw.count_texts(TEXTS, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(TEXTS), len(TEXTS))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", 3], r"texts\[1\]: must be str, or a list of str, not int"),
        ([["a"], ["b", 3]], r"texts\[1\]\[1\]: must be str, not int"),
        ([["a", ["b"]]], r"texts\[0\]\[1\]: must be str, not list"),
        ([{"text": "a"}], r"texts\[0\]: must be str, or a list of str, not dict"),
        ("a text", "texts: must be an iterable of str.*, not str"),
    ],
)
@pytest.mark.parametrize("call", [pw.count_texts, pw.Tokenizer.train_from_iterator])
def test_other_items_are_named_by_their_index(
    call: Callable[..., object], texts: object, message: str
) -> None:
    with pytest.raises(pw.errors.InputTypeError, match=message):
        call(texts)
