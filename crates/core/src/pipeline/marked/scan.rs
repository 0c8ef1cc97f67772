//! Where the words of a text are: 64 bytes at a time, from the masks of the bytes that part it.

use piecework_kernels::classes::{class_masks, ByteClasses, BLOCK};

/// How many bytes are classed at once; their masks stay in the nearest cache.
const CHUNK: usize = 1 << 13;

/// The masks of a chunk.
pub(super) type Masks = Vec<[u64; 2]>;

/// Give the byte span of every stretch that has no byte of class 0, from left to right.
///
/// `text.split(is_parting).filter(|stretch| !stretch.is_empty())`, as spans.
#[inline]
pub(super) fn stretches(
    text: &[u8],
    parting: &ByteClasses,
    masks: &mut Masks,
    mut visit: impl FnMut(usize, usize),
) {
    let (mut start, mut is_inside, mut carry) = (0, false, 0);
    for (chunk_at, chunk) in (0..).step_by(CHUNK).zip(text.chunks(CHUNK)) {
        masks.clear();
        class_masks(chunk, parting, masks);
        for (block_at, &[parts, _]) in (chunk_at..).step_by(BLOCK).zip(masks.iter()) {
            // Bytes after the end of the text part nothing, so the last stretch stays open.
            let within = !parts;
            let mut edges = within ^ (within << 1 | carry);
            carry = within >> 63;
            while edges != 0 {
                let at = block_at + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                if is_inside {
                    visit(start, at);
                }
                start = at;
                is_inside = !is_inside;
            }
        }
    }
    if is_inside && start < text.len() {
        visit(start, text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition.
    fn naive(text: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut start = None;
        for (at, &byte) in text.iter().chain(b" ").enumerate() {
            match (byte == b' ' || byte == b'\n', start) {
                (false, None) => start = Some(at),
                (true, Some(from)) => {
                    found.push((from, at));
                    start = None;
                }
                _ => {}
            }
        }
        found
    }

    #[test]
    fn stretches_are_what_stands_between() {
        let parting = ByteClasses::new(|byte| u8::from(byte == b' ' || byte == b'\n'));
        let mut state = 1u32;
        for len in (0..200).chain([8191, 8192, 8193, 20_000]) {
            for density in [1, 2, 3, 60] {
                let text: Vec<u8> = std::iter::repeat_with(|| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let pick = state >> 16;
                    if pick.is_multiple_of(density) {
                        [b' ', b'\n'][pick as usize >> 8 & 1]
                    } else {
                        pick as u8 | 0x80
                    }
                })
                .take(len)
                .collect();
                let mut found = Vec::new();
                stretches(&text, &parting, &mut Masks::new(), |start, end| found.push((start, end)));
                assert_eq!(found, naive(&text));
            }
        }
    }
}
