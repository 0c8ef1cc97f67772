"""What `encode_files` and `encode_corpus` take: each setting is a field with its check, help and option."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypeAlias,
    get_args,
    runtime_checkable,
)

from piecework._internal.setting_fields import (
    Choice,
    Integer,
    Switch,
    Text,
    Value,
    check_settings,
    documented,
    setting,
)
from piecework._internal.validation import check_type, listed
from piecework.corpus.rows import DOCUMENTS, ON_ERROR, Document, OnError, ReadOptions, Utf8Errors
from piecework.errors import ArgumentError, InputTypeError

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer
    from piecework.tokenizer.encoding import Encoding

FormatName: TypeAlias = Literal[
    "tokens", "ids", "jsonl", "npy", "arrow", "arrow-stream", "parquet", "megatron"
]
ShardFormatName: TypeAlias = Literal[
    "npy", "megatron", "arrow", "arrow-stream", "parquet", "datasets"
]
Strategy: TypeAlias = Literal["concat", "best-fit"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

_MAX_SHARDS = 100_000
_MAX_PACKED_LENGTH = 1 << 24


class EncodedChat(Protocol):
    """A conversation as ids."""

    @property
    def ids(self) -> Sequence[int]:
        """The ids of the prompt."""

    @property
    def assistant_mask(self) -> Sequence[int]:
        """1 for each id that the assistant wrote, otherwise 0."""

    @property
    def text(self) -> str:
        """The prompt."""

    @property
    def encoding(self) -> Encoding:
        """The encoding of the prompt, with offsets into it."""


@runtime_checkable
class Chat(Protocol):
    """What renders and encodes conversations: a `ChatFormat` of `piecework.chat`."""

    @property
    def has_mask(self) -> bool:
        """Whether masks are written."""

    def encode(self, tokenizer: Tokenizer, messages: Any, tools: Any) -> EncodedChat:
        """Encode the messages of a conversation; `tools` may be None."""

    def settings(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return everything except the tokenizer's fingerprint that affects ids and masks, as JSON."""


def check_chat(chat: object) -> None:
    """Raise `InputTypeError` for an object that does not encode conversations."""
    check_type("chat", chat, Chat, "a ChatFormat or None")


def _check_parsed(value: object) -> None:
    if not isinstance(value, (bool, Collection)):
        problem = f"must be a bool or a collection of tokens, not {type(value).__name__}"
        raise InputTypeError("parse_special", problem)


