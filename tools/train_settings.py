"""Write python/piecework/train/settings.py: the types of the settings of all trainers, for type checkers.

python tools/train_settings.py          # write the file
python tools/train_settings.py --check  # exit code 1 if it differs
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from piecework.train.setting_fields import (
    Choice,
    Setting,
    settings_of,
)
from piecework.train.trainers import TRAINERS

FILE = Path(__file__).parent.parent / "python" / "piecework" / "train" / "settings.py"
LINE = 100
HEAD = '''"""Types of the keyword arguments that `Tokenizer.train` passes to trainers.

Written by tools/train_settings.py from the fields of the trainers, as type checkers cannot make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from piecework._internal.validation import PathLike
from piecework.normalization_rules import NormalizationRules
from piecework.train.learners import Learner


class RetrainSettings(TypedDict, total=False):
    """Settings that `Tokenizer.train_new_from_iterator` passes to the trainer.

    >>> settings: RetrainSettings = {"min_frequency": 2}
    """

'''
MIDDLE = '''

class TrainSettings(RetrainSettings, total=False):
    """Settings that `Tokenizer.train` and its variants pass to the trainer.

    >>> settings: TrainSettings = {"vocab_size": 8_000}
    """

'''


def main() -> None:
    """Write or check the file."""
    parser = argparse.ArgumentParser(description="Write the types of the settings of all trainers.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    text = settings_module()
    if not parser.parse_args().check:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE.name} is out of date: run python tools/train_settings.py")


def settings_module() -> str:
    """Return the text of the file."""
    found = all_settings()
    kept = {
        name
        for kind, cls in TRAINERS.items()
        if kind != "sentencepiece"
        for name in settings_of(cls)
    }
    kept.discard("vocab_size")  # an argument of its own when a tokenizer is trained anew
    retrain = (
        line for name, abouts in found.items() if name in kept for line in lines(name, abouts)
    )
    train = (
        line for name, abouts in found.items() if name not in kept for line in lines(name, abouts)
    )
    return HEAD + "".join(retrain) + MIDDLE + "".join(train)


def all_settings() -> dict[str, list[Setting]]:
    """Return each setting as the trainers declare it."""
    found: dict[str, list[Setting]] = {}
    for cls in TRAINERS.values():
        for name, (about, _) in settings_of(cls).items():
            found.setdefault(name, []).append(about)
    return found


def lines(name: str, abouts: Iterable[Setting]) -> Iterator[str]:
    """Yield the lines of a setting, as ruff formats them."""
    kind = type_of(list(abouts))
    line = f"    {name}: {kind}\n"
    if len(line) <= LINE + 1:
        yield line
        return
    options, end = kind.removeprefix("Literal[").split("]")
    yield f"    {name}: Literal[\n        {options}\n    ]{end}\n"


def type_of(abouts: list[Setting]) -> str:
    """Return the type of a setting that several trainers may have."""
    if isinstance(abouts[0], Choice):
        names = dict.fromkeys(f'"{name}"' for about in abouts for name in about.names)
        kind = f"Literal[{', '.join(names)}]"
    else:
        [kind] = {about.annotation for about in abouts}
    return f"{kind} | None" if any(about.none for about in abouts) else kind


if __name__ == "__main__":
    main()
