//! ASCII words: how far a run of letters and digits goes, and its lowercase.
//!
//! Dispatch: SSE2 is part of every x86-64, so it is chosen when compiling; all else runs the scalar twin.

pub mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(not(target_arch = "x86_64"))]
pub use scalar::alphanumeric_prefix_len;
#[cfg(target_arch = "x86_64")]
pub use sse2::alphanumeric_prefix_len;

pub use scalar::lowercase_16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accelerated_equals_scalar_on_every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for place in 0..16 {
                let mut block = *b"aZ09zA5mQ7bYc8Dx";
                block[place] = byte;
                assert_eq!(alphanumeric_prefix_len(&block), scalar::alphanumeric_prefix_len(&block));
            }
        }
    }

    #[test]
    fn lowercase_changes_letters_only() {
        for byte in 0..128u8 {
            let block = [byte; 16];
            let lowered = lowercase_16(u128::from_le_bytes(block)).to_le_bytes();
            assert_eq!(lowered, [byte.to_ascii_lowercase(); 16]);
        }
    }
}
