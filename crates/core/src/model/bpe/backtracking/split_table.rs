//! What entries are merged from, and whether two of them may stand side by side.
//!
//! Entries are numbered by the time at which they are made, those that words begin with first.
//!
//! Joined alone, the bytes of two entries become just these two unless some merge crosses the border between
//! them first. What stands at the border at a time is known: to the left the entry itself, its right half
//! before that was merged, that half's right half before, and so on; to the right the same with left split_table.
//! So all that could have crossed are pairs of one list with the other that stood there at the same time, at
//! most as many as both lists have entries. A pair crosses if it merges before the left entry is made; before
//! the right one is, or at the same time, as of equal merges the leftmost comes first.

use piecework_kernels::merges::{BytePairMap, PairMap, NUMBER_BOUND};

use super::merge_table::MergeTable;
use super::{Merge, MergeRules, NONE};

/// So many merges ahead the memory for one is asked for.
const PREFETCH_DISTANCE: usize = 16;

/// The numbers of entries, and how they are merged.
#[derive(Clone, Debug)]
pub(in crate::model) struct SplitTable {
    /// How many entries are not merged from others: the numbers below.
    symbols: u32,
    /// The split_table of each number.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    merges: MergeTable,
}

impl SplitTable {
    /// Nothing but symbols, numbered from 0, with room for so many merges.
    pub(in crate::model) fn with_symbols(symbols: usize, max_merges: usize) -> Self {
        Self {
            symbols: symbols as u32,
            lefts: vec![0; symbols],
            rights: vec![0; symbols],
            merges: MergeTable::with_capacity(max_merges),
        }
    }

    /// Number the symbols and then, by rank, the entries that merges make; also gives the entry of each number.
    /// None if there are too many, if a merge is there twice, or might join what only a later one makes.
    ///
    /// Of the merges that make an entry the first that can happen counts: where the split_table of another stand
    /// side by side, so did those of this one, earlier. So a merge of what only a later one makes does no harm
    /// where its entry is made in another way: its own split_table never stand side by side.
    pub(super) fn number(rules: &MergeRules<'_>) -> Option<(Self, Vec<u32>)> {
        let MergeRules { symbols, merges, id_bound, .. } = *rules;
        // Every merge makes an entry, and only the first that does counts.
        let max_merges = merges.len().min(id_bound);
        if symbols.len() + max_merges >= NUMBER_BOUND as usize {
            return None;
        }
        let mut numbers = vec![NONE; id_bound];
        (0..).zip(symbols).for_each(|(number, &symbol)| numbers[symbol as usize] = number);
        let mut split_table = Self::with_symbols(symbols.len(), max_merges);
        let mut entries = symbols.to_vec();
        let mut skipped = Vec::new();
        for (at, merge) in merges.iter().enumerate() {
            if let Some([left, right, _]) =
                merges.get(at + PREFETCH_DISTANCE).map(|later| later.numbers(&numbers))
            {
                split_table.merges.prefetch(left, right);
            }
            let [left, right, merged] = merge.numbers(&numbers);
            if left == NONE || right == NONE {
                skipped.push(merge);
            } else if split_table.has_split(merged, left, right) {
                return None;
            } else if merged == NONE && split_table.is_valid_token_pair(left, right) {
                numbers[merge.merged as usize] = split_table.merge(left, right);
                entries.push(merge.merged);
            }
        }
        let never_apply = skipped.iter().all(|merge| split_table.never_applies(merge.numbers(&numbers)));
        never_apply.then_some((split_table, entries))
    }

    /// Whether a merge of what only later ones make has nothing to join: one half is never made, or other split_table
    /// are what becomes of the whole alone, or something crosses the border between these.
    fn never_applies(&self, [left, right, merged]: [u32; 3]) -> bool {
        match merged {
            _ if left == NONE || right == NONE => true,
            NONE => !self.is_valid_token_pair(left, right),
            _ => !self.has_split(merged, left, right),
        }
    }

    /// Whether an entry has a number already and is made of these.
    fn has_split(&self, number: u32, left: u32, right: u32) -> bool {
        let at = number as usize;
        number != NONE && number >= self.symbols && (self.lefts[at], self.rights[at]) == (left, right)
    }

    /// Let two entries that stay apart so far join to that of the next number.
    pub(in crate::model) fn merge(&mut self, left: u32, right: u32) -> u32 {
        let merged = self.lefts.len() as u32;
        self.lefts.push(left);
        self.rights.push(right);
        self.merges.insert(left, right, merged);
        merged
    }

    /// The split_table of each number that has some, by number.
    pub(super) fn splits(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.lefts.iter().copied().zip(self.rights.iter().copied()).skip(self.symbols as usize)
    }

    /// How many numbers there are.
    pub(super) fn numbers(&self) -> usize {
        self.lefts.len()
    }

    /// What two entries join to, or `NONE`.
    #[inline]
    pub(super) fn merged(&self, left: u32, right: u32) -> u32 {
        self.merges.merged(left, right)
    }

    /// How many entries are not merged from others.
    pub(super) fn symbols(&self) -> u32 {
        self.symbols
    }

    /// Which two bytes join to which number, where the first symbols are bytes.
    pub(in crate::model) fn byte_pairs(&self) -> BytePairMap {
        let byte = |number: u32| u8::try_from(number).ok().filter(|_| number < self.symbols);
        let merged = (self.symbols..).zip(self.splits());
        BytePairMap::of(
            merged.filter_map(|(merged, (left, right))| Some((byte(left)?, byte(right)?, merged))),
        )
    }

    /// Which two entries join to which.
    pub(super) fn pairs(&self) -> &PairMap {
        self.merges.pairs()
    }

    /// The same, without the rest.
    pub(in crate::model) fn into_pairs(self) -> PairMap {
        self.merges.into_pairs()
    }

    /// Whether no merge crosses the border between two entries.
    #[inline]
    pub(in crate::model) fn is_valid_token_pair(&self, mut left: u32, mut right: u32) -> bool {
        let mut limit = NONE;
        loop {
            if self.merged(left, right) < limit {
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
        size_of_val(self.lefts.as_slice()) + size_of_val(self.rights.as_slice()) + self.merges.bytes()
    }
}

impl Merge {
    /// The numbers of its split_table and of what they join to.
    fn numbers(&self, numbers: &[u32]) -> [u32; 3] {
        [self.left, self.right, self.merged].map(|entry| numbers[entry as usize])
    }
}
