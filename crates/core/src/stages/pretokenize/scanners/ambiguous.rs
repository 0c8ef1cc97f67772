//! Bytes whose boundary bit does not follow from their neighbours.

/// Positions of ambiguous bytes in ascending order, one list for each repair.
#[derive(Clone, Debug, Default)]
pub(super) struct AmbiguousBytes {
    /// Apostrophes that may begin a contraction.
    pub(super) contractions: Vec<u32>,
    /// First bytes of numbers with too many digits for one word, or bytes of digits that are not ASCII.
    pub(super) numbers: Vec<u32>,
    /// Last bytes of non-ASCII whitespace before another character.
    pub(super) non_ascii_spaces: Vec<u32>,
    /// Letters after the last byte of a non-ASCII character that may begin their word.
    pub(super) non_ascii_leads: Vec<u32>,
    /// Line ends after other whitespace.
    pub(super) blank_lines: Vec<u32>,
    /// Bytes around which the scalar scanner runs again.
    pub(super) rescans: Vec<u32>,
}

impl AmbiguousBytes {
    pub(super) fn clear(&mut self) {
        let Self { contractions, numbers, non_ascii_spaces, non_ascii_leads, blank_lines, rescans } = self;
        for list in [contractions, numbers, non_ascii_spaces, non_ascii_leads, blank_lines, rescans] {
            list.clear();
        }
    }

    #[inline(always)]
    pub(super) fn add_contractions(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.contractions, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_numbers(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.numbers, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_non_ascii_spaces(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.non_ascii_spaces, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_non_ascii_leads(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.non_ascii_leads, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_blank_lines(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.blank_lines, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_rescans(&mut self, base: usize, bits: u64) {
        push_positions(&mut self.rescans, base, bits);
    }
}

/// Append the position of each bit.
#[inline(always)]
fn push_positions(list: &mut Vec<u32>, base: usize, mut bits: u64) {
    while bits != 0 {
        list.push(base as u32 + bits.trailing_zeros());
        bits &= bits - 1;
    }
}
