//! The table of long words, and of the ids of short words that have more than four: hashed, and compared byte by byte.
//!
//! The bytes of a word and its ids are adjacent in one arena. When the budget is used up, the table is emptied.

use piecework_kernels::huge_pages;
use piecework_kernels::level::prefetch_read;

/// The longest word that is stored, in bytes.
const MAX_WORD_BYTES: usize = 512;
/// The largest budget that is used, in bytes.
const MAX_MEMORY: usize = 24 << 20;
const FIRST_BITS: u32 = 10;
/// The number of slots that a word may be in.
const MAX_PROBES: usize = 8;

/// The table.
#[derive(Clone, Debug)]
pub(crate) struct LongWords {
    slots: Vec<Slot>,
    words: usize,
    /// For each word its bytes, four to a number, and its ids.
    arena: Vec<u32>,
    /// The number of times that the table was emptied.
    generation: u32,
    limits: Limits,
}

/// Where the ids of a short word are stored, until the table is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredIds {
    pub(super) at: u32,
    pub(super) count: u32,
    pub(super) generation: u32,
}

/// The largest arena, in numbers, and the most slots, as a power of two.
#[derive(Clone, Copy, Debug)]
struct Limits {
    arena: usize,
    bits: u32,
}

/// A word: its hash, its position in the arena, and a payload of the caller: a kind of
/// key or a packed score. A slot without bytes is empty.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Slot {
    hash: u32,
    at: u32,
    payload: u32,
    byte_count: u16,
    id_count: u16,
}

impl LongWords {
    /// Make a table that takes at most `budget` bytes, and at least sixteen slots.
    pub(crate) fn within(budget: usize) -> Self {
        // A quarter is for the slots. The rest is reserved, and taken as it fills.
        let quarter = budget.min(MAX_MEMORY) / 4;
        let bits = (quarter / size_of::<Slot>()).checked_ilog2().unwrap_or(0).max(4);
        let limits = Limits { arena: quarter * 3 / size_of::<u32>(), bits };
        let slots = vec![Slot::default(); 1 << FIRST_BITS.min(bits)];
        Self { slots, words: 0, arena: huge_pages::with_capacity(limits.arena), generation: 0, limits }
    }

