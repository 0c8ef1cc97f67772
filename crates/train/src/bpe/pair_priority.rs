//! The order in which pairs of equal count are merged.

use std::cmp::Reverse;
use std::rc::Rc;

use crate::entries::Entries;
use crate::merges::packed_words::PackedWords;
use crate::merges::pair_table::PairTable;

/// Gives each pair a key; of pairs with equal counts, the one with the greatest key is merged first.
pub(super) trait PairPriority {
    type Key: Ord;

    /// Return the pair's current key or an upper bound of it, in constant time for keys that change.
    fn bound(entries: &Entries, pairs: &PairTable, pair: u32) -> Self::Key;

    /// Return the pair's current key, or `None` if the bound is the key.
    fn current(_pairs: &mut PairTable, _pair: u32, _words: &PackedWords) -> Option<Self::Key> {
        None
    }
}

/// `BpeTies::LowestIds`.
pub(super) struct LowestIds;

/// `BpeTies::GreatestStrings`.
pub(super) struct GreatestStrings;

/// `BpeTies::ShortestEntries`.
pub(super) struct ShortestEntries;

/// `BpeTies::FirstSeen`. The first position of a pair changes when merges remove its earlier occurrences or
/// create new ones.
pub(super) struct FirstSeen;

impl PairPriority for LowestIds {
    type Key = Reverse<(u32, u32)>;

    fn bound(_entries: &Entries, pairs: &PairTable, pair: u32) -> Self::Key {
        Reverse(pairs.parts(pair))
    }
}

impl PairPriority for GreatestStrings {
    type Key = (Rc<str>, Rc<str>);

    fn bound(entries: &Entries, pairs: &PairTable, pair: u32) -> Self::Key {
        let (left, right) = pairs.parts(pair);
        (entries.name(left), entries.name(right))
    }
}

impl PairPriority for ShortestEntries {
    type Key = Reverse<(usize, String, usize)>;

    fn bound(entries: &Entries, pairs: &PairTable, pair: u32) -> Self::Key {
        let (left, right) = pairs.parts(pair);
        let left_bytes = entries.names()[left as usize].len();
        Reverse((entries.merged_chars(left, right), entries.merged_string(left, right), left_bytes))
    }
}

impl PairPriority for FirstSeen {
    type Key = Reverse<u32>;

    fn bound(_entries: &Entries, pairs: &PairTable, pair: u32) -> Self::Key {
        Reverse(pairs.first_position_bound(pair))
    }

    fn current(pairs: &mut PairTable, pair: u32, words: &PackedWords) -> Option<Self::Key> {
        Some(Reverse(pairs.first_position(pair, words).unwrap_or(u32::MAX)))
    }
}
