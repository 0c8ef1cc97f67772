//! Words spelled by their bytes: an entry for each of the 256, and the merges of short words without a list.
//!
//! Symbols stay where they begin and are linked; the rank of the merge with the next one and the place are
//! one number, of which the least is the leftmost pair of the lowest rank. O(n²) for at most `SHORT` bytes.

use super::pairs::{Pairs, NO_RANK};
use super::Symbol;
use crate::spec::BpeSpec;
use crate::text::printable_of;
use crate::vocab::Vocab;

/// The longest word, in bytes, that is joined here.
pub(super) const SHORT: usize = 32;
const PLACE_BITS: u32 = 5;
/// No merge with the next symbol.
const NEVER: i32 = i32::MAX;

/// The entries of all bytes and how those of two join.
#[derive(Clone, Debug)]
pub(super) struct ByteMerges {
    ids: [u32; 256],
    /// The rank of each pair of bytes.
    ranks: Vec<u32>,
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
        let ranks = ids.iter().flat_map(|&left| ids.iter().map(move |&right| pairs.rank(left, right)));
        Some(Self { ids, ranks: ranks.collect() })
    }

    /// List the symbols of a word before any merge.
    pub(super) fn spell(&self, word: &[u8], symbols: &mut Vec<Symbol>) {
        symbols.clear();
        symbols.extend((0..).zip(word).map(|(at, &byte)| {
            let rank = word.get(at as usize + 1).map_or(NO_RANK, |&next| self.rank(byte, next));
            Symbol { id: self.ids[usize::from(byte)], rank, start: at, end: at + 1 }
        }));
    }

    /// Append the ids of a word of at most `SHORT` bytes.
    pub(super) fn join(&self, word: &[u8], pairs: &Pairs, out: &mut Vec<u32>) {
        let mut row = Row::new();
        for (at, &byte) in word.iter().enumerate() {
            row.ids[at] = self.ids[usize::from(byte)];
            row.after[at] = at as u8 + 1;
            row.before[at] = at.wrapping_sub(1) as u8;
        }
        for (at, two) in word.windows(2).enumerate() {
            row.merges[at] = merge(self.rank(two[0], two[1]), at);
        }
        row.join(word.len(), pairs);
        let mut at = 0;
        while at < word.len() {
            out.push(row.ids[at]);
            at = usize::from(row.after[at]);
        }
    }

    #[inline]
    fn rank(&self, left: u8, right: u8) -> u32 {
        self.ranks[usize::from(left) << 8 | usize::from(right)]
    }
}

/// The symbols of a short word, each at the place of its first byte.
struct Row {
    ids: [u32; SHORT],
    /// Rank and place of the merge with the next symbol.
    merges: [i32; SHORT],
    after: [u8; SHORT],
    before: [u8; SHORT],
}

impl Row {
    fn new() -> Self {
        Self { ids: [0; SHORT], merges: [NEVER; SHORT], after: [0; SHORT], before: [0; SHORT] }
    }

    /// Apply all merges.
    fn join(&mut self, len: usize, pairs: &Pairs) {
        loop {
            let best = self.merges[..len].iter().copied().fold(NEVER, i32::min);
            if best == NEVER {
                return;
            }
            let at = best as usize % SHORT;
            let gone = usize::from(self.after[at]) % SHORT;
            let next = usize::from(self.after[gone]);
            self.ids[at] = pairs.joined((best >> PLACE_BITS) as u32);
            self.after[at] = next as u8;
            self.merges[gone] = NEVER;
            self.merges[at] = NEVER;
            if next < len {
                self.before[next] = at as u8;
                self.merges[at] = merge(pairs.rank(self.ids[at], self.ids[next]), at);
            }
            if at > 0 {
                let before = usize::from(self.before[at]) % SHORT;
                self.merges[before] = merge(pairs.rank(self.ids[before], self.ids[at]), before);
            }
        }
    }
}

#[inline]
fn merge(rank: u32, at: usize) -> i32 {
    if rank == NO_RANK {
        NEVER
    } else {
        (rank << PLACE_BITS) as i32 | at as i32
    }
}
