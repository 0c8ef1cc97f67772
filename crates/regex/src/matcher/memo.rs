//! A memo of which instructions fail at which positions and, in look-around, which match.
//!
//! It makes matching linear in the length of the text where backtracking alone is exponential. An entry
//! holds for every search of a text, provided that the rest of the match does not depend on groups. It
//! depends on which enclosing loops have made progress in their current iteration, so each instruction has
//! one slot for each number of such loops.

/// The largest memo: 32 MiB. It covers a window of a longer text.
const MAX_BITS: usize = 1 << 28;

/// What the memo has about an instruction at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoEntry {
    Unknown,
    Fails,
    Matches,
}

/// Two bits for each slot and position.
#[derive(Debug)]
pub(crate) struct Memo {
    slots: usize,
    /// The first position of the window.
    base: usize,
    /// The number of positions in the window.
    positions: usize,
    words: Vec<u64>,
}

impl Memo {
    /// Create an empty memo for the text from `base` to `end`, as far as it fits.
    pub(crate) fn new(slots: u32, base: usize, end: usize) -> Self {
        let slots = (slots as usize).max(1);
        let positions = (MAX_BITS / 2 / slots).min(end - base + 1);
        Self { slots, base, positions, words: vec![0; (positions * slots * 2).div_ceil(64)] }
    }

    /// Return the index of the first bit of an entry, if the position is in the window.
    fn bit(&self, slot: u32, at: usize) -> Option<usize> {
        let position = at.checked_sub(self.base).filter(|&position| position < self.positions)?;
        Some((position * self.slots + slot as usize) * 2)
    }

    /// Return an entry.
    pub(crate) fn get(&self, slot: u32, at: usize) -> MemoEntry {
        let bit = self.bit(slot, at);
        match bit.and_then(|bit| Some(self.words.get(bit / 64)? >> (bit % 64) & 3)) {
            Some(1) => MemoEntry::Fails,
            Some(2) => MemoEntry::Matches,
            _ => MemoEntry::Unknown,
        }
    }

    /// Store an entry. Positions outside of the window are ignored.
    pub(crate) fn set(&mut self, slot: u32, at: usize, entry: MemoEntry) {
        let Some(bit) = self.bit(slot, at) else { return };
        if let Some(word) = self.words.get_mut(bit / 64) {
            *word &= !(3 << (bit % 64));
            *word |= u64::from(entry == MemoEntry::Fails) << (bit % 64);
            *word |= u64::from(entry == MemoEntry::Matches) << (bit % 64 + 1);
        }
    }

    /// Move the window to `at` if a search has left it. Return the number of words that were cleared.
    pub(crate) fn move_to(&mut self, at: usize) -> usize {
        if at < self.base + self.positions {
            return 0;
        }
        self.base = at;
        self.words.fill(0);
        self.words.len()
    }
}
