//! The word cache of one thread: words to ids, bounded in memory. It uses no stage and no model.
//!
//! Both tables share one budget. The words of a window are hashed and their buckets prefetched together, so that the
//! latencies of memory overlap. The table of short words has words of up to 15 bytes, two in a bucket, and up to four ids
//! beside each; `long_words` has longer words, and the ids of words that have more than four.
//!
//! A route may pack words with a score and decide whether to accept them, because their ids are valid only after some
//! texts. The table of short words has what the route has packed. If it does not fit there, or the word is long, the
//! table of long words has the ids, with the score as their payload.

mod long_words;

pub(crate) use piecework_kernels::buckets::{Lookup, PackedIds, MAX_IDS};

use piecework_kernels::buckets::{self, pack, Bucket};
use piecework_kernels::huge_pages;

use crate::word_key::WordKey;
use long_words::{long_hash, LongWords, StoredIds};

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
    /// The kind of a long key that is a word.
    pub(crate) const WORD: u32 = 0;
    /// The kind of a long key that is raw text, which a word with the same bytes must not match.
    pub(crate) const RAW: u32 = 1;

    /// Return the key of the word at `start..end` of a text; a word of more than `max_bytes` is not cached.
    #[inline(always)]
    pub(crate) fn at(text: &str, (start, end): (usize, usize), max_bytes: usize) -> CacheKey<'_> {
        match WordKey::at(text.as_bytes(), start, end) {
            Some(key) => CacheKey::Short(key),
            None if (1..=max_bytes).contains(&(end - start)) => {
                CacheKey::Long(&text.as_bytes()[start..end], CacheKey::WORD)
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
        if let Some(ids) = self.stored_ids(entry.map(state)) {
            out.extend_from_slice(ids);
            return true;
        }
        self.append_long(key(), hash_of(lookup), out)
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

    /// Store the ids of a word with a short key unless it has an entry: one that is pending keeps it.
    pub(crate) fn insert_new(&mut self, lookup: Lookup, ids: &[u32]) {
        if self.short.find(lookup).is_none() {
            let entry = self.entry(ids);
            self.short.insert(WordKey(lookup.key), lookup.hash, entry);
        }
    }

    /// Return the ids of a short word in the table of long words, given its state.
    #[inline]
    pub(crate) fn stored_ids(&self, state: Option<State>) -> Option<&[u32]> {
        let Some(State::Stored(stored)) = state else { return None };
        self.long.stored(stored)
    }

    /// Append the ids of a long word. Return `false` if it is not cached.
    #[inline]
    pub(crate) fn append_long(&self, key: CacheKey<'_>, hash: u64, out: &mut Vec<u32>) -> bool {
        let CacheKey::Long(word, kind) = key else { return false };
        let ids = self.long.get(word, hash, kind);
        ids.inspect(|ids| out.extend_from_slice(ids)).is_some()
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
        key: Option<WordKey>,
        packed: Option<PackedIds>,
        long_key: impl FnOnce() -> &'k [u8],
        score: u32,
        ids: &[u32],
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
    /// The words that only the table of long words can have, in order: their numbers and hashes.
    long: Vec<(usize, u64)>,
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
        self.long.clear();
        hash(short_keys, key, cache, self.lookups.as_mut_slice(), &mut self.long);
        self.long.iter().for_each(|&(_, hash)| cache.long.prefetch_found(hash));
    }

    /// Return the number and the hash of the `nth` word that only the table of long words can have.
    #[inline(always)]
    pub(crate) fn long(&self, nth: usize) -> Option<(usize, u64)> {
        self.long.get(nth).copied()
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
    long: &mut Vec<(usize, u64)>,
) {
    let short = &cache.short;
    for ((lookup, word), number) in lookups.iter_mut().zip(short_keys).zip(0..) {
        if word == WordKey::NONE {
            *lookup = without_short_key(number, &key, cache, long);
        } else {
            *lookup = word.lookup();
            short.prefetch(lookup.hash);
        }
    }
}

/// Return the lookup of a word without a short key and prefetch its slot.
#[inline(never)]
fn without_short_key<'k>(
    number: usize,
    key: &impl Fn(usize) -> CacheKey<'k>,
    cache: &WordCache,
    long: &mut Vec<(usize, u64)>,
) -> Lookup {
    let CacheKey::Long(word, kind) = key(number) else { return WordKey::absent_lookup(0) };
    let hash = long_hash(word, kind);
    cache.long.prefetch(hash);
    long.push((number, hash));
    WordKey::absent_lookup(hash)
}

/// The entry of a word whose ids are not in this table. No packed ids are equal to it.
pub(crate) const NO_IDS: PackedIds = [buckets::NO_ID; MAX_IDS];

/// The state of an entry without ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing: its ids are in the table of long words, or it is segmented each time.
    Empty,
    /// The number of the pending word.
    Pending(u32),
    /// Where the table of long words stores the ids.
    Stored(StoredIds),
}

