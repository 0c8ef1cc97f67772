//! A bound on how much longer than its source a normalized text may become: rules that write more than
//! they match could otherwise fill the memory (sixty times `a` to `aa` makes 10^18 letters of one).

use crate::error::{Error, ErrorKind};

const MAX_FACTOR: usize = 1024;
const ALWAYS_ALLOWED: usize = 1 << 20;

/// How many bytes may still be written.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    max: usize,
    left: usize,
}

impl Growth {
    /// The bound for a text of `len` bytes; offsets of what is written fit 32 bits.
    #[must_use]
    pub fn of(len: usize) -> Self {
        let max = len.saturating_mul(MAX_FACTOR).saturating_add(ALWAYS_ALLOWED).min(u32::MAX as usize);
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
            let expected = format!("at most {MAX_FACTOR} times its length");
            Error::new(ErrorKind::Argument, "normalizer", found, expected)
        })?;
        Ok(())
    }
}
