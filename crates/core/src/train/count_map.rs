//! Word counts while they are gathered: short words in the hash table itself, longer ones in one string
//! arena, no allocation for a word that is known.

use std::hash::Hasher;

use hashbrown::hash_table::{Entry, HashTable};
use rustc_hash::FxHasher;

use super::Counts;
use crate::error::{Error, ErrorKind};
use crate::word_key::WordKey;

/// Word counts while they are being gathered.
///
/// ```
/// use piecework_core::train::CountMap;
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
    /// Words that fit in a key.
    short: HashTable<ShortTally>,
    text: String,
    entries: Vec<Tally>,
    /// The upper half of each word's hash, which spares most looks into `text`, and its index.
    table: HashTable<(u32, u32)>,
    /// A word whose count left 64 bits.
    overflowed: Option<String>,
}

/// How `Counts` orders its words; code points decide among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOrder {
    /// By first position, which is kept.
    Position,
    /// By falling count; first positions are dropped.
    Count,
}

#[derive(Clone, Copy, Debug)]
struct ShortTally {
    key: WordKey,
    count: u64,
    first: u64,
}

#[derive(Clone, Debug)]
struct Tally {
    end: usize,
    count: u64,
    first: u64,
    listed: bool,
}

impl CountMap {
    /// Count one occurrence of `word` at position `first`; an empty word is not counted.
    #[inline]
    pub fn add(&mut self, word: &str, first: u64) {
        self.add_n(word, 1, first);
    }

    /// Count `n` occurrences of `word`, the earliest at position `first`.
    ///
    /// A sum beyond u64 is remembered and reported by `finish` and `merge`.
    #[inline]
    pub fn add_n(&mut self, word: &str, n: u64, first: u64) {
        match WordKey::of(word.as_bytes()) {
            Some(key) => self.add_key(key, n, first),
            None => self.add_long(word, n, first),
        }
    }

    /// Count `n` occurrences of the word of a key, the earliest at position `first`.
    #[inline]
    pub fn add_key(&mut self, key: WordKey, n: u64, first: u64) {
        if n == 0 {
            return;
        }
        match self.short.entry(spread(key), |tally| tally.key == key, |tally| spread(tally.key)) {
            Entry::Vacant(free) => {
                free.insert(ShortTally { key, count: n, first });
            }
            Entry::Occupied(found) => {
                let tally = found.into_mut();
                let (count, overflowed) = tally.count.overflowing_add(n);
                tally.count = count;
                tally.first = tally.first.min(first);
                if overflowed {
                    self.overflowed = Some(key_text(key));
                }
            }
        }
    }

    fn add_long(&mut self, word: &str, n: u64, first: u64) {
        if n == 0 || word.is_empty() {
            return;
        }
        let (index, new) = self.slot(word);
        let tally = &mut self.entries[index as usize];
        if new {
            *tally = Tally { count: n, first, ..*tally };
            return;
        }
        let (count, overflowed) = tally.count.overflowing_add(n);
        tally.count = count;
        tally.first = tally.first.min(first);
        if overflowed {
            self.overflowed = Some(word.to_owned());
        }
    }

