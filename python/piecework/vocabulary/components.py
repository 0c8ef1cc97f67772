"""Convert SentencePiece to the components that `transformers` creates from a `.model`, and back.

Some ids differ from SentencePiece: see docs/reference/conformance.md. `spec.portable` converts what has the
same ids everywhere. `Tokenizer.save` writes the rest as these components, and measures on sample texts what
that changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from piecework._internal._core import Core
from piecework.errors import ArgumentError, PortabilityError
from piecework.spec import (
    NFKD,
    AddedToken,
    ByteFallback,
    Char,
    Fuse,
    Lowercase,
    Metaspace,
    MetaspaceDecoder,
    Precompiled,
    Prepend,
    Regex,
    Replace,
    ReplaceDecoder,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    SequenceDecoder,
    SequenceNormalizer,
    SequencePreTokenizer,
    Strip,
    StripAccents,
    StripDecoder,
    TokenizerSpec,
    Unigram,
    WhitespaceSplit,
)
from piecework.spec.patterns import PrependScheme
from piecework.spec.portable import bpe_of, portable_spec
from piecework.spec.tokenizer_spec import checked_spec
from piecework.vocabulary.pieces import pieces_of

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

_METASPACE = "▁"
_SPACE_REMOVAL = (Strip(left=False, right=True), Replace(Regex(" {2,}"), _METASPACE))
_QUOTES = (Replace("``", '"'), Replace("''", '"'))
_OTHER_SUMS = "add scores in 64 bits and not in 32"


def as_components(spec: TokenizerSpec) -> TokenizerSpec:
    """Express a SentencePiece Unigram or BPE tokenizer with components of tokenizer.json.

    >>> pieces = (ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("▁hug", -3.5))
    >>> normalizer = SentencePieceNormalizer()
    >>> as_components(TokenizerSpec(SentencePiece(pieces), normalizer)).model.vocab
    {'<unk>': 0, '▁hug': 1}

    Control and unknown pieces become special tokens, user-defined pieces added tokens. Raises
    `ArgumentError` for word and character models, and for `treat_whitespace_as_suffix`.
    """
    model, normalizer = pieces_of(spec), spec.normalizer
    if not isinstance(normalizer, SentencePieceNormalizer) or normalizer.treat_whitespace_as_suffix:
        problem = f"must be a SentencePieceNormalizer with spaces as prefixes, not {normalizer!r}"
        raise ArgumentError("normalizer", problem)
    if model.kind == "unigram":
        changed = _unigram(spec, model, normalizer)
    elif model.kind == "bpe":
        changed = _bpe(spec, model, normalizer)
    else:
        problem = f"must be of kind 'unigram' or 'bpe', not of kind {model.kind!r}"
        raise ArgumentError("model", problem)
    given = {token.content for token in spec.added_tokens}
    missing = (token for token in _added_tokens(model) if token.content not in given)
    return replace(changed, added_tokens=(*missing, *spec.added_tokens))


def as_sentencepiece(spec: TokenizerSpec) -> TokenizerSpec:
    """Turn the components that a Unigram tokenizer has for SentencePiece into native SentencePiece stages.

    >>> spec = TokenizerSpec(Unigram((("<unk>", 0.0), ("▁hug", -3.5)), 0), pre_tokenizer=Metaspace())
    >>> as_sentencepiece(spec).model.kind
    'unigram'

    Special tokens become control pieces, other added tokens user-defined pieces. Raises `ArgumentError`
    with the stage that SentencePiece lacks.
    """
    model = checked_spec(spec).model
    if not isinstance(model, Unigram):
        raise ArgumentError("model", f"must be a Unigram model, not {type(model).__name__}")
    special = {token.content for token in spec.added_tokens if token.special}
    added = {token.content for token in spec.added_tokens if not token.special}

    def piece(id: int, text: str, score: float) -> ScoredPiece:
        if id == model.unk_id:
            return ScoredPiece(text, score, "unknown")
        if text in special:
            return ScoredPiece(text, score, "control")
        if text in added:
            return ScoredPiece(text, score, "user_defined")
        is_byte = model.byte_fallback and len(text) == 6 and text.startswith("<0x")
        return ScoredPiece(text, score, "byte" if is_byte else "normal")

    pieces = tuple(piece(id, text, score) for id, (text, score) in enumerate(model.pieces))
    for token in spec.added_tokens:
        if token.content not in model.vocab:
            raise ArgumentError("added_tokens", f"{token.content!r} is not a piece of the model")
    normalizer = _merged_normalizer(spec, tuple(p.text for p in pieces if p.type == "user_defined"))
    return TokenizerSpec(
        SentencePiece(pieces, byte_fallback=model.byte_fallback),
        normalizer,
        decoder=SentencePieceDecoder(
            add_dummy_prefix=normalizer.add_dummy_prefix,
            remove_extra_whitespaces=normalizer.remove_extra_whitespaces,
            unk_piece=model.unk_token or "<unk>",
            control_symbols=tuple(p.text for p in pieces if p.type == "control"),
            byte_fallback=model.byte_fallback,
        ),
        post_processor=spec.post_processor,
        truncation=spec.truncation,
        padding=spec.padding,
    )


def _unigram(
    spec: TokenizerSpec, model: SentencePiece, normalizer: SentencePieceNormalizer
) -> TokenizerSpec:
    entries = tuple((piece.text, piece.score) for piece in model.pieces)
    unk_id = model.vocab.get(model.unk_token or "")
    stages = _rules(normalizer.charsmap)
    scheme: PrependScheme = "always" if normalizer.add_dummy_prefix else "never"
    splits: Any = Metaspace(_METASPACE, scheme)
    decoder = MetaspaceDecoder(_METASPACE, scheme)
    if _splits_at_whitespace(normalizer):
        splits = SequencePreTokenizer((WhitespaceSplit(), splits))
    elif normalizer.remove_extra_whitespaces:
        stages += _SPACE_REMOVAL
    return replace(
        spec,
        model=Unigram(entries, unk_id, model.byte_fallback),
        normalizer=SequenceNormalizer(stages) if stages else None,
        pre_tokenizer=splits,
        decoder=SequenceDecoder((ByteFallback(), decoder)) if model.byte_fallback else decoder,
    )


def _bpe(
    spec: TokenizerSpec, model: SentencePiece, normalizer: SentencePieceNormalizer
) -> TokenizerSpec:
    prefix: tuple[Any, ...] = (Prepend(_METASPACE),) if normalizer.add_dummy_prefix else ()
    rules = _rules(normalizer.charsmap)
    if normalizer.remove_extra_whitespaces:
        rules += _SPACE_REMOVAL
    stripped = (StripDecoder(" ", start=1),) if normalizer.add_dummy_prefix else ()
    return replace(
        spec,
        model=bpe_of(model, merges_of(model)),
        normalizer=SequenceNormalizer((*rules, *prefix, Replace(" ", _METASPACE))),
        decoder=SequenceDecoder(
            (ReplaceDecoder(_METASPACE, " "), ByteFallback(), Fuse(), *stripped)
        ),
    )


def _rules(charsmap: bytes) -> tuple[Any, ...]:
    """Return the normalizers for these rules: what ALBERT and XLNet do before them, then `Precompiled`."""
    return (*_preprocessing(charsmap), Precompiled(charsmap)) if charsmap else ()


def _preprocessing(charsmap: bytes) -> tuple[Any, ...]:
    """Return the preprocessing of ALBERT and XLNet if the rules include it, as the presets' rules do."""
    if _applied(charsmap, "``''") != '""' or _applied(charsmap, "É") not in ("E", "e"):
        return ()
    lowers = _applied(charsmap, "É") == "e"
    return (*_QUOTES, NFKD(), StripAccents(), *((Lowercase(),) if lowers else ()))


