//! Counts what normalizers write against the bound for their text.

use crate::error::{Error, ErrorKind};
use crate::text::{max_grown_len, MAX_GROWTH};

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
    pub(super) fn name_step(error: Error, place: &str) -> Error {
        if error.place == PLACE {
            Error { place: place.to_owned(), ..error }
        } else {
            error
        }
    }
}