    /// How many distinct words were seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.short.len() + self.entries.len()
    }

    /// Whether nothing was counted yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.short.is_empty() && self.entries.is_empty()
    }

    /// Add what another map counted; the order of merging does not change the result.
    pub fn merge(self, other: Self) -> Result<Self, Error> {
        self.check()?;
        other.check()?;
        let (mut into, from) = if self.len() >= other.len() { (self, other) } else { (other, self) };
        from.short.iter().for_each(|tally| into.add_key(tally.key, tally.count, tally.first));
        for (index, tally) in from.entries.iter().enumerate() {
            into.add_long(from.word(index), tally.count, tally.first);
        }
        into.check()?;
        Ok(into)
    }

    /// Order the words by (first, code points).
    pub fn finish(self) -> Result<Counts, Error> {
        self.finish_as(|word, out| out.push_str(word))
    }

    /// Order the words by (first, code points) and write each in another form, different for each word.
    pub fn finish_as(self, write: impl FnMut(&str, &mut String)) -> Result<Counts, Error> {
        self.check()?;
        Ok(self.into_sorted(WordOrder::Position, write))
    }

    /// Order the words as `order` says.
    pub(super) fn finish_in(self, order: WordOrder) -> Result<Counts, Error> {
        self.check()?;
        Ok(self.into_sorted(order, |word, out| out.push_str(word)))
    }

    /// Find the index of `word`, adding it with a count of zero when it is new (second value).
    #[inline]
    fn slot(&mut self, word: &str) -> (u32, bool) {
        let hash = hash_of(word);
        let Self { text, entries, table, .. } = self;
        let same = |&(half, index): &(u32, u32)| {
            half == upper(hash) && word_at(text, entries, index as usize) == word
        };
        let rehash = |&(_, index): &(u32, u32)| hash_of(word_at(text, entries, index as usize));
        match table.entry(hash, same, rehash) {
            Entry::Occupied(found) => (found.get().1, false),
            Entry::Vacant(free) => {
                let index = u32::try_from(entries.len()).unwrap_or(u32::MAX);
                free.insert((upper(hash), index));
                text.push_str(word);
                entries.push(Tally { end: text.len(), count: 0, first: 0, listed: true });
                (index, true)
            }
        }
    }

    /// Add a word that must not be there yet; returns whether it was new.
    pub(super) fn insert_new(&mut self, word: &str, count: u64, first: u64) -> bool {
        let (index, new) = self.slot(word);
        if new {
            let tally = &mut self.entries[index as usize];
            (tally.count, tally.first) = (count, first);
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

    /// Leave out words that were inserted with a count of zero.
    pub(super) fn drop_zeros(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.listed = entry.count > 0);
    }

    pub(super) fn into_sorted(self, order: WordOrder, mut write: impl FnMut(&str, &mut String)) -> Counts {
        let Self { short, text, entries, table, .. } = self;
        drop(table);
        let long = (0..entries.len()).filter(|&index| entries[index].listed);
        let long = long.map(|index| Listed::Long(index as u32));
        let mut listed: Vec<Listed> = short.into_iter().map(Listed::Short).chain(long).collect();
        let compare = |one: &Listed, two: &Listed| match order {
            WordOrder::Position => one.first(&entries).cmp(&two.first(&entries)),
            WordOrder::Count => two.count(&entries).cmp(&one.count(&entries)),
        };
        listed.sort_unstable_by(|one, two| {
            compare(one, two).then_with(|| {
                let mut buffers = ([0; 16], [0; 16]);
                one.word(&text, &entries, &mut buffers.0).cmp(two.word(&text, &entries, &mut buffers.1))
            })
        });
        let mut counts = if listed.is_empty() { Counts::default() } else { Counts::new(order) };
        for item in &listed {
            let mut buffer = [0; 16];
            let word = item.word(&text, &entries, &mut buffer);
            counts.push(item.count(&entries), item.first(&entries), |out| write(word, out));
        }
        counts
    }
}

/// A word on its way into `Counts`.
enum Listed {
    Short(ShortTally),
    Long(u32),
}

impl Listed {
    fn first(&self, entries: &[Tally]) -> u64 {
        match self {
            Self::Short(tally) => tally.first,
            Self::Long(index) => entries[*index as usize].first,
        }
    }

    fn count(&self, entries: &[Tally]) -> u64 {
        match self {
            Self::Short(tally) => tally.count,
            Self::Long(index) => entries[*index as usize].count,
        }
    }

    fn word<'w>(&self, text: &'w str, entries: &[Tally], buffer: &'w mut [u8; 16]) -> &'w str {
        match self {
            Self::Short(tally) => {
                let len;
                (*buffer, len) = tally.key.bytes();
                std::str::from_utf8(&buffer[..len]).unwrap_or_default()
            }
            Self::Long(index) => word_at(text, entries, *index as usize),
        }
    }
}

fn word_at<'a>(text: &'a str, entries: &[Tally], index: usize) -> &'a str {
    let start = if index == 0 { 0 } else { entries[index - 1].end };
    &text[start..entries[index].end]
}

fn hash_of(word: &str) -> u64 {
    let mut state = FxHasher::default();
    state.write(word.as_bytes());
    state.finish()
}

fn key_text(key: WordKey) -> String {
    let (bytes, len) = key.bytes();
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

/// The table looks at the lowest bits and the highest.
#[inline]
fn spread(key: WordKey) -> u64 {
    let hash = key.hash();
    hash ^ (hash >> 32)
}

fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}