/// Return the entry of a pending word.
fn pending(number: u32) -> PackedIds {
    let [first, ..] = NO_IDS;
    [first, number, 0, 0]
}

/// Return the entry of a word whose ids the table of long words stores.
fn stored(StoredIds { at, count, generation }: StoredIds) -> PackedIds {
    let [first, ..] = NO_IDS;
    [first, at, count, generation]
}

/// Return the state of an entry that has no ids.
fn state(entry: &PackedIds) -> State {
    let [_, at, count, generation] = *entry;
    match count {
        _ if *entry == NO_IDS => State::Empty,
        0 => State::Pending(at),
        _ => State::Stored(StoredIds { at, count, generation }),
    }
}

/// Return whether an entry has ids.
#[inline(always)]
fn are_ids(entry: &PackedIds) -> bool {
    entry[0] != NO_IDS[0]
}

/// Append the ids of an entry.
#[inline]
fn append(entry: PackedIds, out: &mut Vec<u32>) {
    let (end, mut ids) = (out.len() + buckets::count(entry[0]), entry);
    ids[0] = buckets::unpacked_first(entry[0]);
    // A copy of all ids is a single instruction.
    out.extend_from_slice(&ids);
    out.truncate(end);
}

const BYTES_PER_WORD: usize = size_of::<Bucket>() / buckets::SLOTS;

/// The table of short words: up to 15 bytes and 4 ids each.
///
/// Open addressing: a word is in one of sixteen buckets of two. The key is the word itself with its length, so a hit needs
/// no further comparison. The table doubles when five eighths of it are full, up to its budget; after that it is emptied
/// instead.
#[derive(Clone, Debug)]
struct ShortWords {
    buckets: Vec<Bucket>,
    words: usize,
    /// The number of buckets that the budget allows.
    max_buckets: usize,
}

/// The capacity of the largest table as a power of two: 32 MB.
const MAX_BITS: u32 = 20;

/// Return the number of words at which a table is full.
fn capacity(buckets: usize) -> usize {
    buckets * buckets::SLOTS * 5 / 8
}

impl ShortWords {
    /// Make a table that takes at most `budget` bytes, but has room for four words, and begins with `2^bits` slots.
    ///
    /// Address space is reserved for all that it may grow to, and memory is taken as it grows: nothing is copied.
    fn within(budget: usize, bits: u32) -> Self {
        let max_bits = (budget / BYTES_PER_WORD).checked_ilog2().unwrap_or(0).clamp(2, MAX_BITS);
        let max_buckets = (1 << max_bits) / buckets::SLOTS;
        let mut table = huge_pages::with_capacity(max_buckets);
        table.resize((1 << bits.min(max_bits)) / buckets::SLOTS, Bucket::EMPTY);
        Self { buckets: table, words: 0, max_buckets }
    }

    /// Return the memory in bytes, used or not.
    fn memory(&self) -> usize {
        size_of_val(self.buckets.as_slice())
    }

