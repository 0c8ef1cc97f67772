"""The exceptions of piecework: one tree; each error is a sentence, with the fields it was made of.

    PieceworkError
    ├── ArgumentError       (ValueError)   an argument has an invalid value
    │   ├── InputTypeError  (TypeError)    an argument or a batch item has the wrong type
    │   ├── SpecialTokenError              a text contains a special token that is not allowed
    │   ├── UnknownNameError (KeyError)    a token or a name does not exist
    │   └── IdRangeError    (IndexError)   an id is not in the vocabulary
    ├── ImmutableError      (AttributeError) an attribute of a tokenizer is set or deleted
    ├── FormatError         (ValueError)   a tokenizer file is malformed or inconsistent
    │   └── VocabularyError                a vocabulary has duplicates, no unknown token, ...
    ├── PortabilityError    (ValueError)   a format cannot represent the tokenizer with the same ids
    ├── CorpusError         (ValueError)   input texts or ids are empty, damaged or inconsistent
    │   └── InvalidUtf8Error               a text is not UTF-8, with encoding_errors="strict"
    ├── TrainingError       (ValueError)   the corpus cannot satisfy the training settings
    ├── MemoryLimitError    (MemoryError)  an operation needs more memory than it may use
    ├── TemplateError       (ValueError)   a chat template fails, passes a limit or mixes origins
    ├── StageError          (RuntimeError) a custom stage failed, or cannot be saved or pickled
    ├── FileError           (OSError)      a path cannot be opened, read or written
    ├── MissingExtraError   (ImportError)  an optional dependency is not installed
    ├── WorkerError         (RuntimeError) a cluster, or a worker of it, cannot run piecework
    └── InternalError       (RuntimeError) a defect of piecework: please report it

Warnings are subclasses of `UserWarning`: `TrainingWarning`, `CorpusWarning`, `FormatWarning` and
`PortabilityWarning`. To add an error, subclass the one whose `except` clause should catch it.
"""

from __future__ import annotations

import os
from collections.abc import Callable


class PieceworkError(Exception):
    """The base of all errors: a sentence with a subject, which is a file, an argument or another place.

    Two texts are the subject and the predicate; `found` and `expected` are what is wrong and what to do:

    >>> error = ArgumentError("corpus", "has no words; it needs text to learn from")
    >>> print(error)
    corpus has no words; it needs text to learn from
    >>> error.place, error.found, error.expected
    ('corpus', 'has no words', 'it needs text to learn from')
    >>> print(ArgumentError("size", "= and min_count= cannot be combined"))
    size= and min_count= cannot be combined

    Three texts are a place, what was found there, and what was expected:

    >>> str(PieceworkError("a.txt line 2", "2 columns", "3"))
    'a.txt line 2: found 2 columns, expected 3'

    A `message` is a sentence that does not begin with the place:

    >>> print(ArgumentError("tools", message="estimate=True does not support tools="))
    estimate=True does not support tools=
    """

    def __init__(
        self, place: str, found: str = "", expected: str | None = None, *, message: str = ""
    ) -> None:
        if expected is None:
            message = message or (place + _separator(found) + found if found else "")
            found, _, expected = (found or message).partition("; ")
        super().__init__(place, found, expected)
        self.place = place
        self.found = found
        self.expected = expected
        self.message = message

    def __str__(self) -> str:
        return self.message or self._sentence()

    def _sentence(self) -> str:
        if not self.found:
            return self.place
        if not self.expected:
            return f"{self.place}: found {self.found}"
        return f"{self.place}: found {self.found}, expected {self.expected}"


def _separator(predicate: str) -> str:
    return "" if predicate.startswith(("=", ":")) else " "


class ArgumentError(PieceworkError, ValueError):
    """An argument has an invalid value.

    >>> str(ArgumentError("n", "-1", "at least 1"))
    'n must be at least 1, not -1'
    """

    def _sentence(self) -> str:
        return _must_be(self) or super()._sentence()


