"""Truncation and padding that a `tokenizer.json` stores: settings of a folder, active in a single file.

See docs/decisions/0029: transformers applies no stored length unless a call requests it, and `tokenizers`
applies both to every text.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

from piecework._internal._core import Core
from piecework._internal.validation import check_choice, check_size, check_text, check_type_id
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, FormatWarning
from piecework.io.core_parts import stages_of
from piecework.io.folder_settings import NO_SETTINGS, FolderSettings

Filling: TypeAlias = tuple[int | None, str, int, str]

_PAD_TOKENS = ("[PAD]", "<pad>")
_SIDES = ("right", "left")
_STRATEGIES = ("longest_first", "only_first", "only_second")
_APPLIED = "stored in the file and applied to every text"


def lengths_of_folder(core: Core, settings: FolderSettings) -> tuple[Core, FolderSettings]:
    """Return the core of a folder without truncation and padding, and settings that store them."""
    truncation, padding = active_lengths(core)
    sides = {
        "truncation_side": settings.truncation_side or _side(truncation),
        "padding_side": settings.padding_side or _side(padding),
    }
    roles = settings.roles
    if padding is not None and core.token_to_id(padding["pad_token"]) is not None:
        roles = {"pad_token": padding["pad_token"], **roles}
    bare = core.with_truncation(None).with_padding(None)
    return bare, settings.replace(roles=roles, truncation=truncation, padding=padding, **sides)


def core_of_folder(core: Core, settings: FolderSettings) -> Core:
    """Return the core to write into a folder, with the lengths of the settings unless others are active."""
    from piecework.spec import Padding, Truncation

    truncation, padding = active_lengths(core)
    if truncation is None and settings.truncation is not None:
        core = core.with_truncation(_for_core(vars(Truncation.from_json({**settings.truncation}))))
    if padding is None and settings.padding is not None:
        stored = _for_core(vars(Padding.from_json({**settings.padding})))
        id = core.token_to_id(stored["pad_token"])  # the vocabulary can have been renumbered
        core = core.with_padding({**stored, **({} if id is None else {"pad_id": id})})
    return core


def warn_of_lengths(core: Core, source: str) -> None:
    """Warn with `FormatWarning` if a file truncates or pads every text, and say how to turn it off."""
    truncation, padding = active_lengths(core)
    found = {}
    if truncation is not None:
        found["without_truncation()"] = f"truncation to {truncation['max_length']} tokens"
    if padding is not None:
        length = _fixed_length(padding)
        to = "the longest row" if length is None else f"{length} tokens"
        found["without_padding()"] = f"padding to {to}"
    if found:
        are, turn = ("is", "turns it") if len(found) == 1 else ("are", "turn them")
        message = (
            f"{source}: {' and '.join(found.values())} {are} {_APPLIED}, as in tokenizers; "
            f"{' and '.join(found)} {turn} off"
        )
        warn(message, FormatWarning)


def truncated(
    core: Core, settings: FolderSettings, max_length: int | str | None, **given: Any
) -> tuple[Core, str]:
    """Return the core that truncates, and the side; an argument of `given` that is None has its default.

    `max_length` "stored" is the `model_max_length`, as in transformers, else the stored truncation, kept
    or active. Raises `ArgumentError` if there is none.
    """
    if max_length is None:
        problem = "must be a number of tokens, not None; without_truncation() turns it off"
        raise ArgumentError("max_length", problem)
    side = settings.truncation_side or active_sides(core)[0]
    chosen: dict[str, Any] = {
        "max_length": max_length,
        "stride": 0,
        "strategy": _STRATEGIES[0],
        "side": side,
    }
    if max_length == "stored":
        chosen.update(_stored_truncation(core, settings))
    chosen.update(_given(given))
    check_size("max_length", chosen["max_length"])
    check_size("stride", chosen["stride"])
    check_choice("strategy", chosen["strategy"], _STRATEGIES)
    check_choice("side", chosen["side"], _SIDES)
    return core.with_truncation(_for_core(chosen)), chosen["side"]


def _stored_truncation(core: Core, settings: FolderSettings) -> dict[str, Any]:
    if settings.model_max_length is not None:
        return {"max_length": settings.model_max_length}
    stored = settings.truncation or active_lengths(core)[0]
    if stored is None:
        message = "the tokenizer stores no max_length; pass it: with_truncation(N) with a number of tokens"
        raise ArgumentError("max_length", message)
    from piecework.spec import Truncation

    return vars(Truncation.from_json({**stored}))


def padded(
    core: Core, settings: FolderSettings, length: int | str | None, **given: Any
) -> tuple[Core, str]:
    """Return the core that pads, and the side; an argument of `given` that is None has its default.

    `length` "stored" takes the length and the multiple of the stored padding, kept or active; None pads to
    the longest row, without a multiple. A `pad_token` that is given has its own id.
    """
    id, token, type_id, side = filling_of(core, settings)
    chosen: dict[str, Any] = {
        "side": side,
        "pad_to_multiple_of": None,
        "pad_type_id": type_id,
        "pad_token": _PAD_TOKENS[0] if id is None else token,
    }
    if length == "stored":
        stored = settings.padding or active_lengths(core)[1] or {}
        chosen["pad_to_multiple_of"] = stored.get("pad_to_multiple_of")
        length = _fixed_length(stored)
    chosen.update(_given(given), length=length)
    if length is not None:
        _check_length(length)
    if chosen["pad_to_multiple_of"] is not None:
        check_size("pad_to_multiple_of", chosen["pad_to_multiple_of"])
    check_choice("side", chosen["side"], _SIDES)
    check_type_id("pad_type_id", chosen["pad_type_id"])
    if given["pad_id"] is None:
        own = id if given["pad_token"] is None else None
        chosen["pad_id"] = _id_of(core, chosen["pad_token"]) if own is None else own
    return core.with_padding(_for_core(chosen)), chosen["side"]


def _for_core(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the name that the core has for the side."""
    return {"direction" if name == "side" else name: value for name, value in chosen.items()}


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _check_length(length: object) -> None:
    if isinstance(length, str):
        expected = 'a number of tokens, None for the longest row of each batch, or "stored"'
        raise ArgumentError("length", f"must be {expected}, not {length!r}")
    check_size("length", length)


