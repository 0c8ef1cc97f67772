//! The table of short words: up to 15 bytes and 4 ids each.
//!
//! Open addressing: a word is in one of sixteen buckets of two. The key is the word itself with its length, so a hit
//! needs no further comparison. The table doubles when five eighths of it are full, up to its budget; after that it is
//! emptied instead.

use piecework_kernels::buckets::{self, Bucket, Lookup, PackedIds, MAX_IDS};
use piecework_kernels::huge_pages;

use super::long_words::StoredIds;
use crate::word_key::WordKey;

/// The entry of a word whose ids are not in this table. No packed ids are equal to it.
pub(crate) const NO_IDS: PackedIds = [buckets::NO_ID; MAX_IDS];

/// What an entry has in place of ids.
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
pub(super) fn stored(StoredIds { at, count, generation }: StoredIds) -> PackedIds {
    let [first, ..] = NO_IDS;
    [first, at, count, generation]
}

/// Return the state of an entry that has no ids.
pub(super) fn state(entry: &PackedIds) -> State {
    let [_, at, count, generation] = *entry;
    match count {
        _ if *entry == NO_IDS => State::Empty,
        0 => State::Pending(at),
        _ => State::Stored(StoredIds { at, count, generation }),
    }
}

/// Return whether an entry has ids.
#[inline(always)]
pub(super) fn are_ids(entry: &PackedIds) -> bool {
    entry[0] != NO_IDS[0]
}

/// Append the ids of an entry.
#[inline]
pub(super) fn append(entry: PackedIds, out: &mut Vec<u32>) {
    let count = buckets::count(entry[0]);
    let mut ids = entry;
    ids[0] = buckets::unpacked_first(entry[0]);
    out.extend_from_slice(&ids[..count]);
}

const BYTES_PER_WORD: usize = size_of::<Bucket>() / buckets::SLOTS;

/// The table.
#[derive(Clone, Debug)]
pub(crate) struct ShortWords {
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
    pub(crate) fn within(budget: usize, bits: u32) -> Self {
        let max_bits = (budget / BYTES_PER_WORD).checked_ilog2().unwrap_or(0).clamp(2, MAX_BITS);
        let max_buckets = (1 << max_bits) / buckets::SLOTS;
        let mut table = huge_pages::with_capacity(max_buckets);
        table.resize((1 << bits.min(max_bits)) / buckets::SLOTS, Bucket::EMPTY);
        Self { buckets: table, words: 0, max_buckets }
    }

    /// Return the memory in bytes, used or not.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(self.buckets.as_slice())
    }

    /// Prefetch the bucket of a word with this hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        buckets::prefetch(&self.buckets, hash);
    }

    /// Return the entry of a word.
    #[inline]
    pub(crate) fn get(&self, key: WordKey, hash: u64) -> Option<&PackedIds> {
        buckets::get(&self.buckets, key.0, hash)
    }

    /// Return the entry of the word of a lookup; none for a word without a short key.
    #[inline(always)]
    pub(crate) fn find(&self, lookup: Lookup) -> Option<&PackedIds> {
        buckets::get(&self.buckets, lookup.key, lookup.hash)
    }

    /// Return the state of the word of a lookup that is no hit; `None` if it has no entry or no short key.
    pub(crate) fn state(&self, lookup: Lookup) -> Option<State> {
        let key = WordKey::of_lookup(lookup).ok()?;
        self.get(key, lookup.hash).map(state)
    }

    /// Append the ids of words one after the other, up to the first word that is no hit. Return the number of hits.
    #[inline(always)]
    pub(crate) fn append_hits(&self, lookups: &[Lookup], out: &mut Vec<u32>) -> usize {
        buckets::append_hits(&self.buckets, lookups, out)
    }

    /// Mark a word as pending with its number; `has_entry` says whether the table has an entry of it.
    pub(crate) fn set_pending(&mut self, key: WordKey, hash: u64, has_entry: bool, number: u32) {
        if has_entry {
            self.change(key, hash, pending(number));
        } else {
            self.insert(key, hash, pending(number));
        }
    }

    /// Insert the entry of a word, or change it.
    pub(crate) fn replace(&mut self, key: WordKey, hash: u64, entry: PackedIds) {
        if !self.change(key, hash, entry) {
            self.insert(key, hash, entry);
        }
    }

    /// Insert the entry of a word that has none.
    #[inline]
    pub(crate) fn insert(&mut self, key: WordKey, hash: u64, entry: PackedIds) {
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

    /// Change the entry of a word; returns whether it has one.
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
    use piecework_kernels::buckets::pack;

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
