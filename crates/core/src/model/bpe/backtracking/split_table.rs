//! What entries are joined from, and whether two of them may stand side by side.
//!
//! Entries are numbered by the time at which they are made, those that words begin with first.
//!
//! Joined alone, the bytes of two entries become just these two unless some merge crosses the border between
//! them first. What stands at the border at a time is known: to the left the entry itself, its right half
//! before that was joined, that half's right half before, and so on; to the right the same with left halves.
//! So all that could have crossed are pairs of one list with the other that stood there at the same time, at
//! most as many as both lists have entries. A pair crosses if it joins before the left entry is made; before
//! the right one is, or at the same time, as of equal merges the leftmost comes first.

use piecework_kernels::merges::{BytePairs, Pairs, NUMBER_BOUND};

use super::merge_table::Joins;
use super::{Merge, Rules, NONE};

/// So many merges ahead the memory for one is asked for.
const AHEAD: usize = 16;

/// The numbers of entries, and how they are joined.
#[derive(Clone, Debug)]
pub(in crate::model) struct Halves {
    /// How many entries are not joined from others: the numbers below.
    symbols: u32,
    /// The halves of each number.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    joins: Joins,
}

impl Halves {
    /// Nothing but symbols, numbered from 0, with room for so many merges.
    pub(in crate::model) fn with_symbols(symbols: usize, most_joined: usize) -> Self {
        Self {
            symbols: symbols as u32,
            lefts: vec![0; symbols],
            rights: vec![0; symbols],
            joins: Joins::with_room_for(most_joined),
        }
    }

    /// Number the symbols and then, by rank, the entries that merges make; also gives the entry of each number.
    /// None if there are too many, if a merge is there twice, or might join what only a later one makes.
    ///
    /// Of the merges that make an entry the first that can happen counts: where the halves of another stand
    /// side by side, so did those of this one, earlier. So a merge of what only a later one makes does no harm
    /// where its entry is made in another way: its own halves never stand side by side.
    pub(super) fn number(rules: &Rules<'_>) -> Option<(Self, Vec<u32>)> {
        let Rules { symbols, merges, entry_bound, .. } = *rules;
        // Every merge makes an entry, and only the first that does counts.
        let most_joined = merges.len().min(entry_bound);
        if symbols.len() + most_joined >= NUMBER_BOUND as usize {
            return None;
        }
        let mut numbers = vec![NONE; entry_bound];
        (0..).zip(symbols).for_each(|(number, &symbol)| numbers[symbol as usize] = number);
        let mut halves = Self::with_symbols(symbols.len(), most_joined);
        let mut entries = symbols.to_vec();
        let mut missed = Vec::new();
        for (at, merge) in merges.iter().enumerate() {
            if let Some([left, right, _]) = merges.get(at + AHEAD).map(|later| later.numbers(&numbers)) {
                halves.joins.prefetch(left, right);
            }
            let [left, right, joined] = merge.numbers(&numbers);
            if left == NONE || right == NONE {
                missed.push(merge);
            } else if halves.is_made_of(joined, left, right) {
                return None;
            } else if joined == NONE && halves.stay_apart(left, right) {
                numbers[merge.joined as usize] = halves.join(left, right);
                entries.push(merge.joined);
            }
        }
        let are_idle = missed.iter().all(|merge| halves.is_idle(merge.numbers(&numbers)));
        are_idle.then_some((halves, entries))
    }

    /// Whether a merge of what only later ones make has nothing to join: one half is never made, or other halves
    /// are what becomes of the whole alone, or something crosses the border between these.
    fn is_idle(&self, [left, right, joined]: [u32; 3]) -> bool {
        match joined {
            _ if left == NONE || right == NONE => true,
            NONE => !self.stay_apart(left, right),
            _ => !self.is_made_of(joined, left, right),
        }
    }

    /// Whether an entry has a number already and is made of these.
    fn is_made_of(&self, number: u32, left: u32, right: u32) -> bool {
        let at = number as usize;
        number != NONE && number >= self.symbols && (self.lefts[at], self.rights[at]) == (left, right)
    }

    /// Let two entries that stay apart so far join to that of the next number.
    pub(in crate::model) fn join(&mut self, left: u32, right: u32) -> u32 {
        let joined = self.lefts.len() as u32;
        self.lefts.push(left);
        self.rights.push(right);
        self.joins.insert(left, right, joined);
        joined
    }

    /// The halves of each number that has some, by number.
    pub(super) fn of_joined(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.lefts.iter().copied().zip(self.rights.iter().copied()).skip(self.symbols as usize)
    }

    /// How many numbers there are.
    pub(super) fn numbers(&self) -> usize {
        self.lefts.len()
    }

    /// What two entries join to, or `NONE`.
    #[inline]
    pub(super) fn joined(&self, left: u32, right: u32) -> u32 {
        self.joins.joined(left, right)
    }

    /// How many entries are not joined from others.
    pub(super) fn symbols(&self) -> u32 {
        self.symbols
    }

    /// Which two bytes join to which number, where the first symbols are bytes.
    pub(in crate::model) fn byte_pairs(&self) -> BytePairs {
        let byte = |number: u32| u8::try_from(number).ok().filter(|_| number < self.symbols);
        let joined = (self.symbols..).zip(self.of_joined());
        BytePairs::of(
            joined.filter_map(|(joined, (left, right))| Some((byte(left)?, byte(right)?, joined))),
        )
    }

    /// Which two entries join to which.
    pub(super) fn pairs(&self) -> &Pairs {
        self.joins.pairs()
    }

    /// The same, without the rest.
    pub(in crate::model) fn into_pairs(self) -> Pairs {
        self.joins.into_pairs()
    }

    /// Whether no merge crosses the border between two entries.
    #[inline]
    pub(in crate::model) fn stay_apart(&self, mut left: u32, mut right: u32) -> bool {
        let mut limit = NONE;
        loop {
            if self.joined(left, right) < limit {
                return false;
            }
            if left.max(right) < self.symbols {
                return true;
            }
            if left > right {
                limit = left;
                left = self.rights[left as usize];
            } else {
                limit = right + 1;
                right = self.lefts[right as usize];
            }
        }
    }

    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.lefts.as_slice()) + size_of_val(self.rights.as_slice()) + self.joins.bytes()
    }
}

impl Merge {
    /// The numbers of its halves and of what they join to.
    fn numbers(&self, numbers: &[u32]) -> [u32; 3] {
        [self.left, self.right, self.joined].map(|entry| numbers[entry as usize])
    }
}
