//! What learners give, and what they all begin with: counts that can be summed, special tokens and
//! alphabet.

use super::entries::Entries;
use super::progress::Progress;
use crate::count::Counts;
use crate::error::{Error, ErrorKind};

/// One merge, in the order learned: ids are positions in `Learned::vocab`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The left part.
    pub left: u32,
    /// The right part.
    pub right: u32,
    /// Left and right as one entry; it may have been one already.
    pub merged: u32,
    /// How often the pair occurred.
    pub count: u64,
    /// The score that made it the best pair.
    pub score: f64,
}

/// What a learner made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    /// The entries in id order.
    pub vocab: Vec<String>,
    /// The merges that led there; empty for learners that make none.
    pub merges: Vec<Merge>,
    /// Why there are fewer than `vocab_size` entries, if there are.
    pub stopped_early: Option<String>,
}

/// Make sure that there are words and that no sum of characters leaves 64 bits: all other counts are
/// parts of this one.
pub(super) fn check_counts(counts: &Counts, progress: &mut Progress<'_>) -> Result<(), Error> {
    if counts.is_empty() {
        return Err(Error::new(ErrorKind::Corpus, "counts", "no words", "at least one word"));
    }
    let mut total = 0_u64;
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        let chars = word.chars().count() as u64;
        total = count.checked_mul(chars).and_then(|sum| total.checked_add(sum)).ok_or_else(|| {
            Error::new(
                ErrorKind::Training,
                "counts",
                "more than 2^64 - 1 characters in all",
                "a sum within 64 bits",
            )
        })?;
    }
    Ok(())
}

/// Lay down special tokens and alphabet, which must leave within `vocab_size`.
pub(super) fn first_entries(
    prefix: &str,
    special_tokens: &[String],
    alphabet: Vec<String>,
    vocab_size: usize,
) -> Result<Entries, Error> {
    let mut entries = Entries::new(prefix);
    for token in special_tokens {
        entries.add(token);
    }
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
        return Err(Error::new(ErrorKind::Training, "vocab_size", vocab_size.to_string(), expected));
    }
    Ok(entries)
}
