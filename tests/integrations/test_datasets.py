"""`integrations.datasets`: a dataset is encoded in Arrow, cached, and shared among worker processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pytest
from datasets.fingerprint import Hasher

import piecework as pw
from piecework._internal.threads import default_num_threads
from piecework.errors import ArgumentError, InputTypeError
from piecework.integrations.datasets import (
    EncodeChatsFunction,
    EncodeFunction,
)

TEXTS = [f"hug hugs pug {number} bun" for number in range(300)]
TOK = pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=60)

HASH = """
import sys, pickle
from datasets.fingerprint import Hasher
import piecework as pw
from piecework.integrations.datasets import EncodeFunction
tok = pw.Tokenizer.load(sys.argv[1])
for round in range(2):
    print(Hasher.hash(tok), Hasher.hash(EncodeFunction(tok, keep_columns=["label"])))
    tok.encode_batch(["hug hugs"] * 99).to_numpy()
    tok.encode("hugs").tokens, tok.special_tokens_map, tok.spec, tok.pad_token_id, repr(tok)
    hash(tok), tok == pickle.loads(pickle.dumps(tok))
"""


@pytest.fixture(autouse=True)
def cache_in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)


@pytest.fixture
def stored(tmp_path: Path) -> Any:
    """A dataset on disk, so that `map` caches its result."""
    features = {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["a", "b"])}
    columns = {"text": TEXTS, "label": [number % 2 for number in range(len(TEXTS))]}
    made = datasets.Dataset.from_dict(columns, features=datasets.Features(features))
    made.save_to_disk(tmp_path / "stored")
    return datasets.load_from_disk(tmp_path / "stored")


def test_a_mapped_dataset_has_the_ids_and_the_kept_columns(stored: Any) -> None:
    encode = EncodeFunction(TOK, keep_columns=["label"])
    encoded = stored.with_format("arrow").map(encode, batched=True, batch_size=64)
    assert encoded.column_names == ["label", "input_ids"]
    assert encoded.data.schema.field("input_ids").type == pa.list_(pa.uint32())
    assert encoded.features["label"] == stored.features["label"]
    rows = encoded.with_format(None)
    assert rows["input_ids"][:] == [TOK.encode(text).ids for text in TEXTS]
    assert rows["label"][:] == stored["label"][:]


def test_a_batch_is_a_dataset() -> None:
    batch = TOK.encode_batch(TEXTS)
    made = datasets.Dataset(pa.table(batch))
    assert made["input_ids"][:] == batch.to_lists()


def test_all_columns_stay_by_default(stored: Any) -> None:
    encoded = stored.with_format("arrow").map(EncodeFunction(TOK), batched=True)
    assert encoded.column_names == ["text", "label", "input_ids"]
    again = encoded.map(EncodeFunction(TOK.with_truncation(4)), batched=True)
    assert again.column_names == encoded.column_names
    assert max(map(len, again.with_format(None)["input_ids"][:])) == 4


def test_worker_processes_give_the_same_dataset(stored: Any) -> None:
    encode = EncodeFunction(TOK, keep_columns=[])
    arrow = stored.with_format("arrow")
    one = arrow.map(encode, batched=True, load_from_cache_file=False)
    two = arrow.map(encode, batched=True, num_proc=2, load_from_cache_file=False)
    assert two.with_format(None)[:] == one.with_format(None)[:]
    assert two.num_rows == len(TEXTS)


def test_worker_processes_use_one_thread_each(stored: Any) -> None:
    threads = stored.map(threads_used, batched=True, num_proc=2, remove_columns=["text", "label"])
    assert set(threads["threads"][:]) == {1}


def threads_used(rows: dict[str, list[str]]) -> dict[str, list[int]]:
    return {"threads": [default_num_threads() for _ in rows["text"]]}


def test_pairs_offsets_and_windows_become_columns(stored: Any) -> None:
    arrow = stored.add_column("second", TEXTS[::-1]).with_format("arrow")
    encode = EncodeFunction(TOK, pair_column="second", keep_columns=["label"], offsets=True)
    rows = arrow.map(encode, batched=True).with_format(None)[:3]
    expected = [TOK.encode(*pair) for pair in zip(TEXTS[:3], TEXTS[::-1][:3], strict=True)]
    assert rows["token_type_ids"] == [each.type_ids for each in expected]
    assert [[tuple(pair) for pair in row] for row in rows["offset_mapping"]] == [
        each.offsets for each in expected
    ]
    short = EncodeFunction(TOK.with_truncation(5), keep_columns=["label"], overflow=True)
    windows = stored.with_format("arrow").map(short, batched=True, batch_size=50).with_format(None)
    samples = windows["overflow_to_sample_mapping"][:]
    assert len(samples) > len(TEXTS)
    first = TOK.with_truncation(5).encode_batch(TEXTS[:50], overflow=True)
    assert windows["input_ids"][: len(first)] == first.to_lists()
    assert windows["label"][: len(first)] == [sample % 2 for sample in samples[: len(first)]]


def test_a_stream_is_encoded_as_a_dataset_is(stored: Any) -> None:
    stream = stored.to_iterable_dataset().with_format("arrow")
    mapped = stream.map(EncodeFunction(TOK, keep_columns=["label"]), batched=True, batch_size=50)
    ids = [row["input_ids"] for row in mapped.with_format(None)]
    assert ids == [TOK.encode(text).ids for text in TEXTS]


def test_the_fingerprint_is_the_same_in_every_process_and_after_use(tmp_path: Path) -> None:
    TOK.save(tmp_path / "tokenizer.json")
    lines = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", HASH, str(tmp_path / "tokenizer.json")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        lines |= set(done.stdout.splitlines())
    assert len(lines) == 1
    tok = pw.Tokenizer.load(tmp_path / "tokenizer.json")
    assert lines == {
        f"{Hasher.hash(tok)} {Hasher.hash(EncodeFunction(tok, keep_columns=['label']))}"
    }


def test_other_settings_have_other_fingerprints() -> None:
    functions = (
        *(EncodeFunction(TOK), EncodeFunction(TOK, "other"), EncodeFunction(TOK, offsets=True)),
        EncodeFunction(TOK, keep_columns=[]),
        *(EncodeFunction(TOK.with_truncation(4)), EncodeFunction(TOK.with_added_tokens(["x"]))),
    )
    assert len({Hasher.hash(function) for function in functions}) == len(functions)


def test_a_second_map_reads_the_cache(stored: Any, tmp_path: Path) -> None:
    arrow = stored.with_format("arrow")
    first = arrow.map(EncodeFunction(TOK), batched=True)
    TOK.encode_batch(TEXTS)
    again = arrow.map(EncodeFunction(pickle.loads(pickle.dumps(TOK))), batched=True)
    assert [file["filename"] for file in first.cache_files]
    assert again.cache_files == first.cache_files
    assert again._fingerprint == first._fingerprint


def test_the_function_pickles_and_compares() -> None:
    encode = EncodeFunction(TOK, "text", keep_columns=["label"])
    assert pickle.loads(pickle.dumps(encode)) == encode


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"column": "txt"}, "column"),
        ({"pair_column": "second"}, "pair_column"),
        ({"keep_columns": ["label", "id"]}, "keep_columns"),
    ],
)
def test_columns_that_do_not_exist_are_named(settings: Any, place: str) -> None:
    table = pa.table({"text": ["a"], "label": [1]})
    with pytest.raises(ArgumentError, match="text, label") as raised:
        EncodeFunction(TOK, **settings)(table)
    assert raised.value.place == place


def test_wrong_input_says_what_to_do(stored: Any) -> None:
    with pytest.raises(InputTypeError, match=r"with_format\('arrow'\)"):
        stored.map(EncodeFunction(TOK), batched=True)
    with pytest.raises(InputTypeError, match=r"texts\[1\]"):
        EncodeFunction(TOK)(pa.table({"text": ["a", None]}))
    with pytest.raises(ArgumentError, match="strings"):
        EncodeFunction(TOK)(pa.table({"text": [1, 2]}))
    with pytest.raises(InputTypeError, match="tokenizer"):
        EncodeFunction("bert")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="keep_columns"):
        EncodeFunction(TOK, keep_columns="label")
    with pytest.raises(InputTypeError, match="column"):
        EncodeFunction(TOK, None)  # type: ignore[arg-type]


# ---- conversations

CHATS = [
    {
        "messages": [{"role": "user", "content": "ab"}, {"role": "assistant", "content": text}],
        "n": n,
    }
    for n, text in enumerate(["b", "ab", "ba b"])
]


def chatty() -> pw.Tokenizer:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2, ">": 3, " ": 4}))
    return tok.with_chat_template("{% for m in messages %}>{{ m.content }}{% endfor %}")


@pytest.mark.parametrize("workers", [None, 2])
def test_a_mapped_dataset_of_conversations_has_ids_and_masks(workers: int | None) -> None:
    encode = EncodeChatsFunction(chatty(), keep_columns=["n"])
    dataset = datasets.Dataset.from_list(CHATS).with_format("arrow")
    mapped = dataset.map(encode, batched=True, batch_size=2, num_proc=workers).with_format(None)
    encoded = pw.export.encode_chats(chatty(), CHATS, chat=pw.chat.ChatFormat())
    assert mapped.column_names == ["n", "input_ids", "assistant_masks"]
    assert mapped["input_ids"][:] == encoded.batch.to_lists()
    masks = [bit for row in mapped["assistant_masks"] for bit in row]
    assert masks == encoded.assistant_masks.tolist()
    assert mapped["n"][:] == [0, 1, 2]


def test_conversations_of_a_named_column_without_masks() -> None:
    chat = pw.chat.ChatFormat(mask=[])
    encode = EncodeChatsFunction(chatty(), chat, field="talk")
    table = pa.table({"talk": [CHATS[0]["messages"]]})
    assert encode(table).to_pydict() == {"input_ids": [[3, 1, 2, 3, 2]]}
    with pytest.raises(pw.errors.CorpusError, match=r"records\[0\] field 'talk': is missing"):
        encode(pa.table({"text": ["x"]}))
    with pytest.raises(ArgumentError, match="keep_columns"):
        EncodeChatsFunction(chatty(), keep_columns=["nope"])(table)
    with pytest.raises(InputTypeError, match="keep_columns"):
        EncodeChatsFunction(chatty(), keep_columns="n")
    assert Hasher.hash(EncodeChatsFunction(chatty(), chat)) == Hasher.hash(
        EncodeChatsFunction(chatty(), pw.chat.ChatFormat(mask=[]))
    )


def test_a_saved_dataset_of_conversations_is_a_corpus(tmp_path: Path) -> None:
    datasets.Dataset.from_list(CHATS).save_to_disk(str(tmp_path / "saved"))
    done = pw.export.encode_corpus(
        chatty(), tmp_path / "saved", tmp_path / "out", format="datasets", chat=pw.chat.ChatFormat()
    )
    encoded = pw.export.encode_chats(chatty(), CHATS, chat=pw.chat.ChatFormat())
    loaded = datasets.load_from_disk(str(tmp_path / "out"))
    assert (done.documents, loaded["input_ids"][:]) == (3, encoded.batch.to_lists())
    masks = [bit for row in loaded["assistant_masks"] for bit in row]
    assert masks == encoded.assistant_masks.tolist()
