"""Candidate texts of a golden file that are the same for every tokenizer: Unicode, patterns, spaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A text that may become a row, with its flag and the reason to have it.

    A text of each of the `groups` should be chosen, and one of each of `always` is.

    >>> Candidate("İ", "case", "a capital whose lower case has two characters").groups
    ()
    """

    text: str
    flag: str
    comment: str
    groups: tuple[str, ...] = ()
    always: str = ""


# ---- characters

SPACES = (
    "\t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2000\u2002\u2007\u2009\u200a\u200b\u2028\u2029\u202f"
    "\u205f\u2060\u3000\ufeff"
)
"""Characters that some definition of whitespace has."""
_DROPPED = (
    "\0\x01\x08\x0e\x1b\x7f\x80\x9f\xad\u061c\u06dd\u070f\u08e2\u200b\u200c\u200d\u200e\u202a\u2066\ufeff"
    "\ufff9\ufffd\ue000\uf8ff\ufdd0\uffff\u0378\U000110bd\U000110cd\U0001d173\U000e0001\U000e0041\U000f0000"
    "\U0010ffff"
)
"""Characters that some cleaning of text drops or keeps."""
_EDGES = "\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0003ffff\U00040000\U000fffff\U00100000"
"""The first and last characters of UTF-8 lengths, and those beside the surrogates."""
_CASED = "ßẞİıſÅKΩΣςÇŐǅǈÆŸϴᲐႠᎠꭰꙀⅧⒶＡ𐐀𞤀𐲀Ꜳ"
_ACCENTED = "éÉñüçåşơảẩǖİœøłđħœẞйёΐάऩযਖ਼ঢ়நொക്ഷชា가각힣ㄱᄀが"
_MARKS = (
    "\u0301\u0323\u0345\u0308\u0338\u20dd\u0903\u093c\u093f\u0e33\u0e48\u1dc0\ufe20\u3099"
    "\U0001d165\u05b0\u064b"
)
_COMPATIBLE = "ﬁﬃ½Ⅷⅷ²①㈱㎏℃™№…‥｡ｶﾞＡ１！～ªºĳŉſﷺﻻ㍿㋿𝐀𝟘🄀⑩ﾡ﹅︙﹛‐‑⁄∕ʰᵃ"
_COMPOSED = "ÅΩKåé\u0344\u0958\u0f73ﬡיִשּ豈⺀⼀丽\u2126\u212b\u037e\u1fef\u2000"
_NUMBERS = "0٣३৩๓０½²①Ⅷ〇一㈠㉈𝟘𐄇🄀𒐀౸꠰𑁒\u19da"
_PUNCTUATION = (
    "!\"#%&'()*,-./:;?@[\\]_{}",
    "$+<=>^`|~",
    "¡§«¶·»¿",
    "¢£¤¥¦¨©¬®¯°±´¸×÷",
    "‐–—―‘’“”„†‡•…‰′‹›‿⁀⁂",
    "€₿℃№™←↑⇒∀∑√≠⌘─█■★☃",
    "、。〃〈「〜〝・《》！，：；？｡｢･",
    "՚։־׀؟٪।॥๏༄჻፡᐀᙭᠀។᳓",
    "\u2e3c\u2e4f\u2e52\u1bfc\u08b6\U00011660\U00016e97\U0001da87",
)
_IDEOGRAPHS = (
    "\u33ff\u3400\u4dbf\u4dc0\u4dff\u4e00\u9fff\ua000\uf8ff\uf900\ufaff\ufb00\U00020000\U0002a6df"
    "\U0002a700\U0002b73f\U0002b740\U0002b81f\U0002b820\U0002b91f\U0002b920\U0002ceaf\U0002f800"
    "\U0002fa1f\U00030000々〆〇⺀⿕가힣ㄱ"
)
"""The first and last characters of the blocks of ideographs, and some beside them."""
BORDERS = frozenset(SPACES + _IDEOGRAPHS)
"""Characters that decide by themselves where a word ends."""
SPECIAL = frozenset(
    _IDEOGRAPHS
    + SPACES
    + _DROPPED
    + _EDGES
    + _CASED
    + _ACCENTED
    + _MARKS
    + _COMPATIBLE
    + _COMPOSED
    + _NUMBERS
).union(*_PUNCTUATION)
"""Characters that engines are known to treat in different ways."""
_EMOJI = (
    "😀", "👍🏽", "👩‍👩‍👧", "🏳️‍🌈", "🇩🇪🇫🇷", "1️⃣#️⃣", "❤️❤", "🫠🫩", "👩🏾‍💻👨", "☺︎☺️",
)  # fmt: skip
_SCRIPTS = (
    "word", "naïve", "straße", "ijzer", "Καλημέρα", "ΟΔΟΣ", "Привет", "Їжак", "Բարև", "שָׁלוֹם",
    "مرحبا", "مُحَمَّد", "ܫܠܡܐ", "ދިވެހި", "ߒߞߏ", "नमस्ते", "क्षत्रिय", "নমস্কার", "ਸਤਿ", "નમસ્તે",
    "ନମସ୍କାର", "வணக்கம்", "నమస్కారం", "ನಮಸ್ಕಾರ", "നമസ്കാരം", "ආයුබෝවන්", "สวัสดี", "น้ำ", "ສະບາຍດີ",
    "བཀྲ་ཤིས", "မင်္ဂလာ", "გამარჯობა", "ᲒᲐᲛᲐᲠᲯᲝᲑᲐ", "안녕하세요", "한국어", "ሰላም", "ᏣᎳᎩ", "ᐃᓄᒃᑎᑐᑦ",
    "ᚠᚢᚦ", "សួស្តី", "ᠮᠣᠩᠭᠣᠯ", "ひらがな", "カタカナ", "ラーメン", "漢字かな", "你好世界", "中文English",
    "㐀㐁", "𠀀𠮷", "𫠝", "ㄅㄆㄇ", "ꆈꌠ", "𞤀𞤣𞤤𞤢𞤥", "𐍅𐌿𐌻", "Tiếng Việt", "Ⓗⓔ", "ʻōlelo", "ə̃ʃ",
)  # fmt: skip
# ---- texts: flag, comment, texts

