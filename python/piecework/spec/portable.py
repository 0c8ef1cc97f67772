"""Write a specification with the components of `tokenizers`, or raise: a `tokenizer.json` is portable.

Every reader of the file gives the same ids. What would be read otherwise elsewhere raises
`PortabilityError`, which names the field and a format that keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from piecework.errors import PortabilityError
from piecework.spec.custom import refuse_custom_stages
from piecework.spec.decoders import (
    ByteFallback,
    Decoder,
    Fuse,
    ReplaceDecoder,
    SequenceDecoder,
)
from piecework.spec.models import BPE, Unigram, WordPiece
from piecework.spec.normalizers import Normalizer, Prepend, Replace, SequenceNormalizer
from piecework.spec.patterns import Regex
from piecework.spec.post_processors import (
    ByteLevelProcessing,
    PostProcessor,
    SequenceProcessing,
)
from piecework.spec.pre_tokenizers import PreTokenizer, SequencePreTokenizer, Split
from piecework.spec.ranked_merges import AmbiguousOrderError, ranked_merges
from piecework.spec.sentencepiece import (
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
)
from piecework.spec.tokenizer_spec import TokenizerSpec

_METASPACE = "▁"
_KEPT_BY_MODEL = (
    "a tokenizer whose ids other libraries can give; '.model' and '.piecework' files keep it"
)
_KEPT_BY_OWN = "a tokenizer whose ids other libraries can give; a '.piecework' file keeps it"
# Added to the score of the worst piece for an unknown character, by all implementations.
_UNKNOWN_PENALTY = 10.0


def is_sentencepiece(spec: TokenizerSpec) -> bool:
    """Tell whether a stage is SentencePiece's own."""
    stages = (*_members(spec.normalizer), spec.model, *_members(spec.decoder))
    own = (SentencePiece, SentencePieceNormalizer, SentencePieceDecoder)
    return any(isinstance(stage, own) for stage in stages)


def portable_spec(spec: TokenizerSpec) -> TokenizerSpec:
    """Return the specification made of components that `tokenizers` reads and that give the same ids.

    Raises `PortabilityError` for what no such component does, `StageError` for custom stages.
    """
    refuse_custom_stages(spec.normalizer, spec.pre_tokenizer)
    if spec.special_in_text == "text":
        found = "'text': other libraries parse special tokens in text"
        raise PortabilityError("special_in_text", found, f"'parse', or {_KEPT_BY_OWN}")
    _refuse_settings(spec)
    if is_sentencepiece(spec):
        spec = _without_sentencepiece(spec)
    return _with_read_ids(spec)


# ---- what tokenizers reads otherwise


def _refuse_settings(spec: TokenizerSpec) -> None:
    model = spec.model
    if isinstance(model, WordPiece):
        for name, usual in (("unk", "word"), ("segmentation", "greedy")):
            value = getattr(model, name)
            if value != usual:
                found = f"{value!r}, which other libraries ignore"
                raise PortabilityError(f"model.{name}", found, f"{usual!r}, or {_KEPT_BY_OWN}")
    framing = list(_framing(spec.post_processor))
    if spec.truncation is not None and len(framing) > 1:
        found = f"{len(framing)} processors that insert tokens, which other libraries truncate otherwise"
        raise PortabilityError("post_processor", found, f"one of them, or {_KEPT_BY_OWN}")


def _framing(processor: PostProcessor | None) -> Iterator[PostProcessor]:
    if isinstance(processor, SequenceProcessing):
        for member in processor.processors:
            yield from _framing(member)
    elif processor is not None and not isinstance(processor, ByteLevelProcessing):
        yield processor


def _with_read_ids(spec: TokenizerSpec) -> TokenizerSpec:
    """Give added tokens the ids of the file: `tokenizers` numbers those outside the model itself.

    A BPE model takes them into its vocabulary, where no merge makes them. Other models would find them
    in text.
    """
    vocab = spec.model.vocab
    highest: int | None = None
    changed = {}
    for token in sorted(spec.added_tokens, key=lambda token: token.id):
        given = vocab.get(token.content)
        if given is None:
            given = len(vocab) if highest is None or highest < len(vocab) else highest + 1
            if given != token.id:
                changed[token.content] = token.id
                given = token.id
        highest = given if highest is None else max(highest, given)
    if not changed:
        return spec
    model = spec.model
    # `ignore_merges` looks whole words up; in text as given, such a token is always found before that.
    is_hidden = all(
        len(token.content) > 1
        and (
            not getattr(model, "ignore_merges", False)
            or (spec.normalizer is None and not token.single_word)
        )
        for token in spec.added_tokens
        if token.content in changed
    )
    if isinstance(model, BPE) and is_hidden:
        added = {token.content: token.id for token in spec.added_tokens}
        return replace(spec, model=replace(model, vocab={**vocab, **added}))
    content, id = next(iter(changed.items()))
    found = f"id {id} for {content!r}, which other libraries number otherwise"
    raise PortabilityError("added_tokens", found, f"ids that follow the model's, or {_KEPT_BY_OWN}")


