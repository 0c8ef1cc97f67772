//! The order in which pairs of equal score are merged.
//!
//! All orders but one depend on the pair alone, so the vocabulary does not depend on the order of the
//! corpus. `FirstSeen` compares corpus positions. The first position of a pair changes only when merges
//! remove its earlier occurrences or create new ones.

use std::cmp::Reverse;
use std::rc::Rc;

use super::state::MergeState;

/// Gives each pair a key; the pair with the least key is merged first.
pub(super) trait TieBreak {
    type Key: Ord + Clone;
    /// Whether new positions of a pair can lower its key.
    const DEPENDS_ON_POSITIONS: bool = false;

    /// Return a lower bound of the pair's current key, in constant time.
    fn bound(state: &MergeState, pair: u32) -> Self::Key;

    /// Return the pair's current key, or `None` if the pair no longer occurs; the bound, unless keys change.
    fn key(state: &mut MergeState, pair: u32) -> Option<Self::Key> {
        Some(Self::bound(state, pair))
    }
}

/// `Ties::LowestIds`.
pub(super) struct LowestIds;

/// `Ties::SmallestStrings`.
pub(super) struct SmallestStrings;

/// `Ties::GreatestStrings`.
pub(super) struct GreatestStrings;

/// `Ties::ShortestEntries`.
pub(super) struct ShortestEntries;

/// `Ties::FirstSeen`.
pub(super) struct FirstSeen;

impl TieBreak for LowestIds {
    type Key = (u32, u32);

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        state.pairs.parts(pair)
    }
}

impl TieBreak for SmallestStrings {
    type Key = (Rc<str>, Rc<str>);

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        let (left, right) = state.pairs.parts(pair);
        (state.entries.name(left), state.entries.name(right))
    }
}

impl TieBreak for GreatestStrings {
    type Key = Reverse<(Rc<str>, Rc<str>)>;

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        Reverse(SmallestStrings::bound(state, pair))
    }
}

impl TieBreak for ShortestEntries {
    /// Characters and string of the merged entry, and the bytes of the left entry.
    type Key = (usize, Rc<str>, usize);

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        let (left, right) = state.pairs.parts(pair);
        let entries = &state.entries;
        let left_bytes = entries.names()[left as usize].len();
        (entries.merged_chars(left, right), entries.merged_string(left, right).into(), left_bytes)
    }
}

impl TieBreak for FirstSeen {
    type Key = u32;
    const DEPENDS_ON_POSITIONS: bool = true;

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        state.pairs.first_position_bound(pair)
    }

    fn key(state: &mut MergeState, pair: u32) -> Option<Self::Key> {
        state.pairs.first_position(pair, &state.words)
    }
}
