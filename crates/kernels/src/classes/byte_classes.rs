//! The classes of bytes, and the blocks of a text.

/// The bytes of one set of masks.
pub const BLOCK: usize = 64;

/// The classes of each ASCII byte: up to seven, a bit each.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct ByteClasses {
    pub(super) of_ascii: [u8; 128],
}

impl ByteClasses {
    /// Return the table of a function on ASCII bytes: bit `k` of its result says that the byte is in class `k`,
    /// `k` below 7.
    #[must_use]
    pub fn new(classes_of: impl Fn(u8) -> u8) -> Self {
        let mut of_ascii = [0; 128];
        (0..).zip(&mut of_ascii).for_each(|(byte, classes)| *classes = classes_of(byte) & 0x7F);
        Self { of_ascii }
    }

    /// Return the classes of a byte; only bit 7 is set for a byte that is not ASCII.
    #[inline]
    #[must_use]
    pub fn of(&self, byte: u8) -> u8 {
        self.of_ascii.get(usize::from(byte)).copied().unwrap_or(0x80)
    }
}

/// Return the last block of a text, filled up with zeros, and the mask of its bytes that belong to the text.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn filled_up(rest: &[u8]) -> ([u8; BLOCK], u64) {
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    (block, (1 << rest.len()) - 1)
}
