"""Post-processors: the tokens of one sequence or two in, one row framed by special tokens out.

Processors pass parts to each other: at first the sequences, then whatever each processor makes of them.
Source: the descriptions in `spec/post_processors.py`, and `tokenizers` 0.23 for trimmed offsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from piecework.reference.patterns import is_whitespace
from piecework.spec import (
    BertProcessing,
    ByteLevelProcessing,
    PostProcessor,
    RobertaProcessing,
    SequenceProcessing,
    TemplateProcessing,
)


@dataclass(frozen=True)
class Token:
    """One token of an encoding; offsets in characters of the original text.

    A token that a processor put in belongs to no sequence.
    """

    token: str
    offsets: tuple[int, int] = (0, 0)
    word_id: int | None = None
    sequence_id: int | None = None
    type_id: int = 0


Part = list[Token]


def post_process(
    sequences: list[Part], spec: PostProcessor | None, *, add_special_tokens: bool = True
) -> list[Token]:
    """Frame one sequence or a pair; without a processor they stand in a row.

    >>> bert = BertProcessing(sep=("[SEP]", 1), cls=("[CLS]", 0))
    >>> pair = post_process([[Token("a")], [Token("b")]], bert)
    >>> [(token.token, token.type_id) for token in pair]
    [('[CLS]', 0), ('a', 0), ('[SEP]', 0), ('b', 1), ('[SEP]', 1)]
    """
    parts = [typed(sequence, index) for index, sequence in enumerate(sequences)]
    return [token for part in process(parts, spec, add_special_tokens) for token in part]


def process(parts: list[Part], spec: PostProcessor | None, add_special_tokens: bool) -> list[Part]:
    """Apply one processor to the parts that the ones before it made."""
    if isinstance(spec, SequenceProcessing):
        for one in spec.processors:
            parts = process(parts, one, add_special_tokens)
        return parts
    if isinstance(spec, ByteLevelProcessing | RobertaProcessing) and spec.trim_offsets:
        parts = [trimmed(part, spec.add_prefix_space) for part in parts]
    if isinstance(spec, RobertaProcessing):
        parts = [typed(part, 0) for part in parts]
    if isinstance(spec, TemplateProcessing):
        return list(arranged(parts, spec, add_special_tokens))
    if isinstance(spec, BertProcessing | RobertaProcessing) and add_special_tokens:
        return [framed(part, at, spec) for at, part in enumerate(parts)]
    return parts


def typed(part: Part, type_id: int) -> Part:
    """Give a part one type id throughout."""
    return [replace(token, type_id=type_id) for token in part]


# ---- special tokens


def framed(part: Part, at: int, spec: BertProcessing | RobertaProcessing) -> Part:
    """Put `cls` before the first part and `sep` after each; RoBERTa's later ones begin with it too."""
    is_bert = isinstance(spec, BertProcessing)
    cls, sep = Token(spec.cls[0]), Token(spec.sep[0], type_id=int(is_bert and at > 0))
    if at == 0:
        return [cls, *part, sep]
    return [*part, sep] if is_bert else [sep, *part, sep]


def arranged(
    parts: list[Part], template: TemplateProcessing, add_special_tokens: bool
) -> Iterator[Part]:
    """Make each item of the template for so many parts a part of its own."""
    for item in template.single if len(parts) == 1 else template.pair:
        name, _, type_id = item.rpartition(":")
        if name in ("$A", "$B"):
            yield typed(parts["AB".index(name[1])], int(type_id))
        elif add_special_tokens:
            names = template.tokens.get(name, (name,) * len(template.special_tokens[name]))
            yield [Token(token, type_id=int(type_id)) for token in names]


def special_ids(spec: PostProcessor | None) -> dict[str, int]:
    """Return the ids that a processor gives to its special tokens."""
    if isinstance(spec, SequenceProcessing):
        return {token: id for one in spec.processors for token, id in special_ids(one).items()}
    if isinstance(spec, BertProcessing | RobertaProcessing):
        return dict([spec.sep, spec.cls])
    if not isinstance(spec, TemplateProcessing):
        return {}
    return {
        token: id
        for name, ids in spec.special_tokens.items()
        for token, id in zip(spec.tokens.get(name, (name,) * len(ids)), ids, strict=True)
    }


# ---- offsets


def trimmed(part: Part, add_prefix_space: bool) -> Part:
    """Leave the spaces that tokens begin and end with out of their offsets.

    A single one before the first token stands for no text if `add_prefix_space` put it there.
    """
    return [
        token
        if token.sequence_id is None
        else trim(token, add_prefix_space and is_first(at, token))
        for at, token in enumerate(part)
    ]


def is_first(at: int, token: Token) -> bool:
    """Tell whether a token can be the one that a space was put before."""
    return at == 0 or token.offsets[0] == 0


def trim(token: Token, may_be_added: bool) -> Token:
    """Trim one token.

    >>> trim(Token("Ġhug", (3, 7)), False).offsets
    (4, 7)
    """
    start, end = token.offsets
    leading = spaces(token.token)
    if may_be_added and leading == 1:
        leading = 0
    trailing = spaces(token.token[::-1])
    start = min(start + leading, end)
    if end >= trailing:
        end = max(end - trailing, start)
    return replace(token, offsets=(start, end))


def spaces(text: str) -> int:
    """Count the spaces, or byte-level characters for one, that a text begins with."""
    return next((at for at, c in enumerate(text) if c != "Ġ" and not is_whitespace(c)), len(text))
