//! The bound on how much longer than its source a text may become: rules that write more than they match could
//! otherwise fill the memory (sixty times `a` to `aa` makes 10^18 letters of one).

use crate::error::{Error, ErrorKind};

/// How often the length of a text may be multiplied.
pub const MAX_GROWTH: usize = 1024;
const ALWAYS_ALLOWED: usize = 1 << 20;

/// The most bytes that may be made of a text of `len` bytes; offsets of what is made fit 32 bits.
#[must_use]
pub fn max_grown_len(len: usize) -> usize {
    len.saturating_mul(MAX_GROWTH).saturating_add(ALWAYS_ALLOWED).min(u32::MAX as usize)
}

/// The place of an error until the step is known that wrote too much.
const PLACE: &str = "normalizer";

/// How many bytes may still be written.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionLimit {
    max: usize,
    left: usize,
}

impl ExpansionLimit {
    /// The bound for a text of `len` bytes; offsets of what is written fit 32 bits.
    #[must_use]
    pub fn of(len: usize) -> Self {
        let max = max_grown_len(len);
        Self { max, left: max }
    }

    /// Check that a text of `len` bytes is not too long.
    pub fn check(mut self, len: usize) -> Result<(), Error> {
        self.take(len)
    }

    /// Note that `len` bytes are written.
    pub fn take(&mut self, len: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(len).ok_or_else(|| {
            let found = format!("rules that write more than {} bytes for one text", self.max);
            let expected = format!("at most {MAX_GROWTH} times its length and 1 MiB");
            Error::new(ErrorKind::Argument, PLACE, found, expected)
        })?;
        Ok(())
    }

    /// Name the step that wrote too much; other errors stay as they are.
    #[must_use]
    pub fn name_step(error: Error, place: &str) -> Error {
        if error.place == PLACE {
            Error { place: place.to_owned(), ..error }
        } else {
            error
        }
    }
}
