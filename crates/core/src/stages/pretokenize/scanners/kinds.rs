//! The kinds of characters that patterns distinguish, a bit each, and their tables.

use piecework_unicode::CodePointMap;

use crate::locks::LateStatic;
use crate::stages::pretokenize::simple::NUMERIC_CLASSES;

pub(super) const SPACE: u8 = 1;
pub(super) const NEWLINE: u8 = 2;
pub(super) const NUMBER: u8 = 4;
pub(super) const LETTER: u8 = 8;
/// Characters of the upper part of a word: capitals, letters without case, marks.
pub(super) const UPPER: u8 = 16;
/// Characters of the lower part of a word: small letters, letters without case, marks.
pub(super) const LOWER: u8 = 32;
/// Letters and marks.
pub(super) const WORD: u8 = UPPER | LOWER;
/// The bits that distinguish classes.
pub(super) const CLASSES: u8 = SPACE | NUMBER | LETTER;
/// Chinese characters, for patterns that split them from letters.
pub(super) const HAN: u8 = 64;

/// Punctuation and symbols, for DeepSeek-V3's patterns.
pub(super) const SYMBOL: u8 = 16;
/// Han and kana, for the same.
pub(super) const EAST: u8 = 32;

const KINDS_OF_CLASSES: [(&str, u8); 7] = [
    (r"\s", SPACE),
    (r"[\r\n]", SPACE | NEWLINE),
    (r"\p{N}", NUMBER),
    (r"[\p{Lu}\p{Lt}]", LETTER | UPPER),
    (r"\p{Ll}", LETTER | LOWER),
    (r"[\p{Lm}\p{Lo}]", LETTER | UPPER | LOWER),
    (r"\p{M}", UPPER | LOWER),
];

pub(super) static KINDS: LateStatic<CodePointMap<u8>> =
    LateStatic::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES));

/// With marks as letters.
pub(super) static MARKS_AS_LETTERS_KINDS: LateStatic<CodePointMap<u8>> =
    LateStatic::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain([(r"\p{M}", LETTER)])));

/// With Chinese characters apart: they are letters without case, numbers or others.
pub(super) static HAN_KINDS: LateStatic<CodePointMap<u8>> = LateStatic::new(|| {
    let han = [(r"\p{Han}", HAN), (r"[\p{Han}&&\p{L}]", HAN | LETTER), (r"[\p{Han}&&\p{N}]", HAN | NUMBER)];
    CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain(han))
});

/// With the numbers of the `Digits` pre-tokenizer.
pub(super) static NUMERIC_KINDS: LateStatic<CodePointMap<u8>> = LateStatic::new(|| {
    CodePointMap::of_classes(
        KINDS_OF_CLASSES.into_iter().chain(NUMERIC_CLASSES.map(|class| (class, NUMBER))),
    )
});

/// For DeepSeek-V3's patterns; letters are letters and marks.
pub(super) static DEEPSEEK_KINDS: LateStatic<CodePointMap<u8>> = LateStatic::new(|| {
    CodePointMap::of_classes([
        (r"\s", SPACE),
        (r"[\r\n]", SPACE | NEWLINE),
        (r"\p{N}", NUMBER),
        (r"[\p{L}\p{M}]", LETTER),
        (r"[\p{P}\p{S}]", SYMBOL),
        (r"[一-龥぀-ゟ゠-ヿ]", EAST),
        (r"[\p{L}\p{M}&&[一-龥぀-ゟ゠-ヿ]]", LETTER | EAST),
        (r"[\p{P}\p{S}&&[一-龥぀-ゟ゠-ヿ]]", SYMBOL | EAST),
    ])
});
