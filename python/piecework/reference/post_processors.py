"""What follows the model: truncation, post-processors, padding.

Truncation cuts windows of at most `max_length` tokens and leaves room for special tokens. Post-processors
put these around one sequence or two, and set type ids. Padding makes rows of equal length.

Processors pass parts to each other: at first the sequences, then the parts that each processor returns.
A part is a list of windows; special tokens go around every window. Source: `spec/post_processors.py`,
and `tokenizers` 0.23 for truncation, trimmed offsets, padding and the order of overflowing windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import count

from piecework.errors import ArgumentError
from piecework.reference.encoding import Token, Windows
from piecework.reference.patterns import is_whitespace
from piecework.spec import (
    BertProcessing,
    ByteLevelProcessing,
    Padding,
    PostProcessor,
    RobertaProcessing,
    SequenceProcessing,
    TemplateProcessing,
    Truncation,
)


def post_process(
    sequences: Sequence[Windows], spec: PostProcessor | None, *, add_special_tokens: bool = True
) -> Windows:
    """Frame one sequence or a pair by special tokens; without a processor, concatenate.

    >>> bert = BertProcessing(sep=("[SEP]", 1), cls=("[CLS]", 0))
    >>> [row] = post_process([[[Token("a")]], [[Token("b")]]], bert)
    >>> [(token.token, token.type_id) for token in row]
    [('[CLS]', 0), ('a', 0), ('[SEP]', 0), ('b', 1), ('[SEP]', 1)]
    """
    parts = [typed(sequence, index) for index, sequence in enumerate(sequences)]
    return reduce(concatenated, process(parts, spec, add_special_tokens))


def concatenated(first: Windows, second: Windows) -> Windows:
    """Concatenate two lists of windows: the first of each, then every combination of the others.

    >>> a, b, c, d = (Token(letter) for letter in "abcd")
    >>> rows = concatenated([[a], [b]], [[c], [d]])
    >>> ["".join(token.token for token in row) for row in rows]
    ['ac', 'bc', 'bd', 'ad']
    """
    kept, *others = [[left + right for right in second] for left in first]
    return [kept[0], *(window for row in others for window in row), *kept[1:]]


def process(
    parts: list[Windows], spec: PostProcessor | None, add_special_tokens: bool
) -> list[Windows]:
    """Apply one processor to the parts of the processors before it.

    >>> process([[[Token("a")]]], None, add_special_tokens=True)[0][0][0].token
    'a'
    """
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


def typed(part: Windows, type_id: int) -> Windows:
    """Set the type id of every token.

    >>> typed([[Token("a")]], 1)[0][0].type_id
    1
    """
    return [[replace(token, type_id=type_id) for token in window] for window in part]


# ---- special tokens


def framed(part: Windows, at: int, spec: BertProcessing | RobertaProcessing) -> Windows:
    """Put `cls` before the first part and `sep` after each; RoBERTa also puts `sep` before the second.

    >>> roberta = RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0))
    >>> [token.token for token in framed([[Token("b")]], 1, roberta)[0]]
    ['</s>', 'b', '</s>']
    """
    is_bert = isinstance(spec, BertProcessing)
    cls, sep = Token(spec.cls[0]), Token(spec.sep[0], type_id=int(is_bert and at > 0))
    before = [cls] if at == 0 else [] if is_bert else [sep]
    return [[*before, *window, sep] for window in part]


def arranged(
    parts: list[Windows], template: TemplateProcessing, add_special_tokens: bool
) -> Iterator[Windows]:
    """Return each item of the template for one part or two as a part of its own.

    >>> template = TemplateProcessing.bert(cls_id=0, sep_id=1)
    >>> [part[0][0].token for part in arranged([[[Token("a")]]], template, True)]
    ['[CLS]', 'a', '[SEP]']
    """
    for item in template.single if len(parts) == 1 else template.pair:
        name, _, type_id = item.rpartition(":")
        if name in ("$A", "$B"):
            yield typed(parts["AB".index(name[1])], int(type_id))
        elif add_special_tokens:
            names = template.tokens.get(name, (name,) * len(template.special_tokens[name]))
            yield [[Token(token, type_id=int(type_id)) for token in names]]


def special_ids(spec: PostProcessor | None) -> dict[str, int]:
    """Return the special tokens of a processor with their ids.

    >>> special_ids(TemplateProcessing.bert(cls_id=101, sep_id=102))
    {'[CLS]': 101, '[SEP]': 102}
    """
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


def trimmed(part: Windows, add_prefix_space: bool) -> Windows:
    """Exclude leading and trailing spaces of tokens from their offsets.

    >>> trimmed([[Token("hug", (0, 3), 0, 0), Token("Ġhug", (3, 7), 1, 0)]], True)[0][1].offsets
    (4, 7)

    A single leading space of the first token covers no text if `add_prefix_space` inserted it.
    """
    return [
        [
            token
            if token.sequence_id is None
            else trim(token, add_prefix_space and is_first(at, token))
            for at, token in enumerate(window)
        ]
        for window in part
    ]


def is_first(at: int, token: Token) -> bool:
    """Return whether a prefix space can precede a token: it opens its part or the text.

    >>> is_first(2, Token("Ġa", (0, 1))), is_first(2, Token("Ġa", (4, 6)))
    (True, False)
    """
    return at == 0 or token.offsets[0] == 0


def trim(token: Token, may_have_prefix_space: bool) -> Token:
    """Exclude the spaces of one token from its offsets.

    >>> trim(Token("Ġhug", (3, 7)), False).offsets
    (4, 7)
    """
    start, end = token.offsets
    text = token.token if token.text is None else token.text
    leading, trailing = leading_spaces(text), leading_spaces(text[::-1])
    if may_have_prefix_space and leading == 1:
        leading = 0
    start = min(start + leading, end)
    if end >= trailing:
        end = max(end - trailing, start)
    return replace(token, offsets=(start, end))


def leading_spaces(text: str) -> int:
    """Count the spaces that a text begins with; `Ġ` is the byte-level space.

    >>> leading_spaces("Ġ hug")
    2
    """
    return next((at for at, c in enumerate(text) if c != "Ġ" and not is_whitespace(c)), len(text))


# ---- truncation


def truncate(
    sequences: Sequence[list[Token]], spec: Truncation | None, inserted: int = 0
) -> list[Windows]:
    """Cut one sequence or two into windows; `inserted` is the number of special tokens to come.

    >>> tokens = [Token(letter) for letter in "abcde"]
    >>> [windows] = truncate([tokens], Truncation(max_length=3, stride=1))
    >>> ["".join(token.token for token in window) for window in windows]
    ['abc', 'cde']

    Raises `ArgumentError` when the strategy would leave a sequence without tokens, and when there are
    more special tokens than `max_length`.
    """
    if spec is None:
        return [[sequence] for sequence in sequences]
    room = spec.max_length - inserted
    if room < 0:
        problem = f"must be at least {inserted}, the special tokens alone, not {spec.max_length}"
        raise ArgumentError("truncation.max_length", problem)
    kept = kept_lengths([len(sequence) for sequence in sequences], room, spec.strategy)
    return [
        [sequence[start:end] for start, end in windows(len(sequence), length, spec)]
        for sequence, length in zip(sequences, kept, strict=True)
    ]


def kept_lengths(lengths: list[int], room: int, strategy: str) -> list[int]:
    """Return how many tokens each sequence keeps, `room` tokens in total.

    >>> kept_lengths([3, 9], 8, "longest_first"), kept_lengths([9, 3], 8, "only_first")
    ([3, 5], [5, 3])
    """
    excess = sum(lengths) - room
    if excess <= 0:
        return lengths
    if room == 0:
        return [0 for _ in lengths]
    if strategy == "longest_first":
        return [room] if len(lengths) == 1 else balanced(lengths, room)
    cut = 0 if strategy == "only_first" else 1
    if cut >= len(lengths) or lengths[cut] <= excess:
        problem = f"{strategy} cannot truncate a sequence so short; use longest_first"
        raise ArgumentError("truncation.strategy", problem)
    return [length - excess if at == cut else length for at, length in enumerate(lengths)]


def balanced(lengths: list[int], room: int) -> list[int]:
    """Shorten the longer of two sequences first, then both equally.

    The sequence that was longer keeps the odd token; the second does if both were equal.

    >>> balanced([9, 8], 7), balanced([8, 8], 7)
    ([4, 3], [3, 4])
    """
    short = min(*lengths, room // 2)
    long = room - short
    return [long, short] if lengths[0] > lengths[1] else [short, long]


def windows(length: int, size: int, spec: Truncation) -> list[tuple[int, int]]:
    """Return the spans of the windows over `length` tokens; neighbours share `stride` tokens.

    >>> windows(7, 3, Truncation(stride=1))
    [(0, 3), (2, 5), (4, 7)]
    >>> windows(7, 3, Truncation(stride=1, side="left"))
    [(4, 7), (2, 5), (0, 3)]
    """
    if length <= size:
        return [(0, length)]
    if size == 0:
        return [(0, 0), (0, length)]
    spans = []
    for start in count(0, size - min(spec.stride, size - 1)):
        end = min(start + size, length)
        spans.append((start, end) if spec.side == "right" else (length - end, length - start))
        if end == length:
            break
    return spans


# ---- padding


def padded_length(longest: int, spec: Padding) -> int:
    """Return the length to pad to, given the longest row of the batch.

    >>> padded_length(5, Padding(pad_to_multiple_of=8)), padded_length(5, Padding(length=3))
    (8, 3)
    """
    length = longest if spec.length is None else spec.length
    multiple = spec.pad_to_multiple_of or 1
    return -(-length // multiple) * multiple


def pad(windows: Windows, spec: Padding, length: int) -> Windows:
    """Pad every window to `length` tokens; longer windows stay as they are.

    >>> [[token.token for token in row] for row in pad([[Token("a")]], Padding(), 3)]
    [['a', '[PAD]', '[PAD]']]
    """
    filling = Token(spec.pad_token, type_id=spec.pad_type_id, is_padding=True)
    padded = []
    for window in windows:
        fill = [filling] * (length - len(window))
        padded.append(window + fill if spec.side == "right" else fill + window)
    return padded
