//! The class masks of a block and of its neighbours.

use super::classes::{Masks, FIRST, IS_LETTER, IS_NUMBER, IS_SPACE, IS_WIDE, SECOND};

/// What the bytes of a block are, a bit for each.
#[derive(Clone, Copy, Default)]
pub(super) struct Block {
    pub(super) letter: u64,
    pub(super) number: u64,
    /// Of the numbers, Chinese characters; those that are numbers.
    pub(super) han: u64,
    pub(super) han_number: u64,
    pub(super) space: u64,
    /// None of the three.
    pub(super) other: u64,
    pub(super) newline: u64,
    /// A space but no line end.
    pub(super) blank: u64,
    /// The ASCII space.
    pub(super) plain_space: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    pub(super) capital: u64,
    pub(super) small: u64,
    /// A letter without case, or a mark.
    pub(super) uncased: u64,
    pub(super) mark: u64,
    pub(super) wide: u64,
}

impl Block {
    pub(super) fn of(masks: &Masks, is_text: u64) -> Self {
        let [letter, number, space, first, second, wide] =
            [IS_LETTER, IS_NUMBER, IS_SPACE, FIRST, SECOND, IS_WIDE].map(|class| masks[class]);
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
            wide,
        }
    }

    /// What is no space.
    pub(super) fn word(&self) -> u64 {
        self.letter | self.number | self.other
    }
}

/// A block between its neighbours; `base` is its first byte.
pub(super) struct Around {
    pub(super) last: Block,
    pub(super) now: Block,
    pub(super) next: Block,
    pub(super) base: usize,
}

impl Around {
    /// The bytes that such a one stands before.
    #[inline(always)]
    pub(super) fn after(&self, of: impl Fn(&Block) -> u64) -> u64 {
        of(&self.now) << 1 | of(&self.last) >> 63
    }

    /// The bytes that have such a one `by` bytes on.
    #[inline(always)]
    pub(super) fn before(&self, by: u32, of: impl Fn(&Block) -> u64) -> u64 {
        of(&self.now) >> by | of(&self.next) << (64 - by)
    }

    /// The first bytes of runs.
    #[inline(always)]
    pub(super) fn first(&self, of: impl Fn(&Block) -> u64) -> u64 {
        of(&self.now) & !self.after(of)
    }
}
