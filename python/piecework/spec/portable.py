"""Convert a specification to components of `tokenizers`, so that a `tokenizer.json` is portable.

Every library that reads the file produces the same ids. A component that others would read differently
raises `PortabilityError`, which names the field and a file format that preserves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from piecework.spec.custom import refuse_custom_stages
from piecework.spec.decoders import ByteFallback, Decoder, Fuse, ReplaceDecoder, SequenceDecoder
from piecework.spec.models import BPE, Unigram, WordPiece
from piecework.spec.normalizers import (
    BertNormalizer,
    Normalizer,
    Prepend,
    Replace,
    SequenceNormalizer,
)
from piecework.spec.patterns import Regex
from piecework.spec.post_processors import ByteLevelProcessing, PostProcessor, SequenceProcessing
from piecework.spec.pre_tokenizers import PreTokenizer, SequencePreTokenizer, Split
from piecework.spec.ranked_merges import KEPT_BY_MODEL, KEPT_BY_OWN, ranked_merges, unportable
from piecework.spec.sentencepiece import (
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
)
from piecework.spec.tokenizer_spec import TokenizerSpec, checked_spec

_METASPACE = "▁"
# An unknown character scores this much less than the worst piece, in all implementations.
_UNKNOWN_PENALTY = 10.0


def is_sentencepiece(spec: TokenizerSpec) -> bool:
    """Return whether a specification has a SentencePiece component."""
    stages = (*_members(spec.normalizer), spec.model, *_members(spec.decoder))
    own = (SentencePiece, SentencePieceNormalizer, SentencePieceDecoder)
    return any(isinstance(stage, own) for stage in stages)


def portable_spec(spec: TokenizerSpec) -> TokenizerSpec:
    """Return a specification of `tokenizers` components that produces the same ids.

    Raises `PortabilityError` if there is no such specification, and `StageError` for custom stages.
    """
    spec = checked_spec(spec)
    refuse_custom_stages(spec.normalizer, spec.pre_tokenizer)
    if spec.parse_special is False:
        found = "False: other libraries parse special tokens in text"
        raise unportable("parse_special", found, KEPT_BY_OWN, "True")
    _check_settings(spec)
    if is_sentencepiece(spec):
        spec = _without_sentencepiece(spec)
    return _with_ids_for_tokenizers(spec)


def portable_json(spec: TokenizerSpec) -> str:
    """Return the text of a `tokenizer.json` that other libraries read with the same ids.

    >>> from piecework.spec import Char
    >>> '"type": "BPE"' in portable_json(TokenizerSpec(Char({"[UNK]": 0, "a": 1})))
    True

    Raises what `portable_spec` does.
    """
    return portable_spec(spec).to_core()[0]


# ---- settings that tokenizers reads differently


def _check_settings(spec: TokenizerSpec) -> None:
    model = spec.model
    for stage in _members(spec.normalizer):
        if isinstance(stage, BertNormalizer) and stage.cleaning != "tokenizers":
            found = f"{stage.cleaning!r}, which other libraries do not have"
            raise unportable("normalizer.cleaning", found, KEPT_BY_OWN, "'tokenizers'")
    if isinstance(model, WordPiece):
        for name, usual in (("unk", "word"), ("segmentation", "greedy")):
            value = getattr(model, name)
            if value != usual:
                found = f"{value!r}, which other libraries ignore"
                raise unportable(f"model.{name}", found, KEPT_BY_OWN, repr(usual))
    inserting = list(_inserting(spec.post_processor))
    if spec.truncation is not None and len(inserting) > 1:
        found = f"{len(inserting)} processors that insert tokens; other libraries truncate these differently"
        raise unportable("post_processor", found, KEPT_BY_OWN, "one such processor")


def _inserting(processor: PostProcessor | None) -> Iterator[PostProcessor]:
    if isinstance(processor, SequenceProcessing):
        for member in processor.processors:
            yield from _inserting(member)
    elif processor is not None and not isinstance(processor, ByteLevelProcessing):
        yield processor


def _with_ids_for_tokenizers(spec: TokenizerSpec) -> TokenizerSpec:
    """Ensure that `tokenizers` assigns the same ids to added tokens.

    `tokenizers` ignores the ids in the file and numbers added tokens outside the model itself. If this
    gives other ids, the tokens are put into the vocabulary of a BPE model, where no merge produces them.
    Other models would match them in text, so they raise.
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
    # `ignore_merges` looks up whole words. Without a normalizer, an added token is matched before that.
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
    found = f"id {id} for {content!r}; other libraries assign another id"
    raise unportable("added_tokens", found, KEPT_BY_OWN, "ids that follow the model's")


