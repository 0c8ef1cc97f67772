"""ftfy's clean-up as a normalizer: mended mojibake, plain quotes, one newline. Needs `piecework[ftfy]`."""

from __future__ import annotations

from dataclasses import dataclass

from piecework._internal.extras import import_extra
from piecework.spec import CustomNormalizer


def normalizer() -> CustomNormalizer:
    """Mend text as `ftfy.fix_text` does: "schÃ¶n" becomes "schön", “ becomes ".

    >>> normalizer()
    CustomNormalizer('ftfy:fix_text')

    Raises `MissingExtraError`.
    """
    import_extra("ftfy", "ftfy")
    return CustomNormalizer(FixedText(), "ftfy:fix_text")


@dataclass(frozen=True)
class FixedText:
    """Mended text."""

    def __call__(self, text: str) -> str:
        """Return the text mended."""
        fixed: str = import_extra("ftfy", "ftfy").fix_text(text)
        return fixed
