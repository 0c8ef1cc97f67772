//! The kinds of characters that patterns tell apart, a bit each, and the tables of the common alphabets.

use std::sync::LazyLock;

use crate::pretokenize::simple::NUMERIC_CLASSES;
use crate::text::CodePointMap;

pub(super) const SPACE: u8 = 1;
pub(super) const NEWLINE: u8 = 2;
pub(super) const NUMBER: u8 = 4;
pub(super) const LETTER: u8 = 8;
/// What the upper part of a word may hold: capitals, letters without case, marks.
pub(super) const UPPER: u8 = 16;
/// What the lower part may hold: small letters, letters without case, marks.
pub(super) const LOWER: u8 = 32;
/// What tells a character from the others of a pattern.
pub(super) const CLASSES: u8 = SPACE | NUMBER | LETTER;
/// A character of a word of Chinese characters, where those stand apart.
pub(super) const HAN: u8 = 64;

/// Punctuation or a symbol. Letters are letters and marks here.
pub(super) const SYMBOL: u8 = 16;
/// Han or kana.
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

pub(super) static KINDS: LazyLock<CodePointMap<u8>> =
    LazyLock::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES));

/// Where marks are letters.
pub(super) static MARKS_AS_LETTERS: LazyLock<CodePointMap<u8>> =
    LazyLock::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain([(r"\p{M}", LETTER)])));

/// Where Chinese characters stand apart: as letters they have no case, and may be numbers or others too.
pub(super) static HAN_KINDS: LazyLock<CodePointMap<u8>> = LazyLock::new(|| {
    let han = [(r"\p{Han}", HAN), (r"[\p{Han}&&\p{L}]", HAN | LETTER), (r"[\p{Han}&&\p{N}]", HAN | NUMBER)];
    CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain(han))
});

/// Where numbers are those of the pre-tokenizer for digits.
pub(super) static NUMERIC: LazyLock<CodePointMap<u8>> = LazyLock::new(|| {
    CodePointMap::of_classes(
        KINDS_OF_CLASSES.into_iter().chain(NUMERIC_CLASSES.map(|class| (class, NUMBER))),
    )
});

/// For DeepSeek-V3's patterns.
pub(super) static DEEPSEEK_KINDS: LazyLock<CodePointMap<u8>> = LazyLock::new(|| {
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

/// What BLOOM's words are made of counts as letters, all else as spaces.
pub(super) static BLOOM_KINDS: LazyLock<CodePointMap<u8>> =
    LazyLock::new(|| CodePointMap::of_classes([(r"\p{Any}", LETTER), (r"[(\s|[.,!?…。，、।۔،])]", SPACE)]));

pub(super) static DEEPSEEK_CODER_KINDS: LazyLock<CodePointMap<u8>> = LazyLock::new(|| {
    let numbers = NUMERIC_CLASSES.map(|class| (class, NUMBER));
    let others = [
        (r"[[一-龥ࠀ-一가-퟿]&&[^\p{N}]]", EAST),
        (r"\s", SPACE),
        (r"[\s&&[一-龥ࠀ-一가-퟿]]", SPACE | EAST),
        (r"[\r\n]", SPACE | NEWLINE),
        (r"\p{L}", LETTER),
        (r"[\p{L}&&[一-龥ࠀ-一가-퟿]]", LETTER | EAST),
        (r"\p{P}", SYMBOL),
        (r"[\p{P}&&[一-龥ࠀ-一가-퟿]]", SYMBOL | EAST),
    ];
    CodePointMap::of_classes(numbers.into_iter().chain(others))
});
