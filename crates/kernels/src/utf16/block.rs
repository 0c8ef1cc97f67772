//! Conversion block by block, and the classification of the bytes of a block.

use super::scalar;

/// The bytes of a block by their role in UTF-8, one bit each.
#[derive(Clone, Copy)]
pub(super) struct ByteMasks {
    /// Continuation bytes.
    pub(super) following: u64,
    /// First bytes of characters of two bytes or more.
    pub(super) leads: u64,
    /// First bytes of characters of three bytes or more.
    pub(super) leads_two: u64,
    /// First bytes of characters of four bytes, and bytes that are invalid by themselves or after the previous.
    pub(super) rejected: u64,
}

/// The complete characters of a block.
#[derive(Clone, Copy)]
pub(super) struct CompleteChars {
    /// The last byte of each character.
    pub(super) ends: u64,
    /// Their number of bytes.
    pub(super) len: usize,
}

impl ByteMasks {
    /// Return the characters that end before byte `last`, if all are valid and have at most three bytes.
    #[inline]
    pub(super) fn whole(self, last: usize) -> Option<CompleteChars> {
        let firsts = !self.following & u64::MAX >> (63 - last);
        let len = firsts.checked_ilog2()?;
        let within = (1 << len) - 1;
        let expected = self.leads << 1 | self.leads_two << 2;
        // That none of them lacks a byte is seen at the byte after them.
        let mismatch = (expected ^ self.following) & (within << 1 | 1) | self.rejected & within;
        (mismatch == 0 && len > 0).then_some(CompleteChars { ends: firsts >> 1, len: len as usize })
    }
}

/// The bytes read and the bytes written of a block; `None` if the scalar definition must convert it.
pub(super) type BlockResult = Option<(usize, usize)>;

/// Convert a text by `step`, which is called with a block and the byte before which its characters must end.
#[inline(always)]
pub(super) fn append<const N: usize>(
    text: &[u8],
    units: &mut Vec<u8>,
    step: impl Fn(&[u8; N], usize, &mut [[u8; N]; 2]) -> BlockResult,
) -> bool {
    let (mut read, mut end) = (0, units.len());
    units.resize(end + 2 * (text.len() + N), 0);
    while read < text.len() {
        let rest = &text[read..];
        let mut filled_up = [0; N];
        let (block, last) = rest.first_chunk().map_or_else(
            || {
                filled_up[..rest.len()].copy_from_slice(rest);
                (&filled_up, rest.len())
            },
            |block| (block, N - 1),
        );
        let Some(room) = units[end..].as_chunks_mut().0.first_chunk_mut() else { return false };
        let (taken, written) = match step(block, last, room) {
            Some(done) => done,
            None => plainly(&rest[..rest.len().min(N)], room.as_flattened_mut()),
        };
        if taken == 0 {
            return false;
        }
        (read, end) = (read + taken, end + written);
    }
    units.truncate(end);
    true
}

/// Return the characters that a block begins with, by the definition.
#[cold]
fn plainly(block: &[u8], room: &mut [u8]) -> (usize, usize) {
    let text = block.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let mut units = Vec::new();
    let _ = scalar::append(text.as_bytes(), &mut units);
    room[..units.len()].copy_from_slice(&units);
    (text.len(), units.len())
}
