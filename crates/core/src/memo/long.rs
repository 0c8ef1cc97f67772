//! What words were last segmented into that the memo has no room for: longer ones, or of more pieces.
//!
//! A table of five ways to a cache line over one arena that holds, for each word, a note, its ids and its
//! bytes. Both have a fixed size; a full arena is wiped together with the table.

use piecework_kernels::prefetch::prefetch_read;

/// The longest word, in bytes, that is remembered.
pub const MAX_WORD_BYTES: usize = 128;

/// 2^14 lines of five words: 1 MB.
const MAX_LINE_BITS: u32 = 14;
/// In words of four bytes: 4 MB.
const MAX_ARENA: usize = 1 << 20;

/// Where a word stands in the arena.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    tag: u32,
    at: u32,
    byte_len: u16,
    id_count: u16,
}

const WAYS: usize = 5;

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([Slot; WAYS]);

/// The table; it takes memory when the first word comes.
#[derive(Clone, Debug)]
pub struct LongMemo {
    lines: Vec<Line>,
    arena: Vec<u32>,
    line_bits: u32,
    most_in_arena: usize,
}

/// The hash of a word, to be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u64);

impl Hash {
    /// The hash of a word.
    #[inline]
    #[must_use]
    pub fn of(word: &[u8]) -> Self {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let mix = |hash: u64, bytes: u64| {
            let product = u128::from(hash ^ bytes) * u128::from(FACTOR);
            product as u64 ^ (product >> 64) as u64
        };
        let mut chunks = word.chunks_exact(8);
        let mut hash = (&mut chunks).fold(word.len() as u64 ^ FACTOR, |hash, chunk| {
            mix(hash, chunk.try_into().map_or(0, u64::from_le_bytes))
        });
        let mut rest = [0; 8];
        rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        hash = mix(hash, u64::from_le_bytes(rest));
        Self(hash.wrapping_mul(FACTOR))
    }

    fn line(self, bits: u32) -> usize {
        (self.0 >> (64 - bits)) as usize
    }

    fn tag(self) -> u32 {
        self.0 as u32
    }
}

impl LongMemo {
    /// A memo that never takes more than so many bytes, except that it has two lines.
    #[must_use]
    pub fn within(bytes: usize) -> Self {
        // The arena is a vector, which may have twice the room that it needs.
        let line_bits =
            (bytes / 4 / size_of::<Line>()).checked_ilog2().unwrap_or(0).clamp(1, MAX_LINE_BITS);
        let most_in_arena = (bytes * 3 / 8 / size_of::<u32>()).min(MAX_ARENA);
        Self { lines: Vec::new(), arena: Vec::new(), line_bits, most_in_arena }
    }

    /// The memory it takes, used or not.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.lines.as_slice()) + self.arena.capacity() * size_of::<u32>()
    }

    /// Say that a word will be asked for soon.
    #[inline]
    pub fn prefetch(&self, hash: Hash) {
        if let Some(line) = self.lines.get(hash.line(self.line_bits)) {
            prefetch_read(line);
        }
    }

    /// The note and the ids of a word.
    #[inline]
    #[must_use]
    pub fn get(&self, word: &[u8], hash: Hash) -> Option<(u32, &[u32])> {
        let line = self.lines.get(hash.line(self.line_bits))?;
        line.0.iter().filter(|slot| slot.tag == hash.tag()).find_map(|slot| self.read(slot, word))
    }

    fn read(&self, slot: &Slot, word: &[u8]) -> Option<(u32, &[u32])> {
        if usize::from(slot.byte_len) != word.len() || word.is_empty() {
            return None;
        }
        let (at, count) = (slot.at as usize, usize::from(slot.id_count));
        let (note, rest) = self.arena.get(at..)?.split_first()?;
        let (ids, bytes) = rest.split_at_checked(count)?;
        word.chunks(4).zip(bytes).all(|(chunk, &stored)| packed(chunk) == stored).then_some((*note, ids))
    }

    /// Remember a word, unless it is empty or too long.
    pub fn insert(&mut self, word: &[u8], hash: Hash, note: u32, ids: &[u32]) {
        if word.is_empty() || word.len() > MAX_WORD_BYTES || ids.len() > 4 * MAX_WORD_BYTES {
            return;
        }
        let size = 1 + ids.len() + word.len().div_ceil(4);
        if size > self.most_in_arena {
            return;
        }
        if self.lines.is_empty() || self.arena.len() + size > self.most_in_arena {
            self.wipe();
        }
        let at = self.arena.len() as u32;
        self.arena.push(note);
        self.arena.extend_from_slice(ids);
        self.arena.extend(word.chunks(4).map(packed));
        let slots = &mut self.lines[hash.line(self.line_bits)].0;
        slots.rotate_right(1);
        slots[0] = Slot { tag: hash.tag(), at, byte_len: word.len() as u16, id_count: ids.len() as u16 };
    }

    fn wipe(&mut self) {
        self.lines.clear();
        self.lines.resize(1 << self.line_bits, Line::default());
        self.arena.clear();
    }
}

/// Up to four bytes as a number.
#[inline]
fn packed(chunk: &[u8]) -> u32 {
    match chunk.first_chunk::<4>() {
        Some(whole) => u32::from_le_bytes(*whole),
        None => chunk.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_gives_is_what_was_last_told() {
        for bytes in [4096, 1 << 20, 64 << 20] {
            let mut memo = LongMemo::within(bytes);
            check_what_it_gives(&mut memo);
            assert!(memo.bytes() <= bytes, "{bytes}");
        }
    }

    fn check_what_it_gives(memo: &mut LongMemo) {
        let mut told = std::collections::HashMap::new();
        for i in 0..200_000u32 {
            let word = format!("{}{}", "wort".repeat((i % 30) as usize), i % 40_000).into_bytes();
            let hash = Hash::of(&word);
            if let Some((note, ids)) = memo.get(&word, hash) {
                assert_eq!(told.get(&word), Some(&(note, ids.to_vec())));
            }
            let ids: Vec<u32> = (0..i % 9).map(|k| i + k).collect();
            memo.insert(&word, hash, i, &ids);
            assert_eq!(
                memo.get(&word, hash),
                (word.len() <= MAX_WORD_BYTES).then_some((i, ids.as_slice()))
            );
            told.insert(word, (i, ids));
        }
    }

    #[test]
    fn words_that_begin_alike_are_told_apart() {
        let mut memo = LongMemo::within(1 << 20);
        for word in [&b"aaaa"[..], b"aaaaa", b"aaaa\0"] {
            assert_eq!(memo.get(word, Hash::of(word)), None);
            memo.insert(word, Hash::of(word), 1, &[word.len() as u32]);
        }
        assert_eq!(memo.get(b"aaaaa", Hash::of(b"aaaaa")), Some((1, &[5][..])));
        memo.insert(b"", Hash::of(b""), 1, &[1]);
        assert_eq!(memo.get(b"", Hash::of(b"")), None);
    }
}
