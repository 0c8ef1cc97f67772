//! The rare bytes where the start of a word takes more to tell than their neighbours.

/// Bytes that `find_starts` could not decide by, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// Apostrophes that a contraction may begin with.
    pub(super) contractions: Vec<u32>,
    /// Where more digits follow than a word may have, or a digit that is not ASCII.
    pub(super) numbers: Vec<u32>,
    /// Last bytes of spaces that are not ASCII and stand before something else.
    pub(super) wide_spaces: Vec<u32>,
    /// Letters after the last byte of something that is not ASCII and may lead them.
    pub(super) wide_leads: Vec<u32>,
    /// Line ends after blanks.
    pub(super) blank_lines: Vec<u32>,
    /// What the scalar scanner is asked about.
    pub(super) zones: Vec<u32>,
}

impl Doubts {
    pub(super) fn clear(&mut self) {
        let Self { contractions, numbers, wide_spaces, wide_leads, blank_lines, zones } = self;
        for list in [contractions, numbers, wide_spaces, wide_leads, blank_lines, zones] {
            list.clear();
        }
    }

    #[inline(always)]
    pub(super) fn note_contractions(&mut self, base: usize, bits: u64) {
        note(&mut self.contractions, base, bits);
    }

    #[inline(always)]
    pub(super) fn note_numbers(&mut self, base: usize, bits: u64) {
        note(&mut self.numbers, base, bits);
    }

    #[inline(always)]
    pub(super) fn note_wide_spaces(&mut self, base: usize, bits: u64) {
        note(&mut self.wide_spaces, base, bits);
    }

    #[inline(always)]
    pub(super) fn note_wide_leads(&mut self, base: usize, bits: u64) {
        note(&mut self.wide_leads, base, bits);
    }

    #[inline(always)]
    pub(super) fn note_blank_lines(&mut self, base: usize, bits: u64) {
        note(&mut self.blank_lines, base, bits);
    }

    #[inline(always)]
    pub(super) fn note_zones(&mut self, base: usize, bits: u64) {
        note(&mut self.zones, base, bits);
    }
}

#[inline(always)]
fn note(list: &mut Vec<u32>, base: usize, mut bits: u64) {
    while bits != 0 {
        list.push(base as u32 + bits.trailing_zeros());
        bits &= bits - 1;
    }
}
