"""Write the types of settings as keyword arguments: train/settings.py and export/options.py.

python tools/train_settings.py          # write the files
python tools/train_settings.py --check  # exit code 1 if one differs
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from piecework._internal.setting_fields import Choice, Setting, settings_of
from piecework.export.settings import CorpusSettings, EncodeSettings, FileSettings
from piecework.train.counting import CountSettings, FileCountSettings, PartCountSettings
from piecework.train.plan import Plan
from piecework.train.trainers import TRAINERS

PACKAGE = Path(__file__).parent.parent / "python" / "piecework"
LINE = 100
HEAD = '''"""Types of the keyword arguments of `Tokenizer.train` and of the functions that count.

Written by tools/train_settings.py from the fields of trainers, `Plan` and `CountSettings`, as type checkers
cannot make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypedDict

from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework.io.normalization_rules import NormalizationRules
from piecework.train.boundaries import Boundaries
from piecework.train.learners import Learner
from piecework.train.presets import Preset
from piecework.train.sentencepiece_presets import SentencePiecePreset
from piecework.train.sentences import Sentences


class RetrainSettings(TypedDict, total=False):
    """Settings that `Tokenizer.train_new_from_iterator` passes to the trainer.

    >>> settings: RetrainSettings = {"min_frequency": 2}
    """

'''
OPTIONS = '''

class TrainOptions(RetrainSettings, total=False):
    """Keyword arguments of `Tokenizer.train` and its variants: fields of `Plan`, and settings of a trainer.

    >>> options: TrainOptions = {"vocab_size": 8_000, "memory": "2GB"}
    """

    model: str | None
    preset: str | Preset | SentencePiecePreset | None
'''

COUNTS = (
    ("CountTextsOptions(TypedDict", CountSettings, "`count_texts`"),
    ("CountPartOptions(CountTextsOptions", PartCountSettings, "counts on a cluster"),
    ("CountFilesOptions(CountPartOptions", FileCountSettings, "`count_files` and its variants"),
)

ENCODE_HEAD = '''"""Types of the keyword arguments of `encode_files` and `encode_corpus`.

Written by tools/train_settings.py from the fields of `EncodeSettings`, as type checkers cannot make them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypedDict

from piecework.export.settings import Chat
'''
ENCODINGS = (
    ("EncodeOptions(TypedDict", EncodeSettings, "both functions"),
    ("EncodeFilesOptions(EncodeOptions", FileSettings, "`encode_files`"),
    ("EncodeCorpusOptions(EncodeOptions", CorpusSettings, "`encode_corpus`"),
)


def main() -> None:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description="Write the types of the settings of all trainers.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    encode_options = ENCODE_HEAD + options_of(ENCODINGS)
    for name, text in {
        "train/settings.py": settings_module(),
        "export/options.py": encode_options,
    }.items():
        if not check:
            (PACKAGE / name).write_text(text, encoding="utf-8")
        elif (PACKAGE / name).read_text(encoding="utf-8") != text:
            sys.exit(f"{name} is out of date: run python tools/train_settings.py")


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
    run = [f"    {one.name}: {one.type}\n" for one in fields(Plan) if one.default is None]
    return "".join([HEAD, *retrain, OPTIONS, *run, *train, options_of(COUNTS)])


def options_of(declarations: Iterable[tuple[str, type, str]]) -> str:
    """Return a class for each class of settings, with the settings that its bases lack."""
    text, known = "", dict[type, set[str]]()
    for declared, cls, of in declarations:
        text += f'\n\nclass {declared}, total=False):\n    """Settings of {of}."""\n\n'
        inherited = set().union(*(known.get(base, set()) for base in cls.__mro__[1:]))
        found = {name: about for name, (about, _) in settings_of(cls).items()}
        own = {name: about for name, about in found.items() if name not in inherited}
        text += "".join(line for name, about in own.items() for line in lines(name, [about]))
        known[cls] = set(found)
    return text


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
