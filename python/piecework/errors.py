"""The exceptions of piecework: one tree, each error with a place, a finding and an expectation.

    PieceworkError
    ├── ArgumentError       (ValueError)   an argument has an unusable value
    │   ├── InputTypeError  (TypeError)    an argument or a batch item has the wrong type
    │   ├── SpecialTokenError              a text holds a special token that is not allowed there
    │   ├── UnknownNameError (KeyError)    a token or a name that is looked up is not known
    │   └── IdRangeError    (IndexError)   an id is not one of the vocabulary
    ├── FormatError         (ValueError)   a tokenizer file is malformed or contradicts itself
    │   └── VocabularyError                its vocabulary is: duplicates, no unknown token, ...
    ├── PortabilityError    (ValueError)   a format cannot hold the tokenizer with the same ids
    ├── CorpusError         (ValueError)   the training text is empty or unreadable as text
    │   └── InvalidUtf8Error               ... because of bytes that are not UTF-8
    ├── TrainingError       (ValueError)   the training settings cannot be met by the corpus
    ├── StageError          (RuntimeError) a custom stage failed, or cannot be saved or pickled
    ├── FileError           (OSError)      a path cannot be opened, read or written
    ├── MissingExtraError   (ImportError)  an optional dependency is not installed
    └── InternalError       (RuntimeError) a defect of piecework itself: please report it

`TrainingWarning` (a `UserWarning`) is what learners say when they stopped early or learned mostly noise,
`CorpusWarning` what readers say about input that is probably not what it is read as, `FormatWarning` what a
tokenizer file probably says by mistake, and `PortabilityWarning` that ids of a saved file can differ where
scores tie.
"""

from __future__ import annotations


class PieceworkError(Exception):
    """Report a problem by its place, what was found there and what was expected.

    >>> str(PieceworkError("vocab_size", "0", "a positive integer"))
    'vocab_size: found 0, expected a positive integer'
    """

    def __init__(self, place: str, found: str = "", expected: str = "") -> None:
        super().__init__(place, found, expected)
        self.place = place
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        if not self.found:
            return self.place
        if not self.expected:
            return f"{self.place}: found {self.found}"
        return f"{self.place}: found {self.found}, expected {self.expected}"


class ArgumentError(PieceworkError, ValueError):
    """An argument has a value that cannot be used."""


class InputTypeError(ArgumentError, TypeError):
    """An argument, or an item of a batch, has the wrong type."""


class SpecialTokenError(ArgumentError):
    """A text holds a special token, which the tokenizer refuses unless it is told what to do with it."""


class UnknownNameError(ArgumentError, KeyError):
    """A token or a name that is looked up is not known."""


class IdRangeError(ArgumentError, IndexError):
    """An id is not one of the vocabulary."""


class FormatError(PieceworkError, ValueError):
    """A tokenizer file is malformed, unknown or contradicts itself."""


class VocabularyError(FormatError):
    """A vocabulary has duplicates, lacks its unknown token, or is otherwise unusable."""


class PortabilityError(PieceworkError, ValueError):
    """A format cannot hold the tokenizer with the same ids; the message names one that can."""


class CorpusError(PieceworkError, ValueError):
    """The training text is empty or cannot be read as asked."""


class InvalidUtf8Error(CorpusError):
    """A corpus read with `errors="strict"` holds bytes that are not UTF-8."""


class TrainingError(PieceworkError, ValueError):
    """The training settings cannot be met by the corpus."""


class StageError(PieceworkError, RuntimeError):
    """A custom stage raised, gave what cannot be used, or cannot be saved or pickled.

    What the function raised is the `__cause__`.
    """


class FileError(PieceworkError, OSError):
    """A path cannot be opened, read or written."""


class MissingExtraError(PieceworkError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class InternalError(PieceworkError, RuntimeError):
    """piecework itself is at fault: the compiled core panicked.

    The message names the version, the panic and its place in the source, and where to report it. The call
    has had no result. Tokenizers stay usable; a decode stream or a count that was interrupted does not, and
    raises this error from then on. Nothing is printed unless the environment has `RUST_BACKTRACE=1`, which
    prints the backtrace on standard error.
    """


class FormatWarning(UserWarning):
    """A tokenizer file says what works and is probably a mistake, such as a blank line in a `vocab.txt`.

    The ids are those of the library that owns the format.
    """


class TrainingWarning(UserWarning):
    """A learner stopped early, or much of what it learned is noise."""


class CorpusWarning(UserWarning):
    """Input is probably not of the kind it is read as."""


class PortabilityWarning(UserWarning):
    """A saved file sums scores with another precision: among segmentations that tie, ids can differ."""
