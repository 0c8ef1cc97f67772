"""What every trainer is: settings that say which model to learn from word counts."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

from typing_extensions import Self

from piecework.errors import ArgumentError, FormatError, InputTypeError
from piecework.train.learners import LEARNERS


class Trainer(ABC):
    """The settings of a training, a frozen dataclass for each kind of model.

    >>> from piecework.train import WordPieceTrainer
    >>> isinstance(WordPieceTrainer(), Trainer)
    True
    """

    kind: ClassVar[str]
    """The name of the kind of model in `TRAINERS`, such as "wordpiece"."""

    vocab_size: int | None

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Check the names of the settings."""
        cls.check_names(settings)
        return super().__new__(cls)

    @classmethod
    def check_names(cls, settings: Mapping[str, Any]) -> None:
        """Raise `ArgumentError` for a setting that another trainer or an earlier version has."""
        if "learner" in settings:
            names = ", ".join(f"{kind.__name__}()" for kind in LEARNERS.values())
            found = f"{settings['learner']!r} with {cls.__name__}"
            expected = f"WordPieceTrainer, which alone takes {names}, or {cls._settings_text()}"
            raise InputTypeError("learner", found, expected)
        if "seed_size" in settings:
            raise ArgumentError("seed_size", "a setting of an earlier version", "seed_vocab_size=")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled trainer; raise `FormatError` for one of an earlier version."""
        missing = self.setting_names() - state.keys()
        if missing:
            found = f"no {', '.join(sorted(missing))}: an earlier version wrote it"
            raise FormatError(f"pickled {type(self).__name__}", found, "a trainer of this version")
        self.__dict__.update(state)

    @classmethod
    def setting_names(cls) -> dict[str, None]:
        """Return the names of the settings, in order."""
        return dict.fromkeys(field.name for field in fields(cls))  # type: ignore[arg-type]

    @classmethod
    def _settings_text(cls) -> str:
        return f"a setting of {cls.__name__}: {', '.join(cls.setting_names())}"
