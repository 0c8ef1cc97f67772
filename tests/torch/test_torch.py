"""Tensors of batches, and the collator in data loaders of torch."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError
from piecework.integrations.torch import Collator, Masking

VOCAB = {"[UNK]": 0, "a": 1, "b": 2, "[PAD]": 3, "[CLS]": 4, "[SEP]": 5, "[MASK]": 6}
BARE = pw.Tokenizer(pw.spec.Char(VOCAB))
TOK = BARE.with_added_tokens(["[PAD]", "[CLS]", "[SEP]", "[MASK]"], special=True)
BERT = TOK.with_post_processor(pw.spec.TemplateProcessing.bert(cls_id=4, sep_id=5))
TEXTS = ["abab", "a", "ab"]
IDS = [[1, 2, 1, 2], [1], [1, 2]]


def lists(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: tensor.tolist() for name, tensor in tensors.items()}


# ---- Batch.to_torch and Batch.to_dict


@pytest.mark.parametrize("dtype", [None, torch.int64, torch.int32, "int16", np.int32])
def test_tensors_equal_the_rectangles_of_numpy(dtype: Any) -> None:
    batch = BERT.encode_batch(TEXTS, TEXTS, offsets=True)
    for column in ("ids", "type_ids", "attention_mask", "word_ids", "offsets"):
        for side in ("right", "left"):
            tensor = batch.to_torch(column=column, side=side, dtype=dtype)  # type: ignore[arg-type]
            expected = batch.to_numpy(column=column, side=side)  # type: ignore[arg-type]
            assert tensor.tolist() == expected.tolist()
            names = str(dtype).rpartition(".")[2].rstrip("'>")
            assert str(tensor.dtype) == f"torch.{'int64' if dtype is None else names}"
    assert batch.to_torch(0)[1, -1] == 0


def test_flat_columns_share_the_memory_of_the_batch() -> None:
    batch = BERT.encode_batch(TEXTS, TEXTS, offsets=True)
    dtypes = {"ids": torch.int32, "type_ids": torch.uint8, "word_ids": torch.int32}
    dtypes |= {"offsets": torch.int32, "row_offsets": torch.int64}
    for column, dtype in dtypes.items():
        tensor = batch.to_torch(column=column, padded=False)
        values = getattr(batch, column)
        assert tensor.dtype == dtype
        assert tensor.tolist() == values.tolist()
        assert tensor.data_ptr() == values.ctypes.data
    cast = batch.to_torch(column="row_offsets", padded=False, dtype=torch.int32)
    assert cast.dtype == torch.int32
    assert cast.tolist() == batch.row_offsets.tolist()
    # Embeddings take the ids as they are.
    rows = torch.nn.EmbeddingBag(7, 2)(batch.to_torch(padded=False), cast[:-1])
    assert rows.shape == (3, 2)


def test_tensors_outlive_their_batch() -> None:
    tensor = TOK.encode_batch(TEXTS * 1000).to_torch(padded=False)
    assert tensor[:5].tolist() == [1, 2, 1, 2, 1]
    assert int(tensor.sum()) == 10 * 1000


def test_empty_batches_are_empty_tensors() -> None:
    for texts, shape in (([], (0, 0)), (["", ""], (2, 0))):
        batch = BARE.encode_batch(texts)
        assert batch.to_torch().shape == shape
        assert batch.to_torch(padded=False).shape == (0,)
        assert batch.to_dict(return_tensors="pt")["attention_mask"].shape == shape


def test_arrays_that_must_not_be_written_are_copied() -> None:
    batch = pickle.loads(pickle.dumps(TOK.encode_batch(TEXTS)))
    batch.ids.flags.writeable = False
    tensor = batch.to_torch(padded=False)
    tensor[0] = 2
    assert batch.ids[0] == 1


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"dtype": torch.float32}, "dtype"),
        ({"dtype": torch.uint8, "pad_id": 256}, "pad_id"),
        ({"padded": False, "pad_id": 0}, "pad_id"),
        ({"padded": False, "side": "left"}, "side"),
        ({"padded": False, "column": "tokens"}, "column"),
        ({"column": "row_offsets"}, "column"),
    ],
)
def test_unusable_arguments_are_named(settings: Any, place: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        TOK.encode_batch(TEXTS).to_torch(**settings)
    assert raised.value.place == place


def test_ids_above_int32_need_a_dtype() -> None:
    batch = TOK.encode_batch(["a", "b"])
    batch.ids[:] = 2**31 + 5
    with pytest.raises(ArgumentError, match=f"dtype: {2**31 + 5} does not fit into int32.*int64"):
        batch.to_torch(padded=False)
    assert batch.to_torch(padded=False, dtype=torch.int64).tolist() == [2**31 + 5] * 2
    assert batch.to_torch().tolist() == [[2**31 + 5]] * 2


def test_model_inputs_are_tensors() -> None:
    batch = BERT.encode_batch(TEXTS, TEXTS)
    tensors = batch.to_dict(return_tensors="pt", dtype=torch.int32)
    assert lists(tensors) == lists(batch.to_dict(return_tensors="np"))
    assert {tensor.dtype for tensor in tensors.values()} == {torch.int32}


# ---- Collator


def test_texts_ids_encodings_and_dicts_give_the_same_tensors() -> None:
    expected = lists(BERT.encode_batch(TEXTS).to_dict(return_tensors="pt"))
    ids = BERT.encode_batch(TEXTS).to_lists()
    kinds: tuple[list[Any], ...] = (
        TEXTS,
        ids,
        [tuple(row) for row in ids],
        [np.array(row) for row in ids],
        [torch.tensor(row) for row in ids],
        list(BERT.encode_batch(TEXTS)),
        [{"input_ids": row} for row in ids],
        [{"input_ids": torch.tensor(row), "text": "dropped"} for row in ids],
        [{"text": text} for text in TEXTS],
    )
    for items in kinds:
        tensors = Collator(BERT)(items)
        assert lists(tensors) == expected
        assert {tensor.dtype for tensor in tensors.values()} == {torch.int64}


def test_pairs_have_token_types() -> None:
    pairs = list(zip(TEXTS, TEXTS[::-1], strict=True))
    expected = lists(BERT.encode_batch(pairs).to_dict(return_tensors="pt"))
    assert lists(Collator(BERT)(pairs)) == expected
    assert lists(Collator(BERT)(list(BERT.encode_batch(pairs)))) == expected
    rows = [
        {"input_ids": row.ids, "token_type_ids": row.type_ids} for row in BERT.encode_batch(pairs)
    ]
    assert lists(Collator(BERT)(rows)) == expected


def test_labels_are_kept_and_padded() -> None:
    rows = [{"input_ids": row, "labels": row} for row in IDS]
    tensors = Collator(TOK)(rows)
    assert tensors["labels"].tolist() == [[1, 2, 1, 2], [1, -100, -100, -100], [1, 2, -100, -100]]
    left = Collator(TOK, side="left", label_pad=-1)(rows)
    assert left["labels"].tolist() == [[1, 2, 1, 2], [-1, -1, -1, 1], [-1, -1, 1, 2]]
    assert left["input_ids"].tolist() == [[1, 2, 1, 2], [3, 3, 3, 1], [3, 3, 1, 2]]
    # Targets of another sequence have a width of their own.
    other = Collator(TOK)([{"input_ids": row, "labels": row * 2} for row in IDS])
    assert other["labels"].shape == (3, 8)
    assert other["input_ids"].shape == (3, 4)
    single = Collator(TOK)([{"text": text, "label": n} for n, text in enumerate(TEXTS)])
    assert single["labels"].tolist() == [0, 1, 2]
    assert single["labels"].dtype == torch.int64
    scores = Collator(TOK)([{"text": text, "label": 0.5} for text in TEXTS])
    assert scores["labels"].dtype == torch.float32
    arrays = Collator(TOK)([{"input_ids": row, "label": torch.tensor(1)} for row in IDS])
    assert arrays["labels"].tolist() == [1, 1, 1]


def test_other_columns_are_padded_with_their_fillings() -> None:
    batch = BERT.encode_batch(TEXTS, offsets=True)
    names = {"attention_mask": "attention_mask", "special_tokens_mask": "special_tokens_mask"}
    names |= {"word_ids": "word_ids"}
    rows = [
        {"input_ids": row.tolist(), **{name: column[n].tolist() for name, column in split.items()}}
        for split in [
            {name: np.split(getattr(batch, name), batch.row_offsets[1:-1]) for name in names}
        ]
        for n, row in enumerate(np.split(batch.ids, batch.row_offsets[1:-1]))
    ]
    tensors = Collator(BERT)(rows)
    for name in names:
        assert tensors[name].tolist() == batch.to_numpy(column=name).tolist(), name


def test_widths_are_rounded_or_fixed() -> None:
    assert Collator(TOK, pad_to_multiple_of=8)(TEXTS)["input_ids"].shape == (3, 8)
    assert Collator(TOK, length=6)(TEXTS)["attention_mask"].shape == (3, 6)
    assert Collator(TOK, length=6, pad_to_multiple_of=4)(IDS)["input_ids"].shape == (3, 8)
    with pytest.raises(ArgumentError, match=r"items\[0\]: has 4 tokens.*length=3.*truncat"):
        Collator(TOK, length=3)(TEXTS)
    assert Collator(TOK.with_truncation(3), length=3)(TEXTS)["input_ids"].shape == (3, 3)


def test_the_settings_of_the_tokenizer_are_followed() -> None:
    tok = TOK.with_padding(6, side="left")
    tensors = Collator(tok)(TEXTS)
    assert lists(tensors) == lists(tok.encode_batch(TEXTS).to_dict(return_tensors="pt"))
    assert Collator(tok)(IDS)["input_ids"].tolist()[1] == [3, 3, 3, 1]


def batches(dataset: Any, collator: Collator, **settings: Any) -> Iterator[dict[str, Any]]:
    loader = DataLoader(dataset, batch_size=2, collate_fn=collator, **settings)
    return map(lists, loader)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_worker_processes_of_a_loader_give_the_same_batches(context: str) -> None:
    dataset = [{"text": text, "label": n} for n, text in enumerate(TEXTS * 5)]
    TOK.encode_batch(TEXTS * 200)  # the caches are in use when the process forks
    collator = Collator(TOK)
    expected = list(batches(dataset, collator))
    settings = {"num_workers": 2, "multiprocessing_context": context}
    assert list(batches(dataset, collator, **settings)) == expected


def test_a_batch_is_a_dataset_of_a_loader() -> None:
    batch = BERT.encode_batch(TEXTS)
    assert list(batches(batch, Collator(BERT)))[1]["input_ids"] == [batch.to_lists()[2]]


def test_collators_pickle_and_compare() -> None:
    collator = Collator(TOK, length=9, masking=Masking(0.2))
    assert pickle.loads(pickle.dumps(collator)) == collator
    assert repr(Masking(0.2)) == "Masking(probability=0.2, mask=0.8, random=0.1, whole_words=False)"


@pytest.mark.parametrize(
    ("items", "error", "place"),
    [
        ([], ArgumentError, "items"),
        ([1, 2], InputTypeError, "items"),
        ([None], InputTypeError, "items"),
        ([[0.5]], InputTypeError, "items"),
        ([[1], None], InputTypeError, "items"),
        ([[[1]]], InputTypeError, "items"),
        ([["a"]], InputTypeError, "items"),
        ([b"ab"], InputTypeError, "items"),
        (["a", 1], InputTypeError, "texts[1]"),
        ([{"ids": [1]}], ArgumentError, "items[0]"),
        ([{"input_ids": [1]}, {"ids": [1]}], ArgumentError, "items[1]"),
        ([{"input_ids": [1]}, [1]], ArgumentError, "items[1]"),
        ([{"input_ids": 1}], InputTypeError, "items: 'input_ids'"),
        ([{"input_ids": [1], "name": "x"}], InputTypeError, "items: 'name'"),
        ([{"input_ids": [1], "labels": [[1]]}], InputTypeError, "items: 'labels'"),
        ([{"input_ids": [1], "labels": [2**64]}], InputTypeError, "items: 'labels'"),
        ([{"input_ids": [1], "labels": [2**63]}], ArgumentError, "items: 'labels'"),
        ([{"input_ids": [1], "attention_mask": []}], ArgumentError, "items[0]: 'attention_mask'"),
        ([BERT.encode("a"), [1]], InputTypeError, "items[1]"),
    ],
)
def test_items_that_cannot_be_collated_are_named(items: Any, error: type, place: str) -> None:
    with pytest.raises(error) as raised:
        Collator(TOK)(items)
    assert raised.value.place == place  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "settings",
    [
        {"length": 0},
        {"pad_to_multiple_of": 0},
        {"side": "both"},
        {"label_pad": 0.5},
        {"masking": 0.15},
        {"text": 1},
    ],
)
def test_wrong_settings_are_named(settings: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        Collator(TOK, **settings)
    assert raised.value.place in settings


def test_a_tokenizer_without_padding_token_collates_rows_of_one_length() -> None:
    assert Collator(BARE)(["ab", "ba"])["input_ids"].tolist() == [[1, 2], [2, 1]]
    with pytest.raises(ArgumentError, match="pad_token="):
        Collator(BARE)(TEXTS)


# ---- masked language modelling


def test_masking_selects_ordinary_tokens_in_the_given_shares() -> None:
    torch.manual_seed(7)
    items = ["ab" * 100] * 400
    ids = BERT.encode_batch([*items, "a"]).to_torch()
    tensors = Collator(BERT, masking=Masking())([*items, "a"])
    masked, labels = tensors["input_ids"], tensors["labels"]
    selected = labels != -100
    assert (labels[selected] == ids[selected]).all()
    assert (masked[~selected] == ids[~selected]).all()
    assert not selected[(ids == 3) | (ids == 4) | (ids == 5)].any()
    ordinary = (ids == 1) | (ids == 2)
    assert selected.sum() / ordinary.sum() == pytest.approx(0.15, abs=0.01)
    became_mask = (masked == 6)[selected].float().mean()
    assert became_mask == pytest.approx(0.8, abs=0.02)
    # A random token is the old one in a third of cases: [UNK], a and b are ordinary.
    unchanged = (masked == ids)[selected].float().mean()
    assert unchanged == pytest.approx(0.1 + 0.1 / 3, abs=0.02)
    assert set(masked[selected].tolist()) == {0, 1, 2, 6}


def test_whole_words_are_selected_together() -> None:
    torch.manual_seed(3)
    tok = BERT.with_pre_tokenizer(pw.spec.BertPreTokenizer())
    collator = Collator(tok, masking=Masking(0.3, whole_words=True))
    texts = [("ab a bab " * 200, "a ba abba " * 200), ("ab", "b ")] * 9
    batch = tok.encode_batch(texts, offsets=True)
    words = [row.word_ids for row in batch]
    rows = [{"input_ids": row.ids, "word_ids": ids} for row, ids in zip(batch, words, strict=True)]
    for row in rows:
        row["word_ids"] = [-1 if word is None else word for word in row["word_ids"]]  # type: ignore[union-attr]
    for items in (texts, list(batch), rows):
        tensors = collator(items)
        assert "word_ids" not in tensors
        selected = tensors["labels"] != -100
        assert selected.float().sum() / len(batch.ids) == pytest.approx(0.3, abs=0.03)
        for row, ids in zip(selected.tolist(), words, strict=True):
            runs: list[list[bool]] = []
            for n, word in enumerate(ids):
                if word is not None and (n == 0 or ids[n - 1] != word):
                    runs.append([])
                if word is None:
                    assert not row[n]
                else:
                    runs[-1].append(row[n])
            assert all(len(set(run)) == 1 for run in runs)
    assert len({tuple(row) for row in selected.tolist()}) > 2
    with pytest.raises(ArgumentError, match="word"):
        collator(IDS)
    with pytest.raises(ArgumentError, match="offsets: must be True"):
        collator(list(tok.encode_batch(TEXTS)))
    assert collator(["", ""])["labels"].tolist() == [[-100, -100]] * 2


def test_masking_follows_the_seed_of_torch() -> None:
    collator = Collator(BERT, masking=Masking(0.5))
    torch.manual_seed(1)
    first, second = (lists(collator(TEXTS * 9)) for _ in range(2))
    torch.manual_seed(1)
    assert lists(collator(TEXTS * 9)) == first
    assert first != second


def test_masking_needs_a_mask_token_and_no_labels() -> None:
    with pytest.raises(ArgumentError, match="mask_token="):
        Collator(BARE, masking=Masking())
    with pytest.raises(ArgumentError, match="labels"):
        Collator(BERT, masking=Masking())([{"input_ids": [1], "labels": [1]}])
    for settings in ({"probability": 0}, {"mask": 1.5}, {"mask": 0.9, "random": 0.2}):
        with pytest.raises(ArgumentError):
            Masking(**settings)
    with pytest.raises(InputTypeError, match="whole_words"):
        Masking(whole_words="yes")  # type: ignore[arg-type]


# ---- masks and conversations

CHATTY = TOK.with_chat_template("{% for m in messages %}[CLS]{{ m.content }}{% endfor %}")
CHATS: list[dict[str, Any]] = [
    {"prompt": "ab", "completion": "b", "id": "x"},
    {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "ba"}]},
]


def test_masks_become_labels() -> None:
    rows = [
        {"input_ids": [4, 1, 4, 2], "assistant_masks": [0, 0, 0, 1]},
        {"input_ids": [4, 2], "assistant_masks": [0, 1]},
    ]
    assert lists(Collator(TOK)(rows)) == {
        "input_ids": [[4, 1, 4, 2], [4, 2, 3, 3]],
        "attention_mask": [[1, 1, 1, 1], [1, 1, 0, 0]],
        "labels": [[-100, -100, -100, 2], [-100, 2, -100, -100]],
    }
    left = Collator(TOK, side="left", label_pad=-1)(rows)
    assert lists(left)["labels"] == [[-1, -1, -1, 2], [-1, -1, -1, 2]]


def test_conversations_are_encoded_with_labels() -> None:
    collate = Collator(CHATTY, chat=pw.chat.ChatFormat())
    expected = {
        "input_ids": [[4, 1, 2, 4, 2], [4, 1, 4, 2, 1]],
        "attention_mask": [[1] * 5] * 2,
        "labels": [[-100, -100, -100, -100, 2], [-100, -100, -100, 2, 1]],
    }
    assert lists(collate(CHATS)) == expected
    assert lists(pickle.loads(pickle.dumps(collate))(CHATS)) == expected
    bare = Collator(CHATTY, chat=pw.chat.ChatFormat(mask=[]))(CHATS)
    assert sorted(bare) == ["attention_mask", "input_ids"]


def test_masks_that_fit_no_ids_are_errors() -> None:
    row = {"input_ids": [4, 1], "assistant_masks": [0]}
    with pytest.raises(ArgumentError, match="must have one number for each id"):
        Collator(TOK)([row])
    with pytest.raises(ArgumentError, match="must not have both labels and assistant_masks"):
        Collator(TOK)([{**row, "assistant_masks": [0, 1], "labels": [0, 1]}])
    with pytest.raises(pw.errors.CorpusError, match=r"records\[0\] field 'messages': is missing"):
        Collator(CHATTY, chat=pw.chat.ChatFormat())([{"id": 1}])
    with pytest.raises(InputTypeError, match="chat"):
        Collator(TOK, chat=True)  # type: ignore[arg-type]