def _id_of(core: Core, pad_token: str) -> int:
    check_text("pad_token", pad_token)
    id = core.token_to_id(pad_token)
    if id is None:
        token = repr(pad_token)
        adding = f"with_added_tokens([{token}], special=True) adds it"
        problem = f"the vocabulary has no token {token}; {adding}, pad_id pads with the id given"
        raise ArgumentError("pad_token", problem)
    return id


def filling_of(core: Core, settings: FolderSettings) -> Filling:
    """Return how rows are padded: by active padding, else by the role `pad_token` and the stored side."""
    id, token, type_id, side = core.filling(_PAD_TOKENS)
    if settings is NO_SETTINGS or active_lengths(core)[1] is not None:
        return id, token, type_id, side
    named = settings.roles.get("pad_token")
    named_id = None if named is None else core.token_to_id(named)
    if named is not None and named_id is not None:
        id, token = named_id, named
    stored = settings.padding
    if stored is not None:
        type_id = stored["pad_type_id"]
        if id is None:
            id, token = stored["pad_id"], stored["pad_token"]
    return id, token, type_id, settings.padding_side or side


def active_lengths(core: Core) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the active truncation and padding, as objects of a `tokenizer.json`."""
    if core.is_plain:
        return None, None
    stages = stages_of(core)
    return stages["truncation"], stages["padding"]


def active_sides(core: Core) -> tuple[str, str]:
    """Return the sides of the active truncation and padding, "right" for an inactive one."""
    truncation, padding = active_lengths(core)
    return _side(truncation) or "right", _side(padding) or "right"


def ignore_warnings_of_lengths() -> None:
    """Add a filter for `warn_of_lengths`; call it inside `warnings.catch_warnings`."""
    warnings.filterwarnings("ignore", f".*{_APPLIED}", FormatWarning)


def _side(lengths: dict[str, Any] | None) -> str | None:
    return None if lengths is None else lengths["direction"].lower()


def _fixed_length(padding: Mapping[str, Any]) -> int | None:
    strategy = padding.get("strategy")
    return strategy["Fixed"] if isinstance(strategy, dict) else None