class InputTypeError(ArgumentError, TypeError):
    """An argument, or an item of a batch, has the wrong type.

    >>> raise InputTypeError("texts", "int", "a sequence of str")
    Traceback (most recent call last):
    piecework.errors.InputTypeError: texts must be a sequence of str, not int
    """


class SpecialTokenError(ArgumentError):
    """A text contains a special token, and neither tokenizer nor call says how to treat it.

    >>> import piecework as pw
    >>> model, end = pw.spec.Char({"[UNK]": 0, "a": 1}), pw.spec.AddedToken("<end>", 2)
    >>> tok = pw.Tokenizer(model, added_tokens=[end], special_in_text="refuse")
    >>> tok.encode("a<end>")
    Traceback (most recent call last):
    piecework.errors.SpecialTokenError: the text contains the special token '<end>'; pass ...
    """


class UnknownNameError(ArgumentError, KeyError):
    """A token or a name does not exist.

    >>> issubclass(UnknownNameError, KeyError)
    True
    """


class IdRangeError(ArgumentError, IndexError):
    """An id is not in the vocabulary.

    >>> issubclass(IdRangeError, IndexError)
    True
    """


class ImmutableError(PieceworkError, AttributeError):
    """An attribute of a tokenizer is set or deleted; the message names the method for a changed tokenizer.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "<s>": 1}))
    >>> tok.bos_token = "<s>"
    Traceback (most recent call last):
    piecework.errors.ImmutableError: bos_token cannot be set: a tokenizer does not change; use with_roles(...
    """


class FormatError(PieceworkError, ValueError):
    """A tokenizer file is malformed, unknown or inconsistent.

    >>> import piecework as pw
    >>> pw.Tokenizer.from_str("{}")
    Traceback (most recent call last):
    piecework.errors.FormatError: ...
    """


class VocabularyError(FormatError):
    """A vocabulary has duplicates, lacks its unknown token, or is invalid in another way.

    >>> import piecework as pw
    >>> pw.Tokenizer(pw.spec.WordPiece({"a": 0, "b": 0}, unk_token="a"))
    Traceback (most recent call last):
    piecework.errors.VocabularyError: ...
    """


class PortabilityError(PieceworkError, ValueError):
    """A format cannot represent the tokenizer with the same ids; the message names one that can.

    >>> str(PortabilityError("model.kind", "'word'", "'bpe'"))
    "model.kind: other formats cannot represent 'word'; use 'bpe'"
    """

    def _sentence(self) -> str:
        if not self.found or not self.expected:
            return super()._sentence()
        return f"{self.place}: other formats cannot represent {self.found}; use {self.expected}"


class _InputError(PieceworkError):
    """The errors for which `on_error="skip"` skips an input."""

    reason = ""

    def __init__(
        self,
        place: str,
        found: str = "",
        expected: str | None = None,
        *,
        message: str = "",
        reason: str = "",
    ) -> None:
        super().__init__(place, found, expected, message=message)
        self.reason = reason or self.reason or self.found


class CorpusError(_InputError, ValueError):
    """A corpus, or a file of texts or ids, is empty, damaged or inconsistent with the other inputs.

    >>> import piecework as pw
    >>> pw.Tokenizer.train_from_iterator([""])
    Traceback (most recent call last):
    piecework.errors.CorpusError: corpus has no words; it needs text to learn from

    Examples: a damaged `.npy` file, binary data where text is expected, parallel files of different lengths.
    The `reason` names the kind of fault; `on_error="skip"` counts what it skips by reason.
    """


class InvalidUtf8Error(CorpusError):
    """A corpus that is read, or ids that are decoded, with `encoding_errors="strict"` contain invalid UTF-8.

    >>> issubclass(InvalidUtf8Error, CorpusError)
    True
    """

    reason = "invalid UTF-8"


class TrainingError(PieceworkError, ValueError):
    """The corpus cannot satisfy the training settings.

    >>> import piecework as pw
    >>> pw.Tokenizer.train_from_iterator(["ab"], model="unigram", vocab_size=2)
    Traceback (most recent call last):
    piecework.errors.TrainingError: ...
    """

    def _sentence(self) -> str:
        return _must_be(self) or super()._sentence()


