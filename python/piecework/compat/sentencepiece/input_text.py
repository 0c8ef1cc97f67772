"""Input text as str or bytes."""

from __future__ import annotations

from typing import Any

from piecework.errors import InputTypeError


class InputText:
    r"""One input: `text` is what the model segments; `escaped` also keeps invalid bytes.

    >>> given = InputText(b"a\xff", "input")
    >>> given.text, given.escaped, given.is_bytes
    ('a�', 'a\udcff', True)

    Invalid UTF-8 is U+FFFD in `text` and a surrogate (`errors="surrogateescape"`) in `escaped`. Both
    have the same length. `argument` names the input in the `InputTypeError` for other types.
    """

    def __init__(self, given: object, argument: str) -> None:
        self.is_bytes = isinstance(given, bytes)
        if isinstance(given, bytes):
            self.escaped = given.decode("utf-8", "surrogateescape")
            self.text = _replace_escapes(self.escaped)
        elif isinstance(given, str):
            self.escaped = self.text = given
        else:
            raise InputTypeError(argument, f"must be str or bytes, not {type(given).__name__}")


def input_texts(given: object) -> list[InputText]:
    """Return the texts of a batch, which must be a list, or the one text."""
    if isinstance(given, list):
        return [InputText(item, f"input[{at}]") for at, item in enumerate(given)]
    return [InputText(given, "input")]


def is_sequence(value: Any) -> bool:
    """Return whether a value has a length and is neither str nor bytes."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _replace_escapes(text: str) -> str:
    if text.isascii():
        return text
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text)
