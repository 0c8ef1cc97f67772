//! How a learner of substrings fills the vocabulary.

use crate::entries::Entries;
use crate::Learned;

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
