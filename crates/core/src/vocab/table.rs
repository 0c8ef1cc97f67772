//! The tables of a vocabulary: token to id by hash, id to token by index.
//!
//! There are three flat arrays, which a compiled cache stores unchanged: the bytes of all tokens, the span of
//! each id's token, and a hash table with linear probing that is at most half full. Its hash has no seed, so that
//! equal vocabularies have equal tables. Tokens that were chosen to collide get a seed, which is stored, too.

use std::hash::Hasher;

use foldhash::fast::FoldHasher;
use foldhash::SharedSeed;
use piecework_kernels::array::{Array, Text};
use rustc_hash::FxHasher;

use crate::error::{Error, ErrorKind};

/// The span of an id without a token: its end is before its start.
pub(super) const GAP: [u32; 2] = [1, 0];
/// A slot without a token.
pub(super) const EMPTY: [u32; 2] = [0, u32::MAX];
/// Tokens and their ids; some ids may have no token.
#[derive(Clone, Debug, Default)]
pub struct Vocab {
    pub(super) text: Text,
    /// By id: the span of its token in `text`.
    pub(super) spans: Array<[u32; 2]>,
    /// The hash table: upper half of a token's hash, and its id. The number of slots is a power of two.
    pub(super) slots: Array<[u32; 2]>,
    /// The seed of the hashes; 0 is none.
    pub(super) seed: u64,
    pub(super) len: usize,
}

impl Vocab {
    /// Return the id of a token.
    #[must_use]
    pub fn id_of(&self, token: &str) -> Option<u32> {
        find(&self.slots, &self.spans, &self.text, token, hash(self.seed, token)).ok()
    }

    /// Return the token of an id.
    #[must_use]
    pub fn token_of(&self, id: u32) -> Option<&str> {
        let [start, end] = *self.spans.get(id as usize)?;
        self.text.get(start as usize..end as usize)
    }

    /// Return the least number above all ids.
    #[must_use]
    pub fn id_bound(&self) -> usize {
        self.spans.len()
    }

    /// Return the number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Return whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Tokens and ids in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..self.spans.len() as u32).filter_map(|id| Some((self.token_of(id)?, id)))
    }

    /// Return the id of a token; fails if the vocabulary does not contain it. `field` is the field of the error.
    pub fn require(&self, token: &str, field: &str) -> Result<u32, Error> {
        self.id_of(token).ok_or_else(|| {
            Error::new(
                ErrorKind::Vocabulary,
                field,
                format!("{token:?}, which is not in the vocabulary"),
                "an entry of the vocabulary",
            )
        })
    }
}

/// Return the id of a token, or the slot where it would be inserted.
#[inline]
pub(super) fn find(
    slots: &[[u32; 2]],
    spans: &[[u32; 2]],
    text: &str,
    token: &str,
    hash: u64,
) -> Result<u32, usize> {
    let mask = slots.len().wrapping_sub(1);
    let mut slot = hash as usize & mask;
    // At least half of the slots are empty; the bound ends the search in a damaged table as well.
    for _ in 0..slots.len() {
        let [tag, id] = slots[slot];
        if id == EMPTY[1] {
            return Err(slot);
        }
        if tag == (hash >> 32) as u32 {
            let [start, end] = spans[id as usize];
            if text.as_bytes().get(start as usize..end as usize) == Some(token.as_bytes()) {
                return Ok(id);
            }
        }
        slot = (slot + 1) & mask;
    }
    Err(0)
}

/// Return the hash of a token under a seed; 0 is none.
#[inline]
pub(super) fn hash(seed: u64, token: &str) -> u64 {
    if seed != 0 {
        return seeded_hash(seed, token);
    }
    let mut hasher = FxHasher::default();
    hasher.write(token.as_bytes());
    hasher.finish()
}

#[cold]
fn seeded_hash(seed: u64, token: &str) -> u64 {
    let seeds = SharedSeed::from_u64(seed);
    let mut hasher = FoldHasher::with_seed(seed, &seeds);
    hasher.write(token.as_bytes());
    hasher.finish()
}