# ---- SentencePiece


def _without_sentencepiece(spec: TokenizerSpec) -> TokenizerSpec:
    model = spec.model
    normalizer = _mapped_normalizer(spec.normalizer)
    changed = replace(spec, normalizer=normalizer, decoder=_mapped_decoder(spec.decoder))
    if not isinstance(model, SentencePiece):
        return changed
    if spec.pre_tokenizer is not None:
        found = f"{type(spec.pre_tokenizer).__name__} before a SentencePiece model"
        raise PortabilityError("pre_tokenizer", found, _KEPT_BY_OWN)
    _refuse_piece_types(model)
    if model.kind == "unigram":
        entries, splits = _unigram(model)
        return replace(changed, model=entries, pre_tokenizer=splits)
    if model.kind in ("bpe", "char"):
        return replace(changed, model=_bpe(model))
    found = f"{model.kind!r}: other libraries do not join unknown words"
    raise PortabilityError("model.kind", found, f"'unigram', 'bpe' or 'char', or {_KEPT_BY_MODEL}")


def _members(stage: Any) -> tuple[Any, ...]:
    for name in ("normalizers", "decoders"):
        if hasattr(stage, name):
            return tuple(inner for member in getattr(stage, name) for inner in _members(member))
    return (stage,)


def _mapped_normalizer(normalizer: Normalizer | None) -> Normalizer | None:
    if isinstance(normalizer, SentencePieceNormalizer):
        stages = _normalizers(normalizer)
        return SequenceNormalizer(stages) if stages else None
    if isinstance(normalizer, SequenceNormalizer):
        mapped = (_mapped_normalizer(member) for member in normalizer.normalizers)
        return SequenceNormalizer(tuple(member for member in mapped if member is not None))
    return normalizer


def _normalizers(spec: SentencePieceNormalizer) -> tuple[Normalizer, ...]:
    """Return the steps one by one: spaces trimmed, one put before or after, then escaped."""
    if spec.charsmap:
        found = "normalization rules, which other libraries apply within single characters"
        expected = f"the rules 'identity', or {_KEPT_BY_MODEL}"
        raise PortabilityError("normalizer.charsmap", found, expected)
    for symbol in spec.user_defined_symbols:
        if " " in symbol:
            found = f"{symbol!r}, a symbol with a space"
            raise PortabilityError("normalizer.user_defined_symbols", found, _KEPT_BY_MODEL)
    trims, suffix = spec.remove_extra_whitespaces, spec.treat_whitespace_as_suffix
    space = _METASPACE if spec.escape_whitespaces else " "
    stages: list[Normalizer] = []
    if trims:
        stages += [Replace(Regex(r"\A +"), ""), Replace(Regex(" {2,}"), " ")]
    if spec.add_dummy_prefix and suffix:
        ends = f"(?:[ {space}]+|(?<=[^ {space}]))\\z" if trims else r"(?<=[\s\S])\z"
        stages.append(Replace(Regex(ends), space))
    elif trims:
        stages.append(Replace(Regex(f"[ {space}]+\\z"), ""))
    if spec.add_dummy_prefix and not suffix:
        stages.append(Prepend(space))
    if spec.escape_whitespaces:
        stages.append(Replace(" ", _METASPACE))
    return tuple(stages)


def _mapped_decoder(decoder: Decoder | None) -> Decoder | None:
    if isinstance(decoder, SentencePieceDecoder):
        return _decoders(decoder)
    if isinstance(decoder, SequenceDecoder):
        members = (_mapped_decoder(member) for member in decoder.decoders)
        return SequenceDecoder(tuple(member for member in members if member is not None))
    return decoder


def _decoders(spec: SentencePieceDecoder) -> SequenceDecoder:
    """Return decoders for the same text; control pieces leave no trace."""
    if spec.denormalizer is not None:
        found = "rules, which decoders of other libraries do not have"
        raise PortabilityError("decoder.denormalizer", found, f"none, or {_KEPT_BY_MODEL}")
    stages: list[Decoder] = []
    if spec.control_symbols:
        names = "|".join(_escaped(symbol) for symbol in spec.control_symbols)
        stages.append(ReplaceDecoder(Regex(f"\\A(?:{names})\\z"), ""))
    stages.append(ReplaceDecoder(Regex(f"\\A{_escaped(spec.unk_piece)}\\z"), spec.unk_surface))
    stages.append(ReplaceDecoder(_METASPACE, " "))
    if spec.byte_fallback:
        stages.append(ByteFallback())
    stages.append(Fuse())
    if spec.add_dummy_prefix or spec.remove_extra_whitespaces:
        # The space that begins the surface of an unknown piece stays.
        surface = spec.unk_surface
        kept = f"(?!{_escaped(surface[1:])})" if surface.startswith(" ") and surface[1:] else ""
        spaces = " +" if spec.remove_extra_whitespaces else " "
        stages.append(ReplaceDecoder(Regex(f"\\A{spaces}{kept}"), ""))
    return SequenceDecoder(tuple(stages))