def _splits_at_whitespace(normalizer: SentencePieceNormalizer) -> bool:
    """Whether the rules leave no whitespace but spaces and the model removes these: words are split."""
    return (
        normalizer.remove_extra_whitespaces
        and normalizer.add_dummy_prefix
        and _applied(normalizer.charsmap, "\n\t") == "  "
    )


def _applied(charsmap: bytes, text: str) -> str:
    rules = SentencePieceNormalizer(charsmap, False, False, False)
    specification, _ = TokenizerSpec(Char({"[UNK]": 0}), normalizer=rules).to_core()
    return Core.from_json(specification.encode(), "").normalize(text)


def merges_of(model: SentencePiece) -> tuple[tuple[str, str], ...]:
    """Return all splits of a piece into two pieces, by decreasing score, then by the ids of the two."""
    scored = {piece.text: piece.score for piece in model.pieces if piece.type == "normal"}
    vocab = model.vocab
    merges = [
        (-score, vocab[text[:cut]], vocab[text[cut:]], text[:cut], text[cut:])
        for text, score in scored.items()
        for cut in range(1, len(text))
        if text[:cut] in scored and text[cut:] in scored
    ]
    return tuple((left, right) for *_, left, right in sorted(merges))


def _added_tokens(model: SentencePiece) -> list[AddedToken]:
    special = {"unknown": True, "control": True, "user_defined": False}
    return [
        AddedToken(piece.text, id, normalized=False, special=special[piece.type])
        for id, piece in enumerate(model.pieces)
        if piece.type in special
    ]


