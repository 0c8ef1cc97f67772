//! The fingerprint of a tokenizer: BLAKE2b of everything that affects ids.

use std::fmt::Write;

use piecework_formats::tokenizer_json;

use crate::{ParseSpecial, Tokenizer};

/// # Identify
impl Tokenizer {
    /// Return a checksum of everything that affects ids, as 64 hexadecimal digits.
    ///
    /// ```
    /// use piecework::{Tokenizer, Truncation};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
    /// assert_eq!(tokenizer.fingerprint().len(), 64);
    /// assert_ne!(tokenizer.fingerprint(), tokenizer.with_truncation(Truncation::to(8))?.fingerprint());
    /// # Ok::<(), piecework::Error>(())
    /// ```
    ///
    /// It is the fingerprint of the Python package. It covers stages, vocabulary, added tokens, truncation, padding and
    /// [`Tokenizer::parse_special`].
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let parse_special = match self.parse_special() {
            ParseSpecial::All => "True",
            ParseSpecial::Nothing => "False",
            ParseSpecial::Refuse => "refuse",
        };
        let content = format!("{parse_special}\n{}", tokenizer_json::write(&self.core().spec(), false));
        blake2b_256(content.as_bytes()).iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }
}

const BLOCK_BYTES: usize = 128;
const IV: [u64; 8] = [
    0x6A09_E667_F3BC_C908,
    0xBB67_AE85_84CA_A73B,
    0x3C6E_F372_FE94_F82B,
    0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1,
    0x9B05_688C_2B3E_6C1F,
    0x1F83_D9AB_FB41_BD6B,
    0x5BE0_CD19_137E_2179,
];
/// The order of the words of a block in each round; rounds 10 and 11 repeat the first two.
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
/// The columns and diagonals of the state that a round mixes.
const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// Return the BLAKE2b digest of 32 bytes (RFC 7693), without a key.
fn blake2b_256(bytes: &[u8]) -> [u8; 32] {
    let mut state = IV;
    state[0] ^= 0x0101_0020; // the length of the digest, and no key
    let last = bytes.len().saturating_sub(1) / BLOCK_BYTES * BLOCK_BYTES;
    for start in (0..last).step_by(BLOCK_BYTES) {
        let end = start + BLOCK_BYTES;
        compress(&mut state, &bytes[start..end], end, false);
    }
    compress(&mut state, &bytes[last..], bytes.len(), true);
    let mut digest = [0; 32];
    for (place, word) in digest.chunks_exact_mut(8).zip(state) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

/// Mix a block into the state; `end` is the number of bytes up to its end.
fn compress(state: &mut [u64; 8], block: &[u8], end: usize, is_last: bool) {
    let mut padded = [0; BLOCK_BYTES];
    padded[..block.len()].copy_from_slice(block);
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(padded.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    let mut mixed = [0; 16];
    mixed[..8].copy_from_slice(state);
    mixed[8..].copy_from_slice(&IV);
    mixed[12] ^= end as u64;
    if is_last {
        mixed[14] = !mixed[14];
    }
    for round in 0..12 {
        let order = &SIGMA[round % SIGMA.len()];
        for (quarter, pair) in QUARTERS.iter().zip(order.chunks_exact(2)) {
            mix(&mut mixed, *quarter, words[pair[0]], words[pair[1]]);
        }
    }
    for (at, word) in state.iter_mut().enumerate() {
        *word ^= mixed[at] ^ mixed[at + 8];
    }
}

/// Mix two words of a block into four words of the state.
fn mix(state: &mut [u64; 16], [a, b, c, d]: [usize; 4], first: u64, second: u64) {
    for (word, [right_of_d, right_of_b]) in [(first, [32, 24]), (second, [16, 63])] {
        state[a] = state[a].wrapping_add(state[b]).wrapping_add(word);
        state[d] = (state[d] ^ state[a]).rotate_right(right_of_d);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_right(right_of_b);
    }
}

#[cfg(test)]
mod tests {
    use super::blake2b_256;

    /// The first bytes of the digests of `hashlib.blake2b(b"abc" * n, digest_size=32)`.
    #[test]
    fn digests_are_those_of_the_standard() {
        let digest = |times: usize| blake2b_256("abc".repeat(times).as_bytes())[..4].to_vec();
        assert_eq!(digest(0), [0x0E, 0x57, 0x51, 0xC0]);
        assert_eq!(digest(1), [0xBD, 0xDD, 0x81, 0x3C]);
        assert_eq!(digest(42), [0x62, 0x6A, 0x30, 0xFA]);
        assert_eq!(digest(43), [0x98, 0x4D, 0x83, 0xD7]);
        assert_eq!(digest(128), [0x2F, 0xF6, 0xC9, 0x33]);
        assert_eq!(digest(1000), [0x75, 0xFB, 0x65, 0xB0]);
    }
}