def _escaped(text: str) -> str:
    """Write a text as a regular expression; letters and digits stay what they are."""
    return "".join(
        c if c.isalnum() or c == "_" or ord(c) > 127 else f"\\x{ord(c):02x}" for c in text
    )


def _refuse_piece_types(model: SentencePiece) -> None:
    for piece in model.pieces:
        if piece.type in ("user_defined", "unused"):
            found = f"{piece.text!r}, a piece of type {piece.type!r}"
            raise PortabilityError("model.pieces", found, _KEPT_BY_MODEL)
        if piece.type in ("control", "unknown") and len(piece.text) == 1:
            found = f"{piece.text!r}, one character as a piece of type {piece.type!r}"
            raise PortabilityError("model.pieces", found, _KEPT_BY_MODEL)
        if not piece.text:
            raise PortabilityError("model.pieces", "an empty piece", _KEPT_BY_MODEL)


def _bpe(model: SentencePiece) -> BPE:
    scores = {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}
    merges: tuple[tuple[str, str], ...] = ()
    if model.kind == "bpe":
        for piece in scores:
            missing = next((c for c in piece if c not in scores), None)
            if missing is not None and len(piece) > 1:
                found = f"{piece!r}, whose character {missing!r} is no piece"
                raise PortabilityError("model.pieces", found, _KEPT_BY_MODEL)
        try:
            merges = ranked_merges(scores, model.vocab)
        except AmbiguousOrderError as error:
            names = ", ".join(map(repr, error.args[:3]))
            found = f"scores of {names} that no ranks of merges stand for"
            raise PortabilityError("model.pieces", found, _KEPT_BY_MODEL) from None
    return BPE(
        model.vocab,
        merges,
        unk_token=model.unk_token,
        fuse_unk=True,
        byte_fallback=model.byte_fallback,
    )


def _unigram(model: SentencePiece) -> tuple[Unigram, PreTokenizer | None]:
    """Return the model, and what keeps pieces that are never found in text from being found there."""
    scores = {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}
    lowest = min(scores.values(), default=0.0)
    if model.lowest_score is not None and model.lowest_score != lowest:
        found = f"{model.lowest_score}, another than that of the pieces"
        raise PortabilityError("model.lowest_score", found, _KEPT_BY_MODEL)
    if not scores or 2 * (lowest - _UNKNOWN_PENALTY) >= lowest:
        found = f"{lowest} as the lowest score of a piece"
        raise PortabilityError("model.pieces", found, f"one below 20, or {_KEPT_BY_MODEL}")
    hidden = [piece.text for piece in model.pieces if piece.type != "normal"]
    entries = tuple((p.text, p.score if p.type == "normal" else lowest) for p in model.pieces)
    unk_id = model.vocab.get(model.unk_token or "")
    stages: list[PreTokenizer] = []
    places = _places_apart(hidden, scores)
    if places:
        stages.append(Split(Regex("|".join(places)), "isolated"))
    starts_words = _METASPACE in scores and not any(_METASPACE in piece[1:] for piece in scores)
    if starts_words:
        stages.append(Split(_METASPACE, "merged_with_next"))
    splits = SequencePreTokenizer(tuple(stages)) if len(stages) > 1 else next(iter(stages), None)
    return Unigram(entries, unk_id, model.byte_fallback), splits


def _places_apart(hidden: list[str], scores: dict[str, float]) -> list[str]:
    """Return a regular expression for each text that must not be found: a place in it to split at.

    No piece crosses the place, so splitting there changes nothing else. One of the characters beside it is a
    piece, so unknown characters on both sides are not separated.
    """
    pairs = {text[at : at + 2] for text in hidden for at in range(len(text) - 1)}
    holders: dict[str, list[str]] = {pair: [] for pair in pairs}
    for piece in scores:
        for pair in {piece[at : at + 2] for at in range(len(piece) - 1)} & pairs:
            holders[pair].append(piece)
    places = []
    for text in hidden:
        at = next(
            (
                at
                for at in range(1, len(text))
                if (text[at - 1] in scores or text[at] in scores)
                and not any(_crosses(piece, text, at) for piece in holders[text[at - 1 : at + 1]])
            ),
            None,
        )
        if at is None:
            found = f"{text!r}, which other libraries would find in text"
            raise PortabilityError("model.pieces", found, _KEPT_BY_MODEL)
        places.append(f"(?<={_escaped(text[:at])})(?={_escaped(text[at:])})")
    return places


def _crosses(piece: str, text: str, at: int) -> bool:
    """Tell whether the piece can cover the characters on both sides of a place in the text."""
    for before in range(1, len(piece)):
        first, end = at - before, at - before + len(piece)
        start, stop = max(first, 0), min(end, len(text))
        if text[start:stop] == piece[start - first : stop - first]:
            return True
    return False
