//! Words spelled by their bytes: an entry for each of the 256, and the merges of all but very long words in one
//! row of numbers.
//!
//! Symbols stay where they begin and are linked. The rank of the merge with the next one and the place are one
//! number, of which the least is the leftmost pair of the lowest rank; the least of every 16 is kept. O(n²/16)
//! for at most `MOST` bytes.

use super::pairs::{Merge, Pairs, NO_RANK};
use super::Symbol;
use crate::spec::BpeSpec;
use crate::text::printable_of;
use crate::vocab::Vocab;

/// The longest word, in bytes, that is joined here.
pub(super) const MOST: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 9;
/// So many places have one least merge.
const BLOCK: usize = 16;
/// No merge with the next symbol.
const NEVER: i32 = i32::MAX;

/// The entries of all bytes and how those of two join.
#[derive(Clone, Debug)]
pub(super) struct ByteMerges {
    ids: [u32; 256],
    /// The merge of each pair of bytes.
    merges: Vec<Merge>,
}

impl ByteMerges {
    /// The entries, if every byte has one and a merge says all of itself by its rank.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab, pairs: &Pairs) -> Option<Self> {
        let has_affix = [&spec.continuing_subword_prefix, &spec.end_of_word_suffix]
            .into_iter()
            .any(|affix| affix.as_ref().is_some_and(|affix| !affix.is_empty()));
        if has_affix || pairs.may_repeat() || pairs.len() >> (i32::BITS - 1 - PLACE_BITS) != 0 {
            return None;
        }
        let mut ids = [0; 256];
        for (byte, id) in (0..=255).zip(&mut ids) {
            *id = vocab.id_of(printable_of(byte).encode_utf8(&mut [0; 4]))?;
        }
        let merges = ids.iter().flat_map(|&left| ids.iter().map(move |&right| pairs.merge(left, right)));
        Some(Self { ids, merges: merges.collect() })
    }

    /// List the symbols of a word before any merge.
    pub(super) fn spell(&self, word: &[u8], symbols: &mut Vec<Symbol>) {
        symbols.clear();
        symbols.extend((0..).zip(word).map(|(at, &byte)| {
            let rank = word.get(at as usize + 1).map_or(NO_RANK, |&next| self.merge(byte, next).rank);
            Symbol { id: self.ids[usize::from(byte)], rank, start: at, end: at + 1 }
        }));
    }

    /// Append the ids of a word of at most `MOST` bytes.
    pub(super) fn join(&self, word: &[u8], pairs: &Pairs, row: &mut Row, out: &mut Vec<u32>) {
        let len = word.len().min(MOST);
        let symbols = row.ids.iter_mut().zip(&mut row.after).zip(&mut row.before);
        for ((at, &byte), ((id, after), before)) in word.iter().enumerate().zip(symbols) {
            *id = self.ids[usize::from(byte)];
            *after = at as u16 + 1;
            *before = at.wrapping_sub(1) as u16;
        }
        row.merges[len - 1..len.next_multiple_of(BLOCK)].fill(NEVER);
        for (at, two) in word.windows(2).enumerate() {
            row.set_merge(at, self.merge(two[0], two[1]));
        }
        row.join(len, pairs);
        let mut at = 0;
        while at < len {
            out.push(row.ids[at]);
            at = usize::from(row.after[at]);
        }
    }

    #[inline]
    fn merge(&self, left: u8, right: u8) -> Merge {
        self.merges[usize::from(left) << 8 | usize::from(right)]
    }
}

/// The symbols of a word, each at the place of its first byte.
#[derive(Clone, Debug)]
pub(super) struct Row {
    ids: [u32; MOST],
    /// Rank and place of the merge with the next symbol.
    merges: [i32; MOST],
    /// The entry that it makes.
    joined: [u32; MOST],
    /// The least merge of each block.
    least: [i32; MOST / BLOCK],
    after: [u16; MOST],
    before: [u16; MOST],
}

impl Default for Row {
    fn default() -> Self {
        Self {
            ids: [0; MOST],
            merges: [NEVER; MOST],
            joined: [0; MOST],
            least: [NEVER; MOST / BLOCK],
            after: [0; MOST],
            before: [0; MOST],
        }
    }
}

impl Row {
    /// Apply all merges.
    fn join(&mut self, len: usize, pairs: &Pairs) {
        let blocks = len.div_ceil(BLOCK);
        (0..blocks).for_each(|block| self.update_least(block * BLOCK));
        loop {
            let best = self.least[..blocks].iter().copied().fold(NEVER, i32::min);
            if best == NEVER {
                return;
            }
            self.join_at(best as usize % MOST, len, pairs);
        }
    }

    #[inline]
    fn join_at(&mut self, at: usize, len: usize, pairs: &Pairs) {
        let gone = usize::from(self.after[at]) % MOST;
        let next = usize::from(self.after[gone]);
        self.ids[at] = self.joined[at];
        self.after[at] = next as u16;
        self.merges[gone] = NEVER;
        self.merges[at] = NEVER;
        if next < len {
            self.before[next] = at as u16;
            self.set_merge(at, pairs.merge(self.ids[at], self.ids[next]));
        }
        if at > 0 {
            let before = usize::from(self.before[at]) % MOST;
            self.set_merge(before, pairs.merge(self.ids[before], self.ids[at]));
            if before / BLOCK != at / BLOCK {
                self.update_least(before);
            }
        }
        if gone / BLOCK != at / BLOCK {
            self.update_least(gone);
        }
        self.update_least(at);
    }

    /// Find the least merge of the block of a place.
    #[inline]
    fn update_least(&mut self, at: usize) {
        let (blocks, _) = self.merges.as_chunks::<BLOCK>();
        self.least[at / BLOCK] = blocks[at / BLOCK].iter().copied().fold(NEVER, i32::min);
    }

    #[inline]
    fn set_merge(&mut self, at: usize, merge: Merge) {
        self.joined[at] = merge.joined;
        self.merges[at] = match merge.rank {
            NO_RANK => NEVER,
            rank => (rank << PLACE_BITS) as i32 | at as i32,
        };
    }
}
