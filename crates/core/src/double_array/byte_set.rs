//! Sets of bytes, and the bases in a block of 256 slots whose slots for given bytes are free.

/// A set of bytes, or of the offsets in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    /// All bytes.
    pub(super) const ALL: Self = Self([u64::MAX; 4]);

    /// Return whether a byte is in the set.
    pub(super) fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    /// Remove a byte.
    pub(super) fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    /// Return the number of bytes.
    pub(super) fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Return whether the set has no byte.
    pub(super) fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// Return the lowest byte.
    pub(super) fn first(self) -> Option<u8> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some((at as u32 * 64 + self.0[at].trailing_zeros()) as u8)
    }

    /// Return the first base of this set whose exclusive or with each of `bytes` is in `free`. Test 64 bases at once.
    pub(super) fn first_base(self, free: Self, bytes: &(impl Iterator<Item = u8> + Clone)) -> Option<u8> {
        (0..4).find_map(|word| {
            let mut fitting = self.0[word];
            for byte in bytes.clone() {
                fitting &= exchanged(free.0[word ^ usize::from(byte >> 6)], byte);
                if fitting == 0 {
                    return None;
                }
            }
            (fitting != 0).then(|| (word as u32 * 64 + fitting.trailing_zeros()) as u8)
        })
    }
}

/// Return the offsets below 64 whose exclusive or with the low bits of a byte is in a set.
fn exchanged(mut set: u64, byte: u8) -> u64 {
    /// The lower half of every group of 2, 4, 8, ... bits.
    const LOWER: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0F0F_0F0F_0F0F_0F0F,
        0x00FF_00FF_00FF_00FF,
        0x0000_FFFF_0000_FFFF,
        0x0000_0000_FFFF_FFFF,
    ];
    for (bit, lower) in LOWER.iter().enumerate() {
        let exchanged = (set & lower) << (1 << bit) | set >> (1 << bit) & lower;
        let is_wanted = u64::from(byte >> bit & 1).wrapping_neg();
        set ^= (set ^ exchanged) & is_wanted;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(bytes: &[u8]) -> ByteSet {
        let mut set = ByteSet::ALL;
        (0..=255).filter(|byte| !bytes.contains(byte)).for_each(|byte| set.remove(byte));
        set
    }

    proptest! {
        #[test]
        fn exchanging_halves_moves_every_bit(set in any::<u64>(), byte in any::<u8>()) {
            for at in 0..64 {
                prop_assert_eq!(exchanged(set, byte) >> at & 1, set >> (at ^ (byte & 63)) & 1);
            }
        }

        #[test]
        fn the_first_base_is_the_one_that_an_exhaustive_search_finds(
            bases in prop::collection::vec(any::<u8>(), 0..40),
            free in prop::collection::vec(any::<u8>(), 0..256),
            bytes in prop::collection::vec(any::<u8>(), 0..4),
        ) {
            let is_base = |base: &u8| bases.contains(base) && bytes.iter().all(|byte| free.contains(&(base ^ byte)));
            let found = set(&bases).first_base(set(&free), &bytes.iter().copied());
            prop_assert_eq!(found, (0..=255).find(is_base));
        }

        #[test]
        fn a_set_contains_the_bytes_not_removed(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let set = set(&bytes);
            prop_assert!((0..=255).all(|byte| set.has(byte) == bytes.contains(&byte)));
            prop_assert_eq!(set.len(), (0..=255).filter(|byte| bytes.contains(byte)).count() as u32);
            prop_assert_eq!(set.first(), bytes.iter().min().copied());
            prop_assert_eq!(set.is_empty(), bytes.is_empty());
        }
    }
}
