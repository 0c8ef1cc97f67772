//! The order in which pairs of equal score are merged.
//!
//! Two of the orders depend on the pair alone, so the vocabulary does not depend on the order of the
//! corpus. `FirstSeen` compares corpus positions. The first position of a pair changes only when merges
//! remove its earlier occurrences or create new ones.

use std::rc::Rc;

use super::state::MergeState;

/// Gives each pair a key; the pair with the least key is merged first.
pub(super) trait TieBreak {
    type Key: Ord + Clone;

    /// Return a lower bound of the pair's current key, in constant time.
    fn bound(state: &MergeState, pair: u32) -> Self::Key;

    /// Return the pair's current key, or `None` if the pair no longer occurs.
    fn key(state: &mut MergeState, pair: u32) -> Option<Self::Key>;
}

/// `Ties::LowestIds`.
pub(super) struct LowestIds;

/// `Ties::SmallestStrings`.
pub(super) struct SmallestStrings;

/// `Ties::FirstSeen`.
pub(super) struct FirstSeen;

impl TieBreak for LowestIds {
    type Key = (u32, u32);

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        state.pairs.parts(pair)
    }

    fn key(state: &mut MergeState, pair: u32) -> Option<Self::Key> {
        Some(Self::bound(state, pair))
    }
}

impl TieBreak for SmallestStrings {
    type Key = (Rc<str>, Rc<str>);

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        let (left, right) = state.pairs.parts(pair);
        (state.entries.name(left), state.entries.name(right))
    }

    fn key(state: &mut MergeState, pair: u32) -> Option<Self::Key> {
        Some(Self::bound(state, pair))
    }
}

impl TieBreak for FirstSeen {
    type Key = u32;

    fn bound(state: &MergeState, pair: u32) -> Self::Key {
        state.pairs.first_position_bound(pair)
    }

    fn key(state: &mut MergeState, pair: u32) -> Option<Self::Key> {
        state.pairs.first_position(pair, &state.words)
    }
}
