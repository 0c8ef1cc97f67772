//! The definition.

use super::byte_classes::{ByteClasses, BLOCK};

/// Append the masks of every block of 64 bytes.
pub fn class_masks<const N: usize>(bytes: &[u8], classes: &ByteClasses, masks: &mut Vec<[u64; N]>) {
    masks.extend(bytes.chunks(BLOCK).map(|block| {
        let mut of_block = [0; N];
        for (at, &byte) in block.iter().enumerate() {
            let of_byte = classes.of(byte);
            for (class, mask) in of_block[..N - 1].iter_mut().enumerate() {
                *mask |= u64::from(of_byte >> class & 1) << at;
            }
            of_block[N - 1] |= u64::from(of_byte >> 7) << at;
        }
        of_block
    }));
}