    /// Return the bytes of the slots, used or not, and of the used part of the arena.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(self.slots.as_slice()) + size_of_val(self.arena.as_slice())
    }

    /// Return the hash of a word.
    #[inline]
    pub(crate) fn hash(word: &[u8]) -> u64 {
        let Some(last) = word.last_chunk() else { return mix(word.len() as u64, short_block(word)) };
        let (blocks, _) = word.as_chunks();
        let mixed =
            blocks.iter().fold(word.len() as u64, |hash, block| mix(hash, u128::from_le_bytes(*block)));
        mix(mixed, u128::from_le_bytes(*last))
    }

    /// Prefetch the slot of a word with this hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch_read(&self.slots[self.own(tag(hash))]);
    }

    /// Prefetch the bytes and the ids of a word with this hash, whose slot was prefetched earlier.
    #[inline]
    pub(crate) fn prefetch_found(&self, hash: u64) {
        let slot = self.slots[self.own(tag(hash))];
        if slot.hash == tag(hash) {
            let word = slot.at as usize;
            let ids = word + usize::from(slot.byte_count).div_ceil(4);
            [word, ids].into_iter().filter_map(|at| self.arena.get(at)).for_each(prefetch_read);
        }
    }

    /// Return the payload and the ids of a word with this hash.
    #[inline]
    pub(crate) fn get_with_payload(&self, word: &[u8], hash: u64) -> Option<(u32, &[u32])> {
        let hash = tag(hash);
        let slots = self.probes(hash).map(|at| self.slots[at]).take_while(|slot| slot.byte_count != 0);
        slots.filter(|slot| slot.hash == hash).find_map(|slot| Some((slot.payload, self.ids(slot, word)?)))
    }

    /// Return the ids of a word with this hash and this payload.
    #[inline]
    pub(crate) fn get(&self, word: &[u8], hash: u64, payload: u32) -> Option<&[u32]> {
        self.get_with_payload(word, hash).filter(|&(found, _)| found == payload).map(|(_, ids)| ids)
    }

    /// Store a word with this hash in place of an older one, unless it is empty or too long.
    pub(crate) fn insert(&mut self, word: &[u8], hash: u64, payload: u32, ids: &[u32]) {
        let size = word.len().div_ceil(4) + ids.len();
        let is_long = word.len() > MAX_WORD_BYTES || ids.len() > 2 * MAX_WORD_BYTES;
        if word.is_empty() || is_long || size > self.limits.arena {
            return;
        }
        if 2 * self.words >= self.slots.len() || self.arena.len() + size > self.limits.arena {
            self.grow(size);
        }
        let at = self.arena.len() as u32;
        let (chunks, rest) = word.as_chunks();
        self.arena.extend(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)));
        if !rest.is_empty() {
            self.arena.push(packed(rest));
        }
        self.arena.extend_from_slice(ids);
        let (byte_count, id_count) = (word.len() as u16, ids.len() as u16);
        self.place(Slot { hash: tag(hash), at, payload, byte_count, id_count });
    }

    /// Store the ids of a short word, unless there are none or too many.
    pub(crate) fn store(&mut self, ids: &[u32]) -> Option<StoredIds> {
        if ids.is_empty() || ids.len() > self.limits.arena {
            return None;
        }
        if self.arena.len() + ids.len() > self.limits.arena {
            self.clear();
        }
        let at = self.arena.len() as u32;
        self.arena.extend_from_slice(ids);
        Some(StoredIds { at, count: ids.len() as u32, generation: self.generation })
    }

    /// Return ids that were stored, unless the table was emptied since.
    #[inline]
    pub(crate) fn stored(&self, stored: StoredIds) -> Option<&[u32]> {
        let at = stored.at as usize;
        (stored.generation == self.generation).then(|| &self.arena[at..at + stored.count as usize])
    }

    fn place(&mut self, slot: Slot) {
        let takes = |other: &Slot| other.byte_count == 0 || other.hash == slot.hash;
        let at = self.probes(slot.hash).find(|&at| takes(&self.slots[at])).unwrap_or(self.own(slot.hash));
        self.words += usize::from(self.slots[at].byte_count == 0);
        self.slots[at] = slot;
    }

    /// Double the table, or empty it if the budget is used up.
    #[cold]
    fn grow(&mut self, size: usize) {
        if self.slots.len() < 1 << self.limits.bits && self.arena.len() + size <= self.limits.arena {
            self.words = 0;
            let doubled = vec![Slot::default(); 2 * self.slots.len()];
            let slots = std::mem::replace(&mut self.slots, doubled);
            slots.into_iter().filter(|slot| slot.byte_count != 0).for_each(|slot| self.place(slot));
        } else {
            self.clear();
        }
    }

    /// Remove all words; what was stored before is not found any more.
    fn clear(&mut self) {
        self.words = 0;
        self.slots.fill(Slot::default());
        self.arena.clear();
        self.generation = self.generation.wrapping_add(1);
    }

    /// Return the ids of a slot if the word is in it.
    #[inline]
    fn ids(&self, slot: Slot, word: &[u8]) -> Option<&[u32]> {
        if usize::from(slot.byte_count) != word.len() {
            return None;
        }
        let (stored, after) = self.arena[slot.at as usize..].split_at(word.len().div_ceil(4));
        if !is_same(word, stored) {
            return None;
        }
        Some(&after[..usize::from(slot.id_count)])
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

/// Return the hash of a long word of a kind.
pub(crate) fn long_hash(word: &[u8], kind: u32) -> u64 {
    LongWords::hash(word) ^ u64::from(kind).wrapping_neg()
}

/// Return the part of a hash that a slot stores.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Return whether the arena has the bytes of a word in `stored`, which has as many numbers as it takes.
///
/// All bytes are compared without a branch: words of one hash are nearly always equal.
#[inline]
fn is_same(word: &[u8], stored: &[u32]) -> bool {
    let (Some(last), Some(stored_last)) = (word.last_chunk(), stored.last_chunk()) else {
        return word.chunks(4).zip(stored).all(|(chunk, &stored)| packed(chunk) == stored);
    };
    let (blocks, stored_blocks) = (word.as_chunks().0, stored.as_chunks().0);
    let last = u128::from_le_bytes(*last) >> (8 * (4 * stored.len() - word.len()));
    let compared = blocks.iter().zip(stored_blocks);
    let differences = compared.fold(last ^ joined(stored_last), |all, (block, stored)| {
        all | u128::from_le_bytes(*block) ^ joined(stored)
    });
    differences == 0
}

/// Return four numbers as one.
#[inline]
fn joined([first, second, third, fourth]: &[u32; 4]) -> u128 {
    let low = u64::from(*first) | u64::from(*second) << 32;
    let high = u64::from(*third) | u64::from(*fourth) << 32;
    u128::from(low) | u128::from(high) << 64
}

/// Return up to four bytes as a number.
#[inline]
fn packed(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Return fewer than 16 bytes as a number that differs for different words of this length.
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
    fn words_are_found_and_the_table_stays_within_its_budget() {
        for memory in [4096, 100_000, 1 << 20, MAX_MEMORY] {
            let mut words = LongWords::within(memory);
            check_words(&mut words);
            assert!(words.memory() <= memory, "{memory}");
        }
        let mut none = LongWords::within(0);
        none.insert(b"a", 7, 0, &[1]);
        assert_eq!(none.get_with_payload(b"a", 7), None);
    }

    fn check_words(words: &mut LongWords) {
        let mut expected = std::collections::HashMap::new();
        for i in 0..200_000u32 {
            let word = format!("{}{}", "wort".repeat((i % 30) as usize), i % 40_000).into_bytes();
            let hash = LongWords::hash(&word);
            if let Some((payload, ids)) = words.get_with_payload(&word, hash) {
                assert_eq!(expected.get(&word), Some(&(payload, ids.to_vec())));
            }
            let ids: Vec<u32> = (0..i % 9).map(|k| i + k).collect();
            words.insert(&word, hash, i, &ids);
            assert_eq!(words.get_with_payload(&word, hash), Some((i, ids.as_slice())));
            expected.insert(word, (i, ids));
        }
    }

    #[test]
    fn stored_ids_are_found_until_the_table_is_emptied() {
        let mut words = LongWords::within(4096);
        assert_eq!(words.store(&[]), None);
        assert_eq!(words.store(&[0; 4096]), None);
        let all: Vec<(u32, StoredIds)> =
            (0..1000).map(|i| (i, words.store(&[i, i + 1]).unwrap())).collect();
        let found =
            all.iter().filter_map(|&(i, kept)| words.stored(kept).map(|ids| assert_eq!(ids, [i, i + 1])));
        assert!((1..1000).contains(&found.count()));
    }

    #[test]
    fn words_stay_while_the_table_grows() {
        let mut words = LongWords::within(MAX_MEMORY);
        let count = |words: &LongWords| {
            let is_found = |i: &u32| {
                words.get_with_payload(&i.to_le_bytes(), LongWords::hash(&i.to_le_bytes())).is_some()
            };
            (0..100_000).filter(is_found).count()
        };
        for i in 0..100_000u32 {
            words.insert(&i.to_le_bytes(), LongWords::hash(&i.to_le_bytes()), 0, &[i]);
        }
        assert!(count(&words) > 97_000, "{}", count(&words));
    }

    #[test]
    fn words_of_one_hash_are_distinguished() {
        let mut words = LongWords::within(MAX_MEMORY);
        for i in 0..100u32 {
            words.insert(&i.to_le_bytes(), 7, i, &[i]);
            assert_eq!(words.get_with_payload(&i.to_le_bytes(), 7), Some((i, [i].as_slice())));
            assert_eq!(words.get_with_payload(b"another", 7), None);
            assert_eq!(words.get_with_payload(b"", 7), None);
        }
        words.insert(b"", 7, 0, &[1]);
        assert_eq!(words.get_with_payload(b"", 7), None);
    }

    #[test]
    fn words_that_differ_in_one_byte_are_distinguished() {
        let all: Vec<u8> = (1..=70).collect();
        for word in (1..=all.len()).map(|len| &all[..len]) {
            let mut words = LongWords::within(MAX_MEMORY);
            words.insert(word, 7, 0, &[1, 2]);
            words.insert(b"next", u64::MAX, 0, &[3]);
            assert_eq!(words.get(word, 7, 0), Some([1, 2].as_slice()));
            for at in 0..word.len() {
                let mut other = word.to_vec();
                other[at] ^= 0x80;
                assert_eq!(words.get(&other, 7, 0), None, "{} bytes, byte {at}", word.len());
            }
            assert_eq!(words.get(&all[..word.len() - 1], 7, 0), None);
        }
    }

    #[test]
    fn hashes_of_words_that_begin_alike_differ() {
        let words: Vec<Vec<u8>> = (0..40).flat_map(|len| [vec![b'a'; len], vec![0; len]]).skip(1).collect();
        let hashes: std::collections::HashSet<u32> =
            words.iter().map(|word| tag(LongWords::hash(word))).collect();
        assert_eq!(hashes.len(), words.len());
    }
}
