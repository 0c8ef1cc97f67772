//! The word cache: both tables under one budget.

use piecework_kernels::buckets::{pack, Lookup, PackedIds};

use super::keys::CacheKey;
use super::long_words::LongWords;
use super::short_words::{append, are_ids, state, stored, ShortWords, State, NO_IDS};
use crate::word_key::WordKey;

/// The tables of one thread.
#[derive(Clone, Debug)]
pub(crate) struct WordCache {
    pub(super) short: ShortWords,
    pub(super) long: LongWords,
}

impl WordCache {
    /// Make a cache that takes at most `budget` bytes, and room for `2^initial_bits` short words at first.
    ///
    /// Half of the budget is for short words, three eighths for long ones.
    pub(crate) fn within(budget: usize, initial_bits: u32) -> Self {
        Self {
            short: ShortWords::within(budget / 2, initial_bits),
            long: LongWords::within(budget / 8 * 3),
        }
    }

    /// Return the memory of the tables in bytes, used or not.
    pub(crate) fn memory(&self) -> usize {
        self.short.memory() + self.long.memory()
    }

    /// Append the ids of one word, such as a part of a longer one. Return `false` if it is not cached or still pending.
    pub(crate) fn append_cached<'k>(
        &self,
        lookup: Lookup,
        key: impl FnOnce() -> CacheKey<'k>,
        out: &mut Vec<u32>,
    ) -> bool {
        let entry = self.short.find(lookup);
        if let Some(&entry) = entry.filter(|entry| are_ids(entry)) {
            append(entry, out);
            return true;
        }
        let ids = self.long_ids(entry.map(state), key(), hash_of(lookup));
        ids.inspect(|ids| out.extend_from_slice(ids)).is_some()
    }

    /// Append the ids of words one after the other, up to the first word that is no hit. Return the number of hits.
    #[inline(always)]
    pub(crate) fn append_hits(&self, lookups: &[Lookup], out: &mut Vec<u32>) -> usize {
        self.short.append_hits(lookups, out)
    }

    /// Return the state of the word of a lookup that is no hit; `None` if it has no entry or no short key.
    pub(crate) fn state(&self, lookup: Lookup) -> Option<State> {
        self.short.state(lookup)
    }

    /// Mark a short word as pending with the number of its miss; `has_entry` says whether it has an entry.
    pub(crate) fn set_pending(&mut self, key: WordKey, hash: u64, has_entry: bool, number: u32) {
        self.short.set_pending(key, hash, has_entry, number);
    }

    /// Store the ids of a word unless it has an entry: one that is pending keeps it.
    pub(crate) fn insert_new(&mut self, key: WordKey, ids: &[u32]) {
        if self.short.get(key, key.hash()).is_none() {
            let entry = self.entry(ids);
            self.short.insert(key, key.hash(), entry);
        }
    }

    /// Return the ids of a word in the table of long words, given its state in the table of short words.
    #[inline]
    pub(crate) fn long_ids(&self, state: Option<State>, key: CacheKey<'_>, hash: u64) -> Option<&[u32]> {
        match (state, key) {
            (Some(State::Stored(stored)), _) => self.long.stored(stored),
            (_, CacheKey::Long(word, kind)) => self.long.get(word, hash, kind),
            _ => None,
        }
    }

    /// Store the ids of a word with this hash, or mark a short one as absent if `ids` is `None`.
    pub(crate) fn insert(&mut self, key: CacheKey<'_>, hash: u64, ids: Option<&[u32]>) {
        match key {
            CacheKey::Short(key) => {
                let entry = ids.map_or(NO_IDS, |ids| self.entry(ids));
                self.short.replace(key, hash, entry);
            }
            CacheKey::Long(word, kind) => {
                if let Some(ids) = ids {
                    self.long.insert(word, hash, kind, ids);
                }
            }
            CacheKey::Uncached => {}
        }
    }

    /// Return the entry of a short word: its ids, or where the other table stores them.
    fn entry(&mut self, ids: &[u32]) -> PackedIds {
        pack(ids).or_else(|| self.long.store(ids).map(stored)).unwrap_or(NO_IDS)
    }

    /// Prefetch the bucket or slot of a word.
    #[inline(always)]
    pub(crate) fn prefetch(&self, lookup: Lookup) {
        match WordKey::of_lookup(lookup) {
            Ok(_) => self.short.prefetch(lookup.hash),
            Err(hash) => self.long.prefetch(hash),
        }
    }

    /// Prefetch the bytes and ids of a long word whose slot was prefetched earlier.
    #[inline]
    pub(crate) fn prefetch_found(&self, lookup: Lookup) {
        if let Err(hash) = WordKey::of_lookup(lookup) {
            self.long.prefetch_found(hash);
        }
    }
}

/// Return the hash that a lookup carries.
#[inline]
pub(crate) fn hash_of(lookup: Lookup) -> u64 {
    WordKey::of_lookup(lookup).map_or_else(|hash| hash, |_| lookup.hash)
}
