//! Which of equally scored pairs is merged.
//!
//! Two of the orders depend on the pair alone, so they give the same vocabulary for any order of words.
//! `FirstSeen` needs the order of the corpus: positions in it ascend, and the first position of a pair only
//! moves when merges remove its earlier occurrences or create new ones.

use std::rc::Rc;

use super::merge_state::MergeState;
use super::PairScore;
use crate::error::{Error, ErrorKind};
use crate::train::Counts;

/// Which of the pairs with the best score is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPieceTies {
    /// The pair with the lower left id, then the lower right id, as in `tokenizers`.
    LowestIds,
    /// The pair with the smaller left string, then the smaller right string, by code points; the
    /// continuation prefix is part of a string.
    SmallestStrings,
    /// The pair that occurs first in the corpus; counts must have first positions.
    FirstSeen,
}

impl PairScore {
    /// The ties of this score when the settings do not name them; `TopDown` merges no pairs.
    #[must_use]
    pub fn default_ties(self) -> WordPieceTies {
        match self {
            Self::Likelihood => WordPieceTies::SmallestStrings,
            Self::Pmi => WordPieceTies::FirstSeen,
            Self::Frequency | Self::TopDown => WordPieceTies::LowestIds,
        }
    }
}

impl WordPieceTies {
    /// Reject counts without the positions that the order needs.
    pub(super) fn check(self, counts: &Counts) -> Result<(), Error> {
        if self != Self::FirstSeen || counts.first().is_some() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Argument,
            "ties",
            "\"first-seen\" with counts that have no first positions",
            "counts of one run, shards counted with distinct source numbers (first_source=, source= or \
             `piecework count --first-source`), Counts(..., first=...), or ties=\"smallest-strings\"",
        ))
    }
}

/// Gives each pair a key; of equally scored pairs the one with the least key is merged.
pub(super) trait TieBreak {
    type Key: Ord + Clone;

    /// A key that is not above the key of today; constant time.
    fn bound(state: &MergeState<'_>, pair: u32) -> Self::Key;

    /// The key of today, or `None` when the pair no longer occurs.
    fn key(state: &mut MergeState<'_>, pair: u32) -> Option<Self::Key>;
}

/// `Ties::LowestIds`.
pub(super) struct LowestIds;

/// `Ties::SmallestStrings`.
pub(super) struct SmallestStrings;

/// `Ties::FirstSeen`.
pub(super) struct FirstSeen;

impl TieBreak for LowestIds {
    type Key = (u32, u32);

    fn bound(state: &MergeState<'_>, pair: u32) -> Self::Key {
        state.pairs.parts(pair)
    }

    fn key(state: &mut MergeState<'_>, pair: u32) -> Option<Self::Key> {
        Some(Self::bound(state, pair))
    }
}

impl TieBreak for SmallestStrings {
    type Key = (Rc<str>, Rc<str>);

    fn bound(state: &MergeState<'_>, pair: u32) -> Self::Key {
        let (left, right) = state.pairs.parts(pair);
        (state.entries.name(left), state.entries.name(right))
    }

    fn key(state: &mut MergeState<'_>, pair: u32) -> Option<Self::Key> {
        Some(Self::bound(state, pair))
    }
}

impl TieBreak for FirstSeen {
    type Key = u32;

    fn bound(state: &MergeState<'_>, pair: u32) -> Self::Key {
        state.pairs.first_position_bound(pair)
    }

    fn key(state: &mut MergeState<'_>, pair: u32) -> Option<Self::Key> {
        state.pairs.first_position(pair, &state.corpus)
    }
}
