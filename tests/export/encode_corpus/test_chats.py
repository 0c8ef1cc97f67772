"""Corpora of conversations: templates, masks beside the ids, packing, resuming, and bad records."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.errors import ArgumentError, CorpusError, CorpusWarning, InputTypeError
from piecework.export import encode_chats, encode_corpus
from tests.conftest import Run
from tests.export.encode_corpus.shards import content, sentences

TEMPLATE = """{% for m in messages %}[CLS]{{ m.role }} {{ m.content }}[SEP]{% endfor %}"""
CHAT = pw.chat.ChatFormat()
FORMATS = [name for name, form in pw.export.SHARD_FORMATS.items() if form.has_numbers]


@pytest.fixture(scope="module")
def chatty(tok: pw.Tokenizer) -> pw.Tokenizer:
    return tok.with_chat_template(TEMPLATE)


def records(count: int, seed: int) -> list[dict[str, Any]]:
    """Return conversations of all shapes."""
    texts = [text or "hug" for text in sentences(2 * count, seed)]
    found: list[dict[str, Any]] = []
    for number, (question, answer) in enumerate(zip(texts[::2], texts[1::2], strict=True)):
        match number % 3:
            case 0:
                roles = [("user", question), ("assistant", answer)]
                found.append({"messages": [{"role": r, "content": c} for r, c in roles]})
            case 1:
                roles = [("human", question), ("gpt", answer), ("human", "b c"), ("gpt", "a")]
                found.append({"conversations": [{"from": r, "value": v} for r, v in roles]})
            case _:
                found.append({"prompt": question, "completion": answer})
    return [{**record, "id": number} for number, record in enumerate(found)]


def write_lines(path: Path, rows: list[Any]) -> Path:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def expected_rows(tok: pw.Tokenizer, rows: list[Any]) -> list[tuple[list[int], list[int]]]:
    """Return the ids and the mask of each record, from `apply_chat_template`."""
    names = {"human": "user", "gpt": "assistant"}
    expected = []
    for row in rows:
        if "prompt" in row:
            pairs = [("user", row["prompt"]), ("assistant", row["completion"])]
        elif "messages" in row:
            pairs = [(message["role"], message["content"]) for message in row["messages"]]
        else:
            pairs = [(names[turn["from"]], turn["value"]) for turn in row["conversations"]]
        chat = pw.chat.apply_chat_template(
            tok, [{"role": role, "content": text} for role, text in pairs]
        )
        expected.append((chat.ids, chat.assistant_mask))
    return expected


def stored_rows(folder: Path, form: str, name: str = "chats") -> list[tuple[list[int], list[int]]]:
    """Return the ids and masks of the rows of a shard that is not packed."""
    if form == "npy":
        ids, masks = (
            np.load(folder / f"{name}.npy"),
            np.load(folder / f"{name}.assistant_masks.npy"),
        )
        bounds = np.load(folder / f"{name}.row_offsets.npy").tolist()
        pairs = pairwise(bounds)
        return [(ids[a:b].tolist(), masks[a:b].tolist()) for a, b in pairs]
    ids_name = "input_ids" if form == "datasets" else "ids"
    table = read_table(folder, form, name)
    return list(
        zip(*(table.column(c).to_pylist() for c in (ids_name, "assistant_masks")), strict=True)
    )


def read_table(folder: Path, form: str, name: str) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    if form == "parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(folder / f"{name}.parquet")
    opened = pyarrow.ipc.open_file if form == "arrow" else pyarrow.ipc.open_stream
    return opened((folder / f"{name}.arrow").read_bytes()).read_all()


@pytest.mark.parametrize("form", FORMATS)
def test_rows_equal_those_of_the_chat_template(
    chatty: pw.Tokenizer, form: Any, tmp_path: Path
) -> None:
    rows = records(200, 1)
    path = write_lines(tmp_path / "chats.jsonl.gz", rows)
    done = encode_corpus(chatty, path, tmp_path / "out", format=form, chat=CHAT)
    expected = expected_rows(chatty, rows)
    assert stored_rows(tmp_path / "out", form) == expected
    assert (done.documents, done.rows) == (200, 200)
    assert done.tokens == sum(len(ids) for ids, _ in expected)
    assert sum(sum(mask) for _, mask in expected) > 1000


def test_tables_have_the_same_rows_as_json_lines(chatty: pw.Tokenizer, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = records(60, 2)[::3]
    table = pyarrow.Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / "chats.parquet")
    with pyarrow.ipc.new_stream(tmp_path / "more.arrow", table.schema) as writer:
        writer.write_table(table)
    for name in ("chats.parquet", "more.arrow"):
        encode_corpus(chatty, tmp_path / name, tmp_path / name[:4], chat=CHAT)
        found = stored_rows(tmp_path / name[:4], "npy", name.partition(".")[0])
        assert found == expected_rows(chatty, rows)


def test_fields_that_tables_fill_with_nulls_are_left_out(tok: pw.Tokenizer, tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    calls = [{"function": {"name": "f", "arguments": {name: 1}}} for name in ("a", "b")]
    rows = [
        {
            "messages": [
                {"role": "user", "content": "hug"},
                {"role": "assistant", "tool_calls": [call]},
            ]
        }
        for call in calls
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "chats.parquet")
    template = (
        "{% for c in messages[1].tool_calls %}{{ c.function.arguments | tojson }}{% endfor %}"
    )
    chatty = tok.with_chat_template(template)
    encode_corpus(chatty, tmp_path / "chats.parquet", tmp_path / "out", chat=CHAT)
    encoded = encode_chats(chatty, rows, chat=CHAT)
    found = [ids for ids, _ in stored_rows(tmp_path / "out", "npy")]
    assert found == encoded.batch.to_lists()


def test_a_field_can_be_nested(chatty: pw.Tokenizer, tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = records(9, 5)[::3]
    nested = [{"data": {"talk": row["messages"]}} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(nested), tmp_path / "a.parquet")
    write_lines(tmp_path / "b.jsonl", nested)
    for name in ("a.parquet", "b.jsonl"):
        encode_corpus(chatty, tmp_path / name, tmp_path / name[0], field="data.talk", chat=CHAT)
        assert stored_rows(tmp_path / name[0], "npy", name[0]) == expected_rows(chatty, rows)
        with pytest.raises(CorpusError, match="'data.other': is missing"):
            encode_corpus(chatty, tmp_path / name, tmp_path / "no", field="data.other", chat=CHAT)
        (tmp_path / "no" / "manifest.json").unlink()


@pytest.mark.parametrize("strategy", ["concat", "best-fit"])
@pytest.mark.parametrize("shuffle_seed", [None, 3])
def test_packing_keeps_masks_with_their_ids(
    chatty: pw.Tokenizer, strategy: Any, shuffle_seed: int | None, tmp_path: Path
) -> None:
    rows = records(150, 3)
    path = write_lines(tmp_path / "chats.jsonl", rows)
    options: dict[str, Any] = {"pack": 64, "strategy": strategy, "shuffle_seed": shuffle_seed}
    encode_corpus(chatty, path, tmp_path / "out", chat=CHAT, **options)
    ids = np.load(tmp_path / "out" / "chats.npy")
    masks = np.load(tmp_path / "out" / "chats.assistant_masks.npy")
    assert ids.shape == masks.shape
    lengths = np.load(tmp_path / "out" / "chats.document_lengths.npy")
    offsets = np.load(tmp_path / "out" / "chats.document_offsets.npy")
    pieces = []
    for row, (first, last) in enumerate(pairwise(offsets.tolist())):
        at = 0
        for length in lengths[first:last]:
            pieces.append((ids[row, at : at + length], masks[row, at : at + length]))
            at += length
        assert not masks[row, at:].any()
    whole = {(*ids, -1, *mask) for ids, mask in expected_rows(chatty, rows)}
    found = {(*ids.tolist(), -1, *mask.tolist()) for ids, mask in pieces}
    assert len(whole & found) > 20
    assert sum(int(mask.sum()) for _, mask in pieces) == sum(
        sum(mask) for _, mask in expected_rows(chatty, rows)
    )


def test_appended_tokens_are_not_masked(chatty: pw.Tokenizer, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(9, 4))
    encode_corpus(chatty, path, tmp_path / "out", chat=CHAT, append_eod="[SEP]")
    for ids, mask in stored_rows(tmp_path / "out", "npy"):
        assert (ids[-1], mask[-1]) == (chatty.token_to_id("[SEP]"), 0)


def test_columns_are_kept_beside_masks(chatty: pw.Tokenizer, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(9, 5))
    encode_corpus(chatty, path, tmp_path / "out", format="parquet", chat=CHAT, keep=["id"])
    assert read_table(tmp_path / "out", "parquet", "chats").column("id").to_pylist() == [
        str(number) for number in range(9)
    ]


def test_columns_stay_beside_their_rows_where_conversations_are_skipped(
    tok: pw.Tokenizer, tmp_path: Path
) -> None:
    refuse = "{% if 'bad' in messages[0].content %}{{ raise_exception('bad') }}{% endif %}"
    rows = records(9, 5)
    rows[4:4] = [{"prompt": "bad", "completion": "a", "id": 99}]
    path = write_lines(tmp_path / "chats.jsonl", rows)
    options: dict[str, Any] = {"format": "parquet", "keep": ["id"], "on_error": "skip"}
    chatty = tok.with_chat_template(refuse + TEMPLATE)
    with pytest.warns(CorpusWarning, match="a conversation that the template rejects: 1"):
        encode_corpus(chatty, path, tmp_path / "out", chat=CHAT, **options)
    ids = read_table(tmp_path / "out", "parquet", "chats").column("id").to_pylist()
    assert ids == [str(number) for number in range(9)]


def test_an_interrupted_run_continues_with_the_same_bytes(
    chatty: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(300, 6))
    options: dict[str, Any] = {"chat": CHAT, "shards": 4, "pack": 32, "shuffle_seed": 1}
    encode_corpus(chatty, path, tmp_path / "whole", **options)
    encoder = pw.export.chats.ChatEncoder
    encode, calls = encoder.encode, iter(range(10**6))

    def interrupted(self: Any, conversations: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return encode(self, conversations)

    monkeypatch.setattr(encoder, "encode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        encode_corpus(chatty, path, tmp_path / "out", **options)
    monkeypatch.setattr(encoder, "encode", encode)
    encode_corpus(chatty, path, tmp_path / "out", resume=True, **options)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.parametrize(
    "other",
    [
        {"chat": None},
        {"chat": pw.chat.ChatFormat(mask=["content"])},
        {"chat": pw.chat.ChatFormat(TEMPLATE + "!")},
        {"chat": pw.chat.ChatFormat(trusted_roles=["assistant"])},
    ],
)
def test_other_settings_do_not_continue_a_run(
    chatty: pw.Tokenizer, tmp_path: Path, other: dict[str, Any]
) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(3, 7))
    encode_corpus(chatty, path, tmp_path / "out", chat=CHAT)
    with pytest.raises(ArgumentError, match="it has chat "):
        encode_corpus(chatty, path, tmp_path / "out", resume=True, **other)
    retold = chatty.with_chat_template(TEMPLATE + "!")
    with pytest.raises(ArgumentError, match="it has chat "):
        encode_corpus(retold, path, tmp_path / "out", resume=True, chat=CHAT)


BAD = [
    ({"messages": [{"role": "bot", "content": "x"}]}, r"line 4 field 'messages\[0\]\.role'"),
    ({"text": "x"}, "line 4 field 'messages': is missing"),
    ({"messages": []}, "line 4: found an empty conversation"),
    (
        {"messages": [{"role": "user", "content": "x", "bad": 1}]},
        "line 4: cannot be rendered: .*bad",
    ),
]


@pytest.mark.parametrize(("record", "message"), BAD)
def test_bad_records_are_errors_or_counted(
    tok: pw.Tokenizer, record: dict[str, Any], message: str, tmp_path: Path
) -> None:
    refuse = "{% for m in messages if m.bad %}{{ raise_exception('bad') }}{% endfor %}"
    chatty = tok.with_chat_template(refuse + TEMPLATE)
    rows = records(30, 8)
    path = write_lines(tmp_path / "chats.jsonl", [*rows[:3], record, *rows[3:], record])
    with pytest.raises(CorpusError, match=message):
        encode_corpus(chatty, path, tmp_path / "failed", chat=CHAT)
    with pytest.warns(CorpusWarning, match=r"skipped: [^;]*: 2 \(first in .*chats\.jsonl line 4"):
        done = encode_corpus(chatty, path, tmp_path / "out", chat=CHAT, on_error="skip")
    assert done.documents == 30
    assert stored_rows(tmp_path / "out", "npy") == expected_rows(chatty, rows)


def test_rows_of_tables_that_are_not_conversations_are_errors(
    chatty: pw.Tokenizer, tmp_path: Path
) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": ["x"]}), tmp_path / "text.parquet")
    with pytest.raises(
        CorpusError, match="has no column 'messages' or 'conversations' or 'prompt'"
    ):
        encode_corpus(chatty, tmp_path / "text.parquet", tmp_path / "out", chat=CHAT)
    table = pyarrow.Table.from_pylist([*records(1, 1), {"messages": None}])
    parquet.write_table(table, tmp_path / "null.parquet")
    with pytest.raises(CorpusError, match=r"null\.parquet row 2 field 'messages': is missing"):
        encode_corpus(chatty, tmp_path / "null.parquet", tmp_path / "out2", chat=CHAT)


def test_a_template_that_loses_the_assistant_is_an_error(tok: pw.Tokenizer, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(2, 9))
    silent = tok.with_chat_template("{{ messages[0].content }}")
    with pytest.raises(
        CorpusError, match="line 1: cannot be rendered: assistant_mask: does not exist"
    ):
        encode_corpus(silent, path, tmp_path / "out", chat=CHAT)
    encode_corpus(silent, path, tmp_path / "ids", chat=pw.chat.ChatFormat(mask=[]))
    assert sorted(content(tmp_path / "ids")) == [
        "chats.npy",
        "chats.row_offsets.npy",
        "manifest.json",
    ]


def test_lone_surrogates_are_replaced(chatty: pw.Tokenizer, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "chats.jsonl", [{"prompt": "a\ud800", "completion": "b"}])
    assert encode_corpus(chatty, path, tmp_path / "out", chat=CHAT).replacements == 1
    with pytest.raises(pw.errors.InvalidUtf8Error, match="line 1"):
        encode_corpus(chatty, path, tmp_path / "o", chat=CHAT, encoding_errors="strict")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"format": "megatron"},
            ArgumentError,
            "format: 'megatron' has no masks; use npy or arrow",
        ),
        ({"keep_empty": True}, ArgumentError, "keep_empty, chat: cannot be combined"),
        ({"parse_special": True}, ArgumentError, "parse_special, chat: cannot be combined"),
        ({"chat": True}, InputTypeError, "chat"),
        ({"format": "arrow", "keep": ["assistant_masks"]}, ArgumentError, "keep: "),
    ],
)
def test_arguments_that_exclude_each_other_are_rejected(
    chatty: pw.Tokenizer, tmp_path: Path, arguments: Any, error: Any, message: str
) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(2, 9))
    with pytest.raises(error, match=message):
        encode_corpus(chatty, path, tmp_path / "out", **{"chat": CHAT, **arguments})


def test_plain_text_has_no_conversations(chatty: pw.Tokenizer, tmp_path: Path) -> None:
    for name in ("a.txt", "b.csv"):
        (tmp_path / name).write_text("text\nHi\n")
        with pytest.raises(
            CorpusError, match="which has no conversations; use JSON lines, Parquet"
        ):
            encode_corpus(chatty, tmp_path / name, tmp_path / name[0], chat=CHAT)


# ---- encode_files, encode_chats and the command


def test_files_have_masks_and_labels(chatty: pw.Tokenizer, tmp_path: Path) -> None:
    rows = records(30, 10)
    path = write_lines(tmp_path / "chats.jsonl", rows)
    expected = expected_rows(chatty, rows)
    pw.encode_files(chatty, path, tmp_path / "out.npy", format="npy", chat=CHAT)
    assert stored_rows(tmp_path, "npy", "out") == expected
    pw.encode_files(chatty, path, tmp_path / "ids.txt", chat=CHAT)
    lines = (tmp_path / "ids.txt").read_text().splitlines()
    assert [list(map(int, line.split())) for line in lines] == [ids for ids, _ in expected]
    pw.encode_files(chatty, path, tmp_path / "out.jsonl", format="jsonl", chat=CHAT)
    objects = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(row["ids"], row["assistant_masks"]) for row in objects] == expected
    assert [row["id"] for row in objects] == list(range(30))
    for row in objects:
        spans = zip(row["tokens"], row["offsets"], strict=True)
        assert all(
            row["text"][a:b] == token for token, (a, b) in spans if token[1:] in ("CLS]", "SEP]")
        )


@pytest.mark.parametrize("switch", ["parallel", "strip_lines", "keep_empty"])
def test_files_of_conversations_have_no_switches_of_lines(
    chatty: pw.Tokenizer, switch: str, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(2, 9))
    with pytest.raises(ArgumentError, match=f"{switch}, chat: cannot be combined"):
        pw.encode_files(chatty, path, tmp_path / "x", chat=CHAT, **{switch: True})  # type: ignore[arg-type]


def test_records_in_memory(chatty: pw.Tokenizer) -> None:
    rows = records(30, 11)
    encoded = encode_chats(chatty, rows, chat=CHAT)
    expected = expected_rows(chatty, rows)
    assert encoded.batch.to_lists() == [ids for ids, _ in expected]
    assert encoded.assistant_masks.tolist() == [bit for _, mask in expected for bit in mask]
    assert encode_chats(chatty, [], chat=CHAT).batch.to_lists() == []
    bare = encode_chats(chatty, rows, chat=pw.chat.ChatFormat(mask=[]))
    assert not bare.assistant_masks.any()
    with pytest.raises(CorpusError, match=r"records\[1\] field 'messages': is missing"):
        encode_chats(chatty, [rows[0], {"text": "x"}], chat=CHAT)
    with pytest.raises(InputTypeError, match=r"records\[0\]"):
        encode_chats(chatty, ["Hi"], chat=CHAT)  # type: ignore[list-item]


def test_the_command_encodes_conversations(chatty: pw.Tokenizer, tmp_path: Path, cli: Run) -> None:
    rows = records(30, 12)
    path = write_lines(tmp_path / "chats.jsonl", rows)
    chatty.save(f"{tmp_path / 'tok'}/")
    command = ("encode", f"{tmp_path / 'tok'}", f"{path}", "--chat")
    code, out, err = cli(*command, "--out-dir", f"{tmp_path / 'out'}")
    assert code == 0
    assert "30 documents" in out + err
    assert stored_rows(tmp_path / "out", "npy") == expected_rows(chatty, rows)
    (tmp_path / "other.jinja").write_text(TEMPLATE + "!")
    options = ["--chat-template", f"{tmp_path / 'other.jinja'}", "--mask", "content"]
    code, _, _ = cli(*command, *options, "--format", "npy", "-o", f"{tmp_path / 'o.npy'}")
    assert code == 0
    other = pw.Tokenizer.load(tmp_path / "tok").with_chat_template(TEMPLATE + "!")
    found = encode_chats(other, rows, chat=pw.chat.ChatFormat(mask=["content"]))
    assert np.load(tmp_path / "o.npy").tolist() == found.batch.ids.tolist()
    assert np.load(tmp_path / "o.assistant_masks.npy").tolist() == found.assistant_masks.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mask", "content"], "--mask: needs --chat"),
        (["--trusted-role", "assistant"], "--trusted-role: needs --chat"),
        (["--chat", "--mask", "contents"], "--mask: must be one of content"),
        (["--chat", "--chat-template", "nope"], "--chat-template: must be a file or a template"),
        (["--chat", "--keep-empty"], "--keep-empty, --chat: cannot be combined"),
    ],
)
def test_options_that_exclude_each_other_are_rejected(
    chatty: pw.Tokenizer, tmp_path: Path, cli: Run, options: list[str], message: str
) -> None:
    path = write_lines(tmp_path / "chats.jsonl", records(2, 9))
    chatty.save(f"{tmp_path / 'tok'}/")
    command = ("encode", f"{tmp_path / 'tok'}", f"{path}", *options)
    code, _, err = cli(*command, "--out-dir", f"{tmp_path / 'out'}")
    assert code != 0
    assert message in err
