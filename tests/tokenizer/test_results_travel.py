"""Results and tokenizers pickle, copy, compare with `==` and cross process boundaries."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.analysis.training.trace import TrainingTrace
from piecework.errors import ArgumentError, PieceworkError
from piecework.export.pipeline import EncodedFiles
from piecework.train import NormalizationRules
from tests.tokenizer.test_batch_spans import KINDS, texts

METHODS = ("fork", "spawn")
ROW_COLUMNS = (
    *("ids", "tokens", "offsets", "word_ids", "sequence_ids", "type_ids"),
    *("special_tokens_mask", "attention_mask"),
)
CORPUS = ["hug hugs pug pun bun hugging"] * 9


@cache
def bert() -> pw.Tokenizer:
    return KINDS["bert"]().with_truncation(6, stride=1).with_padding(8)


@cache
def unigram() -> pw.Tokenizer:
    counts = {"h": 15, "u": 36, "g": 20, "s": 5, "ug": 20, "hug": 15}
    pieces = tuple((piece, float(np.log(count / 111))) for piece, count in counts.items())
    return pw.Tokenizer(pw.spec.Unigram(pieces))


def encoded_files(folder: Path) -> EncodedFiles:
    (folder / "in.txt").write_text("hug\n\nhugs\n")
    return pw.encode_files(bert(), folder / "in.txt", folder / "out.txt")


def trace(trainer: pw.train.Trainer) -> TrainingTrace:
    counts = pw.analysis.training_example("hugs").counts
    return pw.analysis.explain_training(counts, trainer, steps="all")


RESULTS: dict[str, Callable[[], object]] = {
    "encoding": lambda: bert().encode("hug hugs pug don't"),
    "plain encoding": lambda: KINDS["gpt2"]().encode("hugs 🤗 é"),
    "encoding of a pair": lambda: bert().encode("hug hugs", "pug"),
    "encoding of words": lambda: bert().encode(["hug", "hugs"], is_pretokenized=True),
    "row": lambda: bert().encode_batch(["hug hugs"])[0],
    "row with spans": lambda: bert().encode_batch(["hug hugs"], ["pug"], offsets=True)[0],
    "batch": lambda: KINDS["gpt2"]().encode_batch(texts(21)),
    "batch of pairs": lambda: bert().encode_batch(["hug"] * 3, ["pug hugs", "", "a"], offsets=True),
    "batch with overflow": lambda: bert().encode_batch(texts(22), overflow=True, offsets=True),
    "slice of a batch": lambda: bert().encode_batch(texts(22), overflow=True, offsets=True)[5:20:3],
    "empty batch": lambda: bert().encode_batch([]),
    "segmentation": lambda: pw.tokenizer.lattice.nbest(unigram(), "hugs", 2)[1],
    "sampling": lambda: pw.Sampling(alpha=0.2, seed=3),
    "explanation": lambda: pw.analysis.explain(unigram(), "hugs"),
    "explanation of merges": lambda: pw.analysis.explain(KINDS["bpe"](), "hugs pug"),
    "explanation of a search": lambda: pw.analysis.explain(bert(), "hugs pug"),
    "trace of merges": lambda: trace(pw.analysis.training_example("hugs").trainer),
    "trace of pruning": lambda: trace(pw.WordPieceTrainer(40, pw.train.Pruning())),
    "trace of Unigram": lambda: trace(pw.UnigramTrainer(12)),
    "side by side": lambda: pw.analysis.side_by_side({"a": bert(), "b": KINDS["gpt2"]()}, "hugs"),
    "lineage": lambda: pw.analysis.lineage(KINDS["bpe"](), "hug"),
    "inspection": lambda: pw.analysis.inspect(bert()),
    "choice": lambda: pw.analysis.choose([f"hugs {number}" for number in range(99)], [34]),
    "comparison": lambda: pw.analysis.compare({"a": bert(), "b": KINDS["gpt2"]()}, CORPUS),
    "id map": lambda: pw.vocabulary.prune(KINDS["bert"](), ["hug"])[1],
    "memory": lambda: bert().memory(),
    "specification": lambda: bert().spec,
    "tokenizer": lambda: bert(),
    "normalization rules": lambda: NormalizationRules.from_mapping({"a": "b"}),
    "trainer": lambda: pw.WordPieceTrainer(vocab_size=99),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_results_are_equal(name: str, protocol: int) -> None:
    result = RESULTS[name]()
    data = pickle.dumps(result, protocol)
    again = pickle.loads(data)
    assert type(again) is type(result)
    assert again == result
    assert (result == again) is True
    assert (result != again) is False
    assert pickle.dumps(pickle.loads(pickle.dumps(again, protocol)), protocol)


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copied_results_are_equal(name: str, copied: Callable[[Any], Any]) -> None:
    result = RESULTS[name]()
    assert copied(result) == result


@pytest.mark.parametrize("name", RESULTS)
def test_comparing_never_raises(name: str) -> None:
    result = RESULTS[name]()
    for other in (None, 1, "hug", [1], np.arange(3), *(make() for make in RESULTS.values())):
        if not isinstance(other, np.ndarray):
            assert (result == other) in (True, False)
            assert (result != other) is not (result == other)
    assert result != object()


def test_results_of_encoded_files_compare_and_pickle(tmp_path: Path) -> None:
    done = encoded_files(tmp_path)
    assert pickle.loads(pickle.dumps(done)) == copy.deepcopy(done) == done


def test_results_that_can_change_do_not_hash() -> None:
    batch, id_map = bert().encode_batch(["hug"]), pw.vocabulary.prune(KINDS["bert"](), ["hug"])[1]
    for result in (batch, batch[0], bert().encode("hug"), id_map):
        with pytest.raises(TypeError, match="unhashable"):
            hash(result)
    assert hash(bert()) == hash(pickle.loads(pickle.dumps(bert())))


def test_different_results_are_unequal() -> None:
    tok = KINDS["bert"]()
    assert tok.encode("hug") != tok.encode("pug")
    assert tok.encode("hug") == tok.encode("hug")
    assert tok.encode("hug  hug") != tok.encode("hug hug")  # the same ids at other places
    one = tok.encode_batch(["hug pug", "hug"])
    assert one != tok.encode_batch(["hug", "pug hug"])
    assert one != tok.encode_batch(["hug pug", "hug"], offsets=True)
    assert one != tok.encode_batch(["hug pug", "hug"]).to_lists()
    assert tok.encode_batch(["hug pug", "hug"], offsets=True) != tok.encode_batch(
        ["hug  pug", "hug"], offsets=True
    )


def test_every_field_of_a_dataclass_takes_part_in_its_comparison() -> None:
    for name in ("explanation", "comparison", "inspection", "specification"):
        result = RESULTS[name]()
        assert is_dataclass(result)
        assert all(field.compare for field in fields(result))


def test_pickled_results_contain_no_tokenizer() -> None:
    tok = KINDS["gpt2"]()
    size = len(pickle.dumps(tok))
    for result in (tok.encode("hug"), tok.encode_batch(["hug"] * 9), tok.encode_batch(["a"])[0]):
        data = pickle.dumps(result)
        assert b"Tokenizer" not in data
        assert b"Core" not in data
        assert len(data) < size / 5


def test_an_unpickled_encoding_has_every_attribute() -> None:
    for text, pair in (("hug é🤗 pug don't hugs", None), ("hug é", "pug hugs 🤗")):
        encoding = bert().encode(text, pair)
        again = pickle.loads(pickle.dumps(encoding))
        for name in (*ROW_COLUMNS, "byte_offsets", "utf16_offsets", "texts", "n_sequences"):
            assert getattr(again, name) == getattr(encoding, name), name
        assert [window.ids for window in again.overflowing] == [
            window.ids for window in encoding.overflowing
        ]
        assert again.char_to_token(0) == encoding.char_to_token(0)
        assert repr(again) == repr(encoding)
        assert len(again) == len(encoding)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "unigram", "t5"])
def test_rows_with_spans_equal_what_encode_gives(kind: str) -> None:
    tok = KINDS[kind]()
    first, second = texts(23), texts(24)
    for batch in (
        tok.encode_batch(first, offsets=True),
        pickle.loads(pickle.dumps(tok.encode_batch(first, offsets=True))),
    ):
        assert list(batch) == [tok.encode(text) for text in first]
    pairs = tok.encode_batch(first, second, offsets=True)
    assert list(pairs) == [tok.encode(*pair) for pair in zip(first, second, strict=True)]


def test_a_row_is_the_row_of_the_columns_when_padding_depends_on_the_batch() -> None:
    batch = KINDS["bert"]().with_padding(None).encode_batch(["hug", "hug hug hug"])
    assert batch[0].ids == batch.to_lists()[0]
    assert batch[0].tokens[-1] == "[PAD]"
    assert batch[0].attention_mask[-1] == 0


def test_errors_of_rows_name_the_argument_to_pass() -> None:
    for batch in (b := bert().encode_batch(["hug hugs"]), pickle.loads(pickle.dumps(b))):
        row = batch[0]
        assert (len(row), len(row.tokens), len(row.type_ids)) == (8, 8, 8)
        for column in ("offsets", "word_ids", "sequence_ids", "special_tokens_mask"):
            with pytest.raises(ArgumentError, match=f"offsets: must be True.*{column}"):
                getattr(row, column)
            with pytest.raises(ArgumentError, match=f"offsets: must be True.*{column}"):
                getattr(pickle.loads(pickle.dumps(row)), column)
    row = bert().encode_batch(["hug hugs"], offsets=True)[0]
    for column in ("byte_offsets", "utf16_offsets"):
        with pytest.raises(ArgumentError, match=rf"encode\(text\).{column}"):
            getattr(row, column)
    assert (row.texts, row.n_sequences) == ((), 1)
    assert bert().encode_batch(["hug"], ["pug"], offsets=True)[0].n_sequences == 2


# ---- rows and slices of a batch


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("is_pair", [False, True])
def test_slices_are_batches_of_the_rows(offsets: bool, is_pair: bool) -> None:
    tok, first, second = KINDS["bert"](), texts(25, 20), texts(26, 20)
    batch = tok.encode_batch(first, second if is_pair else None, offsets=offsets)
    for rows in (
        *(slice(2, 5), slice(None), slice(-3, None), slice(None, None, 2), slice(None, None, -1)),
        *(slice(15, 3, -4), slice(5, 5), slice(7, 2), slice(30, 40), slice(0, 1)),
    ):
        expected = tok.encode_batch(first[rows], second[rows] if is_pair else None, offsets=offsets)
        sliced = batch[rows]
        assert isinstance(sliced, pw.Batch)
        assert sliced == expected, rows
        assert sliced.to_lists() == batch.to_lists()[rows]
        assert list(sliced) == list(batch)[rows]
        assert sliced[::-1][::-1] == sliced
        assert pickle.loads(pickle.dumps(sliced)) == sliced
        assert tok.decode_batch(sliced) == tok.decode_batch(batch)[rows]


def test_slices_of_windows_know_their_texts() -> None:
    batch = bert().encode_batch(["hug " * 9, "pug", "pug " * 9], overflow=True)
    samples = batch.overflow_to_sample_mapping
    for rows in (slice(2, 5), slice(None, None, -2)):
        assert batch[rows].overflow_to_sample_mapping.tolist() == samples[rows].tolist()


def test_rows_are_indexed_as_those_of_a_list() -> None:
    batch = KINDS["bert"]().encode_batch(["hug", "pug", ""])
    assert len(batch) == len(list(batch)) == 3
    assert batch[-1] == batch[2] == batch[np.int64(2)]
    for row in (3, -4):
        with pytest.raises(IndexError, match=f"row {row} of a batch of 3"):
            batch[row]
    with pytest.raises(pw.errors.InputTypeError, match="row"):
        batch["0"]  # type: ignore[call-overload]


# ---- processes


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_a_tokenizer_run_in_a_pool(method: str) -> None:
    tok, many = bert(), ["hug hugs", "pug", "", "hug don't"]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(tok.encode, many) == list(map(tok.encode, many))
        assert pool.map(tok.encode_batch, [many, many[1:]]) == [
            tok.encode_batch(many),
            tok.encode_batch(many[1:]),
        ]
        ids = [tok.encode(text).ids for text in many]
        assert pool.map(tok.decode, ids) == list(map(tok.decode, ids))
        assert pool.map(tok.count, many) == list(map(tok.count, many))
        assert pool.map(tok.decode_batch, [tok.encode_batch(many)]) == [
            tok.decode_batch(tok.encode_batch(many))
        ]


@pytest.mark.parametrize("method", METHODS)
def test_results_cross_an_executor_both_ways(method: str) -> None:
    context = multiprocessing.get_context(method)
    results = [make() for make in RESULTS.values()]
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        assert executor.submit(copy.copy, results).result() == results
        error = executor.submit(bert().encode, 1).exception()  # type: ignore[arg-type]
    assert isinstance(error, pw.errors.InputTypeError)
    assert (error.place, str(error)) == ("text", "text: must be str, not int")


@pytest.mark.parametrize("name", sorted(set(vars(pw.errors)) - {"annotations"}))
def test_errors_and_warnings_pickle_with_what_they_say(name: str) -> None:
    kind = getattr(pw.errors, name)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        return
    given: dict[str, Any] = {}
    if issubclass(kind, PieceworkError):
        given = {"also": ["b"], "hint": "h", "found": "f", "expected": "e", "limit": 3, "kind": "k"}
    error = kind("place", "message", **given)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind
        assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


def test_arrays_of_a_pickle_at_odd_addresses_are_aligned() -> None:
    batch = bert().encode_batch(["a b", "b"])
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(batch, 5, buffer_callback=buffers.append)
    moved = [memoryview(b"x" + buffer.raw())[1:] for buffer in buffers]
    again = pickle.loads(data, buffers=moved)
    assert buffers
    assert again == batch
    assert all(column.flags.aligned for column in (again.ids, again.row_offsets))