_CONTRACTIONS = (
    "I'm you're he'd she'll we've it's don't", "I'M YOU'RE HE'D SHE'LL WE'VE IT'S DON'T",
    "I’m don’t it’S", "x'S x's' 's 'S' 're 'RE", "'tis 'll'll 'sx 'dx", "o'clock l'été rock'n'roll",
    "a'ſ a'K", "_'s 1's !'s \n's", "it's'm 's's'S's", " 'm 'M 't", "n't N'T can'T've",
)  # fmt: skip
_WORDS = (
    "Hello, world!", "hello world", "Hello  World", "HELLOWorld helloWorld HelloWORLD", "x.y.z a,b;c",
    "snake_case camelCase kebab-case", "a_b __init__ _ ___", "C++ C# .NET f(x)=y", "1st 2nd 3.14 1,000",
    "$4.99 €5 50% #1 @me", "http://a.bc/d?e=f&g=h#i", "a/b\\c a//b", "(a) [b] {c} <d>", "!? ... --- ***",
    "!!a a!! !a! ?!?!", "a1b2 1a 2b", "αβγabcабв", "abc漢字123かな", "e.g. i.e. U.S.A.", "\"q\" 'q' `q` “q”",
    "Aa aA AA aa", "ÀÉ àé Éa aÉ", "ǅabc aǅ Aǅ", "ʰa aʰ ªx", "漢A A漢 漢a", "a\u0301b e\u0301 \u0301a",
    "é è\u0301 É\u0301", "!\u0301 1\u0301  \u0301", "क\u093fa 1\u093f", "\u0e33 กำ", "_a a_ _1 1_",
    "a\u200db a\u200cb", "ⒶⒷ a🄰", "©a a© a®", "a-b a–b a—b", "x^2 x~y x|y x=y x<y",
    "/usr/bin\n//x !\n?\r\n",
    " !a ?b  !c", "!\n\na !\r\n !/\n", "a!\n b.\n\n c", "the the the", "low lower lowest newest",
    "unaffable unwanted running", "internationalization", "zzzxqj qzxv", "supercalifragilistic",
)  # fmt: skip
_DIGITS = (
    "1", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "1234567890", " 1 12 123 1234",
    "1 2 3", "a1 a12 a123 a1234", "1.5 1,5 1/2 1e9 0x1F", "-1 +1 -12.5", "2024-01-31 12:30", "007 000",
    "½½ 1½ ²³ x² 1²", "ⅧⅧ Ⅷa", "٣٤٥ ३४ ๓๔", "123٣٤ ३12", "①② 1① ㈠", "１２３ 1２3",
)  # fmt: skip
_SPACE_RUNS = (
    " ", "  ", "   ", "    ", "        ", " a", "  a", "   a", "a ", "a  ", "a   ", "a b", "a  b", "a   b",
    "a    b", " a  b   c ", "\t", "\t\t", "\ta", "a\t", "a\tb", "a \tb", "a\t b", "a\t\tb", "  \t  a",
    " 1", "  1", " !", "  !", "   é", " 漢", "  漢  字", " 😀  😀", "▁", "▁▁", "a▁b", " ▁a", "▁ a", "a ▁ b",
    "Ġa Ċ", "a\xa0b", "a \xa0b", "a\xa0 b", " \xa0a", "a\u3000b", "a \u3000 b", "\u3000a", "a\u3000",
    "a \u2003\u2003b", "\u200b a", "a\u200b b", "                a", "a                 b", "a" + " " * 33,
)  # fmt: skip
_LINE_ENDS = (
    "\n", "\n\n", "\n\n\n", "a\n", "\na", "a\nb", "a\n\nb", "a\n\n\nb", "a \nb", "a\n b", "a  \n  b", " \n",
    "\n ", " \n ", "\n  a", "\n\n  a", "a\r\nb", "\r\n", "\r\n\r\n", "a\rb", "\r", "\r\r", "a\n\rb",
    "a \r\n b",
    "a\n\tb", "a\t\nb", "\n\n\n\na", "a\v\fb", "a\x85b", "a \x85 b", "\x85\x85", "a\x85\nb", "a\u2028b",
    "a \u2028 b", "\u2029\n", "a\u2028\u2029b", "\n\xa0a", "a  \n\n  b  ", "\n!\n", ".\n\n", ",\r\n",
    ";\n\n\n}",
    "if x:\n    y\n\n\treturn\n", "   \n   \n", "\n" * 9, " \n" * 4,
)  # fmt: skip
_LONG = (
    "a" * 99, "a" * 100, "a" * 101, "a" * 128, "a" * 199, "a" * 200, "a" * 201, "é" * 51, "é" * 101,
    "漢" * 34, "漢" * 101, "=" * 40, "-" * 17, "ab" * 30, "aab" * 20, "." * 9, "0" * 31, "!" * 20, "ha" * 25,
    "a" * 7, "a" * 16, "a" * 31, "A" * 33, "😀" * 5, "😀" * 26, "xy" * 60, "_" * 24, "#" * 12, "*" * 33,
)  # fmt: skip
_ACCENTS = (
    "éàü ÉÀÜ", "e\u0301a\u0300u\u0308", "a\u0323\u0301 a\u0301\u0323", "e\u0301\u0301\u0301", "\u0301",
    "a \u0301b",
    "İİi̇ I\u0307 ı\u0307", "ǖ u\u0308\u0304 u\u0304\u0308", "q\u0307\u0323 q\u0323\u0307",
    "ộ o\u0302\u0323 o\u0323\u0302",
    "й и\u0306 ё е\u0308", "ά α\u0301 ΐ", "か\u3099 が ｶﾞ", "각 \u1100\u1161\u11a8 가\u11a8",
    "ऩ \u0928\u093c \u0958",
    "நொ ந\u0bc6\u0bbe", "a\u20dd b\u20e3", "क\u0903 \u0903", "A\u030a Å \u212b", "\u1e9b\u0323 \u0344",
    "a\u0338=\u0338 ≠",
    "ø đ ł ħ ı", "Σ\u0301 ς\u0301", "\u05e9\u05c1 שׁ", "\u0627\u0653 آ \u0671", "e\u0301x e\u0301 x\u0301e",
)  # fmt: skip
_CASES = (
    "Σ ΑΣ ΑΣ. ΑΣΑ Σ'", "ΟΔΟΣ ΟΔΥΣΣΕΥΣ", "ς σ Σς", "ß ẞ SS STRASSE Straße", "İ I i ı",
    "İstanbul IĞDIR ırmak",
    "ſ K Å Ω", "ǅ ǆ Ǆ ǈ", "Ⅷ ⅷ Ⓐ ⓐ", "ＡＢ ａｂ", "Ა ა Ⴀ ⴀ", "Ꭰ ꭰ", "𐐀 𐐨 𞤀 𞤢", "ÀÉÎÕÜ ÇÑŸ ÆØÅ", "ЀЖЙЁ",
    "ῼ ᾼ ᾈ ΰ", "Hello HELLO hELLO", "ŉ ǰ ΐ և ﬁ", "ϴ Ω Ⱥ Ⱦ", "A\u030aÉE\u0301",
)  # fmt: skip
_FORMS = (
    "ﬁ ﬃ ﬀx", "½ ⅓ 1½", "² ³ x²", "① ⑩ ⑪", "ＡＢＣ １２３", "！？（）", "ｶﾞ ﾊﾟ ｱ", "㈱ ㍿ ㎏ ㋿", "℃ ℉ Å K Ω",
    "™ ℠ № ℡", "… ‥ ․", "ﷺ ﻻ ﺎ", "ª º ʰ ᵃ", "ĳ ŉ ǆ ſ", "𝐀𝒷𝟘 𝔸", "a\u0300 à", "\u212b \u2126 \u037e \u1fef",
    "豈 丽 ﬡ יִ", "\u0958 \u0929\u093c", "\u2000a\u2003 \u2002", "\xa0a\u202fb", "¨a ´ ¸ ˜", "⼀ ⺟ ⻳",
    "a\u00adb",
    "ｦﾝ ﾡ", "\u0344 \u0374 \u0f73", "🄀 🅐 🈁", "～ ∼ 〜", "ﬅ ẛ \u1e9b\u0323", "\u320f ㉈", "¼a ⅛", "‑ ‐ −",
)  # fmt: skip
_UNKNOWN = (
    "☃", "a☃b", "☃☃ ☃", "\u0378", "\U0010fffe", "𒀀", "a𒀀b𒀀", "漢☃字", "\U0001f9ff", "\ufffd", "ꙮ a",
    "x\u2603 y", "☃a ☃b",
    "a \U000e0100", "ᚠ☃", "\U0001fae8\U0001fae8",
)  # fmt: skip
_KNOWN = (
    ("<0x0A>", "text that looks like a byte token"), ("<0x41>a", "text that looks like a byte token"),
    ("<s></s>", "text that looks like special tokens"), ("<unk>", "text that looks like the unknown token"),
    ("[UNK]", "text that looks like the unknown token"), ("a [UNK] b", "an unknown token among words"),
    ("##a a##b", "text that looks like the prefix of WordPiece"),
    ("a</w>b", "text that looks like a suffix"),
    ("\U0002b820\U0002b91f", "ideographs that BERT's own code separates and tokenizers does not"),
    ("a\u2e3cb a\u2e52b", "punctuation younger than Unicode 8"),
    ("\u08e2 \U000110cd", "format characters younger than Unicode 8"),
    ("a\ue000b", "private use, kept by BERT's own code and dropped by tokenizers"),
    ("①́ ｶﾞ", "rules that grapheme clusters hide"),
    ("x \u200d y", "a joiner, a space in older rules"), ("\u061c", "a mark that older rules lack"),
    ("▁▁▁a ▁", "runs of metaspaces"),
    ("aaa aaaa aaaaa", "ties between overlapping merges"),
    ("a" * 257, "more characters than any limit of words"),
    ("  </s> a", "a special token after leading spaces"), ("house-wife 3.50", "a word after a symbol"),
    ("\u200b", "a text that normalizes to nothing"), ("\u0301\u0301", "a text of marks alone"),
    ("don ' t . ,", "text that clean-up changes"),
    ("\x00", "NUL alone"), ("a\x00b", "NUL in a word"), ("\ufeffa", "a byte order mark before text"),
    ("\udbff\udfff".encode("utf-16", "surrogatepass").decode("utf-16"), "the last code point"),
)  # fmt: skip