def _must_be(error: PieceworkError) -> str:
    """Return the sentence about an argument that has another value than it must have.

    >>> _must_be(ArgumentError("token", "int", "str; id_to_token takes an id"))
    'token must be str, not int; id_to_token takes an id'
    """
    if not error.found or not error.expected:
        return ""
    import re  # loading and encoding need none of it

    expected, *hint = re.split(r"(?=[:;] )", error.expected, maxsplit=1)
    return f"{error.place} must be {expected}, not {error.found}{''.join(hint)}"


class MemoryLimitError(_InputError, MemoryError):
    """An operation needs more memory than its budget, or than the system provides.

    >>> issubclass(MemoryLimitError, MemoryError)
    True
    """


class TemplateError(PieceworkError, ValueError):
    """A chat template is invalid, fails, passes a limit, or mixes its text with that of messages.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))
    >>> tok.apply_chat_template([{"role": "user"}], chat_template="{{ raise_exception('no text') }}")
    Traceback (most recent call last):
    piecework.errors.TemplateError: chat template: no text
    """


class StageError(PieceworkError, RuntimeError):
    """A custom stage raised, returned an invalid value, or cannot be saved or pickled.

    The `__cause__` is the exception of the stage's function.

    >>> issubclass(StageError, RuntimeError)
    True
    """


class FileError(PieceworkError, OSError):
    """A path cannot be opened, read or written.

    >>> import piecework as pw
    >>> pw.Tokenizer.load("missing.json")
    Traceback (most recent call last):
    piecework.errors.FileError: cannot read missing.json: no such file or directory

    If the operating system gave the reason, `errno`, `strerror` and `filename` are set, and the error is also
    the built-in exception for that `errno`: `FileNotFoundError`, `PermissionError`, `IsADirectoryError`, ...

    >>> try:
    ...     pw.Tokenizer.load("missing.json")
    ... except FileNotFoundError as error:
    ...     print(error.errno, error.strerror, error.filename)
    2 No such file or directory missing.json
    """

    def __new__(
        cls,
        place: str,
        found: str = "",
        expected: str | None = None,
        errno: int | None = None,
        *,
        message: str = "",
    ) -> FileError:
        """Make the error; with an `errno`, of a class that is also the built-in exception for it."""
        if errno is None:
            return super().__new__(cls)
        return super().__new__(_with_builtin(cls, errno), errno, os.strerror(errno), place)

    def __init__(
        self,
        place: str,
        found: str = "",
        expected: str | None = None,
        errno: int | None = None,
        *,
        message: str = "",
    ) -> None:
        # `__new__` sets what OSError has.
        super().__init__(place, found, expected, message=message)
        if errno is None:
            self.args = (self.place, self.found, self.expected)

    @classmethod
    def reading(cls, path: object, error: OSError, expected: str = "a readable file") -> FileError:
        """Return the error for a path that the operating system could not read.

        >>> print(FileError.reading("a.txt", PermissionError(13, "Permission denied")))
        cannot read a.txt: permission denied
        """
        return cls._of_system("read", str(path), error, expected)

    @classmethod
    def writing(
        cls, path: object, error: OSError, expected: str = "a path that can be written"
    ) -> FileError:
        """Return the error for a path that the operating system could not write or make."""
        return cls._of_system("write", str(path), error, expected)

    @classmethod
    def while_reading(cls, path: object, expected: str = "a readable file") -> _Translation:
        """Return a context in which an `OSError` becomes the error of `reading`.

        >>> with FileError.while_reading("a.txt"):
        ...     open("missing.txt")
        Traceback (most recent call last):
        piecework.errors.FileError: cannot read a.txt: no such file or directory
        """
        return _Translation(
            lambda error: cls.reading(path, error, expected) if isinstance(error, OSError) else None
        )

    @classmethod
    def while_writing(
        cls, path: object, expected: str = "a path that can be written"
    ) -> _Translation:
        """Return a context in which an `OSError` becomes the error of `writing`.

        A `BrokenPipeError` stays: a reader has closed its pipe, and a command ends quietly.
        """

        def translated(error: BaseException) -> FileError | None:
            if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
                return None
            return cls.writing(path, error, expected)

        return _Translation(translated)

    @classmethod
    def removing(cls, path: object, error: OSError) -> FileError:
        """Return the error for a file that the operating system could not remove."""
        return cls._of_system("remove", str(path), error, "a file that can be removed")

    @classmethod
    def _of_system(cls, action: str, path: str, error: OSError, expected: str) -> FileError:
        found = system_message(error)
        message = f"cannot {action} {path}: {found}"
        return cls(path, found, expected, error.errno, message=message)

    def _sentence(self) -> str:
        """Return a sentence if `found` is a message of the operating system, from the compiled core."""
        if self.errno is None or self.found != os.strerror(self.errno).lower():
            return super()._sentence()
        return f"cannot use {self.place}: {self.found}"

    def __reduce__(self) -> tuple[object, ...]:
        given = (self.place, self.found, self.expected, self.errno)
        state = {**vars(self), "filename": self.filename}
        return getattr(self, "_declared_class", type(self)), given, state


