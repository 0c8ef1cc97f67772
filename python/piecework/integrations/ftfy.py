"""A normalizer that repairs mojibake, curly quotes and line breaks with ftfy. Requires `piecework[ftfy]`."""

from __future__ import annotations

from dataclasses import dataclass

from piecework._internal.extras import import_extra
from piecework.spec import CustomNormalizer


def normalizer() -> CustomNormalizer:
    """Return a normalizer that applies `ftfy.fix_text`: "schÃ¶n" becomes "schön", “ becomes ".

    >>> normalizer()
    CustomNormalizer('ftfy:fix_text')

    Raises `MissingExtraError` if ftfy is not installed.
    """
    import_extra("ftfy", "ftfy")
    return CustomNormalizer(TextFixer(), "ftfy:fix_text")


@dataclass(frozen=True)
class TextFixer:
    """A function that repairs a text."""

    def __call__(self, text: str) -> str:
        """Return the repaired text."""
        fixed: str = import_extra("ftfy", "ftfy").fix_text(text)
        return fixed
