//! The word cache of one thread: words to ids, bounded in memory. It uses no stage and no model.
//!
//! Both tables share one budget. The words of a window are hashed and their buckets prefetched together, so that the
//! latencies of memory overlap.
//!
//! A route may pack words with a score and decide whether to accept them, because their ids are valid only after some
//! texts. The table of short words has what the route has packed. If it does not fit there, or the word is long, the
//! table of long words has the ids, with the score as their payload.
//!
//! ```text
//! short_words   words of up to 15 bytes, two in a bucket, up to four ids beside each
//! long_words    longer words, and the ids of words that have more than four
//! ```

mod long_words;
mod short_words;

pub(crate) use short_words::{State, NO_IDS};

pub(crate) use piecework_kernels::buckets::{Lookup, PackedIds, MAX_IDS};

use piecework_kernels::buckets::pack;

use crate::word_key::WordKey;
use long_words::{long_hash, LongWords};
use short_words::{append, are_ids, state, stored, ShortWords};

/// How the cache identifies a word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CacheKey<'w> {
    /// By the bytes themselves, up to 15.
    Short(WordKey),
    /// By more bytes and a kind: words of different kinds never match.
    Long(&'w [u8], u32),
    /// Not at all: the word is segmented each time.
    Uncached,
}

impl CacheKey<'_> {
    /// Return the key of the word at `start..end` of a text; a word of more than `max_bytes` is not cached.
    #[inline(always)]
    pub(crate) fn at(text: &str, (start, end): (usize, usize), max_bytes: usize) -> CacheKey<'_> {
        match WordKey::at(text.as_bytes(), start, end) {
            Some(key) => CacheKey::Short(key),
            None if (1..=max_bytes).contains(&(end - start)) => {
                CacheKey::Long(&text.as_bytes()[start..end], 0)
            }
            None => CacheKey::Uncached,
        }
    }

    /// Return the lookup of the word; it misses for a word that is not cached.
    #[inline(always)]
    pub(crate) fn lookup(self) -> Lookup {
        match self {
            Self::Short(key) => key.lookup(),
            Self::Long(word, kind) => WordKey::absent_lookup(long_hash(word, kind)),
            Self::Uncached => WordKey::absent_lookup(0),
        }
    }
}

/// The tables of one thread.
#[derive(Clone, Debug)]
pub(crate) struct WordCache {
    short: ShortWords,
    long: LongWords,
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

/// Return the hash that a lookup carries.
#[inline]
pub(crate) fn hash_of(lookup: Lookup) -> u64 {
    WordKey::of_lookup(lookup).map_or_else(|hash| hash, |_| lookup.hash)
}

/// The most words that are looked up together.
pub(crate) const WINDOW: usize = 256;

/// The lookups of one window.
#[derive(Clone, Debug)]
pub(crate) struct Lookups {
    lookups: Box<[Lookup; WINDOW]>,
    /// The hashes of the words that only the table of long words can have.
    long: Vec<u64>,
}

impl Default for Lookups {
    fn default() -> Self {
        Self { lookups: Box::new([Lookup::default(); WINDOW]), long: Vec::new() }
    }
}

impl Lookups {
    /// Hash the words of a window and prefetch their buckets: by their short keys, or by `key` those whose short key is
    /// [`WordKey::NONE`].
    #[inline(always)]
    pub(crate) fn hash<'k>(
        &mut self,
        short_keys: impl Iterator<Item = WordKey>,
        key: impl Fn(usize) -> CacheKey<'k>,
        cache: &WordCache,
    ) {
        hash(short_keys, key, cache, self.lookups.as_mut_slice(), &mut self.long);
        self.long.drain(..).for_each(|hash| cache.long.prefetch_found(hash));
    }

    /// Return the lookups of the words `from..to`.
    #[inline(always)]
    pub(crate) fn range(&self, from: usize, to: usize) -> &[Lookup] {
        &self.lookups[from..to]
    }
}

/// Hash the words of a window and prefetch their buckets.
///
/// It is not inlined: as parameters, the references are known not to overlap, and their fields stay in registers.
#[inline(never)]
fn hash<'k>(
    short_keys: impl Iterator<Item = WordKey>,
    key: impl Fn(usize) -> CacheKey<'k>,
    cache: &WordCache,
    lookups: &mut [Lookup],
    long: &mut Vec<u64>,
) {
    let short = &cache.short;
    for ((lookup, word), number) in lookups.iter_mut().zip(short_keys).zip(0..) {
        if word == WordKey::NONE {
            *lookup = without_short_key(key(number), cache, long);
        } else {
            *lookup = word.lookup();
            short.prefetch(lookup.hash);
        }
    }
}

/// Return the lookup of a word without a short key and prefetch its slot.
#[inline(never)]
fn without_short_key(key: CacheKey<'_>, cache: &WordCache, long: &mut Vec<u64>) -> Lookup {
    let CacheKey::Long(word, kind) = key else { return key.lookup() };
    let hash = long_hash(word, kind);
    cache.long.prefetch(hash);
    long.push(hash);
    WordKey::absent_lookup(hash)
}
