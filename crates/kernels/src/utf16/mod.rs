//! UTF-8 to UTF-16, which Python converts to strings faster if the text is not ASCII.
//!
//! A block of bytes becomes the code units of all characters that end in it before its last byte. Characters of
//! four bytes and invalid UTF-8 are left to the scalar definition.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod block;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod ends;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod scalar;
#[cfg(test)]
mod tests;

use crate::level::Level;

/// Append a text as UTF-16 in the byte order of the machine; return whether the text is UTF-8.
///
/// If it is not, the appended bytes are unspecified.
#[must_use]
pub fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
    append_at(Level::active(), text, units)
}

/// `append` with the instructions of a level.
#[must_use]
pub fn append_at(level: Level, text: &[u8], units: &mut Vec<u8>) -> bool {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { avx512::append(text, units) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        crate::level::Set::Avx2 => unsafe { avx2::append(text, units) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above; NEON is part of every 64-bit ARM.
        crate::level::Set::Neon => unsafe { neon::append(text, units) },
        _ => scalar::append(text, units),
    }
}