    /// Prefetch the bucket of a word with this hash.
    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        buckets::prefetch(&self.buckets, hash);
    }

    /// Return the entry of a word.
    #[inline]
    fn get(&self, key: WordKey, hash: u64) -> Option<&PackedIds> {
        buckets::get(&self.buckets, key.0, hash)
    }

    /// Return the entry of the word of a lookup; none for a word without a short key.
    #[inline(always)]
    fn find(&self, lookup: Lookup) -> Option<&PackedIds> {
        buckets::get(&self.buckets, lookup.key, lookup.hash)
    }

    /// Return the state of the word of a lookup that is no hit; `None` if it has no entry or no short key.
    fn state(&self, lookup: Lookup) -> Option<State> {
        let key = WordKey::of_lookup(lookup).ok()?;
        self.get(key, lookup.hash).map(state)
    }

    /// Append the ids of words one after the other, up to the first word that is no hit. Return the number of hits.
    #[inline(always)]
    fn append_hits(&self, lookups: &[Lookup], out: &mut Vec<u32>) -> usize {
        buckets::append_hits(&self.buckets, lookups, out)
    }

    /// Mark a word as pending with its number; `has_entry` says whether the table has an entry of it.
    fn set_pending(&mut self, key: WordKey, hash: u64, has_entry: bool, number: u32) {
        if has_entry {
            self.change(key, hash, pending(number));
        } else {
            self.insert(key, hash, pending(number));
        }
    }

    /// Insert the entry of a word, or change it.
    fn replace(&mut self, key: WordKey, hash: u64, entry: PackedIds) {
        if !self.change(key, hash, entry) {
            self.insert(key, hash, entry);
        }
    }

    /// Insert the entry of a word that has none.
    #[inline]
    fn insert(&mut self, key: WordKey, hash: u64, entry: PackedIds) {
        if self.words >= capacity(self.buckets.len()) {
            self.grow();
        }
        let free = buckets::group(hash, self.buckets.len()).find(|&at| !self.buckets[at].is_full());
        let home = buckets::home(hash, self.buckets.len());
        let bucket = &mut self.buckets[free.unwrap_or(home)];
        let last = buckets::SLOTS - 1;
        let slot = bucket.keys[..last].iter().position(|&key| key == 0).unwrap_or(last);
        self.words += usize::from(free.is_some());
        bucket.keys[slot] = key.0;
        bucket.ids[slot] = entry;
    }

    /// Change the entry of a word; return whether it has one.
    fn change(&mut self, key: WordKey, hash: u64, entry: PackedIds) -> bool {
        let mut slots = buckets::group(hash, self.buckets.len())
            .flat_map(|at| (0..buckets::SLOTS).map(move |slot| (at, slot)));
        let found = slots.find(|&(at, slot)| self.buckets[at].keys[slot] == key.0);
        if let Some((at, slot)) = found {
            self.buckets[at].ids[slot] = entry;
        }
        found.is_some()
    }

    /// Double the table, or empty it if the budget allows no more.
    #[cold]
    fn grow(&mut self) {
        self.words = 0;
        let half = self.buckets.len();
        if half >= self.max_buckets {
            return self.buckets.fill(Bucket::EMPTY);
        }
        self.buckets.resize(2 * half, Bucket::EMPTY);
        for first in (0..half).step_by(buckets::GROUP) {
            self.spread(first, buckets::GROUP.min(half));
        }
    }

    /// Insert the words of a group again: they go to the same group, or to the one half a table further, which is
    /// empty.
    fn spread(&mut self, first: usize, len: usize) {
        let mut group = [Bucket::EMPTY; buckets::GROUP];
        group[..len].swap_with_slice(&mut self.buckets[first..first + len]);
        for bucket in group {
            for (key, ids) in bucket.keys.into_iter().zip(bucket.ids).filter(|(key, _)| *key != 0) {
                let key = WordKey(key);
                self.insert(key, key.hash(), ids);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(table: &ShortWords, key: WordKey) -> Option<PackedIds> {
        table.get(key, key.hash()).copied()
    }

    fn insert(table: &mut ShortWords, key: WordKey, ids: &[u32]) {
        table.insert(key, key.hash(), pack(ids).unwrap());
    }

    #[test]
    fn an_inserted_word_is_found() {
        let mut table = ShortWords::within(usize::MAX, 4);
        for i in 0..1_500_000u32 {
            let word = i.to_string();
            let key = WordKey::of(word.as_bytes()).unwrap();
            let ids: Vec<u32> = (0..=i % 4).map(|k| i + k).collect();
            assert_eq!(get(&table, key), None);
            insert(&mut table, key, &ids);
            let mut out = Vec::new();
            append(get(&table, key).unwrap(), &mut out);
            assert_eq!(out, ids);
        }
    }

    #[test]
    fn words_stay_while_the_table_grows() {
        let mut table = ShortWords::within(usize::MAX, 2);
        let key = |i: u32| WordKey::of(&i.to_le_bytes()).unwrap();
        (0..100_000).for_each(|i| insert(&mut table, key(i), &[i]));
        let found = (0..100_000).filter(|&i| get(&table, key(i)) == pack(&[i])).count();
        assert!(found > 99_900, "{found}");
    }

    #[test]
    fn the_table_stays_within_its_budget() {
        for budget in [128, 200, 4096, 5000, 1 << 20] {
            let mut table = ShortWords::within(budget, 17);
            (0..50_000u32).for_each(|i| insert(&mut table, WordKey::of(&i.to_le_bytes()).unwrap(), &[i]));
            assert!(table.memory() <= budget);
        }
        assert_eq!(ShortWords::within(usize::MAX, 17).memory(), 4 << 20);
        assert_eq!(get(&ShortWords::within(0, 17), WordKey::of(b"a").unwrap()), None);
    }

    #[test]
    fn states_are_distinguished() {
        let mut table = ShortWords::within(4096, 4);
        let key = WordKey::of(b"a").unwrap();
        assert_eq!(table.state(key.lookup()), None);
        table.set_pending(key, key.hash(), false, 7);
        assert_eq!(table.state(key.lookup()), Some(State::Pending(7)));
        let place = StoredIds { at: 3, count: 5, generation: 1 };
        table.replace(key, key.hash(), stored(place));
        assert_eq!(table.state(key.lookup()), Some(State::Stored(place)));
        table.replace(key, key.hash(), NO_IDS);
        assert_eq!(table.state(key.lookup()), Some(State::Empty));
        assert_eq!(table.state(WordKey::absent_lookup(9)), None);
    }
}
