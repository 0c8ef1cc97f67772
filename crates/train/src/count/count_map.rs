//! Word counts while they are collected.
//!
//! Short words are stored in the hash table itself, longer ones in one string. A word that was counted before
//! allocates nothing.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;
use hashbrown::hash_table::{Entry, HashTable};

use super::counts::{Counts, WordOrder};
use super::spilled::WordCount;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::word_key::WordKey;

/// A map with fewer words is not worth a file.
const MIN_SPILLED_WORDS: usize = 1 << 12;

/// Word counts while they are collected.
///
/// ```
/// use piecework_train::count::CountMap;
/// let mut map = CountMap::default();
/// map.add("is", 5);
/// map.add("This", 0);
/// map.add("is", 2);
/// let counts = map.finish()?;
/// assert_eq!(counts.iter().collect::<Vec<_>>(), [("This", 1), ("is", 2)]);
/// assert_eq!(counts.first(), Some(&[0, 2][..]));
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CountMap {
    /// Words of up to 15 bytes.
    short: HashTable<ShortWord>,
    text: String,
    entries: Vec<LongWord>,
    /// The upper half of the hash of each long word, which avoids most comparisons, and its index.
    table: HashTable<(u32, u32)>,
    /// Seeds the hashes at random, so that no corpus can consist of colliding words.
    seed: RandomState,
    /// A word whose count exceeded 64 bits.
    overflowed: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct ShortWord {
    key: WordKey,
    count: u64,
    first: u64,
}

#[derive(Clone, Debug)]
struct LongWord {
    end: usize,
    count: u64,
    first: u64,
    is_counted: bool,
}

impl CountMap {
    /// Count one occurrence of `word` at position `first`; empty words are ignored.
    #[inline]
    pub fn add(&mut self, word: &str, first: u64) {
        self.add_n(word, 1, first);
    }

    /// Count `n` occurrences of `word`, the first at position `first`.
    ///
    /// If a sum exceeds 64 bits, `finish` and `merge` fail.
    #[inline]
    pub fn add_n(&mut self, word: &str, n: u64, first: u64) {
        match WordKey::of(word.as_bytes()) {
            Some(key) => self.add_key(key, n, first),
            None => self.add_long(word, n, first),
        }
    }

    /// Count `n` occurrences of the word of a key, the first at position `first`.
    #[inline]
    pub fn add_key(&mut self, key: WordKey, n: u64, first: u64) {
        if n == 0 {
            return;
        }
        let Self { short, seed, overflowed: overflowed_word, .. } = self;
        match short.entry(
            hash_of_key(seed, key),
            |word_count| word_count.key == key,
            |word_count| hash_of_key(seed, word_count.key),
        ) {
            Entry::Vacant(free) => {
                free.insert(ShortWord { key, count: n, first });
            }
            Entry::Occupied(found) => {
                let word_count = found.into_mut();
                let (count, overflowed) = word_count.count.overflowing_add(n);
                word_count.count = count;
                word_count.first = word_count.first.min(first);
                if overflowed {
                    *overflowed_word = Some(key_text(key));
                }
            }
        }
    }

    fn add_long(&mut self, word: &str, n: u64, first: u64) {
        if n == 0 || word.is_empty() {
            return;
        }
        let (index, new) = self.find_or_insert(word);
        let word_count = &mut self.entries[index as usize];
        if new {
            *word_count = LongWord { count: n, first, ..*word_count };
            return;
        }
        let (count, overflowed) = word_count.count.overflowing_add(n);
        word_count.count = count;
        word_count.first = word_count.first.min(first);
        if overflowed {
            self.overflowed = Some(word.to_owned());
        }
    }

    /// Return the number of distinct words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.short.len() + self.entries.len()
    }

    /// Return whether no word was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.short.is_empty() && self.entries.is_empty()
    }

    /// Return the bytes in memory.
    #[must_use]
    pub(super) fn bytes(&self) -> usize {
        let long = self.text.capacity() + self.entries.capacity() * size_of::<LongWord>();
        self.short.allocation_size() + self.table.allocation_size() + long
    }

    /// Return whether `words` more words could take more than `limit` bytes, both copies of a growing table included.
    #[inline]
    pub(super) fn could_exceed(&self, words: usize, limit: usize) -> bool {
        let grows = self.short.len() + words > self.short.capacity()
            || self.entries.len() + words > self.entries.capacity()
            || self.entries.len() + words > self.table.capacity();
        let bytes = self.bytes();
        bytes > limit || grows && 3 * bytes > limit && self.len() > MIN_SPILLED_WORDS
    }

    /// Write all words in ascending order of their bytes; the map is empty afterwards and keeps its memory.
    pub(super) fn drain_sorted(
        &mut self,
        mut write: impl FnMut(WordCount<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.check()?;
        let mut short: Vec<&ShortWord> = self.short.iter().collect();
        short.sort_unstable_by_key(|word_count| word_count.key.bytes());
        let mut long: Vec<u32> = (0..self.entries.len() as u32).collect();
        long.sort_unstable_by(|&one, &two| self.word(one as usize).cmp(self.word(two as usize)));
        let mut long = long.into_iter().map(|index| index as usize).peekable();
        for word_count in short {
            let (bytes, len) = word_count.key.bytes();
            let word = &bytes[..len];
            while let Some(index) = long.next_if(|&index| self.word(index).as_bytes() < word) {
                write(self.counted_long(index))?;
            }
            write(WordCount { word, count: word_count.count, first: word_count.first })?;
        }
        long.try_for_each(|index| write(self.counted_long(index)))?;
        self.short.clear();
        self.table.clear();
        self.entries.clear();
        self.text.clear();
        Ok(())
    }

    fn counted_long(&self, index: usize) -> WordCount<'_> {
        let entry = &self.entries[index];
        WordCount { word: self.word(index).as_bytes(), count: entry.count, first: entry.first }
    }

    /// Return the sum of two maps; associative and commutative.
    pub fn merge(self, other: Self) -> Result<Self, Error> {
        self.check()?;
        other.check()?;
        let (mut into, from) = if self.len() >= other.len() { (self, other) } else { (other, self) };
        from.short
            .iter()
            .for_each(|word_count| into.add_key(word_count.key, word_count.count, word_count.first));
        for (index, word_count) in from.entries.iter().enumerate() {
            into.add_long(from.word(index), word_count.count, word_count.first);
        }
        into.check()?;
        Ok(into)
    }

    /// Return the counts ordered by (first position, code points).
    pub fn finish(self) -> Result<Counts, Error> {
        self.finish_in(WordOrder::Position)
    }

    /// Return the counts in an order.
    pub(super) fn finish_in(self, order: WordOrder) -> Result<Counts, Error> {
        self.finish_as(order, |word, out| out.push_str(word))
    }

    /// Return the counts in an order; `write` appends each word in another form, which must differ between words.
    pub(super) fn finish_as(
        self,
        order: WordOrder,
        write: impl FnMut(&str, &mut String),
    ) -> Result<Counts, Error> {
        self.check()?;
        Ok(self.into_sorted(order, write))
    }

    /// Return the index of a long word and whether it is new; a new word has a count of zero.
    #[inline]
    fn find_or_insert(&mut self, word: &str) -> (u32, bool) {
        let Self { text, entries, table, seed, .. } = self;
        let hash = hash_of_word(seed, word);
        let same = |&(half, index): &(u32, u32)| {
            half == upper(hash) && word_at(text, entries, index as usize) == word
        };
        let rehash = |&(_, index): &(u32, u32)| hash_of_word(seed, word_at(text, entries, index as usize));
        match table.entry(hash, same, rehash) {
            Entry::Occupied(found) => (found.get().1, false),
            Entry::Vacant(free) => {
                let index = u32::try_from(entries.len()).unwrap_or(u32::MAX);
                free.insert((upper(hash), index));
                text.push_str(word);
                entries.push(LongWord { end: text.len(), count: 0, first: 0, is_counted: true });
                (index, true)
            }
        }
    }

    /// Insert a word; return false if the map already contains it.
    pub(super) fn insert_new(&mut self, word: &str, count: u64, first: u64) -> bool {
        let (index, new) = self.find_or_insert(word);
        if new {
            let word_count = &mut self.entries[index as usize];
            (word_count.count, word_count.first) = (count, first);
        }
        new
    }

    fn word(&self, index: usize) -> &str {
        word_at(&self.text, &self.entries, index)
    }

    fn check(&self) -> Result<(), Error> {
        let Some(word) = &self.overflowed else { return Ok(()) };
        Err(Error::new(
            ErrorKind::Training,
            format!("count of {word:?}"),
            "a sum beyond 64 bits",
            "at most 2^64 - 1",
        ))
    }

    /// Remove the words that were inserted with a count of zero.
    pub(super) fn drop_zeros(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.is_counted = entry.count > 0);
    }

    pub(super) fn into_sorted(self, order: WordOrder, mut write: impl FnMut(&str, &mut String)) -> Counts {
        let Self { short, text, entries, table, .. } = self;
        drop(table);
        let long = (0..entries.len()).filter(|&index| entries[index].is_counted);
        let long = long.map(|index| CountedWord::Long(index as u32));
        let mut words: Vec<CountedWord> = short.into_iter().map(CountedWord::Short).chain(long).collect();
        let compare = |one: &CountedWord, two: &CountedWord| match order {
            WordOrder::Position => one.first(&entries).cmp(&two.first(&entries)),
            WordOrder::Count => two.count(&entries).cmp(&one.count(&entries)),
        };
        words.sort_unstable_by(|one, two| {
            compare(one, two).then_with(|| {
                let mut buffers = ([0; 16], [0; 16]);
                one.word(&text, &entries, &mut buffers.0).cmp(two.word(&text, &entries, &mut buffers.1))
            })
        });
        let mut counts = if words.is_empty() { Counts::default() } else { Counts::new(order) };
        for item in &words {
            let mut buffer = [0; 16];
            let word = item.word(&text, &entries, &mut buffer);
            counts.push(item.count(&entries), item.first(&entries), |out| write(word, out));
        }
        counts
    }
}

