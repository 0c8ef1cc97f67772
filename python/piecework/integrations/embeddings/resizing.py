"""Move the rows of the embedding tables of a model to the ids of a changed vocabulary."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from piecework import IdMap, Tokenizer
from piecework._internal.validation import (
    PathLike,
    check_choice,
    check_type,
    file_path,
    whole_number,
)
from piecework.errors import ArgumentError, FileError, FormatError, InputTypeError, PieceworkError
from piecework.integrations.embeddings.modules import resize_module
from piecework.integrations.embeddings.safetensors import resized_header, write_resized
from piecework.integrations.embeddings.tables import Change, RowInit
from piecework.integrations.embeddings.transplantation import donor_combinations
from piecework.io.atomic_files import atomic_file, check_writable
from piecework.io.read_file import json_object
from piecework.io.safetensors_files import INDEX, SafetensorsFile, read_header, weight_files
from piecework.vocabulary.changed_vocabulary import check_id_map

_CONFIGS = ("config.json", "generation_config.json")
_NUM_ANCHORS = 16


class ResizedTable(NamedTuple):
    """A table whose rows were moved: its name, and its numbers of rows before and after.

    >>> ResizedTable("wte.weight", 50257, 49000).new_rows
    49000
    """

    name: str
    old_rows: int
    new_rows: int


def resize_embeddings(
    model: Any,
    id_map: IdMap,
    *,
    output: PathLike | None = None,
    init: RowInit = "mean-of-pieces",
    seed: int = 0,
    donor: Any = None,
    num_anchors: int | None = None,
    tables: Collection[str] | None = None,
    drop_extra_rows: bool = False,
) -> tuple[ResizedTable, ...]:
    """Move the rows of a model to new ids, and make rows for added tokens; return the changed tables.

    >>> import os, struct, tempfile
    >>> import numpy as np
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"h": 0, "i": 1}, ()))
    >>> larger, id_map = pw.vocabulary.add_words(tok, ["hi"])
    >>> header = b'{"wte.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4))
    >>> resize_embeddings(path, id_map)
    (ResizedTable(name='wte.weight', old_rows=2, new_rows=3),)
    >>> struct.unpack("<6f", open(path, "rb").read()[-24:])
    (1.0, 2.0, 3.0, 4.0, 2.0, 3.0)

    `model` is one of:

    - a safetensors file;
    - a folder with `model.safetensors` or the shards of `model.safetensors.index.json`. In `config.json` and
      `generation_config.json`, `vocab_size` and the ids of roles (`pad_token_id`, ...) are updated;
    - a torch module, which is changed in place. Tied tables stay tied.

    Files are replaced, or written to `output`, a file or a folder; a folder gets the weights and these two
    files, and the tokenizer is saved there with `Tokenizer.save`. Files are read and written in blocks:
    memory does not grow with the model.

    Rows of old tokens are copied bit for bit. `init` makes the rows of added tokens, computed in float64 and
    rounded to the type of the table:

    - "mean-of-pieces": the mean of the rows of `id_map.sources`, or "mean" without them;
    - "mean": the mean of all old rows;
    - "normal": random draws with the mean and the variance of each column, from `seed`;
    - "zeros";
    - "omp": the sum of old rows that comes nearest to the row of `donor`, by orthogonal matching pursuit
      (arXiv 2506.06607). In the table of another model, the row of an added token is near a sum of the rows
      of `num_anchors` kept tokens, each times a number; the sum of their old rows, times the same numbers, is
      its row. "mean-of-pieces" for a token that the donor lacks. `donor` has a row for each new id, NaN for a
      token that the donor lacks, as `donor_rows` returns it; the numbers are the same for all tables.
      `num_anchors` is 16 by default; more follow the donor more closely, and its noise.

    Input and output tables and output biases are found by the names of transformers; `tables` names others.
    Their types are float64, float32, float16 or bfloat16. A table has one row for each old id. With
    `drop_extra_rows` it may have more, such as padding to a multiple of 64; the others are dropped.

    Before anything is written, raises `FormatError` for a model that contradicts the map, itself or its
    configuration, and `ArgumentError` for the map of another tokenizer than the folder has. Raises
    `ArgumentError` and `FileError` for other arguments.
    """
    check_type("id_map", id_map, IdMap, "IdMap")
    check_id_map(id_map)
    check_choice("init", init, get_args(RowInit))
    for name, value in (("donor", donor), ("num_anchors", num_anchors)):
        if init != "omp" and value is not None:
            raise ArgumentError(name, f'applies to init "omp" only, not to {init!r}')
    combinations = {}
    if init == "omp":
        if donor is None:
            raise ArgumentError("init", '"omp" needs a donor, the rows of donor_rows')
        size = _NUM_ANCHORS if num_anchors is None else whole_number("num_anchors", num_anchors, 1)
        combinations = donor_combinations(id_map, donor, size)
    change = Change(id_map, init, seed, tables, drop_extra_rows, combinations)
    if isinstance(model, str | os.PathLike):
        source = file_path(model, "model")
        plan = _planned(source, change)
        found = _write(plan, source if output is None else file_path(output, "output"), change)
    elif not hasattr(model, "named_modules"):
        problem = f"must be a path of safetensors or a torch module, not {type(model).__name__}"
        raise InputTypeError("model", problem)
    elif output is not None:
        problem = "does not apply to a torch module, which is changed in place"
        raise ArgumentError("output", problem)
    else:
        found = resize_module(model, change)
    return tuple(ResizedTable(name, rows, len(change.old_ids)) for name, rows in found.items())


@dataclass(frozen=True)
class _Plan:
    """What is written: files of weights with their tables, and the text of JSON files, by file name.

    The name of a model that is one file is "".
    """

    files: Mapping[str, SafetensorsFile]
    tables: Mapping[str, Mapping[str, int]]
    texts: Mapping[str, str]


def _planned(source: str, change: Change) -> _Plan:
    names: list[str] = [""]
    index: dict[str, Any] | None = None
    if is_folder := os.path.isdir(source):
        _check_tokenizer(source, change.id_map)
        names, index = weight_files(source)
    files = {name: read_header(os.path.join(source, name) if name else source) for name in names}
    file_of: dict[str, str] = {}
    for file_name, file in files.items():
        for name in file.tensors:
            if name in file_of:
                problem = f"has {name!r} in {file_of[name]} and {file_name}; each tensor must be in one file"
                raise FormatError(source, problem)
            file_of[name] = file_name
    for name, file_name in () if index is None else index["weight_map"].items():
        if file_of.get(name) != file_name:
            problem = f"has {name!r} in {file_name}, but it is in {file_of.get(name, 'no file')}"
            raise FormatError(os.path.join(source, INDEX), problem)
    types = {name: tensor.type for file in files.values() for name, tensor in file.tensors.items()}
    found = change.tables_of(types, source)
    rows = next(iter(found.values()))
    tables = {name: {table: rows for table in found if file_of[table] == name} for name in names}
    configs = {}
    for name in _CONFIGS if is_folder else ():
        path = os.path.join(source, name)
        if os.path.exists(path):
            configs[name] = change.config_of(json_object(path), rows, path)
    if index is not None:
        configs[INDEX] = _resized_index(index, files, tables, len(change.old_ids))
    texts = {
        name: json.dumps(config, indent=2, ensure_ascii=False) + "\n"
        for name, config in configs.items()
    }
    return _Plan(files, tables, texts)


def _check_tokenizer(folder: str, id_map: IdMap) -> None:
    """Raise if a folder has a tokenizer that the map neither starts from nor leads to."""
    try:
        vocab = Tokenizer.load(folder).get_vocab()
    except PieceworkError:
        return  # a folder without a tokenizer, or with one that is not read here
    if not id_map.is_of(vocab):
        raise ArgumentError("id_map", f"is the map of another tokenizer than that in {folder}")


def _resized_index(
    index: dict[str, Any],
    files: Mapping[str, SafetensorsFile],
    tables: Mapping[str, Mapping[str, int]],
    new_rows: int,
) -> dict[str, Any]:
    """Return an index with the new number of bytes and of parameters, where it has them."""
    differences = {"total_size": 0, "total_parameters": 0}
    for file_name, file in files.items():
        size = resized_header(file, tables[file_name], new_rows)[1]
        differences["total_size"] += size - file.data_size
        for name, rows in tables[file_name].items():
            row_size = math.prod(file.tensors[name].type.shape) // max(rows, 1)
            differences["total_parameters"] += row_size * (new_rows - rows)
    metadata = dict(index.get("metadata") or {})
    for key, difference in differences.items():
        if isinstance(metadata.get(key), int):
            metadata[key] += difference
    return {**index, "metadata": metadata} if metadata else index


def _write(plan: _Plan, target: str, change: Change) -> dict[str, int]:
    """Write all files to temporary ones, then rename them; return the tables with their old rows."""
    if "" in plan.files:
        check_writable(target)
        paths = {"": target}
    else:
        if not os.path.isdir(target):
            with FileError.while_writing(target):
                os.mkdir(target)
        paths = {name: os.path.join(target, name) for name in (*plan.texts, *plan.files)}
    with ExitStack() as renames:
        for name, text in plan.texts.items():
            temporary = renames.enter_context(atomic_file(paths[name]))
            temporary.write_text(text, encoding="utf-8")
        for name, file in plan.files.items():
            if plan.tables[name]:
                with renames.enter_context(atomic_file(paths[name])).open("wb") as stream:
                    write_resized(file, stream, plan.tables[name], change)
            elif os.path.realpath(file.path) != os.path.realpath(paths[name]):
                shutil.copyfile(file.path, renames.enter_context(atomic_file(paths[name])))
    return {name: rows for tables in plan.tables.values() for name, rows in tables.items()}
