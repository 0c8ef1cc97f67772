//! The memo: what a word was last segmented into, for words of up to 15 bytes and 4 pieces; `Texts` for others.
//!
//! Open addressing, two words on a cache line, at most `MAX_PROBES` lines from a word's own. The key is the
//! word itself with its length, so a hit needs no further comparison. The table doubles when it is half full, up
//! to its budget; from then on it is emptied instead.

mod texts;

pub use texts::Texts;

use piecework_kernels::pages;
use piecework_kernels::prefetch::prefetch_read;

/// A word of 1 to 15 bytes with its length in the top byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u128);

/// The longest word, in bytes, that has a key.
pub const MAX_KEY_BYTES: usize = 15;
/// The most pieces that are remembered for a word.
pub const MAX_PIECES: usize = 4;

/// Masks of the lowest bytes.
const LOW_BYTES: [u128; MAX_KEY_BYTES + 1] = {
    let mut masks = [0; MAX_KEY_BYTES + 1];
    let mut len = 1;
    while len <= MAX_KEY_BYTES {
        masks[len] = masks[len - 1] << 8 | 0xFF;
        len += 1;
    }
    masks
};

/// Beside the length in the top byte of a key of text that is still to be normalized.
const RAW: usize = 1 << 7;

impl Key {
    /// The key of no word: nothing is ever remembered for it.
    pub const ABSENT: Self = Self(0xFF << 120);

    /// The key of a word given as the low `len` bytes of `bytes` (1 <= `len` <= 15), the rest zero.
    #[inline]
    #[must_use]
    pub fn from_low_bytes(bytes: u128, len: usize) -> Self {
        Self(bytes | (len as u128) << 120)
    }

    /// The key of a word, if it is neither empty nor too long.
    #[inline]
    #[must_use]
    pub fn of(word: &[u8]) -> Option<Self> {
        if word.is_empty() || word.len() > MAX_KEY_BYTES {
            return None;
        }
        let mut bytes = [0; 16];
        bytes[..word.len()].copy_from_slice(word);
        Some(Self::from_low_bytes(u128::from_le_bytes(bytes), word.len()))
    }

    /// The key of the word at `start..end` of a text, if it is neither empty nor too long.
    #[inline]
    #[must_use]
    pub fn at(text: &[u8], start: usize, end: usize) -> Option<Self> {
        match text[start..].first_chunk::<16>() {
            Some(block) if start < end && end - start <= MAX_KEY_BYTES => {
                let len = end - start;
                Some(Self::from_low_bytes(u128::from_le_bytes(*block) & LOW_BYTES[len], len))
            }
            _ => Self::of(&text[start..end]),
        }
    }

    /// The key of the same bytes as text that is still to be normalized.
    #[inline]
    #[must_use]
    pub fn as_raw(self) -> Self {
        Self(self.0 | (RAW as u128) << 120)
    }

    /// The word again: its bytes and their number.
    #[must_use]
    pub fn bytes(self) -> ([u8; 16], usize) {
        (self.0.to_le_bytes(), (self.0 >> 120) as usize)
    }

    /// Mix the halves; the top bits are the best.
    #[inline]
    #[must_use]
    pub fn hash(self) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        (low ^ high.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }
}

/// Up to four ids; the two top bits of the first hold their number less one.
pub type PackedIds = [u32; MAX_PIECES];

const COUNT_SHIFT: u32 = 30;

/// What a memo holds of a word that it has no room for, where another one has it; no ids are like this.
pub const ELSEWHERE: PackedIds = [u32::MAX; MAX_PIECES];

/// What a memo holds of a word that is on its way to its ids, as the one with a number; no ids are like this.
#[must_use]
pub fn awaited(number: u32) -> PackedIds {
    let [first, ..] = ELSEWHERE;
    [first, number, 0, 0]
}

/// The number of an awaited word; none where ids are elsewhere.
#[must_use]
pub fn awaited_number(packed: &PackedIds) -> Option<u32> {
    (*packed != ELSEWHERE).then_some(packed[1])
}

/// Whether the ids are those of a word and neither `ELSEWHERE` nor awaited.
#[inline(always)]
#[must_use]
pub fn are_ids(packed: &PackedIds) -> bool {
    packed[0] != ELSEWHERE[0]
}

/// Pack 1 to 4 ids, each below 2^28.
#[inline]
#[must_use]
pub fn pack(ids: &[u32]) -> Option<PackedIds> {
    if ids.is_empty() || ids.len() > MAX_PIECES {
        return None;
    }
    let mut packed = [0; MAX_PIECES];
    packed[..ids.len()].copy_from_slice(ids);
    packed[0] |= (ids.len() as u32 - 1) << COUNT_SHIFT;
    Some(packed)
}

/// How many packed ids are, by the first.
#[inline(always)]
fn count(first: u32) -> usize {
    (first >> COUNT_SHIFT) as usize + 1
}

/// The first of packed ids.
#[inline(always)]
fn unpacked_first(first: u32) -> u32 {
    first & ((1 << COUNT_SHIFT) - 1)
}

/// Put packed ids where there is room for the most; returns how many they are.
///
/// Their number is read where they were packed: the next word's place would wait for what is written here.
#[inline(always)]
pub fn put(packed: &PackedIds, room: &mut [u32]) -> usize {
    let first = packed[0];
    room.copy_from_slice(packed);
    room[0] = unpacked_first(first);
    count(first)
}