class _Translation:
    """A context that raises what a function returns for an error of Python, unless that is None."""

    def __init__(self, translated: Callable[[BaseException], PieceworkError | None]) -> None:
        self._translated = translated

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None or isinstance(error, PieceworkError):
            return
        if (translated := self._translated(error)) is not None:
            raise translated from error


def system_message(error: OSError) -> str:
    """Return the message of the operating system in lower case.

    >>> system_message(FileNotFoundError(2, "No such file or directory"))
    'no such file or directory'
    """
    # Arrow puts a text of its own before the message.
    return (os.strerror(error.errno) if isinstance(error.errno, int) else str(error)).lower()


_FILE_ERRORS: dict[tuple[type[FileError], type[OSError]], type[FileError]] = {}


def _with_builtin(cls: type[FileError], errno: int) -> type[FileError]:
    """Return the class, under the same name, that is also the built-in exception for `errno`."""
    builtin = type(OSError(errno, ""))
    if issubclass(cls, builtin):
        return cls
    if (cls, builtin) not in _FILE_ERRORS:
        names = {name: getattr(cls, name) for name in ("__doc__", "__module__", "__qualname__")}
        members = {**names, "_declared_class": cls}
        _FILE_ERRORS[cls, builtin] = type(cls.__name__, (cls, builtin), members)
    return _FILE_ERRORS[cls, builtin]


class MissingExtraError(PieceworkError, ImportError):
    """An optional dependency is not installed; the message has the command that installs it.

    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class WorkerError(PieceworkError, RuntimeError):
    """A cluster does not start, or a worker of it lacks piecework or has another version.

    >>> issubclass(WorkerError, RuntimeError)
    True
    """


class InternalError(PieceworkError, RuntimeError):
    """The compiled core panicked: a defect of piecework.

    The message has the version, the panic with its place in the source, and where to report it. The call has
    no effect. Tokenizers stay usable; an interrupted decode stream or count raises this error from then on.
    With `RUST_BACKTRACE=1` in the environment, the backtrace is printed to standard error.

    >>> issubclass(InternalError, RuntimeError)
    True
    """


class FormatWarning(UserWarning):
    """A tokenizer file is valid but contains a probable mistake, such as a blank line in a `vocab.txt`.

    The ids are those of the library that owns the format.

    >>> issubclass(FormatWarning, UserWarning)
    True
    """


class TrainingWarning(UserWarning):
    """A learner stopped early, or many of its entries are rare.

    >>> issubclass(TrainingWarning, UserWarning)
    True
    """


class CorpusWarning(UserWarning):
    """Input probably has another format than the one it is read as.

    >>> issubclass(CorpusWarning, UserWarning)
    True
    """


class PortabilityWarning(UserWarning):
    """Other libraries can give other ids for a saved file; the message says how many, with an example.

    >>> issubclass(PortabilityWarning, UserWarning)
    True
    """
