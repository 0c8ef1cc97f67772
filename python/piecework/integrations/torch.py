"""A collator for the data loaders of torch: texts, ids or rows of a dataset to padded tensors.

Requires `piecework[torch]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.validation import (
    check_choice,
    check_fraction,
    check_number,
    check_text,
    check_type,
    optional_number,
)
from piecework.errors import ArgumentError, InputTypeError
from piecework.export.chats import MASK_NAME
from piecework.tokenizer.rectangles import Rectangle, as_tensor

IGNORED_LABEL = -100
"""The label that the losses of torch ignore."""

_FILLINGS = {"special_tokens_mask": 1, "word_ids": -1, "sequence_ids": -1}
_OF_TOKENS = ("attention_mask", "token_type_ids", "special_tokens_mask")
_NAMES = {"label": "labels", "label_ids": "labels"}


@dataclass(frozen=True)
class Masking:
    """How masked language modelling selects and replaces tokens (Devlin et al. 2018, section 3.1).

    >>> Masking().probability
    0.15

    `probability` is the share of ordinary tokens that the model predicts. The share `mask` of these becomes
    the mask token, the share `random` a random token, and the rest stays. With `whole_words`, all tokens of a
    word are selected together; items are then texts, rows of `encode_batch(..., offsets=True)`, or dicts with
    `word_ids`.
    """

    probability: float = 0.15
    _: KW_ONLY
    mask: float = 0.8
    random: float = 0.1
    whole_words: bool = False

    def __post_init__(self) -> None:
        check_fraction("probability", self.probability)
        for name, share in (("mask", self.mask), ("random", self.random)):
            check_number(name, share, (int, float), "a number from 0 to 1")
            if not 0 <= share <= 1:
                raise ArgumentError(name, f"must be a number from 0 to 1, not {share!r}")
        check_type("whole_words", self.whole_words, bool, "bool")
        if self.mask + self.random > 1:
            problem = f"the sum of mask={self.mask} and random={self.random} must be at most 1"
            raise ArgumentError("masking", problem)


@dataclass(frozen=True)
class Collator:
    """Collate texts, id lists, encodings or dicts into a dict of padded torch tensors.

        loader = DataLoader(texts, batch_size=32, collate_fn=Collator(tok))

    The items of a batch are of one kind:

    - texts, or tuples of two texts; `tokenizer` encodes them
    - sequences of ids: lists, arrays or tensors
    - rows of a `Batch`
    - dicts with `input_ids`, or with a text under the key `text`
    - dicts with a conversation, as `export.encode_chats` reads, if `chat` is set

    The result has `input_ids`, `attention_mask` and, for pairs, `token_type_ids`, as int64 of shape (rows,
    width). The width is `length`, else the longest row of the batch, rounded up to `pad_to_multiple_of`.
    Padding has the `pad_token_id` of the tokenizer. `side=None` uses the side of the tokenizer's
    padding settings, else "right". Only a tokenizer with truncation truncates texts.

    The other keys of dicts are kept; `label` and `label_ids` become `labels`. A number for each row becomes a
    tensor of shape (rows,), of int64 or float32. A list for each row is padded: `labels` with `label_pad`,
    other keys with 0. Lists of other lengths than the ids have a width of their own. `assistant_masks` of
    dicts become `labels`: the id where the mask is 1, and `label_pad` elsewhere. So do the masks of
    conversations, of which the other keys are dropped.

    `masking` selects tokens for masked language modelling: `labels` has their ids, and `label_pad` elsewhere.
    Its random numbers follow `torch.manual_seed`.

    Collators pickle, and worker processes of a loader can share them by fork. Raises `MissingExtraError`
    without the extra `torch`, and `ArgumentError` or `InputTypeError` for items that it cannot collate.
    """

    tokenizer: pw.Tokenizer
    _: KW_ONLY
    side: Literal["right", "left"] | None = None
    length: int | None = None
    pad_to_multiple_of: int | None = None
    label_pad: int = IGNORED_LABEL
    text: str = "text"
    masking: Masking | None = None
    chat: pw.chat.ChatFormat | None = None

    def __post_init__(self) -> None:
        import_extra("torch", "torch", "Collator")
        check_type("tokenizer", self.tokenizer, pw.Tokenizer, "a Tokenizer")
        if self.side is not None:
            check_choice("side", self.side, ("right", "left"))
        optional_number("length", self.length, 1)
        optional_number("pad_to_multiple_of", self.pad_to_multiple_of, 1)
        check_number("label_pad", self.label_pad, (int,), "int")
        check_text("text", self.text)
        check_type("chat", self.chat, pw.chat.ChatFormat | None, "a ChatFormat or None")
        if self.masking is not None:
            check_type("masking", self.masking, Masking, "a Masking or None")
            if self.tokenizer.mask_token_id is None:
                message = "has no mask token; set one with tokenizer.with_roles(mask_token=...)"
                raise ArgumentError("tokenizer", message)

    def __call__(self, items: Sequence[Any]) -> dict[str, Any]:
        """Return the padded tensors of one batch."""
        if len(items) == 0:
            raise ArgumentError("items", "must contain at least one item")
        ids, columns = self._columns(list(items))
        rectangle = Rectangle(ids.lengths, self._side, self._width(ids.lengths))
        mask = columns.pop("attention_mask", None)
        arrays = {"input_ids": rectangle.fill(ids.values, self._pad_id(rectangle))}
        if mask is None:
            arrays["attention_mask"] = rectangle.is_token.astype(np.int64)
        else:
            arrays["attention_mask"] = self._filled("attention_mask", mask, ids, rectangle)
        for name, column in columns.items():
            arrays[name] = self._filled(name, column, ids, rectangle)
        if self.masking is not None:
            self._select(self.masking, arrays)
        return {name: as_tensor(values, "Collator") for name, values in arrays.items()}

    # ---- items to flat columns

    def _columns(self, items: list[Any]) -> tuple[Rows, dict[str, Column]]:
        """Return the ids, and the other columns by name."""
        first = items[0]
        if isinstance(first, str) or _is_text_pair(first):
            return self._encoded(items)
        if isinstance(first, pw.Encoding):
            return _columns_of_encodings(items, with_words=self._needs_words)
        if not isinstance(first, Mapping):
            return _id_rows(items, "items"), {}
        if self.chat is not None and "input_ids" not in first:
            return self._conversations(self.chat, items)
        rows = {key: _values(items, key) for key in first if key != self.text}
        if "input_ids" in rows:
            ids = _id_rows(rows.pop("input_ids"), "items: 'input_ids'")
            columns: dict[str, Column] = {}
        elif self.text in first:
            ids, columns = self._encoded(_values(items, self.text))
        else:
            keys = ", ".join(map(str, first))
            problem = (
                f"has only the keys {keys}; it needs 'input_ids', or texts under {self.text!r}"
            )
            raise ArgumentError("items[0]", problem)
        for key, values in rows.items():
            columns[_NAMES.get(key, key)] = _column(values, f"items: {key!r}")
        if MASK_NAME in columns:
            columns["labels"] = self._labels(ids, columns.pop(MASK_NAME), "labels" in columns)
        return ids, columns

    def _conversations(
        self, chat: pw.chat.ChatFormat, items: list[Any]
    ) -> tuple[Rows, dict[str, Column]]:
        encoded = pw.export.encode_chats(self.tokenizer, items, chat=chat)
        ids = Rows(encoded.batch.ids.astype(np.int64), encoded.batch.lengths)
        if not chat.has_mask:
            return ids, {}
        masks = Rows(encoded.assistant_masks.astype(np.int64), ids.lengths)
        return ids, {"labels": self._labels(ids, masks, False)}

    def _labels(self, ids: Rows, masks: Column, has_labels: bool) -> Rows:
        """Return the ids where a mask is 1."""
        if has_labels:
            raise ArgumentError(
                "items", f"must not have both labels and {MASK_NAME}, which become labels"
            )
        if not isinstance(masks, Rows) or not np.array_equal(masks.lengths, ids.lengths):
            raise ArgumentError(f"items: {MASK_NAME!r}", "must have one number for each id")
        return Rows(np.where(masks.values != 0, ids.values, self.label_pad), ids.lengths)

    def _encoded(self, texts: list[Any]) -> tuple[Rows, dict[str, Column]]:
        batch = self.tokenizer.encode_batch(texts, offsets=self._needs_words)

        def rows(values: npt.NDArray[Any]) -> Rows:
            return Rows(values.astype(np.int64), batch.lengths)

        columns = _shown(rows(batch.type_ids), rows(batch.attention_mask))
        if self._needs_words:
            columns["word_ids"] = rows(batch.word_ids)
        return rows(batch.ids), columns

    # ---- flat columns to rectangles

    def _filled(
        self, name: str, column: Column, ids: Rows, rectangle: Rectangle
    ) -> npt.NDArray[Any]:
        """Return a column in the rectangle of the ids, or in one of its own."""
        if not isinstance(column, Rows):
            if name in _OF_TOKENS:
                raise InputTypeError(
                    f"items: {name!r}", "must be a list of numbers for each item, not a number"
                )
            return column
        filling = self.label_pad if name == "labels" else _FILLINGS.get(name, 0)
        if np.array_equal(column.lengths, ids.lengths):
            return rectangle.fill(column.values, filling)
        if name in _OF_TOKENS:
            row = int(np.argmax(column.lengths != ids.lengths))
            found = f"{column.lengths[row]} numbers for {ids.lengths[row]} ids"
            problem = f"has {found}; it needs one number for each id"
            raise ArgumentError(f"items[{row}]: {name!r}", problem)
        width = self._width(column.lengths)
        return Rectangle(column.lengths, self._side, width).fill(column.values, filling)

    def _width(self, lengths: npt.NDArray[np.int64]) -> int:
        width = int(lengths.max())
        if self.length is not None:
            if width > self.length:
                place = f"items[{int(lengths.argmax())}]"
                problem = (
                    f"has {width} tokens, more than length={self.length}; "
                    "truncate with tokenizer.with_truncation"
                )
                raise ArgumentError(place, problem)
            width = self.length
        multiple = self.pad_to_multiple_of or 1
        return -(-width // multiple) * multiple

    def _pad_id(self, rectangle: Rectangle) -> int:
        pad_id = self.tokenizer.pad_token_id
        if pad_id is None and rectangle.needs_padding:
            message = "has no padding token; set one with tokenizer.with_roles(pad_token=...)"
            raise ArgumentError("tokenizer", message)
        return pad_id or 0

    @cached_property
    def _side(self) -> str:
        if self.side is not None:
            return self.side
        return self.tokenizer.padding_side

    # ---- masked language modelling

    @property
    def _needs_words(self) -> bool:
        return self.masking is not None and self.masking.whole_words

    def _select(self, masking: Masking, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Replace the selected ids in place and add the labels."""
        if "labels" in arrays:
            raise ArgumentError("items", "must not have labels: masking makes them")
        ids = arrays["input_ids"]
        is_ordinary = (arrays["attention_mask"] != 0) & ~np.isin(ids, self._special_ids)
        if "special_tokens_mask" in arrays:
            is_ordinary &= arrays["special_tokens_mask"] == 0
        torch = import_extra("torch", "torch", "Collator")
        random = np.random.default_rng(int(torch.randint(2**63 - 1, ())))
        draw = _draw_words(random, arrays) if masking.whole_words else random.random(ids.shape)
        is_selected = is_ordinary & (draw < masking.probability)
        arrays["labels"] = np.where(is_selected, ids, self.label_pad)
        draw = random.random(ids.shape)
        is_replaced = is_selected & (draw >= masking.mask) & (draw < masking.mask + masking.random)
        ids[is_selected & (draw < masking.mask)] = self.tokenizer.mask_token_id
        ids[is_replaced] = random.choice(self._vocabulary_ids, int(is_replaced.sum()))

    @cached_property
    def _special_ids(self) -> npt.NDArray[np.int64]:
        ids = {token.id for token in self.tokenizer.added_tokens if token.special}
        # The unknown token stands for text, unless it has another role too, as in GPT-2.
        ids.discard(self.tokenizer.unk_token_id)
        for role, token in self.tokenizer.special_tokens_map.items():
            id = self.tokenizer.token_to_id(token) if isinstance(token, str) else None
            if role != "unk_token" and id is not None:
                ids.add(id)
        return np.array(sorted(ids), np.int64)

    @cached_property
    def _vocabulary_ids(self) -> npt.NDArray[np.int64]:
        ids = np.array(sorted(self.tokenizer.get_vocab().values()), np.int64)
        ordinary = np.setdiff1d(ids, self._special_ids)
        return ordinary if len(ordinary) else ids


