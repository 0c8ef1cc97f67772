"""Make a golden file: choose texts, encode them in every mode, and compare the ids with the definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

import piecework as pw
from piecework import Encoding, Tokenizer
from piecework._internal._core import UNICODE_VERSION
from piecework._internal.validation import check_text, check_tokenizer
from piecework.analysis.corpus_texts import Texts, reading
from piecework.analysis.golden.always import always
from piecework.analysis.golden.cover import chosen, row_size
from piecework.analysis.golden.file import FLAGS, Golden, GoldenRow, header_of
from piecework.analysis.golden.fixed_texts import Candidate
from piecework.analysis.golden.searched import searched
from piecework.analysis.golden.small import samples_of
from piecework.analysis.golden.texts import candidates, of_corpus
from piecework.errors import PieceworkError, StageError
from piecework.spec import CustomNormalizer, CustomPreTokenizer
from piecework.spec.sequences import single_stages

MAX_ROWS = 400
MAX_BYTES = 100_000
_HEADER_BYTES = 3_500
_CORPUS_TEXTS = 4_000
_CORPUS_SHARE = 5  # of the rows and bytes, a fifth is for texts of a corpus


def golden(
    tokenizer: Tokenizer, *, corpus: Texts | None = None, name: str = "", format: str = ""
) -> Golden:
    """Choose texts that tell engines apart, with the ids that a tokenizer gives them.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> pins = golden(tok, name="hugs")
    >>> pins.tokenizer["name"], pins.rows[0].comment
    ('hugs', 'contractions, three texts')

    At most 400 rows of about 100,000 bytes. The texts come from the tokenizer: its normalizer, its pattern,
    its added tokens and its vocabulary; equal tokenizers get equal rows. `corpus` adds lines of texts, which
    are then in the file. `name` and `format` are for the header.

    Raises `StageError` for a tokenizer with a stage in Python, which no other engine has.
    """
    check_tokenizer(tokenizer)
    check_text("name", name)
    check_text("format", format)
    _refuse_custom(tokenizer)
    special = [answered_row(tokenizer, row) for row in _special_rows(tokenizer)]
    rows, size = MAX_ROWS - len(special), MAX_BYTES - _HEADER_BYTES - sum(map(row_size, special))
    lines: list[GoldenRow] = []
    if corpus is not None:
        texts = list(islice(of_corpus(_texts_of(corpus)), _CORPUS_TEXTS))
        lines = _chosen_rows(tokenizer, texts, rows // _CORPUS_SHARE, size // _CORPUS_SHARE)
        rows, size = rows - len(lines), size - sum(map(row_size, lines))
    texts = [*always(tokenizer), *candidates(tokenizer), *searched(tokenizer)]
    once = list({one.text: one for one in reversed(texts)}.values())[::-1]
    plain = _chosen_rows(tokenizer, once, rows, size)
    every = (*plain, *special, *lines)
    answered = tuple(replace(row, row=number) for number, row in enumerate(every, 1))
    used = {flag for row in answered for flag in row.flags}
    return Golden(
        tokenizer=header_of(tokenizer, name, format),
        unicode=UNICODE_VERSION,
        generator=f"piecework {pw.__version__}",
        flags={flag: about for flag, about in FLAGS.items() if flag in used},
        rows=answered,
        corpus=corpus is not None,
    )


def _refuse_custom(tokenizer: Tokenizer) -> None:
    spec = tokenizer.spec
    for stage in (
        *single_stages(spec.normalizer),
        *single_stages(spec.pre_tokenizer),
    ):
        if isinstance(stage, CustomNormalizer | CustomPreTokenizer):
            problem = "is a Python function, which no other engine runs"
            advice = "make the golden file of the tokenizer without it"
            raise StageError(repr(stage), problem, hint=advice)


def _texts_of(corpus: Texts) -> Iterator[str]:
    with reading("reading", [corpus], None) as rows_of:
        for rows in rows_of(corpus):
            yield from rows.to_list()


def _chosen_rows(
    tokenizer: Tokenizer, texts: Sequence[Candidate], most: int, size: int
) -> list[GoldenRow]:
    rows = [answered_row(tokenizer, _row_of(one)) for one in texts]
    return [rows[at] for at in chosen(tokenizer, texts, rows, most, size)]


def _row_of(candidate: Candidate) -> GoldenRow:
    return GoldenRow(
        0,
        candidate.text,
        add_special_tokens=False,
        flags=(candidate.flag,),
        comment=candidate.comment,
    )


# ---- rows in other modes

_Row: TypeAlias = Callable[..., GoldenRow]
_FIRST = "Hello world, it's 12:30! Ünïcödé 漢字 and more words"
_SECOND = "another text\nwith lines"
_EQUAL = "a b c d e f"
_SMALL_PAIRS = (("a", "x"), ("a b", "x y"), ("a", "x y z"), ("a b c", "x"), ("a b c", "x y"))
_SMALL_ROOM = 8


def _special_rows(tokenizer: Tokenizer) -> Iterator[GoldenRow]:
    """Yield rows with special tokens, pairs, truncation, padding and the chat template."""

    def row(flag: str, comment: str, text: str = _FIRST, **settings: Any) -> GoldenRow:
        return GoldenRow(0, text, flags=(flag,), comment=comment, **settings)

    yield row("empty", "the empty text", "", add_special_tokens=False)
    yield row("special-tokens", "one text with the tokens of the post-processor", "Hello world")
    yield row("special-tokens", "the empty text with the tokens of the post-processor", "")
    yield row("special-tokens", "spaces alone with the tokens of the post-processor", "  ")
    yield row("special-tokens", "leading and trailing spaces", "  Hello  ")
    yield row("pair", "two texts", "Hello", pair="world a")
    yield row(
        "pair",
        "two texts without special tokens",
        "Hello",
        pair="world a",
        add_special_tokens=False,
    )
    yield row("pair", "spaces at the seam", "a ", pair=" b")
    yield row("pair", "an empty first text", "", pair="b")
    yield row("pair", "an empty second text", "a", pair="")
    added = tokenizer.added_tokens
    for token in samples_of([one for one in added if one.special], 2):
        text = f"a {token.content}b {token.content}"
        comment = "a special token that is text"
        yield row("parse-special", comment, text, add_special_tokens=False, parse_special=False)
        yield row(
            "pair", "a special token in both texts", f"{token.content}a", pair=f"b {token.content}"
        )
        yield row(
            "special-tokens", "a special token at the start of the text", f"{token.content} a"
        )
    framed = answered_row(tokenizer, GoldenRow(0, "")).tokens
    for frame in dict.fromkeys((*framed[:1], *framed[-1:])):
        comment = "a token of the post-processor that is in the text"
        for text in (frame, f"{frame} a", f"a{frame}"):
            yield row("special-tokens", comment, text)
    yield from _truncated_rows(tokenizer, row)
    yield from _padded_rows(tokenizer, row)
    yield from _chat_rows(tokenizer)


def _truncated_rows(tokenizer: Tokenizer, row: _Row) -> Iterator[GoldenRow]:
    def cut(comment: str, length: int, *texts: str, **settings: Any) -> GoldenRow:
        default = {"side": "right", "stride": 0, "strategy": "longest_first"}
        mode = {name: settings.pop(name, value) for name, value in default.items()}
        truncation = {"max_length": length, **mode}
        text, pair = (*texts, None)[:2]
        return row("truncation", comment, text, pair=pair, truncation=truncation, **settings)

    yield cut("the end is cut off", 7, _FIRST)
    yield cut("the start is cut off", 7, _FIRST, side="left")
    yield cut("a stride, which only later windows need", 8, _FIRST, side="left", stride=2)
    yield cut("the limit without special tokens", 5, _FIRST, add_special_tokens=False)
    for side in ("right", "left"):
        yield cut("both texts of a pair are cut", 9, _FIRST, _SECOND, side=side)
        yield cut("the longer text of a pair is cut", 8, "a b", _FIRST, side=side)
        yield cut(
            "two texts of equal length, of which one loses more", 8, _EQUAL, _EQUAL, side=side
        )
        yield cut("the first text is cut", 12, _FIRST, "a b", side=side, strategy="only_first")
        yield cut("the second text is cut", 12, "a b", _FIRST, side=side, strategy="only_second")
    yield cut("a strategy that cannot cut enough", 8, "a", _FIRST, strategy="only_first")

    def length_of(text: str, pair: str | None = None) -> int:
        return len(answered_row(tokenizer, GoldenRow(0, text, pair)).ids)

    exact = length_of("Hello world")
    for length in (exact - 1, exact, exact + 1):
        yield cut("a limit beside the length of the text", max(length, 1), "Hello world")
    special, comment = length_of("", ""), "no room beside the special tokens"
    yield cut(comment, max(length_of(""), 1), "a b", side="left")
    yield cut(comment, max(special, 1), "", "a b", side="left")
    for first, second in _SMALL_PAIRS:
        for length in range(special + 1, min(length_of(first, second), special + _SMALL_ROOM)):
            yield cut("a small pair, cut to every length", length, first, second)


def _padded_rows(tokenizer: Tokenizer, row: _Row) -> Iterator[GoldenRow]:
    stored = tokenizer.spec.padding
    role = tokenizer.special_tokens_map.get("pad_token")
    pad_id = tokenizer.token_to_id(role) if isinstance(role, str) else None
    if pad_id is None:
        pad_id = stored.pad_id if stored else 0
    if tokenizer.id_to_token(pad_id) is None:
        return
    for side in ("right", "left"):
        padding = {"length": 12, "side": side, "id": pad_id}
        yield row("padding", f"padded on the {side}", "Hello world", padding=padding)
    padding = {"length": 12, "side": "right", "id": pad_id}
    for side in ("right", "left"):
        sided = {**padding, "side": side}
        yield row("padding", f"a pair is padded on the {side}", "Hello", pair="b", padding=sided)
    yield row("padding", "an empty text is padded", "", padding={**padding, "length": 4})
    yield row("padding", "a length shorter than the text", padding={**padding, "length": 3})
    truncation = {"max_length": 8, "side": "right", "stride": 0, "strategy": "longest_first"}
    both = {"truncation": truncation, "padding": {**padding, "length": 10}}
    yield row("padding", "truncated, then padded", **both)


_CHATS: tuple[tuple[Mapping[str, str], ...], ...] = (
    ({"role": "user", "content": "Hello, it's 12:30."},),
    (
        {"role": "user", "content": " a\n"},
        {"role": "assistant", "content": "b  "},
        {"role": "user", "content": "c"},
    ),
    ({"role": "system", "content": "You are\n\nhelpful."}, {"role": "user", "content": "漢字 😀"}),
)


def _chat_rows(tokenizer: Tokenizer) -> Iterator[GoldenRow]:
    if tokenizer.chat_template is None:
        return
    for messages in _CHATS:
        try:
            text = pw.chat.apply_chat_template(tokenizer, messages).text
        except PieceworkError:  # a template without a system role, or that needs tools
            continue
        comment = f"a chat of {len(messages)} messages"
        yield GoldenRow(
            0, text, messages=messages, add_special_tokens=False, flags=("chat",), comment=comment
        )


# ---- answers


def encoding_of(tokenizer: Tokenizer, row: GoldenRow) -> Encoding:
    """Encode a row in its mode."""
    mode = tokenizer.without_truncation().without_padding()
    if row.truncation is not None:
        settings = dict(row.truncation)
        mode = mode.with_truncation(settings.pop("max_length"), **settings)
    if row.padding is not None:
        length, side, pad_id = (row.padding[name] for name in ("length", "side", "id"))
        token = mode.id_to_token(pad_id)
        mode = mode.with_padding(length, side=side, pad_id=pad_id, pad_token=token)
    return mode.encode(
        row.text,
        row.pair,
        add_special_tokens=row.add_special_tokens,
        parse_special=row.parse_special,
    )


def answered_row(tokenizer: Tokenizer, row: GoldenRow) -> GoldenRow:
    """Return a row with the ids, tokens, offsets and decoded text of a tokenizer."""
    try:
        encoding = encoding_of(tokenizer, row)
    except PieceworkError:
        return replace(row, error=True)
    return replace(
        row,
        ids=tuple(encoding.ids),
        tokens=tuple(encoding.tokens),
        byte_offsets=tuple(encoding.byte_offsets),
        char_offsets=tuple(encoding.offsets),
        decoded=tokenizer.decode(encoding.ids, skip_special_tokens=False),
    )
