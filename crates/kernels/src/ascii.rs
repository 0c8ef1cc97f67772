//! ASCII case conversion.

/// Copy bytes with ASCII letters lowercased; `to` has the length of `from`.
///
/// The compiler vectorizes the loop for the baseline of the target.
#[inline]
pub fn copy_lowercase(from: &[u8], to: &mut [u8]) {
    for (to, byte) in to.iter_mut().zip(from) {
        *to = byte.to_ascii_lowercase();
    }
}