@dataclass(frozen=True)
class Rows:
    """Flat numbers of all rows, int64 or float32, and the length of each row."""

    values: npt.NDArray[Any]
    lengths: npt.NDArray[np.int64]


Column: TypeAlias = Rows | npt.NDArray[Any]
"""A list for each row, or a number for each row."""

_NUMBERS = "a number or a flat list of numbers for each item; drop other columns"


def _column(rows: list[Any], place: str) -> Column:
    """Convert numbers, or lists, arrays or tensors of numbers."""
    first = rows[0]
    has_numbers = getattr(first, "ndim", None) == 0 or not hasattr(first, "__len__")
    try:
        if has_numbers:
            return _numbers(np.stack([np.asarray(row) for row in rows]), place)
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        if isinstance(first, (list, tuple)):
            flat = np.array(list(chain.from_iterable(rows)))
        else:
            flat = np.concatenate([np.asarray(row) for row in rows])
    except (TypeError, ValueError, OverflowError) as error:
        problem = f"must be {_NUMBERS}, not {_type_names(rows)} ({error})"
        raise InputTypeError(place, problem) from error
    return Rows(_numbers(flat, place), lengths)


def _numbers(flat: npt.NDArray[Any], place: str) -> npt.NDArray[Any]:
    """Return integers and truth values as int64, and other numbers as float32."""
    if flat.ndim != 1 or (flat.size and flat.dtype.kind not in "biuf"):
        found = "nested lists" if flat.ndim != 1 else f"values of type {flat.dtype}"
        raise InputTypeError(place, f"must be {_NUMBERS}, not {found}")
    if flat.dtype.kind == "u" and flat.size and int(flat.max()) > np.iinfo(np.int64).max:
        raise ArgumentError(place, f"{flat.max()} does not fit into int64")
    return flat.astype(np.float32 if flat.size and flat.dtype.kind == "f" else np.int64)


