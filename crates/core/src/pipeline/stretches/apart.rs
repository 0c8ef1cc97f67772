//! A stretch taken apart character by character, by the table of fates.

use super::fates::{Fates, Kind};
use crate::error::Error;
use crate::normalize::Normalizer;

/// Where words are written; reused from stretch to stretch.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// The word as normalized so far, and garbage after it.
    bytes: Vec<u8>,
    len: usize,
    /// Where the first character of the word stands.
    start: usize,
    long: String,
}

/// A normalized word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'w> {
    pub(super) bytes: &'w [u8],
    /// Where in the stretch it begins.
    pub(super) start: usize,
}

/// Give the words of a stretch to `emit`.
///
/// Where neighbours matter to a character, gives the byte from which on the stretch needs the normalizer
/// itself: what is before it ends with a character that no mark is moved past, or is nothing.
#[inline]
pub(super) fn words(
    stretch: &str,
    (fates, normalizer): (&Fates, &Normalizer),
    written: &mut Written,
    mut emit: impl FnMut(Word<'_>),
) -> Result<Option<usize>, Error> {
    written.begin();
    let mut start = 0;
    for (at, c) in stretch.char_indices() {
        let fate = fates.of(c);
        let next = at + c.len_utf8();
        match fate.kind() {
            Kind::Kept => written.push(front(stretch, at), next - at, at),
            Kind::Mapped => {
                let (bytes, len) = fate.text();
                written.push(bytes, len, at);
            }
            Kind::Space => {
                written.end(&mut emit);
                start = next;
            }
            kind @ (Kind::Alone | Kind::AloneMapped) => {
                written.end(&mut emit);
                let (bytes, len) =
                    if kind == Kind::Alone { (front(stretch, at), next - at) } else { fate.text() };
                written.push(bytes, len, at);
                written.end(&mut emit);
                start = next;
            }
            Kind::Long => written.push_long(&stretch[at..next], at, normalizer)?,
            Kind::Involved => return Ok(Some(start)),
        }
    }
    written.end(&mut emit);
    Ok(None)
}

/// The four bytes from `at` on, zeros after the end.
#[inline]
fn front(text: &str, at: usize) -> [u8; 4] {
    let rest = &text.as_bytes()[at..];
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut front = [0; 4];
        front[..rest.len()].copy_from_slice(rest);
        front
    })
}

impl Written {
    fn begin(&mut self) {
        self.len = 0;
    }

    /// Append the first `len` of four bytes.
    #[inline]
    fn push(&mut self, bytes: [u8; 4], len: usize, at: usize) {
        if self.bytes.len() < self.len + bytes.len() {
            self.bytes.resize(2 * self.len + 64, 0);
        }
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(&bytes);
        self.note(len, at);
    }

    /// Append what the normalizer makes of a character.
    fn push_long(&mut self, c: &str, at: usize, normalizer: &Normalizer) -> Result<(), Error> {
        self.long.clear();
        normalizer.run(c, 0, &mut self.long)?;
        self.bytes.truncate(self.len);
        self.bytes.extend_from_slice(self.long.as_bytes());
        self.note(self.long.len(), at);
        Ok(())
    }

    #[inline]
    fn note(&mut self, len: usize, at: usize) {
        if self.len == 0 && len > 0 {
            self.start = at;
        }
        self.len += len;
    }

    /// Give the word, if there is any, and begin another.
    #[inline]
    fn end(&mut self, emit: &mut impl FnMut(Word<'_>)) {
        if self.len > 0 {
            emit(Word { bytes: &self.bytes[..self.len], start: self.start });
            self.begin();
        }
    }
}
