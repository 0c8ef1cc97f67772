//! The limit on how much longer a text may become. Rules that write more than they match could otherwise
//! exhaust the memory (sixty times `a` to `aa` makes 10^18 letters of one).

use crate::error::{Error, ErrorKind};

/// The most times longer that a text may become. Published rules need 22: NFKC writes the ligature U+FDFA with 11 times
/// its bytes, and the byte level doubles these.
pub const MAX_GROWTH: usize = 64;
/// The bytes that every text may be longer.
const ALWAYS_ALLOWED: usize = 64 << 10;

/// Return the most bytes that stages may write for a text of `len` bytes; offsets in them fit 32 bits.
#[must_use]
pub fn max_grown_len(len: usize) -> usize {
    len.saturating_mul(MAX_GROWTH).saturating_add(ALWAYS_ALLOWED).min(u32::MAX as usize)
}

/// The place of the error until its step is known.
const PLACE: &str = "normalizer";

/// The number of bytes that may still be written.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionLimit {
    max: usize,
    left: usize,
}

impl ExpansionLimit {
    /// Return the limit for a text of `len` bytes.
    #[must_use]
    pub fn of(len: usize) -> Self {
        let max = max_grown_len(len);
        Self { max, left: max }
    }

    /// Return an error if a text of `len` bytes exceeds the limit.
    pub fn check(mut self, len: usize) -> Result<(), Error> {
        self.take(len)
    }

    /// Count `len` written bytes; fails at the limit.
    pub fn take(&mut self, len: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(len).ok_or_else(|| {
            let found = format!("rules that write more than {} bytes for one text", self.max);
            let expected = format!("at most {MAX_GROWTH} times its length and 64 KiB");
            Error::new(ErrorKind::Argument, PLACE, found, expected)
        })?;
        Ok(())
    }

    /// Set the place of an error of this limit to that of the step.
    #[must_use]
    pub fn name_step(error: Error, place: &str) -> Error {
        if error.place == PLACE {
            error.at(place)
        } else {
            error
        }
    }
}