def _merged_normalizer(spec: TokenizerSpec, symbols: tuple[str, ...]) -> SentencePieceNormalizer:
    given, splits = spec.normalizer, spec.pre_tokenizer
    stages: tuple[Any, ...] = () if given is None else (given,)
    if isinstance(given, SequenceNormalizer):
        stages = given.normalizers
    charsmap = next((stage.charsmap for stage in stages if isinstance(stage, Precompiled)), b"")
    rules = _rules(charsmap)
    rest = stages[len(rules) :] if stages[: len(rules)] == rules else stages
    trims = rest == _SPACE_REMOVAL
    if rest and not trims:
        problem = f"must be Precompiled, then the removal of extra spaces, not {given!r}"
        raise ArgumentError("normalizer", problem)
    if isinstance(splits, SequencePreTokenizer) and splits.pretokenizers[:-1] == (
        WhitespaceSplit(),
    ):
        trims, splits = True, splits.pretokenizers[-1]
    if not isinstance(splits, Metaspace) or splits.replacement != _METASPACE:
        raise ArgumentError("pre_tokenizer", f"must be Metaspace, not {spec.pre_tokenizer!r}")
    return SentencePieceNormalizer(
        charsmap=charsmap,
        add_dummy_prefix=splits.prepend_scheme != "never",
        remove_extra_whitespaces=trims,
        user_defined_symbols=symbols,
    )


# ---- what is nearest to a model without components of the same ids


def portable_or_nearest(spec: TokenizerSpec, *, strict: bool) -> tuple[TokenizerSpec, str | None]:
    """Return components for a SentencePiece tokenizer, and why ids can differ, None if they cannot.

    Raises `PortabilityError` if there are none; with `strict`, also for components with other ids.
    """
    try:
        portable = portable_spec(spec)
    except PortabilityError as error:
        if strict:
            raise
        return _nearest(spec, error), _reason(spec, error)
    is_unigram = isinstance(spec.model, SentencePiece) and spec.model.kind == "unigram"
    return portable, _OTHER_SUMS if is_unigram else None


def _nearest(spec: TokenizerSpec, error: PortabilityError) -> TokenizerSpec:
    """Return the components that transformers builds from this tokenizer; raise `error` if it builds none.

    None exist for unused pieces, denormalization rules, and kinds of models that transformers does not read.
    """
    model, decoder = spec.model, spec.decoder
    if (
        not isinstance(model, SentencePiece)
        or spec.pre_tokenizer is not None
        or model.lowest_score is not None
        or any(piece.type == "unused" or not piece.text for piece in model.pieces)
        or (isinstance(decoder, SentencePieceDecoder) and decoder.denormalizer is not None)
    ):
        raise error
    try:
        components = as_components(spec)
    except ArgumentError:
        raise error from None
    return portable_spec(components)


def _reason(spec: TokenizerSpec, error: PortabilityError) -> str:
    """Return what other libraries do differently, as the end of a sentence."""
    model, normalizer = spec.model, spec.normalizer
    acts = ["match control pieces in text"]
    if isinstance(model, SentencePiece) and any(p.type == "user_defined" for p in model.pieces):
        acts.append("split a text at user-defined pieces")
    if isinstance(normalizer, SentencePieceNormalizer) and normalizer.charsmap:
        acts.append("apply normalization rules within grapheme clusters")
    if len(acts) == 1:
        acts = [f"read {error.place} differently"]
    return " and ".join(filter(None, (", ".join(acts[:-1]), acts[-1])))


def warning_of(reason: str, before: Tokenizer, after: Tokenizer) -> str:
    """Return the text of a `PortabilityWarning`: how many sample texts have other ids, with an example."""
    return (
        f"ids can differ in other libraries, which {reason}: {_measured(before, after)}; "
        "a .model file keeps the ids"
    )


def _measured(before: Tokenizer, after: Tokenizer) -> str:
    texts = list(SAMPLE_TEXTS)
    rows = zip(
        texts,
        before.encode_batch(texts).to_lists(),
        after.encode_batch(texts).to_lists(),
        strict=True,
    )
    changed = [text for text, old, new in rows if old != new]
    if not changed:
        return f"none of {len(texts)} sample texts has others"
    share = f"{len(changed)} of {len(texts)} sample texts ({len(changed) / len(texts):.0%})"
    return f"{share} have others, such as {_example(changed[0], before, after)}"