def fixed_candidates() -> Iterator[Candidate]:
    """Yield the texts that are the same for every tokenizer."""
    for flag, comment, texts in (
        ("pattern", "contractions", _CONTRACTIONS),
        ("pattern", "words and symbols", _WORDS),
        ("digits", "numbers", _DIGITS),
        ("spaces", "spaces", _SPACE_RUNS),
        ("line-ends", "line ends", _LINE_ENDS),
        ("long-word", "a long word or run", _LONG),
        ("accents", "combining marks and composed letters", _ACCENTS),
        ("case", "letters with special cases", _CASES),
        ("normal-form", "characters that a normalization form changes", _FORMS),
        ("script", "a word of a script", _SCRIPTS),
        ("script", "emoji sequences", _EMOJI),
        ("unknown", "characters that few vocabularies have", _UNKNOWN),
    ):
        yield from (Candidate(text, flag, comment, groups=(text,)) for text in texts)
        if flag in ("spaces", "line-ends"):
            inside = [text for text in texts if text[0].isalpha() and text[-1].isalpha()]
            yield from _joined(flag, comment, inside, "")
        elif flag != "long-word":
            yield from _joined(flag, comment, texts, " ")
    for text, comment in _KNOWN:
        yield Candidate(text, "known-divergence", comment, groups=(text,))
    for flag, characters in (
        ("spaces", SPACES),
        ("clean-text", _DROPPED),
        ("unicode-edge", _EDGES),
        ("case", _CASED),
        ("accents", _ACCENTED),
        ("accents", _MARKS),
        ("normal-form", _COMPATIBLE + _COMPOSED),
        ("digits", _NUMBERS),
        ("script", _IDEOGRAPHS),
    ):
        yield from _around(flag, characters)
    for group in _PUNCTUATION:
        yield from _around("punctuation", group)
        yield Candidate(group, "punctuation", "punctuation and symbols without spaces")


