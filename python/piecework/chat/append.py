"""Append generated ids to those of a prompt, without tokenizing either again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from piecework._internal.validation import id_list
from piecework.chat.drift import Drift, DriftFinder, DriftSpan

if TYPE_CHECKING:
    from piecework._internal.array_types import Ids
    from piecework.tokenizer import Tokenizer


@dataclass(frozen=True)
class AppendedIds:
    """The ids of a prompt and of a completion, as the model read and generated them.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> both = pw.chat.append_ids(tok.with_decoder(pw.spec.Fuse()), [0], [1, 0])
    >>> both.ids, both.completion_mask, len(both.crossing_spans)
    ([0, 1, 0], [0, 1, 1], 1)

    `num_prompt_ids` of the `ids` are those of the prompt. `drift` is what tokenizing the whole text again
    would change.
    """

    ids: list[int]
    num_prompt_ids: int
    drift: Drift

    @property
    def completion_mask(self) -> list[int]:
        """1 for each id of the completion, 0 for each of the prompt."""
        return [0] * self.num_prompt_ids + [1] * (len(self.ids) - self.num_prompt_ids)

    @property
    def crossing_spans(self) -> tuple[DriftSpan, ...]:
        """The spans of the drift that have ids of the prompt and of the completion."""
        spans = self.drift.spans
        return tuple(one for one in spans if one.start < self.num_prompt_ids < one.end)


def append_ids(tokenizer: Tokenizer, prompt_ids: Ids, completion_ids: Ids) -> AppendedIds:
    """Return the ids of a prompt with generated ids, and what tokenizing their text again would change.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> both = append_ids(tok.with_decoder(pw.spec.Fuse()), [0], [1, 0])
    >>> print(both.drift)
    3 ids, 2 when their text is encoded: 1 span differs
    0: a b -> ab

    The ids are kept as they are: a model is trained on what it has read and generated. For a conversation,
    append the ids of each turn to those before it.

    Raises `IdRangeError` with the position for an id that is not in the vocabulary.
    """
    prompt = id_list(prompt_ids, "prompt_ids")
    ids = [*prompt, *id_list(completion_ids, "completion_ids")]

    def place(position: int) -> str:
        if position < len(prompt):
            return f"prompt_ids[{position}]"
        return f"completion_ids[{position - len(prompt)}]"

    return AppendedIds(ids, len(prompt), DriftFinder(tokenizer).find(ids, place))
