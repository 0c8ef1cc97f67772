//! The result of the trainers that merge, and the first steps of all trainers: checks, special tokens, alphabet.

use super::entries::Entries;
use super::progress::Progress;
use super::resume::Merge;
use super::trace::StepLog;
use crate::count::Counts;
use piecework_core::error::{Error, ErrorKind};

/// The result of training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    /// The entries in id order.
    pub vocab: Vec<String>,
    /// The merges in the order of their creation; empty for `TopDown` and `Pruning`.
    pub merges: Vec<Merge>,
    /// The removals in order, for `Pruning` if its settings ask for them.
    pub removals: Vec<Removal>,
    /// The reason why there are fewer than `vocab_size` entries, if there are.
    pub stopped_early: Option<String>,
}

/// One step of the pruning trainer.
#[derive(Clone, Debug, PartialEq)]
pub struct Removal {
    /// The entry that was removed.
    pub entry: String,
    /// What the removal added to the cost of the corpus; a token costs 1 without `balance`.
    pub loss: f64,
    /// The entry that was put back in exchange.
    pub put_back: Option<String>,
}

/// Check that there are words and that the number of characters fits 64 bits, as then all other counts do;
/// return the number of characters in distinct words.
pub(super) fn check_counts(counts: &Counts, progress: &mut Progress<'_>) -> Result<usize, Error> {
    if counts.is_empty() {
        return Err(Error::new(ErrorKind::Corpus, "counts", "no words", "at least one word"));
    }
    let (mut total, mut distinct) = (0_u64, 0);
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        let chars = word.chars().count() as u64;
        distinct += chars as usize;
        total = count.checked_mul(chars).and_then(|sum| total.checked_add(sum)).ok_or_else(|| {
            Error::new(
                ErrorKind::Training,
                "counts",
                "more than 2^64 - 1 characters in all",
                "a sum within 64 bits",
            )
        })?;
    }
    Ok(distinct)
}

/// Report the alphabet, and return special tokens and alphabet as the first entries; fails if `vocab_size` cannot hold
/// them.
pub(super) fn first_entries(
    prefix: &str,
    special_tokens: &[String],
    alphabet: Vec<String>,
    vocab_size: usize,
    log: Option<&StepLog>,
) -> Result<Entries, Error> {
    if let Some(log) = log {
        log.set_alphabet(&alphabet);
    }
    let mut entries = Entries::of(prefix, special_tokens);
    let specials = entries.len();
    for form in alphabet {
        entries.add(&form);
    }
    let needed = entries.len();
    if vocab_size < needed {
        let expected = format!(
            "at least {needed} ({specials} special tokens and an alphabet of {})",
            needed - specials
        );
        let found = vocab_size.to_string();
        return Err(Error::new(ErrorKind::Training, "vocab_size", found, expected).with_limit(needed));
    }
    Ok(entries)
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
