"""Move the rows of the embedding tables of a torch module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from piecework._internal.extras import import_extra
from piecework.integrations.embeddings.tables import Change, NewRows
from piecework.io.safetensors_files import TensorType


def resize_module(module: Any, change: Change) -> dict[str, int]:
    """Replace the tables of a module; return their names with their numbers of rows before.

    A parameter that several submodules share stays shared. Submodules and configurations get the new size.
    """
    torch = import_extra("torch", "torch", "model")
    tensors = dict(_tensors(module))
    types = {
        name: TensorType(tuple(tensor.shape), str(tensor.dtype), tensor.dtype.is_floating_point)
        for name, (_, _, tensor) in tensors.items()
    }
    found = change.tables_of(types, type(module).__name__)
    old_rows, new_rows = next(iter(found.values())), len(change.old_ids)
    configs = _resized_configs(module, change, old_rows)
    replaced: dict[int, Any] = {}
    for name in found:
        tensor = tensors[name][2]
        if id(tensor) not in replaced:
            replaced[id(tensor)] = _resized(torch, tensor, change)
    # Several names can lead to one parameter of one submodule, so all owners are visited.
    for _, (owner, attribute, tensor) in _tensors(module):
        if id(tensor) in replaced:
            store = owner._parameters if attribute in owner._parameters else owner._buffers
            store[attribute] = replaced[id(tensor)]
            _set_sizes(owner, change, old_rows)
    for part in module.modules():
        if getattr(part, "vocab_size", None) == old_rows:
            part.vocab_size = new_rows
    for config, values in configs:
        for key, value in values.items():
            setattr(config, key, value)
    return found


def _tensors(module: Any) -> Iterator[tuple[str, tuple[Any, str, Any]]]:
    """Yield the name of each parameter and buffer, with its submodule, its attribute and itself."""
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for store in (owner._parameters, owner._buffers):
            for attribute, tensor in list(store.items()):
                if tensor is not None:
                    name = f"{prefix}.{attribute}" if prefix else attribute
                    yield name, (owner, attribute, tensor)


def _resized(torch: Any, tensor: Any, change: Change) -> Any:
    with torch.no_grad():
        old = tensor.detach()
        is_transposed = old.dim() == 2 and old.shape[0] == 1
        flat = old.reshape(-1, 1) if is_transposed or old.dim() == 1 else old
        ids = torch.as_tensor(change.old_ids, device=old.device)
        new = flat[ids.clamp(min=0)]
        if len(change.id_map.added):
            new_rows = NewRows(lambda ids: flat[ids].double().cpu().numpy(), flat.shape[1], change)
            made = new_rows.rows(np.flatnonzero(change.old_ids < 0))
            rows = torch.from_numpy(made if old.dtype == torch.float64 else made.astype(np.float32))
            new[ids < 0] = rows.to(device=old.device, dtype=old.dtype)
        if is_transposed or old.dim() == 1:
            new = new.reshape(1, -1) if is_transposed else new.reshape(-1)
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(new, requires_grad=tensor.requires_grad)
    return new


def _set_sizes(owner: Any, change: Change, old_rows: int) -> None:
    for attribute in ("num_embeddings", "out_features"):
        if getattr(owner, attribute, None) == old_rows:
            setattr(owner, attribute, len(change.old_ids))
    padding, new_ids = getattr(owner, "padding_idx", None), change.id_map.new_ids
    if isinstance(padding, int) and 0 <= padding < len(new_ids):
        owner.padding_idx = None if new_ids[padding] < 0 else int(new_ids[padding])


def _resized_configs(
    module: Any, change: Change, old_rows: int
) -> list[tuple[Any, dict[str, Any]]]:
    """Return the configurations of a module, each with the values to set."""
    found = []
    for attribute in ("config", "generation_config"):
        config = getattr(module, attribute, None)
        for part in (config, getattr(config, "text_config", None)):
            if hasattr(part, "__dict__"):
                plain = {key: value for key, value in vars(part).items() if key != "text_config"}
                place = f"{type(module).__name__}.{attribute}"
                changed = change.config_of(plain, old_rows, place)
                found.append((part, {k: v for k, v in changed.items() if v is not plain[k]}))
    return found
