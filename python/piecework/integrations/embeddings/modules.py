"""Move the rows of the embedding tables of a torch module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from piecework import IdMap
from piecework._internal.extras import import_extra
from piecework.errors import FormatError
from piecework.integrations.embeddings.model_config import resized_config
from piecework.integrations.embeddings.new_rows import NewRows, RowRule, Rows

TablesOf = Callable[[Mapping[str, tuple[int, ...]], str], dict[str, int]]


def resize_module(
    module: Any, id_map: IdMap, rule: RowRule, tables_of: TablesOf
) -> list[tuple[str, int, int]]:
    """Replace the tables of a module; return their names, and their numbers of rows before and after.

    A parameter that several submodules share stays shared. Submodules and configurations get the new size.
    """
    torch = import_extra("torch", "torch", "model")
    tensors = dict(_tensors(module))
    shapes = {name: tuple(tensor.shape) for name, (_, _, tensor) in tensors.items()}
    found = tables_of(shapes, type(module).__name__)
    old_rows = next(iter(found.values()))
    old_ids = id_map.old_ids
    configs = _resized_configs(module, id_map, old_rows, len(old_ids))
    for name in found:
        if not tensors[name][2].dtype.is_floating_point:
            dtype = str(tensors[name][2].dtype)
            problem = f"has {name!r} of type {dtype}, which is not floating-point"
            raise FormatError(type(module).__name__, problem)
    replaced: dict[int, Any] = {}
    for name in found:
        tensor = tensors[name][2]
        if id(tensor) not in replaced:
            replaced[id(tensor)] = _resized(torch, tensor, id_map, old_ids, rule)
    # Several names can lead to one parameter of one submodule, so all owners are visited.
    for _, (owner, attribute, tensor) in _tensors(module):
        if id(tensor) in replaced:
            store = owner._parameters if attribute in owner._parameters else owner._buffers
            store[attribute] = replaced[id(tensor)]
            _set_sizes(owner, id_map, old_rows, len(old_ids))
    for part in module.modules():
        if getattr(part, "vocab_size", None) == old_rows:
            part.vocab_size = len(old_ids)
    for config, values in configs:
        for key, value in values.items():
            setattr(config, key, value)
    return [(name, old_rows, len(old_ids)) for name in found]


def _tensors(module: Any) -> Iterator[tuple[str, tuple[Any, str, Any]]]:
    """Yield the name of each parameter and buffer, with its submodule, its attribute and itself."""
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for store in (owner._parameters, owner._buffers):
            for attribute, tensor in list(store.items()):
                if tensor is not None:
                    name = f"{prefix}.{attribute}" if prefix else attribute
                    yield name, (owner, attribute, tensor)


class _TensorRows:
    """The rows of a tensor."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.width = int(table.shape[1])

    def read(self, ids: npt.NDArray[np.int64]) -> Rows:
        rows: Rows = self._table[ids].double().cpu().numpy()
        return rows


def _resized(
    torch: Any,
    tensor: Any,
    id_map: IdMap,
    old_ids: npt.NDArray[np.int64],
    rule: RowRule,
) -> Any:
    with torch.no_grad():
        old = tensor.detach()
        transposed = old.dim() == 2 and old.shape[0] == 1
        flat = old.reshape(-1, 1) if transposed or old.dim() == 1 else old
        new = torch.empty((len(old_ids), flat.shape[1]), dtype=old.dtype, device=old.device)
        kept = np.flatnonzero(old_ids >= 0)
        places = torch.as_tensor(kept, device=old.device)
        new[places] = flat[torch.as_tensor(old_ids[kept], device=old.device)]
        if len(id_map.added):
            made = NewRows(_TensorRows(flat), id_map, rule)
            rows = torch.from_numpy(made.rows(np.flatnonzero(old_ids < 0)))
            if old.dtype != torch.float64:
                rows = rows.float()
            new[torch.as_tensor(np.flatnonzero(old_ids < 0), device=old.device)] = rows.to(
                device=old.device, dtype=old.dtype
            )
        if transposed:
            new = new.reshape(1, -1)
        elif old.dim() == 1:
            new = new.reshape(-1)
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(new, requires_grad=tensor.requires_grad)
    return new


def _set_sizes(owner: Any, id_map: IdMap, old_rows: int, new_rows: int) -> None:
    for attribute in ("num_embeddings", "out_features"):
        if getattr(owner, attribute, None) == old_rows:
            setattr(owner, attribute, new_rows)
    padding = getattr(owner, "padding_idx", None)
    if isinstance(padding, int) and 0 <= padding < len(id_map.new_ids):
        new = int(id_map.new_ids[padding])
        owner.padding_idx = None if new < 0 else new


def _resized_configs(
    module: Any, id_map: IdMap, old_rows: int, new_rows: int
) -> list[tuple[Any, dict[str, Any]]]:
    """Return the configurations of a module, each with the values to set."""
    found = []
    name = type(module).__name__
    for attribute in ("config", "generation_config"):
        config = getattr(module, attribute, None)
        for part in (config, getattr(config, "text_config", None)):
            if part is None or not hasattr(part, "__dict__"):
                continue
            plain = {key: value for key, value in vars(part).items() if isinstance(key, str)}
            plain.pop("text_config", None)
            changed = resized_config(plain, id_map, old_rows, new_rows, f"{name}.{attribute}")
            found.append((part, {k: v for k, v in changed.items() if v is not plain.get(k)}))
    return found
