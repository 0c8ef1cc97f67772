"""The seed of sampling, one for the whole process as in sentencepiece."""

from __future__ import annotations

import random
import secrets

_random: random.Random | None = None


def set_random_generator_seed(seed: int) -> None:
    """Make sampling reproducible from here on; each sampling call takes the next seed of a sequence.

    >>> set_random_generator_seed(7)
    """
    global _random
    _random = random.Random(seed)


def next_seed() -> int:
    """Return the seed of one sampling call, 64 bits."""
    return secrets.randbits(64) if _random is None else _random.getrandbits(64)


SetRandomGeneratorSeed = set_random_generator_seed
