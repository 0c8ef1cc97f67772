"""Tokens and figures as text for people."""

from __future__ import annotations

from collections.abc import Iterable

from piecework.spec import ByteLevelDecoder, SequenceDecoder, TokenizerSpec
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER


def is_byte_level(spec: TokenizerSpec) -> bool:
    """Return whether tokens are written in the byte-level alphabet of GPT-2."""
    decoder = spec.decoder
    parts = decoder.decoders if isinstance(decoder, SequenceDecoder) else (decoder,)
    return any(isinstance(part, ByteLevelDecoder) for part in parts)


def text_of_bytes(token: str) -> str:
    """Return the text of a byte-level token, with invalid UTF-8 written as `\\xe6`.

    >>> text_of_bytes("Ġcaf")
    ' caf'
    >>> text_of_bytes("æĹ")
    '\\\\xe6\\\\x97'

    A token with a character outside the byte-level alphabet is returned unchanged.

    Source: Radford et al. 2019 (GPT-2), reference code.
    """
    data = bytes_of(token)
    return token if data is None else data.decode(errors="backslashreplace")


def bytes_of(token: str) -> bytes | None:
    """Return the bytes of a byte-level token, None if a character is outside the byte-level alphabet.

    >>> bytes_of("Ġcaf")
    b' caf'
    """
    if not all(character in BYTE_OF_CHARACTER for character in token):
        return None
    return bytes(BYTE_OF_CHARACTER[character] for character in token)


_WHITESPACE_SYMBOLS = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥"})


def show_whitespace(text: str) -> str:
    """Replace whitespace by symbols, and escape control characters.

    >>> show_whitespace("a b\\n")
    'a␣b⏎'
    """
    return escape_controls(text.translate(_WHITESPACE_SYMBOLS))


def escape_controls(text: str) -> str:
    r"""Return the text with control and other unprintable characters as escape sequences.

    >>> escape_controls("hug\x1b[31m")
    'hug\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


_MOST_PLACES = 15


def percentage(share: float, places: int = 1) -> str:
    """Return a share in per cent with `places` decimals, or more if it looked like 0 or 100 without them.

    >>> percentage(0.123), percentage(1 / 240_000), percentage(1 - 1 / 240_000), percentage(0)
    ('12.3', '0.0004', '99.9996', '0.0')
    """
    figure = 100 * share
    for more in range(places, _MOST_PLACES):
        shown = f"{figure:.{more}f}"
        if float(shown) not in (0, 100) or figure in (0, 100):
            return shown
    return f"{figure:g}"


def percent(share: float) -> str:
    """Return a share with its unit.

    >>> percent(0.123), percent(0.00004)
    ('12.3 %', '0.004 %')
    """
    return f"{percentage(share)} %"


def with_margin(share: float, interval: tuple[float, float] | None) -> str:
    """Return a share in per cent with half the width of its interval, in the digits that the width has.

    >>> with_margin(0.0153, (0.0141, 0.0165)), with_margin(0.0153, (0.01529, 0.01531))
    ('1.53 ±0.12', '1.530 ±0.001')
    >>> with_margin(0.5, (0.5, 0.5)), with_margin(0.5, None)
    ('50.0 ±0.0', '50.0')
    """
    if interval is None:
        return percentage(share)
    half = (interval[1] - interval[0]) / 2
    margin = percentage(half, 2 if 0 < half < 0.01 else 1)
    places = len(margin.partition(".")[2])
    return f"{percentage(share, places)} ±{margin}"


def joined(names: Iterable[str]) -> str:
    """Return names with commas, and "and" before the last one.

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
