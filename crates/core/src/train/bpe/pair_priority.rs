//! The order in which pairs of equal count are merged.

use std::cmp::Reverse;
use std::rc::Rc;

use super::tracked_pairs::TrackedPair;
use crate::train::entries::Entries;
use crate::train::packed_words::PackedWords;

/// Gives each pair a key; of pairs with equal counts, the one with the greatest key is merged first.
pub(super) trait PairPriority {
    type Key: Ord;

    /// Return the pair's current key or an upper bound of it, in constant time for keys that change.
    fn bound(entries: &Entries, pair: &TrackedPair) -> Self::Key;

    /// Return the pair's current key, or `None` if the bound is the key.
    fn current(_pair: &mut TrackedPair, _words: &PackedWords) -> Option<Self::Key> {
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

    fn bound(_entries: &Entries, pair: &TrackedPair) -> Self::Key {
        Reverse((pair.left, pair.right))
    }
}

impl PairPriority for GreatestStrings {
    type Key = (Rc<str>, Rc<str>);

    fn bound(entries: &Entries, pair: &TrackedPair) -> Self::Key {
        (entries.name(pair.left), entries.name(pair.right))
    }
}

impl PairPriority for ShortestEntries {
    type Key = Reverse<(usize, String, usize)>;

    fn bound(entries: &Entries, pair: &TrackedPair) -> Self::Key {
        let (left, right) = (pair.left, pair.right);
        let left_bytes = entries.names()[left as usize].len();
        Reverse((entries.merged_chars(left, right), entries.merged_string(left, right), left_bytes))
    }
}

impl PairPriority for FirstSeen {
    type Key = Reverse<u32>;

    fn bound(_entries: &Entries, pair: &TrackedPair) -> Self::Key {
        Reverse(pair.first_position_bound())
    }

    fn current(pair: &mut TrackedPair, words: &PackedWords) -> Option<Self::Key> {
        Some(Reverse(pair.first_position(words).unwrap_or(u32::MAX)))
    }
}