def _id_rows(rows: list[Any], place: str) -> Rows:
    column = _column(rows, place)
    if not isinstance(column, Rows) or column.values.dtype.kind != "i":
        found = "numbers with fractions" if isinstance(column, Rows) else _type_names(rows)
        problem = f"must be texts, lists of ids, rows of a Batch, or dicts, not {found}"
        raise InputTypeError(place, problem)
    return column


def _type_names(rows: list[Any]) -> str:
    return " and ".join(sorted({type(row).__name__ for row in rows}))


def _draw_words(
    random: np.random.Generator, arrays: dict[str, npt.NDArray[Any]]
) -> npt.NDArray[np.float64]:
    """Return a random number for each token, equal for the tokens of a word; remove the column `word_ids`."""
    words = arrays.pop("word_ids", None)
    if words is None or words.shape != arrays["input_ids"].shape:
        expected = (
            "texts, rows of encode_batch(..., offsets=True), or dicts with a word id for each id"
        )
        message = f"whole_words=True needs the words of ids; pass {expected}"
        raise ArgumentError("items", message)
    # Word ids begin again at the second text of a pair: a word is a run of equal ids.
    is_first = np.ones(words.shape, bool)
    is_first[:, 1:] = words[:, 1:] != words[:, :-1]
    runs = is_first.cumsum()
    draw: npt.NDArray[np.float64] = random.random(runs.max(initial=0) + 1)[runs]
    return draw.reshape(words.shape)


