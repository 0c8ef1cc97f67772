"""The exceptions of piecework, in one tree; each has a place, a message and fields for code to read.

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
    ├── ProgramError        (RuntimeError) a program that answers a golden file fails, hangs or is wrong
    └── InternalError       (RuntimeError) a defect of piecework: please report it

Warnings are subclasses of `UserWarning`: `TrainingWarning`, `CorpusWarning`, `FormatWarning` and
`PortabilityWarning`. To add an error, subclass the one whose `except` clause should catch it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any


class PieceworkError(Exception):
    """The base of all errors: a place and a message, printed as `place: message`.

    >>> error = ArgumentError("size", "cannot be combined", also=["min_count"], hint="pass one of them")
    >>> print(error)
    size, min_count: cannot be combined; pass one of them

    `place` names the argument, file, line or field at fault, and `also` further arguments. `message` says
    what is wrong, for people: code reads the fields. `hint` says what to do where code adds to it. Other
    fields are empty unless code needs them: `found` and `expected` describe values, `limit` is a number that
    would be accepted, and `kind` names the kind of fault, by which `on_error="skip"` counts.
    """

    _default_kind = ""

    def __init__(
        self,
        place: str,
        message: str = "",  # libraries such as Polars make an error again from its text alone
        *,
        also: Iterable[str] = (),
        hint: str = "",
        found: str = "",
        expected: str = "",
        limit: int | None = None,
        kind: str = "",
    ) -> None:
        super().__init__(place, message)
        self.place = place
        self.message = message
        self.also = tuple(also)
        self.hint = hint
        self.found = found
        self.expected = expected
        self.limit = limit
        self.kind = kind or self._default_kind

    def __str__(self) -> str:
        if not self.message:
            return self.place
        hint = f"; {self.hint}" if self.hint else ""
        return f"{', '.join((self.place, *self.also))}: {self.message}{hint}"


class ArgumentError(PieceworkError, ValueError):
    """An argument has an invalid value.

    >>> str(ArgumentError("n", "must be at least 1, not -1"))
    'n: must be at least 1, not -1'
    """


class InputTypeError(ArgumentError, TypeError):
    """An argument, or an item of a batch, has the wrong type.

    >>> import piecework as pw
    >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0})).encode(1)
    Traceback (most recent call last):
    piecework.errors.InputTypeError: text: must be str, not int...
    """


class SpecialTokenError(ArgumentError):
    """A text contains a special token, and neither tokenizer nor call says how to treat it.

    >>> import piecework as pw
    >>> model, end = pw.spec.Char({"[UNK]": 0, "a": 1}), pw.spec.AddedToken("<end>", 2)
    >>> tok = pw.Tokenizer(model, added_tokens=[end], parse_special="refuse")
    >>> tok.encode("a<end>")
    Traceback (most recent call last):
    piecework.errors.SpecialTokenError: parse_special: the text contains the special token '<end>'; ...
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
    piecework.errors.ImmutableError: bos_token: cannot be set: a tokenizer does not change; use with_...
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
    """A format cannot represent the tokenizer with the same ids; the hint names one that can.

    >>> str(PortabilityError("model.kind", "is 'word'", hint="write .piecework"))
    "model.kind: is 'word'; write .piecework"
    """


class CorpusError(PieceworkError, ValueError):
    """A corpus, or a file of texts or ids, is empty, damaged or inconsistent with the other inputs.

    >>> import piecework as pw
    >>> pw.Tokenizer.train_from_iterator([""])
    Traceback (most recent call last):
    piecework.errors.CorpusError: corpus: has no words; it needs text to learn from

    Examples: a damaged `.npy` file, binary data where text is expected, parallel files of different lengths.
    `on_error="skip"` counts what it skips by `kind`.
    """

    _default_kind = "damaged data"


class InvalidUtf8Error(CorpusError):
    """A corpus read, or ids decoded, with `encoding_errors="strict"` contain invalid UTF-8.

    >>> issubclass(InvalidUtf8Error, CorpusError)
    True
    """

    _default_kind = "invalid UTF-8"


