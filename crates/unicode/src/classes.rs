//! Flags of one byte for every code point: what BERT's normalizer and pre-tokenizer test.

use super::tables::{CLASSES, CLASS_BLOCKS};

pub(crate) const BLOCK_BITS: usize = 7;
pub(crate) const BLOCK_MASK: usize = (1 << BLOCK_BITS) - 1;

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

/// A number for the 128 code points around one: where it is the same, so are the classes of all 128.
#[must_use]
pub fn class_block(code: u32) -> u16 {
    CLASS_BLOCKS[code as usize >> BLOCK_BITS]
}
