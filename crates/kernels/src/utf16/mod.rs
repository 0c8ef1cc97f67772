//! UTF-8 as UTF-16, which Python reads faster where text is not ASCII.
//!
//! A block of bytes becomes the code units of all characters that end in it before its last byte. What a block
//! cannot be told of (characters of four bytes, bytes that are no UTF-8) is left to the definition.

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

use crate::level::{Level, Set};

/// Append a text as UTF-16, its units as the bytes that this machine keeps them in; says whether the text is UTF-8.
/// Where it is not, what was appended means nothing.
#[must_use]
pub fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
    append_at(Level::active(), text, units)
}

/// `append` by the instructions of one level.
#[must_use]
pub fn append_at(level: Level, text: &[u8], units: &mut Vec<u8>) -> bool {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        Set::Avx512 => unsafe { avx512::append(text, units) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Set::Avx2 => unsafe { avx2::append(text, units) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above; NEON is part of every 64-bit ARM.
        Set::Neon => unsafe { neon::append(text, units) },
        _ => scalar::append(text, units),
    }
}
