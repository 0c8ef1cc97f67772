//! What longer words, and those of more pieces, were segmented into: hashed, and compared byte by byte.
//!
//! The bytes and ids of all words lie one after the other; when a budget is used up everything is forgotten.

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
pub struct Texts {
    slots: Vec<Slot>,
    words: usize,
    bytes: Vec<u8>,
    ids: Vec<u32>,
    limits: Limits,
}

/// The most bytes and ids of all words, and slots as a power of two.
#[derive(Clone, Copy, Debug)]
struct Limits {
    bytes: usize,
    ids: usize,
    bits: u32,
}

/// A word's hash and where its bytes and ids are; empty without bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    bytes_at: u32,
    ids_at: u32,
    byte_count: u16,
    id_count: u16,
}

impl Texts {
    /// A table that never takes more than so much memory, and room for eight words.
    #[must_use]
    pub fn within(memory: usize) -> Self {
        // A third for each; bytes and ids lie in vectors, which may have twice the room that they need.
        let third = memory.min(MAX_MEMORY) / 3;
        let bits = (third / size_of::<Slot>()).checked_ilog2().unwrap_or(0).max(4);
        let limits = Limits { bytes: third / 2, ids: third / 2 / size_of::<u32>(), bits };
        let slots = vec![Slot::default(); 1 << FIRST_BITS.min(bits)];
        Self { slots, words: 0, bytes: Vec::new(), ids: Vec::new(), limits }
    }

    /// The memory it takes, used or not.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of_val(self.slots.as_slice()) + self.bytes.capacity() + self.ids.capacity() * size_of::<u32>()
    }

    /// The hash of a word of 16 bytes or more, or of fewer with their number.
    #[inline]
    #[must_use]
    pub fn hash(word: &[u8]) -> u64 {
        let (blocks, _) = word.as_chunks::<16>();
        let last = word.last_chunk::<16>().map_or(0, |last| u128::from_le_bytes(*last));
        let mixed =
            blocks.iter().fold(word.len() as u64, |hash, block| mix(hash, u128::from_le_bytes(*block)));
        mix(mixed, last)
    }

    /// Say that a word with this hash will be asked for soon.
    #[inline]
    pub fn prefetch_hashed(&self, hash: u64) {
        prefetch_read(&self.slots[self.own(hash)]);
    }

    /// What was remembered for a word with this hash.
    #[inline]
    #[must_use]
    pub fn get_hashed(&self, word: &[u8], hash: u64) -> Option<&[u32]> {
        let slots = self.probes(hash).map(|at| self.slots[at]).take_while(|slot| slot.byte_count != 0);
        let slot = slots.filter(|slot| slot.hash == hash).find(|&slot| self.word(slot) == word)?;
        Some(&self.ids[slot.ids_at as usize..][..usize::from(slot.id_count)])
    }

    /// Remember a word with this hash, unless it is too long.
    pub fn insert_hashed(&mut self, word: &[u8], hash: u64, ids: &[u32]) {
        if word.len() > MAX_WORD_BYTES.min(self.limits.bytes)
            || ids.len() > (2 * MAX_WORD_BYTES).min(self.limits.ids)
        {
            return;
        }
        if 2 * self.words >= self.slots.len()
            || self.bytes.len() + word.len() > self.limits.bytes
            || self.ids.len() + ids.len() > self.limits.ids
        {
            self.make_room();
        }
        let slot = Slot {
            hash,
            bytes_at: self.bytes.len() as u32,
            ids_at: self.ids.len() as u32,
            byte_count: word.len() as u16,
            id_count: ids.len() as u16,
        };
        self.bytes.extend_from_slice(word);
        self.ids.extend_from_slice(ids);
        self.place(slot);
    }

    fn place(&mut self, slot: Slot) {
        let free = self.probes(slot.hash).find(|&at| self.slots[at].byte_count == 0);
        let at = free.unwrap_or(self.own(slot.hash));
        self.words += usize::from(free.is_some());
        self.slots[at] = slot;
    }

    /// Double the table, or forget everything where a budget is used up.
    #[cold]
    fn make_room(&mut self) {
        self.words = 0;
        let has_room = self.bytes.len() < self.limits.bytes / 2 && self.ids.len() < self.limits.ids / 2;
        if self.slots.len() < 1 << self.limits.bits && (has_room || self.bytes.is_empty()) {
            let doubled = vec![Slot::default(); 2 * self.slots.len()];
            let slots = std::mem::replace(&mut self.slots, doubled);
            slots.into_iter().filter(|slot| slot.byte_count != 0).for_each(|slot| self.place(slot));
        } else {
            self.slots.fill(Slot::default());
            self.bytes.clear();
            self.ids.clear();
        }
    }

    fn word(&self, slot: Slot) -> &[u8] {
        &self.bytes[slot.bytes_at as usize..][..usize::from(slot.byte_count)]
    }

    #[inline]
    fn own(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn probes(&self, hash: u64) -> impl Iterator<Item = usize> {
        let mask = self.slots.len() - 1;
        (0..MAX_PROBES).map(move |offset| (hash as usize).wrapping_add(offset) & mask)
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
            let mut texts = Texts::within(memory);
            check_remembering(&mut texts);
            assert!(texts.memory() <= memory, "{memory}");
        }
        let mut none = Texts::within(0);
        none.insert_hashed(b"a", 7, &[1]);
        assert_eq!(none.get_hashed(b"a", 7), None);
    }

    fn check_remembering(texts: &mut Texts) {
        for i in 0..200_000u32 {
            let word = format!("a word with the number {i}");
            let hash = Texts::hash(word.as_bytes());
            assert_eq!(texts.get_hashed(word.as_bytes(), hash), None);
            let ids: Vec<u32> = (0..i % 7).collect();
            texts.insert_hashed(word.as_bytes(), hash, &ids);
            assert_eq!(texts.get_hashed(word.as_bytes(), hash), Some(ids.as_slice()));
        }
    }

    #[test]
    fn words_of_one_hash_are_told_apart() {
        let mut texts = Texts::within(MAX_MEMORY);
        for i in 0..100u32 {
            texts.insert_hashed(&i.to_le_bytes(), 7, &[i]);
            assert_eq!(texts.get_hashed(&i.to_le_bytes(), 7), Some([i].as_slice()));
            assert_eq!(texts.get_hashed(b"another", 7), None);
        }
    }
}
