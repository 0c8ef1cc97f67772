//! The words that occur often enough, and a digest of counts.

use super::counts::{Counts, WordOrder};
use piecework_core::error::{Error, ErrorKind};

/// The offset basis and the prime of FNV-1a with 64 bits (Fowler, Noll and Vo).
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

impl Counts {
    /// Return the words that occur at least `least` times, in the same order.
    ///
    /// ```
    /// use piecework_train::count::Counts;
    /// let counts = Counts::from_parts(&["hug", "pug"].map(String::from), &[10, 5], None)?;
    /// assert_eq!(counts.at_least(6)?.iter().collect::<Vec<_>>(), [("hug", 10)]);
    /// # Ok::<(), piecework_core::error::Error>(())
    /// ```
    ///
    /// Errors: `Memory`.
    pub fn at_least(&self, least: u64) -> Result<Self, Error> {
        let order = if self.first().is_some() { WordOrder::Position } else { WordOrder::Count };
        let kept = || self.iter().enumerate().filter(|&(_, (_, count))| count >= least);
        let (words, bytes) =
            kept().fold((0, 0), |(words, bytes), (_, (word, _))| (words + 1, bytes + word.len()));
        let mut found = Self::new(order);
        found.reserve(words, bytes).map_err(|_| {
            let found = format!("an allocation of {} MB failed", (bytes + 24 * words).div_ceil(1_000_000));
            Error::new(ErrorKind::Memory, "counts", found, "more memory, or fewer distinct words")
        })?;
        for (index, (word, count)) in kept() {
            let first = self.first().map_or(0, |first| first[index]);
            found.push(count, first, |text| text.push_str(word));
        }
        Ok(found)
    }

    /// Return a hash of words, counts and first positions, the same on all machines; not cryptographic.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let add = |hash: u64, value: u64| (hash ^ value).wrapping_mul(FNV_PRIME).rotate_left(29);
        let mut hash = add(FNV_BASIS, u64::from(self.first().is_some()));
        for (index, (word, count)) in self.iter().enumerate() {
            for bytes in word.as_bytes().chunks(8) {
                let mut padded = [0; 8];
                padded[..bytes.len()].copy_from_slice(bytes);
                hash = add(hash, u64::from_le_bytes(padded));
            }
            hash = add(add(hash, word.len() as u64), count);
            hash = add(hash, self.first().map_or(0, |first| first[index]));
        }
        hash
    }
}
