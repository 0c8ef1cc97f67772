"""Move the rows of the embedding tables of a model to the ids of a changed vocabulary."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from piecework import Tokenizer
from piecework._internal.validation import PathLike, check_type, file_path, whole_number
from piecework.errors import ArgumentError, FileError, FormatError, InputTypeError, PieceworkError
from piecework.integrations.embeddings.model_config import resized_config
from piecework.integrations.embeddings.modules import resize_module
from piecework.integrations.embeddings.new_rows import NewRows, RowInit, RowRule, check_init
from piecework.integrations.embeddings.safetensors import (
    SafetensorsFile,
    TableFile,
    read_header,
    resized_header,
    write_resized,
)
from piecework.integrations.embeddings.table_names import token_tables
from piecework.integrations.embeddings.transplantation import donor_combinations
from piecework.io.atomic_files import atomic_file, check_writable
from piecework.io.read_file import json_object
from piecework.vocabulary.id_map import IdMap, check_id_map

_MODEL, _INDEX = "model.safetensors", "model.safetensors.index.json"
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
    rule = _rule(id_map, init, seed, donor, num_anchors)
    settings = _Settings(id_map, rule, tables, drop_extra_rows)
    if not isinstance(model, str | os.PathLike):
        if not hasattr(model, "named_modules"):
            raise InputTypeError(
                "model",
                f"must be a path of safetensors or a torch module, not {type(model).__name__}",
            )
        if output is not None:
            problem = "does not apply to a torch module, which is changed in place"
            raise ArgumentError("output", problem)
        found = resize_module(model, id_map, rule, settings.tables_of)
        return tuple(ResizedTable(*table) for table in found)
    source = file_path(model, "model")
    plan = _plan_folder(source, settings) if os.path.isdir(source) else _plan_file(source, settings)
    return _write(plan, source if output is None else file_path(output, "output"))


def _rule(id_map: IdMap, init: RowInit, seed: int, donor: Any, num_anchors: int | None) -> RowRule:
    """Return the rule of new rows; raise for arguments that do not fit together."""
    check_init(init)
    if init != "omp":
        for name, value in (("donor", donor), ("num_anchors", num_anchors)):
            if value is not None:
                raise ArgumentError(name, f'applies to init "omp" only, not to {init!r}')
        return RowRule(init, seed)
    if donor is None:
        raise ArgumentError("init", '"omp" needs a donor, the rows of donor_rows')
    size = _NUM_ANCHORS if num_anchors is None else whole_number("num_anchors", num_anchors, 1)
    return RowRule(init, seed, donor_combinations(id_map, donor, size))


@dataclass(frozen=True)
class _Settings:
    id_map: IdMap
    rule: RowRule
    tables: Collection[str] | None
    drop_extra_rows: bool

    def tables_of(self, shapes: Mapping[str, tuple[int, ...]], place: str) -> dict[str, int]:
        """Return the tables of a model with their rows; raise unless they fit the map."""
        wanted = len(self.id_map.new_ids)
        found = token_tables(shapes, self.tables, wanted, place)
        rows = next(iter(found.values()))
        if rows != wanted and not self.drop_extra_rows:
            name = next(iter(found))
            problem = (
                f"has {rows} rows in {name!r}, and the map {wanted} ids; "
                "if the last rows belong to no token, pass drop_extra_rows"
            )
            raise FormatError(place, problem)
        return found


@dataclass(frozen=True)
class _Plan:
    """What is written: files of weights with their tables, and the text of JSON files, by file name."""

    folder: str | None
    files: Mapping[str, SafetensorsFile]
    tables: Mapping[str, Mapping[str, int]]
    texts: Mapping[str, str]
    settings: _Settings

    @property
    def old_ids(self) -> npt.NDArray[np.int64]:
        """The old id of each new row, -1 for a row to make."""
        return self.settings.id_map.old_ids

    def resized(self) -> tuple[ResizedTable, ...]:
        """Return all tables that change."""
        rows = len(self.old_ids)
        return tuple(
            ResizedTable(name, old_rows, rows)
            for tables in self.tables.values()
            for name, old_rows in tables.items()
        )


def _plan_file(path: str, settings: _Settings) -> _Plan:
    file = read_header(path)
    shapes = {name: tensor.shape for name, tensor in file.tensors.items()}
    plan = _Plan(None, {"": file}, {"": settings.tables_of(shapes, path)}, {}, settings)
    _check_types(plan)
    return plan


def _plan_folder(folder: str, settings: _Settings) -> _Plan:
    _check_tokenizer(folder, settings.id_map)
    names, index = _weight_files(folder)
    files = {name: read_header(os.path.join(folder, name)) for name in names}
    shapes: dict[str, tuple[int, ...]] = {}
    file_of: dict[str, str] = {}
    for file_name, file in files.items():
        for name, tensor in file.tensors.items():
            if name in file_of:
                problem = f"has {name!r} in {file_of[name]} and {file_name}; each tensor must be in one file"
                raise FormatError(folder, problem)
            shapes[name], file_of[name] = tensor.shape, file_name
    if index is not None:
        _check_index(folder, index, file_of)
    found_tables = settings.tables_of(shapes, folder)
    rows = next(iter(found_tables.values()))
    tables: dict[str, dict[str, int]] = {name: {} for name in files}
    for name, count in found_tables.items():
        tables[file_of[name]][name] = count
    new_rows = len(settings.id_map.old_ids)
    texts = {}
    for name in _CONFIGS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            config = resized_config(json_object(path), settings.id_map, rows, new_rows, path)
            texts[name] = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    plan = _Plan(folder, files, tables, texts, settings)
    _check_types(plan)
    if index is not None:
        texts[_INDEX] = json.dumps(_resized_index(index, plan), indent=2, ensure_ascii=False) + "\n"
    return plan


def _check_tokenizer(folder: str, id_map: IdMap) -> None:
    """Raise if a folder has a tokenizer that the map neither starts from nor leads to."""
    try:
        vocab = Tokenizer.load(folder).get_vocab()
    except PieceworkError:
        return  # a folder without a tokenizer, or with one that is not read here
    if not id_map.is_of(vocab):
        raise ArgumentError("id_map", f"is the map of another tokenizer than that in {folder}")


def _weight_files(folder: str) -> tuple[list[str], dict[str, Any] | None]:
    """Return the names of the weight files of a folder, and the index if there are several."""
    path = os.path.join(folder, _INDEX)
    if not os.path.exists(path):
        if not os.path.exists(os.path.join(folder, _MODEL)):
            raise FileError(folder, f"has no weights; it needs {_MODEL} or {_INDEX}")
        return [_MODEL], None
    index = json_object(path)
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise FormatError(path, "has no weight_map, an object of tensor names and files")
    for name in weight_map.values():
        if not isinstance(name, str) or os.path.basename(name) != name or name in ("", ".", ".."):
            raise FormatError(path, f"{name!r} is not the name of a file in the folder")
    return sorted(set(weight_map.values())), index


def _check_index(folder: str, index: Mapping[str, Any], file_of: Mapping[str, str]) -> None:
    for name, file_name in index["weight_map"].items():
        if file_of.get(name) != file_name:
            problem = f"has {name!r} in {file_name}, but it is in {file_of.get(name, 'no file')}"
            raise FormatError(os.path.join(folder, _INDEX), problem)


def _resized_index(index: dict[str, Any], plan: _Plan) -> dict[str, Any]:
    """Return an index with the new number of bytes and of parameters, where it has them."""
    rows, byte_change, change = len(plan.old_ids), 0, 0
    for file_name, file in plan.files.items():
        tables = plan.tables[file_name]
        old_size = max((tensor.end for tensor in file.tensors.values()), default=0)
        byte_change += resized_header(file, tables, rows)[1] - old_size
        for name, old_rows in tables.items():
            size = int(np.prod(file.tensors[name].shape, dtype=np.int64))
            change += size // max(old_rows, 1) * (rows - old_rows)
    metadata = dict(index.get("metadata") or {})
    for key, difference in (("total_size", byte_change), ("total_parameters", change)):
        if isinstance(metadata.get(key), int):
            metadata[key] += difference
    return {**index, "metadata": metadata} if metadata else index


def _check_types(plan: _Plan) -> None:
    """Raise now for a table that is not floating-point."""
    for file_name, file in plan.files.items():
        with open(file.path, "rb") as stream:
            _rules(stream, file, plan.tables[file_name], plan.settings)


def _rules(
    stream: BinaryIO, file: SafetensorsFile, tables: Mapping[str, int], settings: _Settings
) -> dict[str, tuple[TableFile, NewRows]]:
    rules = {}
    for name, rows in tables.items():
        table = TableFile(stream, file, name, rows)
        rules[name] = table, NewRows(table, settings.id_map, settings.rule)
    return rules


def _write(plan: _Plan, target: str) -> tuple[ResizedTable, ...]:
    """Write all files to temporary ones, then rename them."""
    paths = _targets(plan, target)
    with ExitStack() as renames:
        for name, text in plan.texts.items():
            temporary = renames.enter_context(atomic_file(paths[name]))
            temporary.write_text(text, encoding="utf-8")
        for name, file in plan.files.items():
            if not plan.tables[name] and os.path.realpath(file.path) == os.path.realpath(
                paths[name]
            ):
                continue
            temporary = renames.enter_context(atomic_file(paths[name]))
            if plan.tables[name]:
                _write_file(plan, name, file, temporary.open)
            else:
                shutil.copyfile(file.path, temporary)
    return plan.resized()


def _targets(plan: _Plan, target: str) -> dict[str, str]:
    """Return the path of each file to write; a missing folder is made."""
    if plan.folder is None:
        check_writable(target)
        return {"": target}
    if not os.path.isdir(target):
        with FileError.while_writing(target):
            os.mkdir(target)
    return {name: os.path.join(target, name) for name in (*plan.texts, *plan.files)}


def _write_file(
    plan: _Plan, name: str, file: SafetensorsFile, opened: Callable[[str], Any]
) -> None:
    with FileError.while_reading(file.path):
        source = open(file.path, "rb")  # noqa: SIM115 (the next line closes it)
    with source, opened("wb") as stream:
        rules = _rules(source, file, plan.tables[name], plan.settings)
        write_resized(source, stream, file, plan.tables[name], plan.old_ids, rules)