/// The ids, the rest of no meaning, and how many they are.
#[inline]
#[must_use]
pub fn unpacked(mut packed: PackedIds) -> (PackedIds, usize) {
    let count = count(packed[0]);
    packed[0] = unpacked_first(packed[0]);
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

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    keys: [u128; 2],
    ids: [PackedIds; 2],
}

const BYTES_PER_WORD: usize = std::mem::size_of::<Line>() / 2;

/// The table.
#[derive(Clone, Debug)]
pub struct Memo {
    lines: Vec<Line>,
    /// How far a hash is shifted to become the number of a line.
    shift: u32,
    words: usize,
    /// How large it may grow: for `2^most_bits` words.
    most_bits: u32,
}

const EMPTY: Line = Line { keys: [0; 2], ids: [[0; MAX_PIECES]; 2] };
/// How many lines a word may be in.
const MAX_PROBES: usize = 4;
/// The most words that a table has room for: 32 MB.
const MAX_BITS: u32 = 20;

impl Memo {
    /// A memo with room for `2^bits` words to begin with; 32 bytes each.
    #[must_use]
    pub fn with_bits(bits: u32) -> Self {
        Self {
            lines: pages::filled(EMPTY, 1 << (bits - 1)),
            shift: 64 - (bits - 1),
            words: 0,
            most_bits: MAX_BITS,
        }
    }

    /// A memo with room for `2^bits` words to begin with that never takes more than so many bytes, except that
    /// it has room for four words.
    #[must_use]
    pub fn within(bytes: usize, bits: u32) -> Self {
        let most_bits = (bytes / BYTES_PER_WORD).checked_ilog2().unwrap_or(0).clamp(2, MAX_BITS);
        Self { most_bits, ..Self::with_bits(bits.min(most_bits)) }
    }

    /// The memory it takes, used or not.
    #[must_use]
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(self.lines.as_slice())
    }

    /// Say that a word will be asked for soon.
    #[inline]
    pub fn prefetch(&self, key: Key) {
        self.prefetch_hashed(key.hash());
    }

    /// Say that a word with this hash will be asked for soon.
    #[inline]
    pub fn prefetch_hashed(&self, hash: u64) {
        prefetch_read(&self.lines[(hash >> self.shift) as usize]);
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
        let line = &self.lines[(hash >> self.shift) as usize];
        let is_second = line.keys[1] == key.0;
        if is_second | (line.keys[0] == key.0) {
            return Some(&line.ids[usize::from(is_second)]);
        }
        self.get_beyond(line, key, hash)
    }

    /// Look where words go whose own line is full.
    #[cold]
    fn get_beyond(&self, own: &Line, key: Key, hash: u64) -> Option<&PackedIds> {
        if own.keys[1] == 0 {
            return None;
        }
        for at in self.probes(hash).skip(1) {
            let line = &self.lines[at];
            if let Some(way) = line.keys.iter().position(|&found| found == key.0) {
                return Some(&line.ids[way]);
            }
            if line.keys[1] == 0 {
                break;
            }
        }
        None
    }

    /// Remember a word.
    #[inline]
    pub fn insert(&mut self, key: Key, ids: PackedIds) {
        self.insert_hashed(key, key.hash(), ids);
    }

    /// Remember a word with this hash.
    #[inline]
    pub fn insert_hashed(&mut self, key: Key, hash: u64, ids: PackedIds) {
        if self.words >= self.lines.len() {
            self.make_room();
        }
        let free = self.probes(hash).find(|&at| self.lines[at].keys[1] == 0);
        let own = (hash >> self.shift) as usize;
        let line = &mut self.lines[free.unwrap_or(own)];
        let way = usize::from(line.keys[0] != 0);
        self.words += usize::from(free.is_some());
        line.keys[way] = key.0;
        line.ids[way] = ids;
    }

    /// Change what is remembered for a word with this hash, if anything is.
    pub fn change_hashed(&mut self, key: Key, hash: u64, ids: PackedIds) {
        let ways = self.probes(hash).flat_map(|at| [(at, 0), (at, 1)]);
        if let Some((at, way)) = { ways }.find(|&(at, way)| self.lines[at].keys[way] == key.0) {
            self.lines[at].ids[way] = ids;
        }
    }

    /// The lines that a word may be in.
    fn probes(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (own, mask) = ((hash >> self.shift) as usize, self.lines.len() - 1);
        (own..own + MAX_PROBES).map(move |at| at & mask)
    }

    /// Double the table, or empty it where it may not grow.
    #[cold]
    fn make_room(&mut self) {
        self.words = 0;
        if self.lines.len() >= 1 << (self.most_bits - 1) {
            self.lines.fill(EMPTY);
            return;
        }
        let doubled = pages::filled(EMPTY, 2 * self.lines.len());
        self.shift -= 1;
        for line in std::mem::replace(&mut self.lines, doubled) {
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
        let mut memo = Memo::with_bits(4);
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
        let mut memo = Memo::with_bits(2);
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
            let mut memo = Memo::within(bytes, 17);
            (0..50_000u32)
                .for_each(|i| memo.insert(Key::of(&i.to_le_bytes()).unwrap(), pack(&[i]).unwrap()));
            assert!(memo.bytes() <= bytes);
        }
        assert_eq!(Memo::within(usize::MAX, 17).bytes(), 4 << 20);
        assert_eq!(Memo::within(0, 17).get(Key::of(b"a").unwrap()), None);
    }

    #[test]
    fn keys_tell_words_apart() {
        assert_ne!(Key::of(b"a"), Key::of(b"a\0"));
        assert_eq!(Key::of(b""), None);
        assert_eq!(Key::of(&[b'a'; 16]), None);
    }
}
