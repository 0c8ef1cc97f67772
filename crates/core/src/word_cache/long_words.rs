//! What longer words, and those of more pieces, were segmented into: hashed, and compared byte by byte.
//!
//! The bytes of a word and its ids lie together, those of all words one after the other; when a budget is used up
//! everything is forgotten.

use piecework_kernels::huge_pages;
use piecework_kernels::prefetch::prefetch_read;

/// The longest word that is remembered, in bytes.
const MAX_WORD_BYTES: usize = 512;
/// The most memory that is of use.
const MAX_MEMORY: usize = 24 << 20;
const FIRST_BITS: u32 = 10;
/// How many slots a word may be in.
const MAX_PROBES: usize = 8;

/// The table.
#[derive(Clone, Debug)]
pub struct LongWords {
    slots: Vec<Slot>,
    words: usize,
    /// The bytes of each word, four to a number, and its ids.
    arena: Vec<u32>,
    /// How many times everything was forgotten.
    round: u32,
    limits: Limits,
}

/// Where ids are kept that are known by another table, until everything is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredIds {
    pub(super) at: u32,
    pub(super) count: u32,
    pub(super) round: u32,
}

/// The most numbers of all words, and slots as a power of two.
#[derive(Clone, Copy, Debug)]
struct Limits {
    arena: usize,
    bits: u32,
}

/// A word's hash, where it is, and a note of who remembers it; empty without bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Slot {
    hash: u32,
    at: u32,
    note: u32,
    byte_count: u16,
    id_count: u16,
}

impl LongWords {
    /// A table that never takes more than so much memory, and room for sixteen words.
    #[must_use]
    pub fn within(memory: usize) -> Self {
        // A quarter for the slots; the rest is set apart, but taken only as it fills.
        let quarter = memory.min(MAX_MEMORY) / 4;
        let bits = (quarter / size_of::<Slot>()).checked_ilog2().unwrap_or(0).max(4);
        let limits = Limits { arena: quarter * 3 / size_of::<u32>(), bits };
        let slots = vec![Slot::default(); 1 << FIRST_BITS.min(bits)];
        Self { slots, words: 0, arena: huge_pages::with_capacity(limits.arena), round: 0, limits }
    }

