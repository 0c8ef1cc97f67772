//! The rare bytes where the start of a word takes more to tell than their neighbours.

/// Bytes that `find_boundaries` could not decide by, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct AmbiguousBytes {
    /// Apostrophes that a contraction may begin with.
    pub(super) contractions: Vec<u32>,
    /// Where more digits follow than a word may have, or a digit that is not ASCII.
    pub(super) numbers: Vec<u32>,
    /// Last bytes of spaces that are not ASCII and stand before something else.
    pub(super) non_ascii_spaces: Vec<u32>,
    /// Letters after the last byte of something that is not ASCII and may lead them.
    pub(super) non_ascii_leads: Vec<u32>,
    /// Line ends after blanks.
    pub(super) blank_lines: Vec<u32>,
    /// What the scalar scanner is asked about.
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
        note(&mut self.contractions, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_numbers(&mut self, base: usize, bits: u64) {
        note(&mut self.numbers, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_non_ascii_spaces(&mut self, base: usize, bits: u64) {
        note(&mut self.non_ascii_spaces, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_non_ascii_leads(&mut self, base: usize, bits: u64) {
        note(&mut self.non_ascii_leads, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_blank_lines(&mut self, base: usize, bits: u64) {
        note(&mut self.blank_lines, base, bits);
    }

    #[inline(always)]
    pub(super) fn add_rescans(&mut self, base: usize, bits: u64) {
        note(&mut self.rescans, base, bits);
    }
}

#[inline(always)]
fn note(list: &mut Vec<u32>, base: usize, mut bits: u64) {
    while bits != 0 {
        list.push(base as u32 + bits.trailing_zeros());
        bits &= bits - 1;
    }
}
