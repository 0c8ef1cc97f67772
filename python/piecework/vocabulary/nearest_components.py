"""Write a SentencePiece tokenizer as transformers would, and measure on sample texts what that changes.

`spec.portable` converts what has the same ids everywhere. The rest gets the components of `as_components`,
which transformers makes of the same `.model`.
"""

from __future__ import annotations

from typing import Any, Protocol

from piecework.errors import ArgumentError, PortabilityError
from piecework.spec import (
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    TokenizerSpec,
)
from piecework.spec.portable import portable_spec
from piecework.vocabulary.components import as_components

_OTHER_SUMS = "add scores in 64 bits and not in 32"


class _Encodes(Protocol):
    def encode(self, text: str) -> Any: ...

    def encode_batch(self, texts: list[str]) -> Any: ...


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
    """Return the components that transformers makes of this tokenizer; raise `error` if it makes none.

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


def warning_of(reason: str, before: _Encodes, after: _Encodes) -> str:
    """Return the text of a `PortabilityWarning`: how many sample texts have other ids, with an example."""
    return (
        f"ids can differ in other libraries, which {reason}: {_measured(before, after)}; "
        "a .model file keeps the ids"
    )


def _measured(before: _Encodes, after: _Encodes) -> str:
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


def _example(text: str, before: _Encodes, after: _Encodes) -> str:
    """Show the tokens of the first word that differs by itself, else the tokens of the whole text."""
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