    /// The memory it takes, used or not.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of_val(self.slots.as_slice()) + size_of_val(self.arena.as_slice())
    }

    /// The hash of a word.
    #[inline]
    #[must_use]
    pub fn hash(word: &[u8]) -> u64 {
        let Some(last) = word.last_chunk() else { return mix(word.len() as u64, short_block(word)) };
        let (blocks, _) = word.as_chunks();
        let mixed =
            blocks.iter().fold(word.len() as u64, |hash, block| mix(hash, u128::from_le_bytes(*block)));
        mix(mixed, u128::from_le_bytes(*last))
    }

    /// Say that a word with this hash will be asked for soon.
    #[inline]
    pub fn prefetch_hashed(&self, hash: u64) {
        prefetch_read(&self.slots[self.own(tag(hash))]);
    }

    /// Say once more, when the first call has had its time, that a word with this hash will be asked for.
    #[inline]
    pub fn prefetch_found(&self, hash: u64) {
        let slot = self.slots[self.own(tag(hash))];
        if slot.hash == tag(hash) {
            let word = slot.at as usize;
            let ids = word + usize::from(slot.byte_count).div_ceil(4);
            [word, ids].into_iter().filter_map(|at| self.arena.get(at)).for_each(prefetch_read);
        }
    }

    /// What was remembered for a word with this hash: the note and the ids.
    #[inline]
    #[must_use]
    pub fn get_hashed(&self, word: &[u8], hash: u64) -> Option<(u32, &[u32])> {
        let hash = tag(hash);
        let slots = self.probes(hash).map(|at| self.slots[at]).take_while(|slot| slot.byte_count != 0);
        slots.filter(|slot| slot.hash == hash).find_map(|slot| Some((slot.note, self.ids(slot, word)?)))
    }

    /// Remember a word with this hash in place of what was told of it, unless it is empty or too long.
    pub fn insert_hashed(&mut self, word: &[u8], hash: u64, note: u32, ids: &[u32]) {
        let size = word.len().div_ceil(4) + ids.len();
        let is_long = word.len() > MAX_WORD_BYTES || ids.len() > 2 * MAX_WORD_BYTES;
        if word.is_empty() || is_long || size > self.limits.arena {
            return;
        }
        if 2 * self.words >= self.slots.len() || self.arena.len() + size > self.limits.arena {
            self.make_room(size);
        }
        let at = self.arena.len() as u32;
        let (chunks, rest) = word.as_chunks();
        self.arena.extend(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)));
        if !rest.is_empty() {
            self.arena.push(packed(rest));
        }
        self.arena.extend_from_slice(ids);
        let (byte_count, id_count) = (word.len() as u16, ids.len() as u16);
        self.place(Slot { hash: tag(hash), at, note, byte_count, id_count });
    }

    /// Keep the ids of a word that another table knows, unless there are none or too many.
    pub fn keep(&mut self, ids: &[u32]) -> Option<StoredIds> {
        if ids.is_empty() || ids.len() > self.limits.arena {
            return None;
        }
        if self.arena.len() + ids.len() > self.limits.arena {
            self.forget();
        }
        let at = self.arena.len() as u32;
        self.arena.extend_from_slice(ids);
        Some(StoredIds { at, count: ids.len() as u32, round: self.round })
    }

    /// Ids that were kept, if they were not forgotten.
    #[inline]
    #[must_use]
    pub fn kept(&self, kept: StoredIds) -> Option<&[u32]> {
        let at = kept.at as usize;
        (kept.round == self.round).then(|| &self.arena[at..at + kept.count as usize])
    }

    fn place(&mut self, slot: Slot) {
        let takes = |other: &Slot| other.byte_count == 0 || other.hash == slot.hash;
        let at = self.probes(slot.hash).find(|&at| takes(&self.slots[at])).unwrap_or(self.own(slot.hash));
        self.words += usize::from(self.slots[at].byte_count == 0);
        self.slots[at] = slot;
    }

    /// Double the table, or forget everything where a budget is used up.
    #[cold]
    fn make_room(&mut self, size: usize) {
        if self.slots.len() < 1 << self.limits.bits && self.arena.len() + size <= self.limits.arena {
            self.words = 0;
            let doubled = vec![Slot::default(); 2 * self.slots.len()];
            let slots = std::mem::replace(&mut self.slots, doubled);
            slots.into_iter().filter(|slot| slot.byte_count != 0).for_each(|slot| self.place(slot));
        } else {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.words = 0;
        self.slots.fill(Slot::default());
        self.arena.clear();
        self.round = self.round.wrapping_add(1);
    }

    /// The ids of a slot, if it is the word's.
    #[inline]
    fn ids(&self, slot: Slot, word: &[u8]) -> Option<&[u32]> {
        if usize::from(slot.byte_count) != word.len() {
            return None;
        }
        let (chunks, rest) = word.as_chunks();
        let (stored, after) = self.arena[slot.at as usize..].split_at(chunks.len());
        let (last, after) = after.split_at(usize::from(!rest.is_empty()));
        // All is compared, as what has the same hash is the same but by chance.
        let compared = chunks.iter().zip(stored);
        let differences =
            compared.fold(0, |all, (chunk, stored)| all | (u32::from_le_bytes(*chunk) ^ stored));
        let is_same = differences == 0 && last.iter().all(|&stored| stored == packed(rest));
        is_same.then(|| &after[..usize::from(slot.id_count)])
    }

    #[inline]
    fn own(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }

    #[inline]
    fn probes(&self, hash: u32) -> impl Iterator<Item = usize> {
        let (own, mask) = (self.own(hash), self.slots.len() - 1);
        (0..MAX_PROBES).map(move |offset| (own + offset) & mask)
    }
}