/// A short word, or the index of a long one.
enum CountedWord {
    Short(ShortWord),
    Long(u32),
}

impl CountedWord {
    fn first(&self, entries: &[LongWord]) -> u64 {
        match self {
            Self::Short(word_count) => word_count.first,
            Self::Long(index) => entries[*index as usize].first,
        }
    }

    fn count(&self, entries: &[LongWord]) -> u64 {
        match self {
            Self::Short(word_count) => word_count.count,
            Self::Long(index) => entries[*index as usize].count,
        }
    }

    fn word<'w>(&self, text: &'w str, entries: &[LongWord], buffer: &'w mut [u8; 16]) -> &'w str {
        match self {
            Self::Short(word_count) => {
                let len;
                (*buffer, len) = word_count.key.bytes();
                std::str::from_utf8(&buffer[..len]).unwrap_or_default()
            }
            Self::Long(index) => word_at(text, entries, *index as usize),
        }
    }
}

fn word_at<'a>(text: &'a str, entries: &[LongWord], index: usize) -> &'a str {
    let start = if index == 0 { 0 } else { entries[index - 1].end };
    &text[start..entries[index].end]
}

#[inline]
fn hash_of_key(seed: &RandomState, key: WordKey) -> u64 {
    seed.hash_one(key.bits())
}