def _example(text: str, before: Tokenizer, after: Tokenizer) -> str:
    """Show the tokens of the first word that differs on its own, else the tokens of the whole text."""
    for part in (*text.split(), text):
        old, new = before.encode(part), after.encode(part)
        if old.ids != new.ids:
            break
    return f"{part!r} with {' '.join(new.tokens)} instead of {' '.join(old.tokens)}"


# ---- short texts in many languages, on which the ids of two tokenizers are compared before a file is written
#
# They have what normalizers and segmentations treat differently: quotes, decimal points, hyphens, currency
# signs, accents in both forms, full-width and half-width characters, ligatures, emoji, tabs and line ends.


SAMPLE_TEXTS = (
    "The train leaves at half past nine, so we should be there early.",
    "She paid £3.50 for a well-known book (second edition).",
    "“Don't wait for me,” he said – and closed the door.",
    "In 1999 the price was 1,250.75 dollars, about 12.5 % less.",
    "See section 3.2, figure 4-b, or write to info@example.org.",
    "def area(width, height):\n    return width * height  # in m²",
    'name\tvalue\r\n"first"\t-1.5',
    "The office is on the ﬁrst ﬂoor … next to the café.",
    "She said ``yes'' and he said ''no''.",
    "Great work 🎉👍🏽 see you at 5 p.m.!",
    "  two spaces in front,  two between, one behind ",
    "Der Fluß ist 12,5 km lang; Größe und Übung zählen.",
    "L’été dernier, nous avons mangé une crème brûlée à Orléans.",
    "L’e\u0301te\u0301 passe\u0301, sans accents compose\u0301s.",
    "¿Cuándo llega el niño? ¡Mañana por la mañana!",
    "A manhã está fria, mas o coração não.",
    "Domani c'è il mercato; porterò le mele e il caffè.",
    "De kinderen zijn één uur te laat – dat is niet zo’n probleem.",
    "På lørdag går vi til sjøen, og på søndag hviler vi.",
    "Hän lähti kotiin, koska päivä oli jo lyhyt.",
    "Zażółć gęślą jaźń – to zdanie ma wszystkie polskie znaki.",
    "Kůň běžel přes řeku a děti volaly: „Počkej!“",
    "Az idős nő kertjében őzek és tücskök élnek.",
    "Ağaçların gölgesinde İzmir'den gelen ışık vardı.",
    "Trời hôm nay đẹp quá, chúng ta đi dạo nhé.",
    "Завтра утром поезд придёт на пятый путь.",
    "Сьогодні їжак з’їв п’ять яблук.",
    "Утре ще вали сняг в планината.",
    "Το πρωί η θάλασσα ήταν ήσυχη και ο ουρανός καθαρός.",
    "Առավոտյան գյուղում անձրև էր գալիս։",
    "დილით სოფელში წვიმდა.",
    "הרכבת יוצאת בשעה תשע וחצי מהתחנה.",
    "يغادر القطار في الساعة التاسعة والنصف، فلا تتأخر.",
    "قطار ساعت نه و نیم می‌رود.",
    "रेलगाड़ी साढ़े नौ बजे जाती है।",
    "সকালে গ্রামে বৃষ্টি হচ্ছিল।",
    "காலையில் கிராமத்தில் மழை பெய்தது.",
    "ఉదయం ఊరిలో వర్షం పడింది.",
    "รถไฟออกเวลาเก้าโมงครึ่ง",
    "ရထားက ကိုးနာရီခွဲမှာ ထွက်တယ်။",
    "ባቡሩ ከጠዋቱ ሦስት ሰዓት ተኩል ላይ ይነሳል።",
    "电车九点半出发，请不要迟到。",
    "價格是１２５元（含稅），約３．５折。",
    "電車は九時半に出ます。遅れないでください！",
    "ｶﾞﾗｽのｺｯﾌﾟを①番の棚に置く。",
    "기차는 아홉 시 반에 출발합니다.",
    "Treni huondoka saa tatu na nusu asubuhi.",
    "Kereta berangkat pukul setengah sepuluh, jangan terlambat.",
    "Trên bàn có 3 quả cam và 1/2 quả dưa.",
    "½ cup of milk, 20 °C, 5 µm, H₂O and x² + y² = r²",
)
