"""Update the sizes and the ids in the configuration files of a model."""

from __future__ import annotations

from typing import Any

from piecework import IdMap
from piecework.errors import FormatError

_ID_SUFFIXES = ("_token_id", "_token_ids")
_PARTS = ("text_config",)


def resized_config(
    config: dict[str, Any], id_map: IdMap, old_rows: int, new_rows: int, place: str
) -> dict[str, Any]:
    """Return a configuration with the new size, and with the new id for each token id.

    Raises `FormatError` if `vocab_size` is not the number of rows, or if the id of a role is removed.
    """
    size = config.get("vocab_size", old_rows)
    if size != old_rows:
        raise FormatError(place, f"has vocab_size {size!r}, and the table {old_rows} rows")
    changed = dict(config)
    for key, value in config.items():
        if key == "vocab_size":
            changed[key] = new_rows
        elif key.endswith(_ID_SUFFIXES):
            changed[key] = _new_id(id_map, value, f"{place}: {key}")
        elif key in _PARTS and isinstance(value, dict) and ("vocab_size" in value):
            changed[key] = resized_config(value, id_map, old_rows, new_rows, f"{place}: {key}")
    return changed


def _new_id(id_map: IdMap, value: Any, place: str) -> Any:
    if isinstance(value, list):
        return [_new_id(id_map, item, place) for item in value]
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if not 0 <= value < len(id_map.new_ids):
        return value
    new = int(id_map.new_ids[value])
    if new < 0:
        raise FormatError(place, f"has the id {value}, which was removed; keep it")
    return new
