//! What a learner starts from, and how it fills the vocabulary.

use super::spec::WordPieceTrainSpec;
use crate::alphabet::Alphabet;
use crate::count::Counts;
use crate::entries::Entries;
use crate::{Learned, Resume};

/// What a learner starts from; it has been checked.
pub(super) struct Start<'a> {
    pub(super) counts: &'a Counts,
    pub(super) spec: &'a WordPieceTrainSpec,
    /// The merges or choices of an earlier run, and where those of this run go.
    pub(super) resume: Resume<'a>,
    /// The number of characters in distinct words.
    pub(super) chars: usize,
    pub(super) alphabet: Alphabet,
    /// The special tokens and the alphabet.
    pub(super) entries: Entries,
}

impl Start<'_> {
    /// The least count of a substring that is learned.
    pub(super) fn min_count(&self) -> u64 {
        self.spec.min_frequency.max(1)
    }
}

/// Append learned entries to the special tokens and the alphabet until there are `size`.
pub(super) fn fill(
    base: &Entries,
    learned: impl IntoIterator<Item = String>,
    size: usize,
    min_count: u64,
) -> Learned {
    let mut entries = base.clone();
    for name in learned {
        if entries.len() == size {
            break;
        }
        entries.add(&name);
    }
    let found = entries.len();
    let stopped_early = (found < size)
        .then(|| format!("no more substrings occur {min_count} times: {found} of {size} entries learned"));
    Learned { vocab: entries.into_names(), stopped_early, ..Learned::default() }
}
