//! The class masks of a block and of its neighbours.

use super::classes::{ClassMasks, FIRST, IS_LETTER, IS_NON_ASCII, IS_NUMBER, IS_SPACE, SECOND};

/// What the bytes of a block are, a bit for each.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockClasses {
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

    /// What is no space.
    pub(super) fn word(&self) -> u64 {
        self.letter | self.number | self.other
    }
}

/// A block between its neighbours; `base` is its first byte.
pub(super) struct BlockContext {
    pub(super) previous: BlockClasses,
    pub(super) current: BlockClasses,
    pub(super) next: BlockClasses,
    pub(super) base: usize,
}

impl BlockContext {
    /// The bytes that such a one stands before.
    #[inline(always)]
    pub(super) fn after(&self, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) << 1 | of(&self.previous) >> 63
    }

    /// The bytes that have such a one `by` bytes on.
    #[inline(always)]
    pub(super) fn before(&self, by: u32, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) >> by | of(&self.next) << (64 - by)
    }

    /// The first bytes of runs.
    #[inline(always)]
    pub(super) fn first(&self, of: impl Fn(&BlockClasses) -> u64) -> u64 {
        of(&self.current) & !self.after(of)
    }
}