class TrainingError(PieceworkError, ValueError):
    """The corpus cannot satisfy the training settings.

    >>> import piecework as pw
    >>> pw.Tokenizer.train_from_iterator(["ab"], model="unigram", vocab_size=2)
    Traceback (most recent call last):
    piecework.errors.TrainingError: ...
    """


class MemoryLimitError(PieceworkError, MemoryError):
    """An operation needs more memory than its budget, or than the system provides.

    >>> issubclass(MemoryLimitError, MemoryError)
    True
    """


class TemplateError(PieceworkError, ValueError):
    """A chat template is invalid, fails, passes a limit, or mixes its text with the text of messages.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))
    >>> pw.chat.apply_chat_template(tok, [{}], chat_template="{{ raise_exception('no text') }}")
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
    piecework.errors.FileError: missing.json: cannot be read: no such file or directory

    If the operating system gave the reason, `errno`, `strerror` and `filename` are set, and the error is also
    the built-in exception for that `errno`: `FileNotFoundError`, `PermissionError`, `IsADirectoryError`, ...

    >>> try:
    ...     pw.Tokenizer.load("missing.json")
    ... except FileNotFoundError as error:
    ...     print(error.errno, error.strerror, error.filename)
    2 No such file or directory missing.json
    """

    _default_kind = "an unreadable file"

    def __new__(
        cls, place: str, message: str = "", *, errno: int | None = None, **fields: Any
    ) -> FileError:
        """Make the error; with an `errno`, of a class that is also the built-in exception for it."""
        if errno is None:
            return super().__new__(cls)
        return super().__new__(_with_builtin(cls, errno), errno, os.strerror(errno), place)

    def __init__(
        self, place: str, message: str = "", *, errno: int | None = None, **fields: Any
    ) -> None:
        # `__new__` sets what OSError has.
        super().__init__(place, message, **fields)
        if errno is None:
            self.args = (place, message)

    @classmethod
    def reading(cls, path: object, error: OSError) -> FileError:
        """Return the error for a path that the operating system could not read.

        >>> print(FileError.reading("a.txt", PermissionError(13, "Permission denied")))
        a.txt: cannot be read: permission denied
        """
        return cls._of_system(path, "read", error)

    @classmethod
    def writing(cls, path: object, error: OSError) -> FileError:
        """Return the error for a path that the operating system could not write or make."""
        return cls._of_system(path, "written", error)

    @classmethod
    def while_reading(cls, path: object) -> _Translation:
        """Return a context in which an `OSError` becomes the error of `reading`.

        >>> with FileError.while_reading("a.txt"):
        ...     open("missing.txt")
        Traceback (most recent call last):
        piecework.errors.FileError: a.txt: cannot be read: no such file or directory
        """
        return _Translation(
            lambda error: cls.reading(path, error) if isinstance(error, OSError) else None
        )

    @classmethod
    def while_writing(cls, path: object) -> _Translation:
        """Return a context in which an `OSError` becomes the error of `writing`.

        A `BrokenPipeError` stays: a reader has closed its pipe, and a command ends quietly.
        """

        def translated(error: BaseException) -> FileError | None:
            if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
                return None
            return cls.writing(path, error)

        return _Translation(translated)

    @classmethod
    def removing(cls, path: object, error: OSError) -> FileError:
        """Return the error for a file that the operating system could not remove."""
        return cls._of_system(path, "removed", error)

    @classmethod
    def _of_system(cls, path: object, action: str, error: OSError) -> FileError:
        return cls(str(path), f"cannot be {action}: {system_message(error)}", errno=error.errno)

    def __reduce__(self) -> tuple[object, ...]:
        declared = getattr(self, "_declared_class", type(self))
        state = {**vars(self), "filename": self.filename}
        return _file_error, (declared, self.place, self.message, self.errno), state


def _file_error(cls: type[FileError], place: str, message: str, errno: int | None) -> FileError:
    return cls(place, message, errno=errno)


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


class ProgramError(PieceworkError, RuntimeError):
    """A program that answers the rows of a golden file fails, hangs or writes something else.

    >>> issubclass(ProgramError, RuntimeError)
    True

    Its `kind` is "start", "exit", "timeout", "output" or "row".
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

    The ids equal the ids of the library that owns the format.

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
