"""Rows of embedding tables in safetensors files: copied bit for bit, made by a rule, and faults named."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import piecework as pw
from piecework.errors import ArgumentError, FileError, FormatError
from piecework.integrations.embeddings import resize_embeddings
from piecework.integrations.embeddings.safetensors import as_bytes
from piecework.io.safetensors_files import as_float64, read_header

WIDTH = 6
TEXTS = ["hug hugs pug pun bun hugging", "the hugs of the pug"] * 5


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, vocab_size=32)


@pytest.fixture(scope="module")
def changed(tok: pw.Tokenizer) -> tuple[pw.Tokenizer, pw.IdMap]:
    """Return a tokenizer with fewer old tokens and two new ones."""
    larger, first = pw.vocabulary.add_words(tok, ["hughug", "pugnug"])
    smaller, second = pw.vocabulary.prune(larger, ["hug", "pug", "hughug", "pugnug"])
    return smaller, first.then(second)


def weights(rows: int, dtype: Any = np.float32, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "transformer.h.0.mlp.weight": rng.normal(size=(WIDTH, 7)).astype(dtype),
        "transformer.wte.weight": rng.normal(size=(rows, WIDTH)).astype(dtype),
        "lm_head.weight": rng.normal(size=(rows, WIDTH)).astype(dtype),
        "lm_head.bias": rng.normal(size=rows).astype(dtype),
        "transformer.step": np.array(7),
    }


def expected_rows(old: np.ndarray, id_map: pw.IdMap) -> np.ndarray:
    """Return the rows by the definition: the old row, or the mean of the rows of the sources."""
    new = [
        old[list(ids)].astype(np.float64).mean(axis=0).astype(np.float32)
        if len(ids) != 1
        else old[ids[0]]
        for ids in id_map.sources
    ]
    return np.array(new).astype(old.dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_rows_are_copied_bit_for_bit_and_made_as_means_of_pieces(
    tok: pw.Tokenizer, changed: tuple[pw.Tokenizer, pw.IdMap], tmp_path: Path, dtype: Any
) -> None:
    larger, id_map = changed
    old = weights(len(tok), dtype)
    path = tmp_path / "model.safetensors"
    save_file(old, path, metadata={"format": "pt"})
    found = resize_embeddings(path, id_map, output=tmp_path / "new.safetensors")
    names = ["transformer.wte.weight", "lm_head.weight", "lm_head.bias"]
    assert sorted(found) == sorted((name, len(tok), len(larger)) for name in names)
    new = load_file(tmp_path / "new.safetensors")
    for name in names:
        assert new[name].dtype == dtype
        assert len(new[name]) == len(larger)
        for token, id in larger.get_vocab().items():
            if id_map.old_ids[id] >= 0:
                assert new[name][id].tobytes() == old[name][tok.token_to_id(token)].tobytes()
        if dtype != np.float64:
            assert new[name].tobytes() == expected_rows(old[name], id_map).tobytes()
    for name in old.keys() - set(names):
        assert new[name].tobytes() == old[name].tobytes()
    assert load_file(path).keys() == old.keys()
    assert all(np.array_equal(load_file(path)[name], old[name]) for name in old)
    hughug = larger.token_to_id("hughug")
    assert id_map.sources[hughug] == tuple(tok.encode("hughug", add_special_tokens=False).ids)


def test_files_are_replaced_without_an_output(tok: pw.Tokenizer, tmp_path: Path) -> None:
    larger, id_map = pw.vocabulary.add_words(tok, ["hughug"])
    path = tmp_path / "model.safetensors"
    save_file(weights(len(tok)), path)
    resize_embeddings(str(path), id_map)
    assert len(load_file(path)["lm_head.bias"]) == len(larger)
    assert [each.name for each in tmp_path.iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize("init", ["mean-of-pieces", "mean", "normal", "zeros"])
def test_each_rule_makes_the_rows_that_it_says(
    tok: pw.Tokenizer, tmp_path: Path, init: Any
) -> None:
    _, id_map = pw.vocabulary.add_words(tok, [f"hug{chr(97 + n) * 3}pug" for n in range(20)])
    old = weights(len(tok))
    save_file(old, tmp_path / "model.safetensors")
    new = {}
    for seed in (0, 0, 1):
        out = tmp_path / f"{len(new)}.safetensors"
        resize_embeddings(tmp_path / "model.safetensors", id_map, output=out, init=init, seed=seed)
        new[len(new)] = load_file(out)["transformer.wte.weight"][id_map.added]
    table = old["transformer.wte.weight"].astype(np.float64)
    assert np.array_equal(new[0], new[1])
    assert np.array_equal(new[0], new[2]) == (init != "normal")
    if init == "mean":
        assert np.allclose(new[0], table.mean(axis=0), atol=1e-6)
    elif init == "zeros":
        assert not new[0].any()
    elif init == "normal":
        assert np.abs(new[0].mean(axis=0) - table.mean(axis=0)).max() < 4 * table.std() / 20**0.5
        assert 0.5 < new[0].std() / table.std() < 2
    else:
        unknown = tok.token_to_id("[UNK]")
        known = [i for i, new_id in enumerate(id_map.added) if id_map.sources[new_id]]
        for index in known:
            sources = list(id_map.sources[id_map.added[index]])
            assert unknown not in sources
            assert np.allclose(new[0][index], table[sources].mean(axis=0), atol=1e-6)


def test_bfloat16_is_rounded_to_the_nearest_even() -> None:
    values = np.array([[1.0, 1.00390625, 1.01171875, -2.5, 1e38 * 4, np.inf, np.nan, 1e-40, 0.0]])
    numbers = as_float64(as_bytes(values, "BF16"), "BF16")
    assert numbers[0, :4].tolist() == [1.0, 1.0, 1.015625, -2.5]
    assert np.isinf(numbers[0, 4:6]).all()
    assert np.isnan(numbers[0, 6])
    every = np.arange(1 << 16, dtype="<u2").reshape(1, -1).view(np.uint8)
    again = as_bytes(as_float64(every, "BF16"), "BF16")
    is_nan = np.isnan(as_float64(every, "BF16"))[0]
    assert np.array_equal(again.view("<u2")[0][~is_nan], every.view("<u2")[0][~is_nan])


def sharded(folder: Path, tensors: dict[str, np.ndarray], **config: Any) -> None:
    folder.mkdir()
    shards = {"one.safetensors": {}, "two.safetensors": {}, "three.safetensors": {}}
    shards["one.safetensors"] = {n: t for n, t in tensors.items() if "wte" in n}
    shards["two.safetensors"] = {n: t for n, t in tensors.items() if "lm_head" in n}
    shards["three.safetensors"] = {
        n: t for n, t in tensors.items() if "wte" not in n and "lm_" not in n
    }
    for name, part in shards.items():
        save_file(part, folder / name)
    weight_map = {tensor: name for name, part in shards.items() for tensor in part}
    metadata = {
        "total_size": sum(t.nbytes for t in tensors.values()),
        "total_parameters": sum(t.size for t in tensors.values()),
    }
    index = {"metadata": metadata, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text(json.dumps(config))


def test_shards_index_and_configuration_follow(
    tok: pw.Tokenizer, changed: tuple[pw.Tokenizer, pw.IdMap], tmp_path: Path
) -> None:
    larger, id_map = changed
    old, source, target = weights(len(tok)), tmp_path / "old", tmp_path / "new"
    roles = {"pad_token_id": 0, "eos_token_id": [2, 3], "bos_token_id": None, "sep_token_id": 4}
    sharded(source, old, vocab_size=len(tok), hidden_size=WIDTH, **roles)
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    resize_embeddings(source, id_map, output=target)
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before
    assert {path.name for path in target.iterdir()} == before.keys()
    index = json.loads((target / "model.safetensors.index.json").read_text())
    new = {}
    for name in ("one", "two", "three"):
        new |= load_file(target / f"{name}.safetensors")
    assert index["metadata"]["total_size"] == sum(t.nbytes for t in new.values())
    assert index["metadata"]["total_parameters"] == sum(t.size for t in new.values())
    assert index["weight_map"] == json.loads(before["model.safetensors.index.json"])["weight_map"]
    config = json.loads((target / "config.json").read_text())
    assert config == {"vocab_size": len(larger), "hidden_size": WIDTH, **roles}
    assert np.array_equal(new["lm_head.weight"], expected_rows(old["lm_head.weight"], id_map))
    resize_embeddings(source, id_map)
    assert {path.name for path in source.iterdir()} == before.keys()
    for name in before:
        assert (source / name).read_bytes() == (target / name).read_bytes()


def test_roles_get_their_new_ids(tmp_path: Path) -> None:
    tok = pw.Tokenizer(
        pw.spec.BPE({"a": 0, "b": 1, "ab": 2, "<s>": 3}, (("a", "b"),))
    ).with_added_tokens(["<s>"], special=True)
    _, id_map = pw.vocabulary.prune(tok, ["a"], keep_alphabet=False)
    sharded(tmp_path / "old", weights(4), vocab_size=4, bos_token_id=3, eos_token_id=50)
    resize_embeddings(tmp_path / "old", id_map)
    config = json.loads((tmp_path / "old" / "config.json").read_text())
    assert config == {"vocab_size": 2, "bos_token_id": 1, "eos_token_id": 50}


def test_extra_rows_are_dropped_if_this_is_asked(tok: pw.Tokenizer, tmp_path: Path) -> None:
    larger, id_map = pw.vocabulary.add_words(tok, ["hughug"])
    path = tmp_path / "model.safetensors"
    save_file(weights(len(tok) + 30), path)
    with pytest.raises(FormatError, match=f"{len(tok) + 30} rows .* pass drop_extra_rows"):
        resize_embeddings(path, id_map)
    resize_embeddings(path, id_map, drop_extra_rows=True)
    assert len(load_file(path)["lm_head.weight"]) == len(larger)


def test_memory_does_not_grow_with_the_table(tok: pw.Tokenizer, tmp_path: Path) -> None:
    import tracemalloc

    rows, width = 60_000, 512
    id_map = pw.IdMap(np.arange(rows)[::-1].copy(), np.array([rows]), {rows: (1, 2, 3)})
    path = tmp_path / "model.safetensors"
    save_file({"wte.weight": np.zeros((rows, width), np.float32)}, path)
    tracemalloc.start()
    resize_embeddings(path, id_map)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > rows * width * 4
    assert peak < 40 << 20


# ---- faults: each is named before anything is written


def assert_refused(
    error: type, message: str, folder: Path, id_map: pw.IdMap, **settings: Any
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for output in (None, folder.parent / "never"):
        with pytest.raises(error, match=message):
            resize_embeddings(folder, id_map, output=output, **settings)
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        assert not (folder.parent / "never").exists()


def test_a_model_that_contradicts_the_map_is_refused(tok: pw.Tokenizer, tmp_path: Path) -> None:
    _, id_map = pw.vocabulary.add_words(tok, ["hughug"])
    size = len(tok)
    sharded(tmp_path / "small", weights(size - 3), vocab_size=size - 3)
    assert_refused(FormatError, f"{size - 3} rows in 'transformer.wte.weight', and the map {size} ids",
                   tmp_path / "small", id_map)  # fmt: skip
    sharded(tmp_path / "config", weights(size), vocab_size=size + 1)
    assert_refused(
        FormatError,
        rf"config.json: has vocab_size {size + 1}, and the table {size} rows",
        tmp_path / "config",
        id_map,
    )
    mixed = weights(size) | {"lm_head.weight": np.zeros((size + 1, WIDTH), np.float32)}
    sharded(tmp_path / "mixed", mixed, vocab_size=size)
    assert_refused(
        FormatError,
        f"'lm_head.weight' of shape .* has {size} rows; all tables",
        tmp_path / "mixed",
        id_map,
    )
    other = weights(size) | {"head.weight": np.zeros((size, 2), np.float32)}
    sharded(tmp_path / "other", other, vocab_size=size)
    assert_refused(
        FormatError,
        "'head.weight' of shape .*pass the names .* as tables",
        tmp_path / "other",
        id_map,
    )
    names = [name for name in other if "wte" in name or "head" in name]
    resize_embeddings(tmp_path / "other", id_map, output=tmp_path / "named", tables=names)
    sharded(tmp_path / "ints", weights(size, np.int32), vocab_size=size)
    assert_refused(
        FormatError,
        r"ints: has 'transformer\.wte\.weight' of type I32, which is not",
        tmp_path / "ints",
        id_map,
    )
    none = {"transformer.h.0.mlp.weight": np.zeros((3, 3), np.float32)}
    sharded(tmp_path / "none", none, vocab_size=size)
    assert_refused(FormatError, "no embedding table", tmp_path / "none", id_map)
    assert_refused(
        ArgumentError,
        "tables: 'absent' is not a tensor of the model",
        tmp_path / "none",
        id_map,
        tables=["absent"],
    )


def test_a_map_of_another_tokenizer_is_refused(tok: pw.Tokenizer, tmp_path: Path) -> None:
    larger, id_map = pw.vocabulary.add_words(tok, ["hughug"])
    entries = ["[UNK]", *(f"other{number}" for number in range(len(tok) - 1))]
    model = pw.spec.WordPiece({entry: id for id, entry in enumerate(entries)})
    other = pw.Tokenizer(model)
    assert len(other) == len(tok)
    sharded(tmp_path / "old", weights(len(tok)), vocab_size=len(tok))
    other.save(f"{tmp_path / 'old'}/")
    message = "id_map: is the map of another tokenizer than that in .*old"
    assert_refused(ArgumentError, message, tmp_path / "old", id_map)
    assert_refused(ArgumentError, message, tmp_path / "old", pw.IdMap.from_json(id_map.to_json()))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "old" / name).unlink(missing_ok=True)
    for number, saved in enumerate((tok, larger)):  # the old one, and the new one
        saved.save(f"{tmp_path / 'old'}/")
        resize_embeddings(tmp_path / "old", id_map, output=tmp_path / str(number))


def test_a_role_that_was_removed_is_refused(tmp_path: Path) -> None:
    tok = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    _, id_map = pw.vocabulary.prune(tok, ["a", "b"])
    sharded(tmp_path / "old", weights(3), vocab_size=3, eos_token_id=2)
    assert_refused(
        FormatError,
        r"config\.json: eos_token_id: has the id 2, which was removed; keep it",
        tmp_path / "old",
        id_map,
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[:5],
        lambda data: b"",
        lambda data: struct.pack("<Q", 2**63) + data[8:],
        lambda data: data[:8] + b"[" + data[9:],
        lambda data: data.replace(b'"F32"', b'"F16"', 1),
        lambda data: data.replace(b'"shape":[', b'"shape":[9,', 1),
        lambda data: data.replace(b'"dtype"', b'"dtypo"', 1),
        lambda data: struct.pack("<Q", 8) + b"[[[[[[[[",
        lambda data: struct.pack("<Q", 14) + b'{"wte.weight":' + b"{" * 9,
    ],
)
def test_damaged_files_are_named(tok: pw.Tokenizer, tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "model.safetensors"
    save_file(weights(len(tok)), path)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(
        FormatError, match=r"model\.safetensors: (is not a safetensors file|found |has ).*"
    ):
        resize_embeddings(path, pw.vocabulary.add_words(tok, ["hughug"])[1])
    assert path.read_bytes() == before


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"wte.weight": np.zeros((2, 3), np.float16)}, path)
    data, id_map = path.read_bytes(), pw.IdMap(np.array([0, 1]), np.array([], np.int64))
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FormatError):
            resize_embeddings(path, id_map)


@pytest.mark.parametrize(
    "index",
    [
        "[]",
        "{",
        "{}",
        '{"weight_map": {"wte.weight": "../model.safetensors"}}',
        '{"weight_map": {"wte.weight": 3}}',
        '{"weight_map": {"absent": "model.safetensors"}}',
    ],
)
def test_a_damaged_index_is_named(tok: pw.Tokenizer, tmp_path: Path, index: str) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    save_file(weights(len(tok)), folder / "model.safetensors")
    (folder / "model.safetensors.index.json").write_text(index)
    assert_refused(
        FormatError,
        r"model\.safetensors\.index\.json",
        folder,
        pw.vocabulary.add_words(tok, ["hughug"])[1],
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"new_ids": [0, 0]}, "id map: must give each token a new id of its own"),
        ({"new_ids": [[0, 1]]}, "id map: must have one list of new ids and one of added ids"),
        ({"new_ids": [0, 1 << 40]}, "id map: has the new id 1099511627776, too large for 3 tokens"),
        ({"old_checks": [7]}, "id map: has 1 checks of 2 ids"),
        ({"added": [1], "new_ids": [0], "sources": [[], [5]]}, "id map: has the sources .5,. of 1"),
        ({"added": 3}, "id map: this is not the JSON of IdMap.to_json"),
    ],
)
def test_json_that_is_not_a_map_is_a_format_error(change: dict[str, Any], message: str) -> None:
    value = {"new_ids": [0, 1], "added": [2], "sources": [[0], [1], []], **change}
    with pytest.raises(FormatError, match=message):
        pw.IdMap.from_json(json.dumps(value))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"init": "random"}, ArgumentError, "init: must be .*, not 'random'"),
        ({"model": "absent"}, FileError, "absent: cannot be read: no such file"),
        ({"model": "."}, FileError, "no weights"),
        ({"model": 3}, ArgumentError, "model: must be .*, not int"),
        ({"id_map": [1]}, ArgumentError, "id_map: must be .*, not list"),
        (
            {"id_map": pw.IdMap(np.array([0, 0]), np.array([1]))},
            ArgumentError,
            "id_map: must give each token a new id of its own, from 0, or -1",
        ),
        ({"id_map": pw.IdMap(np.array([0]), np.array([1 << 40]))}, ArgumentError, "the new id"),
        ({"id_map": pw.IdMap(np.array([0]), np.array([1]), {1: (5,)})}, ArgumentError, "sources"),
    ],
)
def test_unusable_arguments_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any, error: type, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {
        "model": "absent",
        "id_map": pw.IdMap(np.array([0]), np.array([], np.int64)),
    } | settings
    with pytest.raises(error, match=message):
        resize_embeddings(**given)
    assert list(tmp_path.iterdir()) == []


def test_a_tensor_of_a_million_dimensions_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    tensor = {"dtype": "F32", "shape": [2**62] * 3_000_000, "data_offsets": [0, 0]}
    header = json.dumps({"wte": tensor}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(FormatError) as caught:
        read_header(str(path))
    found = "'wte' with a shape of 3000000 dimensions; the limit is 64"
    assert str(caught.value) == f"{path}: has {found}"
