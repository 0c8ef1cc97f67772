"""Lone surrogates, which a Python string can contain and UTF-8 cannot encode."""

from __future__ import annotations

from piecework.errors import InvalidUtf8Error


def first_surrogate(text: str) -> int | None:
    """Return the index of the first surrogate in a string, None if UTF-8 can encode the string.

    >>> first_surrogate("ab\\ud800")
    2
    """
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def replace_surrogates(text: str, place: str, encoding_errors: str = "replace") -> tuple[str, int]:
    """Return the text with U+FFFD for each surrogate, and the number of surrogates.

    >>> replace_surrogates("a\\ud800b", "texts[0]")
    ('a\ufffdb', 1)

    With `encoding_errors="strict"`, raises `InvalidUtf8Error` that names `place` and the index instead.
    """
    start = first_surrogate(text)
    if start is None:
        return text, 0
    if encoding_errors == "strict":
        problem = f"found a lone surrogate at character {start}, expected Unicode text"
        raise InvalidUtf8Error(place, problem)
    replaced = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return replaced, sum(a != b for a, b in zip(text, replaced, strict=True))


def join_surrogates(text: str) -> str:
    """Return the text with each surrogate pair as one character and U+FFFD for lone surrogates.

    >>> join_surrogates("\\ud83d\\ude00 \\ud800")
    '😀 \ufffd'
    """
    if first_surrogate(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