def _columns_of_encodings(items: list[Any], *, with_words: bool) -> tuple[Rows, dict[str, Column]]:
    for index, item in enumerate(items):
        check_type(f"items[{index}]", item, pw.Encoding, "an Encoding")
    type_ids = _id_rows([item.type_ids for item in items], "items")
    mask = _id_rows([item.attention_mask for item in items], "items")
    columns = _shown(type_ids, mask)
    if with_words:
        words = chain.from_iterable(item.word_ids for item in items)
        values = np.nan_to_num(np.array(list(words), np.float64), nan=-1).astype(np.int64)
        columns["word_ids"] = Rows(values, type_ids.lengths)
    return _id_rows([item.ids for item in items], "items"), columns


def _shown(type_ids: Rows, mask: Rows) -> dict[str, Column]:
    """Return the columns that are not the same for all tokens."""
    columns: dict[str, Column] = {}
    if type_ids.values.any():
        columns["token_type_ids"] = type_ids
    if not mask.values.all():
        columns["attention_mask"] = mask
    return columns


def _values(items: list[Any], key: str) -> list[Any]:
    """Return the value of each item under a key; raise naming the item that lacks it."""
    for index, item in enumerate(items):
        if not isinstance(item, Mapping) or key not in item:
            found = f"one without {key!r}" if isinstance(item, Mapping) else type(item).__name__
            problem = f"must be a dict with {key!r}, as items[0]; it is {found}"
            raise ArgumentError(f"items[{index}]", problem)
    return [item[key] for item in items]


def _is_text_pair(item: Any) -> bool:
    return isinstance(item, tuple) and bool(item) and all(isinstance(text, str) for text in item)
