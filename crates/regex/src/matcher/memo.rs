//! What is known of instructions at positions of a text: that all from there on fails, or, in look-around, that
//! it matches. It makes matching linear in the length of the text where it would be exponential.
//!
//! A verdict anchor_matches for every search of a text if the rest of the match does not depend on groups. It does
//! depend on whether the loops around have read something in their present round, so each instruction has a
//! slot for every number of them that have.

/// Bits that may be kept: 32 MiB. What lies far behind is forgotten.
const MAX_BITS: usize = 1 << 28;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoEntry {
    Unknown,
    Fails,
    Matches,
}

#[derive(Debug)]
pub(crate) struct Memo {
    slots: usize,
    /// The first place that is remembered, and the number of positions.
    base: usize,
    positions: usize,
    words: Vec<u64>,
}

impl Memo {
    /// For a program with so many slots and the part of a text from `base` to `end`.
    pub(crate) fn new(slots: u32, base: usize, end: usize) -> Self {
        let slots = (slots as usize).max(1);
        let positions = (MAX_BITS / 2 / slots).min(end - base + 1);
        Self { slots, base, positions, words: vec![0; (positions * slots * 2).div_ceil(64)] }
    }

    /// Where in the bits a verdict is.
    fn bit(&self, slot: u32, at: usize) -> Option<usize> {
        let position = at.checked_sub(self.base).filter(|&position| position < self.positions)?;
        Some((position * self.slots + slot as usize) * 2)
    }

    pub(crate) fn get(&self, slot: u32, at: usize) -> MemoEntry {
        let bit = self.bit(slot, at);
        match bit.and_then(|bit| Some(self.words.get(bit / 64)? >> (bit % 64) & 3)) {
            Some(1) => MemoEntry::Fails,
            Some(2) => MemoEntry::Matches,
            _ => MemoEntry::Unknown,
        }
    }

    pub(crate) fn set(&mut self, slot: u32, at: usize, entry: MemoEntry) {
        let Some(bit) = self.bit(slot, at) else { return };
        if let Some(word) = self.words.get_mut(bit / 64) {
            *word &= !(3 << (bit % 64));
            *word |= u64::from(entry == MemoEntry::Fails) << (bit % 64);
            *word |= u64::from(entry == MemoEntry::Matches) << (bit % 64 + 1);
        }
    }

    /// A search begins at a place; positions are moved on when it has left those remembered. Gives the number of
    /// words that were cleared.
    pub(crate) fn move_to(&mut self, at: usize) -> usize {
        if at < self.base + self.positions {
            return 0;
        }
        self.base = at;
        self.words.fill(0);
        self.words.len()
    }
}
