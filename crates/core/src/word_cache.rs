//! The memo: what a word was last segmented into, for words of up to 15 bytes and 4 pieces; `LongWords` for others.
//!
//! Open addressing, four words a line, in one of eight lines. The key is the word itself with its length, so a hit
//! needs no further comparison. The table doubles when five eighths are full, up to its budget; from then on it
//! is emptied instead.

mod key;
mod long_words;

pub use key::{block_at, Key, MAX_KEY_BYTES};
pub use long_words::{LongWords, StoredIds};
pub use piecework_kernels::buckets::{pack, put, Copied, Lookup, PackedIds, MAX_IDS as MAX_PIECES};

use piecework_kernels::buckets::{self, Bucket};
use piecework_kernels::huge_pages;

/// What a memo holds of a word that it has no room for, where another one has it; no ids are like this.
pub const ELSEWHERE: PackedIds = [buckets::NO_ID; MAX_PIECES];

/// What a memo holds of a word that is on its way to its ids, as the one with a number; no ids are like this.
#[must_use]
pub fn awaited(number: u32) -> PackedIds {
    let [first, ..] = ELSEWHERE;
    [first, number, 0, 0]
}

/// What a memo holds of a word whose ids are kept in a place; no ids are like this.
#[must_use]
pub fn kept(StoredIds { at, count, round }: StoredIds) -> PackedIds {
    let [first, ..] = ELSEWHERE;
    [first, at, count, round]
}

/// What a memo may hold in place of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncopied {
    /// Another one has them.
    Elsewhere,
    /// They are on their way, as the word with this number.
    Awaited(u32),
    /// They are there.
    StoredIds(StoredIds),
}

/// What is held that is not `are_ids`.
#[must_use]
pub fn marked(packed: &PackedIds) -> Uncopied {
    let [_, at, count, round] = *packed;
    match count {
        _ if *packed == ELSEWHERE => Uncopied::Elsewhere,
        0 => Uncopied::Awaited(at),
        _ => Uncopied::StoredIds(StoredIds { at, count, round }),
    }
}

/// What a memo holds of a word with these ids: the ids, or where `texts` keeps them, or nothing.
#[must_use]
pub fn packed(ids: &[u32], texts: &mut LongWords) -> PackedIds {
    pack(ids).or_else(|| texts.keep(ids).map(kept)).unwrap_or(ELSEWHERE)
}

/// Whether the ids are those of a word and nothing that is `marked`.
#[inline(always)]
#[must_use]
pub fn are_ids(packed: &PackedIds) -> bool {
    packed[0] != ELSEWHERE[0]
}

/// The ids, the rest of no meaning, and how many they are.
#[inline]
#[must_use]
pub fn unpacked(mut packed: PackedIds) -> (PackedIds, usize) {
    let count = buckets::count(packed[0]);
    packed[0] = buckets::unpacked_first(packed[0]);
    (packed, count)
}

/// Append packed ids.
#[inline]
pub fn append(packed: PackedIds, out: &mut Vec<u32>) {
    let (ids, count) = unpacked(packed);
    if count == 1 {
        out.push(ids[0]);
    } else {
        out.extend_from_slice(&ids[..count]);
    }
}

const BYTES_PER_WORD: usize = size_of::<Bucket>() / buckets::WORDS;

/// The table.
#[derive(Clone, Debug)]
pub struct ShortWords {
    lines: Vec<Bucket>,
    words: usize,
    /// How large it may grow, in lines.
    most_lines: usize,
}

/// The most words that a table has room for: 32 MB.
const MAX_BITS: u32 = 20;

/// A table with so many words is full.
fn most_words(lines: usize) -> usize {
    lines * buckets::WORDS * 5 / 8
}

impl ShortWords {
    /// A memo with room for `2^bits` words to begin with; 32 bytes each.
    #[must_use]
    pub fn with_bits(bits: u32) -> Self {
        Self::with_most(1 << MAX_BITS, bits)
    }

    /// A memo with room for `2^bits` words to begin with that never takes more than so many bytes, except that
    /// it has room for four words.
    #[must_use]
    pub fn within(bytes: usize, bits: u32) -> Self {
        let most_bits = (bytes / BYTES_PER_WORD).checked_ilog2().unwrap_or(0).clamp(2, MAX_BITS);
        Self::with_most(1 << most_bits, bits.min(most_bits))
    }

    /// Memory is set apart for all that it may grow to, but taken only as it grows: nothing moves.
    fn with_most(most_words: usize, bits: u32) -> Self {
        let most_lines = most_words / buckets::WORDS;
        let mut lines = huge_pages::with_capacity(most_lines);
        lines.resize((1 << bits) / buckets::WORDS, Bucket::EMPTY);
        Self { lines, words: 0, most_lines }
    }