# ---- SentencePiece


def _without_sentencepiece(spec: TokenizerSpec) -> TokenizerSpec:
    model = spec.model
    normalizer = _convert_normalizer(spec.normalizer)
    changed = replace(spec, normalizer=normalizer, decoder=_convert_decoder(spec.decoder))
    if not isinstance(model, SentencePiece):
        return changed
    if spec.pre_tokenizer is not None:
        found = f"{type(spec.pre_tokenizer).__name__} before a SentencePiece model"
        raise unportable("pre_tokenizer", found, KEPT_BY_OWN)
    _check_piece_types(model)
    if model.kind == "unigram":
        entries, splits = _unigram(model)
        return replace(changed, model=entries, pre_tokenizer=splits)
    if model.kind in ("bpe", "char"):
        return replace(changed, model=_bpe(model))
    found = f"{model.kind!r}; other libraries do not combine adjacent unknown words"
    raise unportable("model.kind", found, KEPT_BY_MODEL, "'unigram', 'bpe' or 'char'")


def _members(stage: Any) -> tuple[Any, ...]:
    for name in ("normalizers", "decoders"):
        if hasattr(stage, name):
            return tuple(inner for member in getattr(stage, name) for inner in _members(member))
    return (stage,)


def _convert_normalizer(normalizer: Normalizer | None) -> Normalizer | None:
    if isinstance(normalizer, SentencePieceNormalizer):
        stages = _normalizers(normalizer)
        return SequenceNormalizer(stages) if stages else None
    if isinstance(normalizer, SequenceNormalizer):
        converted = (_convert_normalizer(member) for member in normalizer.normalizers)
        return SequenceNormalizer(tuple(member for member in converted if member is not None))
    return normalizer


def _normalizers(spec: SentencePieceNormalizer) -> tuple[Normalizer, ...]:
    """Return a normalizer for each step: remove spaces, add one before or after, escape spaces."""
    if spec.charsmap:
        found = "normalization rules, which other libraries do not apply across characters"
        raise unportable("normalizer.charsmap", found, KEPT_BY_MODEL, "the rules 'identity'")
    for symbol in spec.user_defined_symbols:
        if " " in symbol:
            found = f"{symbol!r}, a symbol with a space"
            raise unportable("normalizer.user_defined_symbols", found, KEPT_BY_MODEL)
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


def _convert_decoder(decoder: Decoder | None) -> Decoder | None:
    if isinstance(decoder, SentencePieceDecoder):
        return _decoders(decoder)
    if isinstance(decoder, SequenceDecoder):
        members = (_convert_decoder(member) for member in decoder.decoders)
        return SequenceDecoder(tuple(member for member in members if member is not None))
    return decoder


def _decoders(spec: SentencePieceDecoder) -> SequenceDecoder:
    """Return decoders that produce the same text; control pieces are dropped."""
    if spec.denormalizer is not None:
        found = "denormalization rules, which other libraries do not support"
        raise unportable("decoder.denormalizer", found, KEPT_BY_MODEL, "none")
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
        # The leading space of `unk_surface` is kept.
        surface = spec.unk_surface
        kept = f"(?!{_escaped(surface[1:])})" if surface.startswith(" ") and surface[1:] else ""
        spaces = " +" if spec.remove_extra_whitespaces else " "
        stages.append(ReplaceDecoder(Regex(f"\\A{spaces}{kept}"), ""))
    return SequenceDecoder(tuple(stages))


def _escaped(text: str) -> str:
    """Escape a text for a regular expression; letters and digits are not changed."""
    return "".join(
        c if c.isalnum() or c == "_" or ord(c) > 127 else f"\\x{ord(c):02x}" for c in text
    )


