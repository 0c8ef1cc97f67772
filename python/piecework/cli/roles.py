"""The option `--role` of `train`: special tokens by role, checked before the training."""

from __future__ import annotations

from collections.abc import Sequence

import piecework as pw
from piecework.io.saving import is_folder_path
from piecework.train.trainer import traits_of

ROLES = ("unk", "bos", "eos", "sep", "pad", "cls", "mask")


def check_folder(name: str, path: str) -> None:
    """Raise `ArgumentError` for an option whose value only a folder for transformers can store."""
    if not is_folder_path(path):
        raise pw.errors.ArgumentError(name, f"needs a folder such as -o NAME/, not the file {path}")


def token_roles(given: Sequence[str], trainer: pw.train.Trainer, path: str) -> dict[str, str]:
    """Return the arguments of `with_roles` for options such as `eos=<|endoftext|>`.

    >>> token_roles(["eos=<|endoftext|>"], pw.ByteBPETrainer(), "out/")
    {'eos_token': '<|endoftext|>'}

    Raises `ArgumentError` for an unknown role, a token that is not special, and an output without roles.
    """
    if given:
        check_folder("roles", path)
    roles = {}
    for option in given:
        role, _, token = option.partition("=")
        name = role.removesuffix("_token")
        if name not in ROLES or not token:
            problem = f"must be {'|'.join(ROLES)}=TOKEN, not {option!r}"
            raise pw.errors.ArgumentError("roles", problem)
        if token not in traits_of(trainer).fixed_tokens:
            problem = (
                f"must be a special token, not {option!r}: also pass --special-token {token!r}"
            )
            raise pw.errors.ArgumentError("roles", problem)
        roles[f"{name}_token"] = token
    return roles
