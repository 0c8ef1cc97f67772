//! The character classes of the BERT normalizer and pre-tokenizer: one byte of flags for each code point.
//!
//! The data is that of tokenizers 0.23: categories of Unicode 8.0, decompositions of Unicode 9.0, whitespace and
//! lowercase of Unicode 17.0.

use super::tables::{CLASSES, CLASS_BLOCKS};

/// The number of low bits of a code point that index a block of 128.
pub(crate) const BLOCK_BITS: usize = 7;
pub(crate) const BLOCK_MASK: usize = (1 << BLOCK_BITS) - 1;

/// The class flags of a code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    /// Characters that text cleaning removes: NUL, U+FFFD, control, format and private-use characters.
    pub const DROP: Self = Self(1);
    /// White_Space.
    pub const WHITESPACE: Self = Self(2);
    /// ASCII punctuation and the P categories.
    pub const PUNCTUATION: Self = Self(4);
    /// The ideographs that BERT surrounds with spaces.
    pub const CJK: Self = Self(8);
    /// Category Mn, which accent stripping removes.
    pub const NONSPACING_MARK: Self = Self(16);
    /// Characters with a canonical decomposition.
    pub const DECOMPOSES: Self = Self(32);
    /// Characters with a lowercase mapping.
    pub const HAS_LOWERCASE: Self = Self(64);
    /// Characters outside of Mn that canonical ordering can move.
    pub const REORDERS: Self = Self(128);

    /// Return whether any flag of `flags` is set.
    #[inline]
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Return whether no flag is set.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.0 == 0
    }

    /// Return the flags of both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Return the class of a character.
///
/// The tables are constants, so unlike a [`CodePointMap`](crate::CodePointMap) they are never built.
#[inline]
#[must_use]
pub fn class_of(c: char) -> Class {
    let code = c as usize;
    let block = CLASS_BLOCKS[code >> BLOCK_BITS] as usize;
    Class(CLASSES[(block << BLOCK_BITS) | (code & BLOCK_MASK)])
}

/// Return the number of the block of 128 code points around `code`. Blocks with equal numbers have equal
/// classes.
#[inline]
#[must_use]
pub fn class_block(code: u32) -> u16 {
    CLASS_BLOCKS[code as usize >> BLOCK_BITS]
}
