//! Sorted keys with their first sixteen bytes, which most comparisons and lookups of bytes need only.

/// A key and its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortedKey<'k> {
    /// The first sixteen bytes as two big-endian numbers, padded with zeros.
    head: [u64; 2],
    pub(crate) bytes: &'k [u8],
    pub(crate) number: u32,
}

impl SortedKey<'_> {
    /// Return the byte at `depth`, which is less than the length.
    #[inline]
    pub(super) fn byte_at(&self, depth: usize) -> u8 {
        match depth {
            0..8 => self.head[0].to_be_bytes()[depth],
            8..16 => self.head[1].to_be_bytes()[depth - 8],
            _ => self.bytes[depth],
        }
    }
}

/// Sort keys by their bytes, then by their numbers.
pub(crate) fn sorted_keys<'k>(keys: impl Iterator<Item = (&'k [u8], u32)>) -> Vec<SortedKey<'k>> {
    let mut sorted: Vec<_> =
        keys.map(|(bytes, number)| SortedKey { head: head(bytes), bytes, number }).collect();
    sorted.sort_unstable_by(|one, other| {
        one.head.cmp(&other.head).then_with(|| (one.bytes, one.number).cmp(&(other.bytes, other.number)))
    });
    sorted
}

/// Split keys where the byte at `depth` changes; all keys are longer than that.
pub(super) fn chunks<'s, 'k>(
    keys: &'s [SortedKey<'k>],
    depth: usize,
) -> impl Iterator<Item = &'s [SortedKey<'k>]> {
    keys.chunk_by(move |one, other| one.byte_at(depth) == other.byte_at(depth))
}

fn head(bytes: &[u8]) -> [u64; 2] {
    let mut head = [0; 16];
    let len = bytes.len().min(16);
    head[..len].copy_from_slice(&bytes[..len]);
    let (first, second) = head.split_at(8);
    [first, second].map(|half| half.try_into().map_or(0, u64::from_be_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_sorted_by_their_bytes(
            keys in prop::collection::vec(prop::collection::vec(0..3u8, 0..20), 0..80),
        ) {
            let mut expected: Vec<(&[u8], u32)> = keys.iter().map(Vec::as_slice).zip(0..).collect();
            let sorted = sorted_keys(expected.clone().into_iter());
            expected.sort_unstable();
            prop_assert_eq!(sorted.iter().map(|key| (key.bytes, key.number)).collect::<Vec<_>>(), expected);
            for key in sorted {
                let bytes: Vec<u8> = (0..key.bytes.len()).map(|depth| key.byte_at(depth)).collect();
                prop_assert_eq!(bytes, key.bytes);
            }
        }
    }
}
