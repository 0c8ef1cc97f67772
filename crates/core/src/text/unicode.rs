//! Character classes and mappings: one table look-up for every code point.
//!
//! The data is that of tokenizers 0.23 (see tools/unicode-tables), so that ids agree everywhere.

use super::unicode_tables::{
    CLASSES, CLASS_BLOCKS, COMBINING_CLASSES, MAPPED_CHARS, MAPPINGS, MAPPING_BLOCKS, MAPPING_INDEX,
};

/// The versions of the Unicode data in use.
pub const UNICODE_VERSION: &str = "categories 8.0, decompositions 9.0, lowercase 17.0";

const BLOCK_BITS: usize = 7;
const BLOCK_MASK: usize = (1 << BLOCK_BITS) - 1;

/// The class flags of one code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    /// Removed by text cleaning: NUL, U+FFFD, control, format and private-use characters.
    pub const DROP: Self = Self(1);
    /// White_Space.
    pub const WHITESPACE: Self = Self(2);
    /// ASCII punctuation or any P category.
    pub const PUNCTUATION: Self = Self(4);
    /// In the ranges that BERT surrounds with spaces.
    pub const CJK: Self = Self(8);
    /// Mn, what accent stripping removes.
    pub const NONSPACING_MARK: Self = Self(16);
    /// Has a canonical decomposition.
    pub const DECOMPOSES: Self = Self(32);
    /// Has a lowercase mapping.
    pub const HAS_LOWERCASE: Self = Self(64);
    /// Not Mn, yet moved by canonical ordering.
    pub const REORDERS: Self = Self(128);

    /// Whether any flag of `flags` is set.
    #[inline]
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Whether no flag at all is set.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.0 == 0
    }

    /// All flags of both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Look up the class of a character.
#[inline]
#[must_use]
pub fn class_of(c: char) -> Class {
    let code = c as usize;
    let block = CLASS_BLOCKS[code >> BLOCK_BITS] as usize;
    Class(CLASSES[(block << BLOCK_BITS) | (code & BLOCK_MASK)])
}

/// Give the full canonical decomposition of a character, not yet in canonical order.
pub fn decompose(c: char, mut emit: impl FnMut(char)) {
    if let Some(jamo) = hangul_jamo(c) {
        jamo.into_iter().flatten().for_each(emit);
        return;
    }
    match mapping(c, 0) {
        [] => emit(c),
        mapped => mapped.iter().for_each(|&m| emit(m)),
    }
}

/// Give the lowercase of a character, without context.
pub fn lowercase(c: char, mut emit: impl FnMut(char)) {
    match mapping(c, 2) {
        [] => emit(c),
        mapped => mapped.iter().for_each(|&m| emit(m)),
    }
}

/// The canonical combining class of a character with the `REORDERS` flag; 0 for all others.
#[must_use]
pub fn combining_class(c: char) -> u8 {
    COMBINING_CLASSES
        .binary_search_by_key(&c, |&(member, _)| member)
        .map_or(0, |at| COMBINING_CLASSES[at].1)
}

/// The characters that `c` maps to; `field` 0 is the decomposition, 2 the lowercase.
#[inline]
fn mapping(c: char, field: usize) -> &'static [char] {
    let code = c as usize;
    let block = MAPPING_BLOCKS[code >> BLOCK_BITS] as usize;
    let index = MAPPING_INDEX[(block << BLOCK_BITS) | (code & BLOCK_MASK)] as usize;
    let (start, len) = (MAPPINGS[4 * index + field], MAPPINGS[4 * index + field + 1]);
    &MAPPED_CHARS[start as usize..start as usize + len as usize]
}

/// Decompose a Hangul syllable by arithmetic (Unicode core specification, section 3.12).
fn hangul_jamo(c: char) -> Option<[Option<char>; 3]> {
    const FIRST_SYLLABLE: u32 = 0xAC00;
    const VOWELS: u32 = 21;
    const TAILS: u32 = 28;
    let index = u32::from(c).checked_sub(FIRST_SYLLABLE).filter(|&i| i < 19 * VOWELS * TAILS)?;
    let tail = index % TAILS;
    Some([
        char::from_u32(0x1100 + index / (VOWELS * TAILS)),
        char::from_u32(0x1161 + index % (VOWELS * TAILS) / TAILS),
        char::from_u32(0x11A7 + tail).filter(|_| tail != 0),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decomposed(c: char) -> String {
        let mut out = String::new();
        decompose(c, |d| out.push(d));
        out
    }

    #[test]
    fn decomposes_letters_and_hangul() {
        assert_eq!(decomposed('é'), "e\u{301}");
        assert_eq!(decomposed('각'), "\u{1100}\u{1161}\u{11A8}");
        assert_eq!(decomposed('가'), "\u{1100}\u{1161}");
        assert_eq!(decomposed('x'), "x");
    }

    #[test]
    fn lowercases_without_context() {
        let mut out = String::new();
        "İΣ".chars().for_each(|c| lowercase(c, |l| out.push(l)));
        assert_eq!(out, "i\u{307}σ");
    }
}
