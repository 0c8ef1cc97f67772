//! The class masks of a block of 64 bytes and of its neighbours.

use super::classes::{ClassMasks, FIRST, IS_LETTER, IS_NON_ASCII, IS_NUMBER, IS_SPACE, SECOND};

/// The class masks of a block, a bit for each byte.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockClasses {
    pub(super) letter: u64,
    pub(super) number: u64,
    /// Chinese characters among the numbers, and those of them that are numbers.
    pub(super) han: u64,
    pub(super) han_number: u64,
    pub(super) space: u64,
    /// Characters that are neither letters, numbers nor whitespace.
    pub(super) other: u64,
    pub(super) newline: u64,
    /// Whitespace other than line ends.
    pub(super) blank: u64,
    /// The ASCII space.
    pub(super) plain_space: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    pub(super) capital: u64,
    pub(super) small: u64,
    /// Letters without case, and marks.
    pub(super) uncased: u64,
    pub(super) mark: u64,
    pub(super) non_ascii: u64,
}

impl BlockClasses {
    pub(super) fn of(masks: &ClassMasks, is_text: u64) -> Self {
        let [letter, number, space, first, second, non_ascii] =
            [IS_LETTER, IS_NUMBER, IS_SPACE, FIRST, SECOND, IS_NON_ASCII].map(|class| masks[class]);
        let other = is_text & !(letter | number | space);
        Self {
            letter,
            number,
            han: number & first,
            han_number: number & second,
            space,
            other,
            newline: space & first,
            blank: space & !first,
            plain_space: space & second,
            apostrophe: other & first,
            slash: other & second,
            capital: letter & first & !second,
            small: letter & !first & !second,
            uncased: letter & second,
            mark: letter & first & second,
            non_ascii,
        }
    }

    /// Return characters other than whitespace.
    pub(super) fn word(&self) -> u64 {
        self.letter | self.number | self.other
    }
}

/// A block with its neighbours; `base` is the position of its first byte.
pub(super) struct BlockContext {
    pub(super) previous: BlockClasses,
    pub(super) current: BlockClasses,
    pub(super) next: BlockClasses,
    pub(super) base: usize,
}

impl BlockContext {
    /// Return the bytes that follow a byte of the class.
    #[inline(always)]
    pub(super) fn after(&self, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) << 1 | of(&self.previous) >> 63
    }

    /// Return the bytes that a byte of the class follows at a distance of `by`.
    #[inline(always)]
    pub(super) fn before(&self, by: u32, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) >> by | of(&self.next) << (64 - by)
    }

    /// Return the first bytes of runs of the class.
    #[inline(always)]
    pub(super) fn first(&self, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) & !self.after(of)
    }
}
