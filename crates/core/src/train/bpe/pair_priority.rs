//! The order in which pairs of equal count are merged.

use std::cmp::Reverse;
use std::rc::Rc;

use crate::train::entries::Entries;

/// Gives each pair a key; of pairs with equal counts, the one with the greatest key is merged first.
pub(super) trait PairPriority {
    type Key: Ord;

    fn key(entries: &Entries, left: u32, right: u32) -> Self::Key;
}

/// `BpeTies::LowestIds`.
pub(super) struct LowestIds;

/// `BpeTies::GreatestStrings`.
pub(super) struct GreatestStrings;

/// `BpeTies::ShortestEntries`.
pub(super) struct ShortestEntries;

impl PairPriority for LowestIds {
    type Key = Reverse<(u32, u32)>;

    fn key(_entries: &Entries, left: u32, right: u32) -> Self::Key {
        Reverse((left, right))
    }
}

impl PairPriority for GreatestStrings {
    type Key = (Rc<str>, Rc<str>);

    fn key(entries: &Entries, left: u32, right: u32) -> Self::Key {
        (entries.name(left), entries.name(right))
    }
}

impl PairPriority for ShortestEntries {
    type Key = Reverse<(usize, String, usize)>;

    fn key(entries: &Entries, left: u32, right: u32) -> Self::Key {
        let left_bytes = entries.names()[left as usize].len();
        Reverse((entries.merged_chars(left, right), entries.merged_string(left, right), left_bytes))
    }
}
