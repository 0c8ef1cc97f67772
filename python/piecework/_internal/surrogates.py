"""Lone surrogates, which a Python string can hold and UTF-8 cannot: mended or refused."""

from __future__ import annotations

from piecework.errors import InvalidUtf8Error


def mend(text: str, place: str, errors: str = "replace") -> tuple[str, int]:
    """Return the text with each lone surrogate as U+FFFD, and how many there were.

    >>> mend("a\\ud800b", "texts[0]")
    ('a\ufffdb', 1)

    Raises `InvalidUtf8Error` naming `place` and the character instead when `errors` is "strict".
    """
    if text.isascii():
        return text, 0
    try:
        text.encode()
    except UnicodeEncodeError as error:
        if errors == "strict":
            found = f"a lone surrogate at character {error.start}"
            raise InvalidUtf8Error(place, found, "Unicode text") from error
        mended = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
        return mended, sum(a != b for a, b in zip(text, mended, strict=True))
    return text, 0
