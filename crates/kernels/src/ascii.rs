//! ASCII letters in other case.

/// Copy bytes, ASCII capitals as small letters; `to` is as long as `from`.
///
/// Plain enough for the compiler to make it as wide as the machine's baseline.
#[inline]
pub fn copy_lowercase(from: &[u8], to: &mut [u8]) {
    for (to, byte) in to.iter_mut().zip(from) {
        *to = byte.to_ascii_lowercase();
    }
}