def _check_piece_types(model: SentencePiece) -> None:
    for piece in model.pieces:
        if piece.type in ("user_defined", "unused"):
            found = f"{piece.text!r}, a piece of type {piece.type!r}"
        elif piece.type in ("control", "unknown") and len(piece.text) == 1:
            found = f"{piece.text!r}, a single character of type {piece.type!r}"
        elif not piece.text:
            found = "an empty piece"
        else:
            continue
        raise unportable("model.pieces", found, KEPT_BY_MODEL)


def _bpe(model: SentencePiece) -> BPE:
    scores = {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}
    merges: tuple[tuple[str, str], ...] = ()
    if model.kind == "bpe":
        for piece in scores:
            missing = next((c for c in piece if c not in scores), None)
            if missing is not None and len(piece) > 1:
                found = f"{piece!r}, whose character {missing!r} is not a piece"
                raise unportable("model.pieces", found, KEPT_BY_MODEL)
        merges = ranked_merges(scores, model.vocab)
    return bpe_of(model, merges)


def bpe_of(model: SentencePiece, merges: tuple[tuple[str, str], ...]) -> BPE:
    """Return a BPE model with the pieces of a SentencePiece model, and merges."""
    return BPE(
        model.vocab,
        merges,
        unk_token=model.unk_token,
        fuse_unk=True,
        byte_fallback=model.byte_fallback,
    )


def _unigram(model: SentencePiece) -> tuple[Unigram, PreTokenizer | None]:
    """Return the model, and splits that prevent matches of control, unknown and byte pieces in text."""
    scores = {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}
    lowest = min(scores.values(), default=0.0)
    if model.lowest_score is not None and model.lowest_score != lowest:
        found = f"{model.lowest_score}, which is not the lowest score of the pieces"
        raise unportable("model.lowest_score", found, KEPT_BY_MODEL)
    if not scores or 2 * (lowest - _UNKNOWN_PENALTY) >= lowest:
        found = f"{lowest} as the lowest score of a piece"
        raise unportable("model.pieces", found, KEPT_BY_MODEL, "one below 20")
    hidden = [piece.text for piece in model.pieces if piece.type != "normal"]
    entries = tuple((p.text, p.score if p.type == "normal" else lowest) for p in model.pieces)
    unk_id = model.vocab.get(model.unk_token or "")
    stages: list[PreTokenizer] = []
    points = _split_points(hidden, scores)
    if points:
        stages.append(Split(Regex("|".join(points)), "isolated"))
    starts_words = _METASPACE in scores and not any(_METASPACE in piece[1:] for piece in scores)
    if starts_words:
        stages.append(Split(_METASPACE, "merged_with_next"))
    splits = SequencePreTokenizer(tuple(stages)) if len(stages) > 1 else next(iter(stages), None)
    return Unigram(entries, unk_id, model.byte_fallback), splits


def _split_points(hidden: list[str], scores: dict[str, float]) -> list[str]:
    """Return for each hidden text a regular expression that matches a split point inside it.

    No piece crosses the split point, so the split changes no other segmentation. At least one of the two
    adjacent characters is a piece, so the split does not separate adjacent unknown characters.
    """
    pairs = {text[at : at + 2] for text in hidden for at in range(len(text) - 1)}
    holders: dict[str, list[str]] = {pair: [] for pair in pairs}
    for piece in scores:
        for pair in {piece[at : at + 2] for at in range(len(piece) - 1)} & pairs:
            holders[pair].append(piece)
    points = []
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
            found = f"{text!r}, which other libraries would match in text"
            raise unportable("model.pieces", found, KEPT_BY_MODEL)
        points.append(f"(?<={_escaped(text[:at])})(?={_escaped(text[at:])})")
    return points


def _crosses(piece: str, text: str, at: int) -> bool:
    """Return whether the piece can cover the characters on both sides of a split point."""
    for before in range(1, len(piece)):
        first, end = at - before, at - before + len(piece)
        start, stop = max(first, 0), min(end, len(text))
        if text[start:stop] == piece[start - first : stop - first]:
            return True
    return False
