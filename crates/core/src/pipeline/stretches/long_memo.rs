//! What the memo is too small for: stretches of up to 31 bytes and eight pieces.
//!
//! One place for a stretch, taken by the latest; one cache line each.

/// The longest stretch, in bytes, that has a key.
pub(super) const MAX_LONG_KEY_BYTES: usize = 31;
/// The most pieces that are remembered.
const MAX_PIECES: usize = 8;
/// 1 MB a thread at most, once there is anything to remember.
const MAX_BITS: u32 = 14;
/// Above the ids, whose number less one the first holds.
const COUNT_SHIFT: u32 = 28;

/// A stretch as a key: its bytes, its length in the last, whose top bit tells raw text from normalized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LongKey([u128; 2]);

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line {
    key: LongKey,
    ids: [u32; MAX_PIECES],
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct LongMemo {
    lines: Vec<Line>,
    bits: u32,
}

impl LongKey {
    /// The key of a stretch that is neither empty nor too long.
    #[inline]
    pub(super) fn of(stretch: &[u8], is_raw: bool) -> Option<Self> {
        if stretch.is_empty() || stretch.len() > MAX_LONG_KEY_BYTES {
            return None;
        }
        let tag = stretch.len() as u128 | u128::from(is_raw) << 7;
        let (low, high) = match (stretch.first_chunk(), stretch.last_chunk()) {
            (Some(first), Some(last)) => {
                let beyond = u128::from_le_bytes(*last) >> 8 >> (8 * (MAX_LONG_KEY_BYTES - stretch.len()));
                (u128::from_le_bytes(*first), beyond)
            }
            _ => (stretch.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u128::from(byte)), 0),
        };
        Some(Self([low, high | tag << 120]))
    }

    /// The number of its line.
    #[inline]
    fn line(self, bits: u32) -> usize {
        let halves = self.0.into_iter().flat_map(|word| [word as u64, (word >> 64) as u64]);
        let mixed = halves
            .fold(0_u64, |mixed, half| (mixed.rotate_left(23) ^ half).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        (mixed >> (64 - bits)) as usize
    }
}

impl LongMemo {
    /// A memo that never takes more than so many bytes, except that it has two lines.
    pub(super) fn within(bytes: usize) -> Self {
        let bits = (bytes / size_of::<Line>()).checked_ilog2().unwrap_or(0).clamp(1, MAX_BITS);
        Self { lines: Vec::new(), bits }
    }

    /// The memory it takes, used or not.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.lines.as_slice())
    }

    /// What was remembered for a stretch.
    #[inline]
    pub(super) fn append(&self, key: LongKey, out: &mut Vec<u32>) -> bool {
        let Some(line) = self.lines.get(key.line(self.bits)).filter(|line| line.key == key) else {
            return false;
        };
        let count = (line.ids[0] >> COUNT_SHIFT) as usize + 1;
        let mut ids = line.ids;
        ids[0] &= (1 << COUNT_SHIFT) - 1;
        out.extend_from_slice(&ids[..count]);
        true
    }

    /// Remember a stretch, unless it has no or too many pieces.
    pub(super) fn insert(&mut self, key: LongKey, ids: &[u32]) {
        if ids.is_empty() || ids.len() > MAX_PIECES {
            return;
        }
        if self.lines.is_empty() {
            self.lines = vec![Line::default(); 1 << self.bits];
        }
        let line = &mut self.lines[key.line(self.bits)];
        line.key = key;
        line.ids = [0; MAX_PIECES];
        line.ids[..ids.len()].copy_from_slice(ids);
        line.ids[0] |= (ids.len() as u32 - 1) << COUNT_SHIFT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_it_was_told() {
        let mut memo = LongMemo::within(1 << 20);
        for i in 0..1000_u32 {
            let key = LongKey::of(format!("a stretch of text, {i}").as_bytes(), i % 3 == 0).unwrap();
            let ids: Vec<u32> = (0..=i % 8).map(|k| (1 << 28) - 1 - i - k).collect();
            let mut out = vec![7];
            assert!(!memo.append(key, &mut out));
            memo.insert(key, &ids);
            assert!(memo.append(key, &mut out));
            assert_eq!(out[1..], ids);
        }
    }

    #[test]
    fn keys_tell_stretches_apart() {
        let key = |stretch: &[u8], is_raw| LongKey::of(stretch, is_raw);
        assert_ne!(key(&[b'a'; 20], false), key(&[b'a'; 20], true));
        assert_ne!(key(&[b'a'; 20], false), key(&[b'a'; 21], false));
        assert_ne!(key(&[0; 20], false), key(&[0; 21], false));
        let text: Vec<u8> = (1..32).collect();
        for len in 1..=MAX_LONG_KEY_BYTES {
            let LongKey([low, high]) = key(&text[..len], false).unwrap();
            let bytes = [low.to_le_bytes(), high.to_le_bytes()].concat();
            assert_eq!((&bytes[..len], usize::from(bytes[31])), (&text[..len], len));
        }
        assert_eq!((key(b"", false), key(&[b'a'; 32], false)), (None, None));
    }
}
