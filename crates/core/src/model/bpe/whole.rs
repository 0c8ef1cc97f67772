//! Words that are entries themselves, for vocabularies that spell bytes by printable characters.
//!
//! Most words that are none are told so by a bit, without being written as such characters.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::text::{printable_of, push_bytes_of_printable};
use crate::vocab::Vocab;

/// Bits for each entry, as a power of two at least.
const FILTER_BITS: usize = 8;

/// A bit for the hash of each entry's bytes.
#[derive(Clone, Debug)]
pub(super) struct WholeWords {
    filter: Vec<u64>,
}

impl WholeWords {
    pub(super) fn collect(vocab: &Vocab) -> Self {
        let mut words =
            Self { filter: vec![0; (FILTER_BITS * vocab.len()).next_power_of_two().max(64) / 64] };
        let mut bytes = Vec::new();
        for (token, _) in vocab.iter() {
            bytes.clear();
            push_bytes_of_printable(token, &mut bytes);
            let (at, bit) = words.place_of(&bytes);
            words.filter[at] |= bit;
        }
        words
    }

    /// The entry that a word is; `spelled` is memory for its characters.
    pub(super) fn id_of(&self, word: &[u8], vocab: &Vocab, spelled: &mut String) -> Option<u32> {
        let (at, bit) = self.place_of(word);
        if self.filter[at] & bit == 0 {
            return None;
        }
        spelled.clear();
        spelled.extend(word.iter().map(|&byte| printable_of(byte)));
        vocab.id_of(spelled)
    }

    fn place_of(&self, bytes: &[u8]) -> (usize, u64) {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let hash = hasher.finish();
        ((hash >> 6) as usize & (self.filter.len() - 1), 1 << (hash & 63))
    }
}