fn hash_of_word(seed: &RandomState, word: &str) -> u64 {
    let mut hasher = seed.build_hasher();
    hasher.write(word.as_bytes());
    hasher.finish()
}

fn key_text(key: WordKey) -> String {
    let (bytes, len) = key.bytes();
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Words of 15 bytes whose hash without a seed is the same.
    fn colliding_words(count: usize) -> Vec<String> {
        let low = |high: u64| high.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let words = (0_u64..10_000_000).filter_map(|number| {
            let last = format!("{number:07}");
            let mut high = [0; 8];
            high[..7].copy_from_slice(last.as_bytes());
            high[7] = 15;
            let first = low(u64::from_le_bytes(high)).to_le_bytes();
            first.is_ascii().then(|| std::str::from_utf8(&first).unwrap_or_default().to_owned() + &last)
        });
        words.take(count).collect()
    }

    #[test]
    fn words_chosen_to_collide_have_different_hashes() {
        let words = colliding_words(1000);
        let keys: Vec<WordKey> = words.iter().filter_map(|word| WordKey::of(word.as_bytes())).collect();
        assert!(keys.len() == 1000 && keys.iter().all(|key| key.hash() == keys[0].hash()));
        let mut map = CountMap::default();
        words.iter().for_each(|word| map.add(word, 0));
        let slots: HashSet<u64> = keys.iter().map(|&key| hash_of_key(&map.seed, key) & 0xFFFF).collect();
        assert!(slots.len() > 900, "{}", slots.len());
        let long: HashSet<u64> =
            words.iter().map(|word| hash_of_word(&map.seed, &(word.clone() + word)) & 0xFFFF).collect();
        assert!(long.len() > 900, "{}", long.len());
        assert_eq!(map.len(), 1000);
    }

    #[test]
    fn each_map_has_its_own_seed() {
        let key = WordKey::of(b"hug").expect("a short word");
        let hashes: HashSet<u64> = (0..8).map(|_| hash_of_key(&CountMap::default().seed, key)).collect();
        assert!(hashes.len() > 1);
    }
}
