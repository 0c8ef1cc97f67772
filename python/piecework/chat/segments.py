"""Encoding of segments, some of which may not contain special tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence

from piecework._core import Core, core_without_pieces, find_special, symbol_ids
from piecework._internal.lazy import pw, typing
from piecework._internal.surrogates import first_surrogate
from piecework.chat.results import SegmentedEncoding
from piecework.chat.token_spans import text_tokens, tokens_between
from piecework.encoding import Encoding
from piecework.errors import ArgumentError, InputTypeError, SpecialTokenError

if typing.TYPE_CHECKING:
    Span: typing.TypeAlias = tuple[int, int]


class GuardedTokens:
    """The tokens that text without permission never becomes, and the added tokens that match anywhere.

    `special` has the texts of the special tokens among them.

    `prompts` is `core` with all special tokens as added tokens, which `added_tokens` are. It encodes texts
    that have one with permission; other texts are encoded by `core`, as in `encode`.
    """

    def __init__(
        self,
        core: Core,
        prompts: Core,
        added_tokens: Sequence[pw.spec.AddedToken],
        markers: Collection[str] | None,
    ) -> None:
        if isinstance(markers, (str, bytes)):
            raise InputTypeError("markers", type(markers).__name__, "a collection of added tokens")
        names = {token.id: token.content for token in added_tokens}
        # Control pieces are added tokens of `prompts`: these are the user-defined ones.
        symbols = {id: str(core.id_to_token(id)) for id in symbol_ids(core) if id not in names}
        for marker in markers or ():
            if marker not in {*names.values(), *symbols.values()}:
                problem = f": {marker!r} is not an added token of the tokenizer"
                raise ArgumentError("markers", problem)
        guarded = {
            token.id: token
            for token in added_tokens
            if token.special
            or (markers is None and _is_marker(token.content))
            or (markers is not None and token.content in markers)
        }
        self.special = [token.content for token in added_tokens if token.special]
        self.everywhere = [token.id for token in added_tokens if token.id not in guarded]
        self.strips = {id for id, token in guarded.items() if token.lstrip or token.rstrip}
        self.ids = guarded.keys() | {
            id
            for id, symbol in symbols.items()
            if (markers is None and _is_marker_symbol(symbol))
            or (markers is not None and symbol in markers)
        }
        self._core, self._prompts = core, prompts
        self._cores_without: dict[bool, Core | None] = {}

    def core_for(self, texts: Sequence[str]) -> Core:
        """Return the core for a prompt whose parts with permission are `texts`."""
        if self._prompts is self._core or find_special(self._prompts, texts, None) is None:
            return self._core
        return self._prompts

    def core_without(self, core: Core, unk_id: int | None) -> Core | None:
        """Return a core whose model never makes a guarded token; None if the model is not a Unigram model.

        It is compiled at the first call.
        """
        is_plain = core is self._core
        if is_plain not in self._cores_without:
            ids = sorted(self.ids - {unk_id})
            self._cores_without[is_plain] = core_without_pieces(core, ids)
        return self._cores_without[is_plain]


def _is_marker(content: str) -> bool:
    """Return whether an added token is more than whitespace, which text of users contains too."""
    return bool(content.replace("▁", "").strip())


def _is_marker_symbol(symbol: str) -> bool:
    """Return whether a user-defined piece is more than whitespace and than one character.

    XLNet has pieces for `.` and `(`, which text of users contains too.
    """
    return _is_marker(symbol) and len(symbol.strip("▁ ")) > 1


def encode_segments(
    segments: Sequence[tuple[str, bool]],
    guarded: GuardedTokens,
    unk_id: Callable[[], int | None],
    add_special_tokens: bool,
) -> SegmentedEncoding:
    """Encode the concatenated texts; guarded tokens match within a segment that permits them only.

    A Unigram model segments other text without the guarded pieces, as SentencePiece does with control
    pieces. Raises `SpecialTokenError` if another model produces a guarded token itself.
    """
    text, char_spans, permitted = _joined(segments)
    encoding = encode_spans(text, permitted, guarded, unk_id, add_special_tokens)
    token_spans = _token_spans(encoding, char_spans)
    return SegmentedEncoding(encoding, tuple(char_spans), token_spans)


def encode_spans(
    text: str,
    permitted: Sequence[Span],
    guarded: GuardedTokens,
    unk_id: Callable[[], int | None],
    add_special_tokens: bool,
) -> Encoding:
    """Encode a text; guarded tokens match within the `permitted` spans of characters only."""
    spans = _byte_spans(text, permitted)

    def encoded(core: Core) -> Encoding:
        return core.encode_within(
            text,
            spans=spans,
            everywhere=guarded.everywhere,
            add_special_tokens=add_special_tokens,
        )

    core = guarded.core_for([text[start:end] for start, end in permitted])
    encoding = encoded(core)
    made = _made_by_model(encoding, text, permitted, guarded, unk_id)
    if made is not None and (other := guarded.core_without(core, unk_id())) is not None:
        encoding = encoded(other)
        made = _made_by_model(encoding, text, permitted, guarded, unk_id)
    if made is not None:
        problem = (
            f": the model makes the token {made[1]!r} from the text {made[0]!r}, without "
            "added tokens; remove that text, or name the added tokens to guard in markers="
        )
        raise SpecialTokenError("segments", problem)
    return encoding


def _joined(segments: object) -> tuple[str, list[Span], list[Span]]:
    if isinstance(segments, (str, bytes)) or not isinstance(segments, Sequence):
        found = type(segments).__name__
        raise InputTypeError("segments", found, "a list of (text, allow_special) pairs")
    char_spans: list[Span] = []
    permitted: list[Span] = []
    texts: list[str] = []
    at = 0
    for position, segment in enumerate(segments):
        text, allow_special = _checked(segment, f"segments[{position}]")
        span = (at, at + len(text))
        texts.append(text)
        char_spans.append(span)
        if allow_special and text:
            permitted.append(span)
        at = span[1]
    return "".join(texts), char_spans, permitted


def _checked(segment: object, place: str) -> tuple[str, bool]:
    if not isinstance(segment, (tuple, list)) or len(segment) != 2:
        found = type(segment).__name__
        if isinstance(segment, (tuple, list)):
            found = f"{found} of {len(segment)}"
        raise InputTypeError(place, found, "a (text, allow_special) pair")
    text, allow_special = segment
    if not isinstance(text, str):
        raise InputTypeError(f"{place}[0]", type(text).__name__, "str")
    if not isinstance(allow_special, bool):
        raise InputTypeError(f"{place}[1]", type(allow_special).__name__, "bool")
    surrogate = first_surrogate(text)
    if surrogate is not None:
        found = f"a lone surrogate at character {surrogate}"
        raise ArgumentError(f"{place}[0]", f"has {found}, which UTF-8 cannot encode")
    return text, allow_special


def _byte_spans(text: str, spans: Sequence[Span]) -> list[Span]:
    if text.isascii():
        return list(spans)
    result, chars, size = [], 0, 0
    for start, end in spans:
        first = size + len(text[chars:start].encode())
        size = first + len(text[start:end].encode())
        result.append((first, size))
        chars = end
    return result


def _token_spans(encoding: Encoding, char_spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return for each segment the tokens that have one of its characters."""
    offsets = encoding.offsets
    tokens = text_tokens(encoding)
    spans, done = [], tokens.start
    for start, end in char_spans:
        if start < end:
            span = tokens_between(offsets, (start, end), tokens)
            done = span[1]
        else:
            span = (done, done)
        spans.append(span)
    return tuple(spans)


def _made_by_model(
    encoding: Encoding,
    text: str,
    permitted: Sequence[Span],
    guarded: GuardedTokens,
    unk_id: Callable[[], int | None],
) -> tuple[str, str] | None:
    """Return the first guarded token that the model made from text without permission, with that text."""
    if guarded.ids.isdisjoint(encoding.ids):
        return None
    starts = [start for start, _ in permitted]
    offsets, sequences = encoding.offsets, encoding.sequence_ids
    for index in [at for at, id in enumerate(encoding.ids) if id in guarded.ids]:
        if sequences[index] is None:
            continue
        id, (start, end) = encoding.ids[index], offsets[index]
        if id in guarded.strips:
            matched = text[start:end]
            start += len(matched) - len(matched.lstrip())
            end -= len(matched) - len(matched.rstrip())
        before = bisect_right(starts, start) - 1
        if not (before >= 0 and end <= permitted[before][1]) and id != unk_id():
            return text[start:end], encoding.tokens[index]
    return None