@dataclass(frozen=True)
class _FieldNames(Value):
    """Distinct names of fields."""

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the names as a tuple."""
        names = listed(value, name)
        if isinstance(value, str) or not all(isinstance(one, str) for one in names):
            raise InputTypeError(name, f"must be a list of field names, not {value!r}")
        if len(set(names)) != len(names) or not all(names):
            raise ArgumentError(name, f"must be a list of distinct field names, not {names!r}")
        return tuple(names)


@documented
@dataclass(frozen=True)
class EncodeSettings:
    """How files are encoded: the settings that `encode_files` and `encode_corpus` share."""

    keep_empty: bool = setting(False, Switch("Keep empty and blank lines; jsonl always does."))
    append_eod: str | None = setting(
        None,
        Text("Append this token to each row.", none="no token"),
    )
    add_special_tokens: bool = setting(
        True, Switch("Add special tokens such as [CLS] and [SEP].", option=None)
    )
    parse_special: bool | Collection[str] | None = setting(
        None,
        Value(
            "Parse special tokens written in the text, or encode them as plain text.",
            annotation="bool | Collection[str]",
            check=_check_parsed,
            none="set by the tokenizer",
            option=None,
        ),
    )
    chat: Chat | None = setting(
        None,
        Value(
            "A `ChatFormat`: the records are conversations.",
            annotation="Chat",
            check=check_chat,
            none="lines or documents",
            option=None,
        ),
    )
    field: str | None = setting(
        None,
        Text("Field with the text in JSON lines, or column of a table.", none="text", option=None),
    )
    document: Document = setting(
        "line",
        Choice(
            "What counts as a document in plain text: a line, the lines between blank lines, or a file.",
            names=tuple(DOCUMENTS),
            option=None,
        ),
    )
    encoding_errors: Utf8Errors = setting(
        "replace",
        Choice(
            "Replace invalid UTF-8 with U+FFFD, or raise `InvalidUtf8Error`.",
            names=("replace", "strict"),
            option=None,
        ),
    )
    on_error: OnError = setting(
        "fail",
        Choice(
            "Stop at the first error in a line or file, or skip it and warn how many were skipped.",
            names=ON_ERROR,
            option=None,
        ),
    )
    num_threads: int | None = setting(
        None, Integer("Number of threads.", least=1, none="one for each CPU", option=None)
    )

    of_lines: ClassVar[tuple[str, ...]] = ("keep_empty",)
    """The switches about lines, which conversations do not have."""

    def __post_init__(self) -> None:
        check_settings(self)
        if self.chat is None:
            return
        if self.parse_special is not None:
            problem = "cannot be combined: text of messages never becomes a special token"
            raise ArgumentError("parse_special", problem, also=["chat"])
        for name in self.of_lines:
            if getattr(self, name):
                raise ArgumentError(name, "cannot be combined", also=["chat"])

    def read_options(self) -> ReadOptions:
        """Return how to read the inputs."""
        return ReadOptions.of(
            self.field,
            self.encoding_errors,
            self.on_error,
            self.document,
            as_conversations=self.chat is not None,
        )


@documented
@dataclass(frozen=True)
class FileSettings(EncodeSettings):
    """How `encode_files` encodes."""

    format: FormatName = setting(
        "ids", Choice("Output format.", names=get_args(FormatName), option=None)
    )
    parallel: bool = setting(
        False,
        Switch("The inputs are translations: a line that is empty in one is dropped from all."),
    )
    strip_lines: bool = setting(False, Switch("Remove whitespace at both ends of each line."))

    of_lines: ClassVar[tuple[str, ...]] = ("parallel", "strip_lines", "keep_empty")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parallel and self.on_error == "skip":
            problem = (
                "'skip' does not support parallel inputs: a skipped line would shift the others"
            )
            raise ArgumentError("on_error", problem)


@documented
@dataclass(frozen=True)
class CorpusSettings(EncodeSettings):
    """How `encode_corpus` encodes."""

    format: ShardFormatName = setting(
        "npy", Choice("Format of the shards.", names=get_args(ShardFormatName), option=None)
    )
    shards: int | None = setting(
        None,
        Integer(
            "Number of shards, of about equal bytes.",
            least=1,
            most=_MAX_SHARDS,
            none="one for each input",
        ),
    )
    resume: bool = setting(
        False, Switch("Continue after an interruption: keep the finished shards.")
    )
    shuffle_seed: int | None = setting(
        None,
        Integer(
            "Shuffle the documents of each shard, in windows of 16 million tokens.",
            least=0,
            none="in the order of the corpus",
        ),
    )
    pack: int | None = setting(
        None,
        Integer(
            "Make rows of this number of ids from several documents, and keep the lengths of these.",
            least=1,
            most=_MAX_PACKED_LENGTH,
            metavar="LENGTH",
            none="a row for each document",
        ),
    )
    strategy: Strategy = setting(
        "concat",
        Choice(
            "How to pack: cut documents at row ends, or pad rows and cut only longer documents.",
            names=STRATEGIES,
        ),
    )
    keep: Sequence[str] = setting(
        (),
        _FieldNames(
            "Fields of JSON lines or columns of tables to copy to Arrow, Parquet or datasets files.",
            annotation="Sequence[str]",
            check=listed,
            metavar="NAME,...",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep and self.pack is not None:
            problem = "cannot be combined: a packed row has several documents"
            raise ArgumentError("keep", problem, also=["pack"])

    def as_json(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return everything except the tokenizer that affects the content of shards, for the manifest."""
        parsed = self.parse_special
        if isinstance(parsed, Collection) and not isinstance(parsed, str):
            parsed = sorted(parsed)
        found = {
            **vars(self),
            "keep": list(self.keep),
            "parse_special": parsed,
            "chat": None if self.chat is None else self.chat.settings(tokenizer),
        }
        return {name: found[name] for name in found if name not in ("resume", "num_threads")}
