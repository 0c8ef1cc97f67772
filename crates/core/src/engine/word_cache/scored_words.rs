//! Words whose ids are valid only after some texts: a route packs them with a score and decides whether to accept them.
//!
//! The table of short words has what the route has packed. If it does not fit there, or the word is long, the table of
//! long words has the ids, with the score as their payload.

use piecework_kernels::buckets::{Lookup, PackedIds};

use super::long_words::LongWords;
use super::short_words::NO_IDS;
use super::tables::WordCache;
use crate::word_key::WordKey;

impl WordCache {
    /// Return what the route has packed for the word of a lookup, or an entry without ids.
    #[inline(always)]
    pub(crate) fn packed(&self, lookup: Lookup) -> Option<&PackedIds> {
        self.short.find(lookup)
    }

    /// Return the score and the ids of a word that has no packed ones; `long_key` is its key among long words.
    pub(crate) fn scored<'k>(
        &self,
        lookup: Lookup,
        long_key: impl FnOnce() -> &'k [u8],
    ) -> Option<(u32, &[u32])> {
        if WordKey::of_lookup(lookup).is_ok_and(|key| self.short.get(key, lookup.hash) != Some(&NO_IDS)) {
            return None;
        }
        let long_key = long_key();
        self.long.get_with_payload(long_key, LongWords::hash(long_key))
    }

    /// Store the ids of a word: packed if they are and it has a short key, otherwise with their score.
    ///
    /// A word that is cached but was not accepted keeps its entry.
    pub(crate) fn insert_scored<'k>(
        &mut self,
        (key, packed): (Option<WordKey>, Option<PackedIds>),
        long_key: impl FnOnce() -> &'k [u8],
        (score, ids): (u32, &[u32]),
    ) {
        if let (Some(key), Some(packed)) = (key, packed) {
            if self.short.get(key, key.hash()).is_none() {
                self.short.insert(key, key.hash(), packed);
            }
            return;
        }
        let long_key = long_key();
        self.long.insert(long_key, LongWords::hash(long_key), score, ids);
        if let Some(key) = key {
            self.short.insert(key, key.hash(), NO_IDS);
        }
    }
}
