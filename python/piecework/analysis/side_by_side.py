"""One text through several tokenizers, aligned by characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from piecework import Tokenizer
from piecework._internal import validation as checks
from piecework.analysis.alignment import Alignment, Group, Row, aligned_lines, line_text
from piecework.analysis.blocks import WIDTH, Block, Grid, Heading, Paragraph
from piecework.analysis.displayed import LINES, Displayed
from piecework.analysis.readable import is_byte_level, show_whitespace, text_of_bytes
from piecework.errors import ArgumentError, InputTypeError


@dataclass(frozen=True)
class SideToken:
    """A token of one tokenizer, with its span in characters of the text.

    >>> SideToken(id=1, token="hug", span=(0, 3), is_unknown=False).span
    (0, 3)
    """

    id: int
    token: str
    span: tuple[int, int]
    is_unknown: bool


@dataclass(frozen=True)
class Side:
    """The tokens of one tokenizer, without the tokens that its post-processor adds.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> [side] = pw.analysis.side_by_side({"characters": tok}, "abc").sides
    >>> side.name, len(side.tokens), side.unknown
    ('characters', 3, 1)

    `own_spans` is the number of tokens whose span no other tokenizer has. `unknown` is the number of unknown
    tokens.
    """

    name: str
    vocab_size: int
    tokens: tuple[SideToken, ...]
    unknown: int
    own_spans: int
    is_byte_level: bool = False


@dataclass(frozen=True)
class SideBySide(Displayed):
    """A text as several tokenizers see it.

    >>> import piecework as pw
    >>> words = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> characters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3, "s": 4}))
    >>> found = pw.analysis.side_by_side({"words": words, "characters": characters}, "hugs")
    >>> for line in found.aligned():
    ...     print(line)
    text           h u g s
    words       2 |h u g|s|
    characters  4 |h|u|g|s|

    `str` returns the alignment with a table of counts, and `to_dict` JSON data.
    """

    text: str
    sides: tuple[Side, ...]

    def aligned(self, width: int = WIDTH) -> list[str]:
        """Return the text and the tokens of each tokenizer, one below the other, wrapped at `width` columns.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.BPE({"Ã": 0, "©": 1}, ()), pre_tokenizer=pw.spec.ByteLevel(False))
        >>> pw.analysis.side_by_side({"bytes": tok}, "é").aligned()[1]
        'bytes  2 |éx2|'

        `|` is a boundary of tokens and `xn` the number of tokens that share a character. A mark `✗` follows
        an unknown token.
        """
        return [line_text(line) for line in aligned_lines(self.text, self._rows(), width)]

    def blocks(self, lines: int = LINES) -> Iterator[Block]:
        """Yield the alignment, the table of counts, and the tokens of each tokenizer."""
        yield Alignment(self.text, self._rows(), lines)
        length = len(self.text)
        rows = tuple(
            (
                side.name,
                f"{side.vocab_size:,}",
                f"{len(side.tokens):,}",
                f"{length / len(side.tokens):.2f}" if side.tokens else "-",
                f"{side.unknown:,}",
                f"{side.own_spans:,}",
            )
            for side in self.sides
        )
        header = (
            "tokenizer",
            "vocabulary",
            "tokens",
            "characters per token",
            "unknown",
            "only here",
        )
        yield Grid(header, rows, header[1:])
        for side in self.sides:
            yield Heading(f"tokens of {side.name}")
            shown = [_shown(token, side) for token in side.tokens[: 10 * lines]]
            more = len(side.tokens) - len(shown)
            yield Paragraph("  ".join(shown) + (f"  ... and {more:,} more" if more else ""))

    def _rows(self) -> list[Row]:
        return [Row(side.name, len(side.tokens), groups_of(side.tokens)) for side in self.sides]


def side_by_side(tokenizers: Mapping[str, Tokenizer], text: str) -> SideBySide:
    """Encode one text with several tokenizers, to see where their tokens differ.

    >>> import piecework as pw
    >>> words = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> characters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3, "s": 4}))
    >>> found = side_by_side({"words": words, "characters": characters}, "hugs")
    >>> [(side.name, len(side.tokens), side.own_spans) for side in found.sides]
    [('words', 2, 1), ('characters', 4, 3)]

    `tokenizers` maps names to tokenizers. Tokens of post-processors such as `[CLS]` are left out. Raises
    `ArgumentError` without a tokenizer, and the errors of encoding.
    """
    check_tokenizers(tokenizers)
    checks.check_text("text", text)
    encoded = {name: _tokens(tokenizer, text) for name, tokenizer in tokenizers.items()}
    spans = {name: {token.span for token in tokens} for name, tokens in encoded.items()}
    sides = []
    for name, tokens in encoded.items():
        others = set[tuple[int, int]]().union(*(spans[other] for other in spans if other != name))
        tokenizer = tokenizers[name]
        sides.append(
            Side(
                name=name,
                vocab_size=tokenizer.get_vocab_size(),
                tokens=tokens,
                unknown=sum(token.is_unknown for token in tokens),
                own_spans=sum(token.span not in others for token in tokens),
                is_byte_level=is_byte_level(tokenizer.spec),
            )
        )
    return SideBySide(text, tuple(sides))


def check_tokenizers(tokenizers: object) -> None:
    """Raise unless `tokenizers` is a mapping of names to tokenizers, at least one."""
    if not isinstance(tokenizers, Mapping):
        problem = f"must be a mapping of names to tokenizers, not {type(tokenizers).__name__}"
        raise InputTypeError("tokenizers", problem)
    if not tokenizers:
        raise ArgumentError("tokenizers", "must have at least one tokenizer")
    for name, tokenizer in tokenizers.items():
        checks.check_tokenizer(tokenizer, f"tokenizers[{name!r}]")


def _tokens(tokenizer: Tokenizer, text: str) -> tuple[SideToken, ...]:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    unknown = getattr(tokenizer.spec.model, "unk_token", None)
    columns = zip(encoding.ids, encoding.tokens, encoding.offsets, strict=True)
    return tuple(SideToken(id, token, span, token == unknown) for id, token, span in columns)


def _shown(token: SideToken, side: Side) -> str:
    return show_whitespace(text_of_bytes(token.token) if side.is_byte_level else token.token)


def groups_of(tokens: Iterable[SideToken]) -> list[Group]:
    """Return the tokens in groups that share characters; tokens without characters join their successor."""
    groups: list[Group] = []
    for token in tokens:
        start, end = token.span
        group = Group(start, end, 1, token.is_unknown)
        if groups and (start < groups[-1].end or groups[-1].start == groups[-1].end):
            group = _joined(groups.pop(), group)
        groups.append(group)
    return groups


def _joined(left: Group, right: Group) -> Group:
    """Return one group of two that share characters, or of which the left one has none."""
    return Group(
        min(left.start, right.start) if left.start < left.end else right.start,
        max(left.end, right.end),
        left.tokens + right.tokens,
        left.is_unknown or right.is_unknown,
    )