    /// The memory it takes, used or not.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.lines.as_slice())
    }

    /// Say that a word will be asked for soon.
    #[inline]
    pub fn prefetch(&self, key: Key) {
        self.prefetch_hashed(key.hash());
    }

    /// Say that a word with this hash will be asked for soon.
    #[inline]
    pub fn prefetch_hashed(&self, hash: u64) {
        buckets::prefetch(&self.lines, hash);
    }

    /// What was remembered for a word.
    #[inline]
    #[must_use]
    pub fn get(&self, key: Key) -> Option<PackedIds> {
        self.get_hashed(key, key.hash()).copied()
    }

    /// What was remembered for a word with this hash.
    #[inline]
    #[must_use]
    pub fn get_hashed(&self, key: Key, hash: u64) -> Option<&PackedIds> {
        buckets::get(&self.lines, key.0, hash)
    }

    /// What it says of a word that it has no ids of; of one that it has no key for, that another has them.
    #[must_use]
    pub fn marked(&self, asked: Lookup) -> Option<Uncopied> {
        match Key::of_asked(asked) {
            Ok(key) => self.get_hashed(key, asked.hash).map(marked),
            Err(_) => Some(Uncopied::Elsewhere),
        }
    }

    /// Put the ids of words one after the other, up to the first that is not remembered with its ids.
    #[inline]
    pub fn copy_hits(&self, asked: &[Lookup], room: &mut [u32]) -> Copied {
        buckets::copy_hits(&self.lines, asked, room)
    }

    /// Remember a word.
    #[inline]
    pub fn insert(&mut self, key: Key, ids: PackedIds) {
        self.insert_hashed(key, key.hash(), ids);
    }

    /// Remember a word with this hash.
    #[inline]
    pub fn insert_hashed(&mut self, key: Key, hash: u64, ids: PackedIds) {
        if self.words >= most_words(self.lines.len()) {
            self.make_room();
        }
        let free = buckets::group(hash, self.lines.len()).find(|&at| !self.lines[at].is_full());
        let own = buckets::own(hash, self.lines.len());
        let line = &mut self.lines[free.unwrap_or(own)];
        let last = buckets::WORDS - 1;
        let way = line.keys[..last].iter().position(|&key| key == 0).unwrap_or(last);
        self.words += usize::from(free.is_some());
        line.keys[way] = key.0;
        line.ids[way] = ids;
    }

    /// Change what is remembered for a word with this hash, if anything is.
    pub fn change_hashed(&mut self, key: Key, hash: u64, ids: PackedIds) {
        let places = buckets::group(hash, self.lines.len())
            .flat_map(|at| (0..buckets::WORDS).map(move |way| (at, way)));
        if let Some((at, way)) = { places }.find(|&(at, way)| self.lines[at].keys[way] == key.0) {
            self.lines[at].ids[way] = ids;
        }
    }

    /// Double the table, or empty it where it may not grow.
    #[cold]
    fn make_room(&mut self) {
        self.words = 0;
        let half = self.lines.len();
        if half >= self.most_lines {
            return self.lines.fill(Bucket::EMPTY);
        }
        self.lines.resize(2 * half, Bucket::EMPTY);
        for first in (0..half).step_by(buckets::GROUP) {
            self.spread(first, buckets::GROUP.min(half));
        }
    }

    /// Put the words of a group where they belong now: there again, or in the group as far behind as the table was
    /// long, which has no others.
    fn spread(&mut self, first: usize, len: usize) {
        let mut group = [Bucket::EMPTY; buckets::GROUP];
        group[..len].swap_with_slice(&mut self.lines[first..first + len]);
        for line in group {
            for (key, ids) in line.keys.into_iter().zip(line.ids).filter(|(key, _)| *key != 0) {
                self.insert(Key(key), ids);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_it_was_told() {
        let mut memo = ShortWords::with_bits(4);
        for i in 0..1_500_000u32 {
            let word = i.to_string();
            let key = Key::of(word.as_bytes()).unwrap();
            let ids: Vec<u32> = (0..=i % 4).map(|k| i + k).collect();
            assert_eq!(memo.get(key), None);
            memo.insert(key, pack(&ids).unwrap());
            let mut out = Vec::new();
            append(memo.get(key).unwrap(), &mut out);
            assert_eq!(out, ids);
        }
    }

    #[test]
    fn keeps_words_while_it_grows() {
        let mut memo = ShortWords::with_bits(2);
        let key = |i: u32| Key::of(&i.to_le_bytes()).unwrap();
        for i in 0..100_000 {
            memo.insert(key(i), pack(&[i]).unwrap());
        }
        let kept = (0..100_000).filter(|&i| memo.get(key(i)) == pack(&[i])).count();
        assert!(kept > 99_900, "{kept}");
    }

    #[test]
    fn keeps_within_its_budget() {
        for bytes in [128, 200, 4096, 5000, 1 << 20] {
            let mut memo = ShortWords::within(bytes, 17);
            (0..50_000u32)
                .for_each(|i| memo.insert(Key::of(&i.to_le_bytes()).unwrap(), pack(&[i]).unwrap()));
            assert!(memo.bytes() <= bytes);
        }
        assert_eq!(ShortWords::within(usize::MAX, 17).bytes(), 4 << 20);
        assert_eq!(ShortWords::within(0, 17).get(Key::of(b"a").unwrap()), None);
    }
}