def _joined(flag: str, comment: str, texts: Sequence[str], joint: str) -> Iterator[Candidate]:
    """Yield three texts as one, which is smaller than three rows."""
    for start in range(0, len(texts), 3):
        three = texts[start : start + 3]
        yield Candidate(joint.join(three), flag, f"{comment}, three texts", groups=tuple(three))


def _around(flag: str, characters: str) -> Iterator[Candidate]:
    """Yield each character among letters, spaces and itself, and several of them between letters."""
    for c in dict.fromkeys(characters):
        if "\ud800" <= c <= "\udfff":
            continue
        comment = f"{_name(c)} among letters"
        yield Candidate(f"a{c}b", flag, comment)
        yield Candidate(
            f"a{c} {c}b{c}{c}1{c}", flag, f"{_name(c)} beside spaces, digits and itself"
        )
        yield Candidate(f"{c}a {c}", flag, f"{_name(c)} at the start and the end")
    kept = [c for c in characters if not "\ud800" <= c <= "\udfff"]
    for start in range(0, len(kept), 6):
        group = kept[start : start + 6]
        names = f"{_name(group[0])} to {_name(group[-1])}"
        yield Candidate("a" + "b".join(group) + "c", flag, f"{names}, each between letters")
        yield Candidate(" ".join(group), flag, f"{names}, each between spaces")
        yield Candidate("a " + "b ".join(group) + "c", flag, f"{names}, each after a space")


def _name(c: str) -> str:
    return f"U+{ord(c):04X}"
