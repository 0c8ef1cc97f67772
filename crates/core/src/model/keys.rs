//! Keys in the order of their bytes, each with its first sixteen: most are told apart without a look at where
//! the others lie.

/// A key and its number.
#[derive(Clone, Copy)]
pub(super) struct Key<'k> {
    /// The first sixteen bytes as two numbers; filled up with zeros.
    head: [u64; 2],
    pub(super) bytes: &'k [u8],
    pub(super) number: u32,
}

impl Key<'_> {
    /// The byte at `depth`, where there is one.
    #[inline]
    pub(super) fn byte_at(&self, depth: usize) -> u8 {
        match depth {
            0..8 => self.head[0].to_be_bytes()[depth],
            8..16 => self.head[1].to_be_bytes()[depth - 8],
            _ => self.bytes[depth],
        }
    }
}

/// Sort keys by their bytes; of equal ones the lower number comes first.
pub(super) fn sorted<'k>(keys: impl Iterator<Item = (&'k [u8], u32)>) -> Vec<Key<'k>> {
    let mut sorted: Vec<_> = keys.map(|(bytes, number)| Key { head: head(bytes), bytes, number }).collect();
    sorted.sort_unstable_by(|one, other| {
        one.head.cmp(&other.head).then_with(|| (one.bytes, one.number).cmp(&(other.bytes, other.number)))
    });
    sorted
}

/// Keys by the byte at `depth`, which all have.
pub(super) fn chunks<'s, 'k>(keys: &'s [Key<'k>], depth: usize) -> impl Iterator<Item = &'s [Key<'k>]> {
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
        fn they_are_sorted_as_their_bytes_are(
            keys in prop::collection::vec(prop::collection::vec(0..3u8, 0..20), 0..80),
        ) {
            let mut expected: Vec<(&[u8], u32)> = keys.iter().map(Vec::as_slice).zip(0..).collect();
            let sorted = sorted(expected.clone().into_iter());
            expected.sort_unstable();
            prop_assert_eq!(sorted.iter().map(|key| (key.bytes, key.number)).collect::<Vec<_>>(), expected);
            for key in sorted {
                let bytes: Vec<u8> = (0..key.bytes.len()).map(|depth| key.byte_at(depth)).collect();
                prop_assert_eq!(bytes, key.bytes);
            }
        }
    }
}