/// What a slot keeps of a hash.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Up to four bytes as a number.
#[inline]
fn packed(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Fewer than 16 bytes as a number that tells them from others as many.
#[inline]
fn short_block(word: &[u8]) -> u128 {
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << 64
    } else if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        u128::from(u32::from_le_bytes(*first)) | u128::from(u32::from_le_bytes(*last)) << 64
    } else {
        u128::from(packed(word))
    }
}

#[inline]
fn mix(hash: u64, block: u128) -> u64 {
    let (low, high) = (block as u64 ^ hash, (block >> 64) as u64 ^ 0x9E37_79B9_7F4A_7C15);
    let product = u128::from(low ^ 0xD6E8_FEB8_6659_FD93) * u128::from(high);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_it_was_told_and_keeps_within_its_memory() {
        for memory in [4096, 100_000, 1 << 20, MAX_MEMORY] {
            let mut texts = LongWords::within(memory);
            check_remembering(&mut texts);
            assert!(texts.memory() <= memory, "{memory}");
        }
        let mut none = LongWords::within(0);
        none.insert_hashed(b"a", 7, 0, &[1]);
        assert_eq!(none.get_hashed(b"a", 7), None);
    }

    fn check_remembering(texts: &mut LongWords) {
        let mut told = std::collections::HashMap::new();
        for i in 0..200_000u32 {
            let word = format!("{}{}", "wort".repeat((i % 30) as usize), i % 40_000).into_bytes();
            let hash = LongWords::hash(&word);
            if let Some((note, ids)) = texts.get_hashed(&word, hash) {
                assert_eq!(told.get(&word), Some(&(note, ids.to_vec())));
            }
            let ids: Vec<u32> = (0..i % 9).map(|k| i + k).collect();
            texts.insert_hashed(&word, hash, i, &ids);
            assert_eq!(texts.get_hashed(&word, hash), Some((i, ids.as_slice())));
            told.insert(word, (i, ids));
        }
    }

    #[test]
    fn keeps_ids_until_everything_is_forgotten() {
        let mut texts = LongWords::within(4096);
        assert_eq!(texts.keep(&[]), None);
        assert_eq!(texts.keep(&[0; 4096]), None);
        let all: Vec<(u32, StoredIds)> = (0..1000).map(|i| (i, texts.keep(&[i, i + 1]).unwrap())).collect();
        let known =
            all.iter().filter_map(|&(i, kept)| texts.kept(kept).map(|ids| assert_eq!(ids, [i, i + 1])));
        assert!((1..1000).contains(&known.count()));
    }

    #[test]
    fn keeps_words_while_it_grows() {
        let mut texts = LongWords::within(MAX_MEMORY);
        let count = |texts: &LongWords| {
            let known =
                |i: &u32| texts.get_hashed(&i.to_le_bytes(), LongWords::hash(&i.to_le_bytes())).is_some();
            (0..100_000).filter(known).count()
        };
        for i in 0..100_000u32 {
            texts.insert_hashed(&i.to_le_bytes(), LongWords::hash(&i.to_le_bytes()), 0, &[i]);
        }
        assert!(count(&texts) > 97_000, "{}", count(&texts));
    }

    #[test]
    fn words_of_one_hash_are_told_apart() {
        let mut texts = LongWords::within(MAX_MEMORY);
        for i in 0..100u32 {
            texts.insert_hashed(&i.to_le_bytes(), 7, i, &[i]);
            assert_eq!(texts.get_hashed(&i.to_le_bytes(), 7), Some((i, [i].as_slice())));
            assert_eq!(texts.get_hashed(b"another", 7), None);
            assert_eq!(texts.get_hashed(b"", 7), None);
        }
        texts.insert_hashed(b"", 7, 0, &[1]);
        assert_eq!(texts.get_hashed(b"", 7), None);
    }

    #[test]
    fn hashes_of_words_that_begin_alike_differ() {
        let words: Vec<Vec<u8>> = (0..40).flat_map(|len| [vec![b'a'; len], vec![0; len]]).skip(1).collect();
        let hashes: std::collections::HashSet<u32> =
            words.iter().map(|word| tag(LongWords::hash(word))).collect();
        assert_eq!(hashes.len(), words.len());
    }
}
