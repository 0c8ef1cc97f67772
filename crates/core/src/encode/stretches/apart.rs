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
    /// For each byte of it, the characters of the stretch behind it; only where they are asked for.
    sources: Vec<(u32, u32)>,
    /// Where the first character of the word stands.
    start: usize,
    long: String,
}

/// A normalized word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'w> {
    pub(super) bytes: &'w [u8],
    /// For each of its bytes, the characters of the stretch behind it; only where they are asked for.
    pub(super) sources: &'w [(u32, u32)],
    /// The byte of the stretch where it begins.
    pub(super) start: usize,
    pub(super) role: Role,
}

/// What a word is in its stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The only one, and all of it.
    Whole,
    /// One of several, or with something beside it.
    Part,
    /// A character that is a word of its own as it stands.
    Alone(char),
}

/// Where a character stands in a stretch.
#[derive(Clone, Copy)]
struct Source {
    byte: usize,
    nth: u32,
}

/// Give the words of a stretch to `emit`.
///
/// Where neighbours matter to a character, gives the byte from which on the stretch needs the normalizer
/// itself: what is before it ends with a character that no mark is moved past, or is nothing.
#[inline]
pub(super) fn words<const TRACED: bool>(
    stretch: &str,
    (fates, normalizer): (&Fates, &Normalizer),
    written: &mut Written,
    mut emit: impl FnMut(Word<'_>),
) -> Result<Option<usize>, Error> {
    written.begin();
    let (mut start, mut role) = (0, Role::Whole);
    for (nth, (at, c)) in (0..).zip(stretch.char_indices()) {
        let fate = fates.of(c);
        let next = at + c.len_utf8();
        let source = Source { byte: at, nth };
        match fate.kind() {
            Kind::StoredIds => written.push::<TRACED>(front(stretch, at), next - at, source),
            Kind::Mapped => {
                let (bytes, len) = fate.text();
                written.push::<TRACED>(bytes, len, source);
            }
            Kind::Space => {
                role = Role::Part;
                written.end(role, &mut emit);
                start = next;
            }
            Kind::Alone => {
                role = Role::Part;
                written.end(role, &mut emit);
                let sources = [(nth, nth + 1); 4];
                emit(Word {
                    bytes: &stretch.as_bytes()[at..next],
                    sources: if TRACED { &sources } else { &[] },
                    start: at,
                    role: Role::Alone(c),
                });
                start = next;
            }
            Kind::AloneMapped => {
                role = Role::Part;
                written.end(role, &mut emit);
                let (bytes, len) = fate.text();
                written.push::<TRACED>(bytes, len, source);
                written.end(role, &mut emit);
                start = next;
            }
            Kind::Long => written.push_long::<TRACED>(&stretch[at..next], source, normalizer)?,
            Kind::Involved => return Ok(Some(start)),
        }
    }
    written.end(role, &mut emit);
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
        self.sources.clear();
    }

    /// Append the first `len` of four bytes.
    #[inline]
    fn push<const TRACED: bool>(&mut self, bytes: [u8; 4], len: usize, source: Source) {
        if self.bytes.len() < self.len + bytes.len() {
            self.bytes.resize(2 * self.len + 64, 0);
        }
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(&bytes);
        self.note::<TRACED>(len, source);
    }

    /// Append what the normalizer makes of a character.
    fn push_long<const TRACED: bool>(
        &mut self,
        c: &str,
        source: Source,
        normalizer: &Normalizer,
    ) -> Result<(), Error> {
        self.long.clear();
        normalizer.run(c, 0, &mut self.long)?;
        self.bytes.truncate(self.len);
        self.bytes.extend_from_slice(self.long.as_bytes());
        self.note::<TRACED>(self.long.len(), source);
        Ok(())
    }

    #[inline]
    fn note<const TRACED: bool>(&mut self, len: usize, source: Source) {
        if self.len == 0 && len > 0 {
            self.start = source.byte;
        }
        if TRACED {
            self.sources.extend(std::iter::repeat_n((source.nth, source.nth + 1), len));
        }
        self.len += len;
    }

    /// Give the word, if there is any, and begin another.
    #[inline]
    fn end(&mut self, role: Role, emit: &mut impl FnMut(Word<'_>)) {
        if self.len > 0 {
            let (bytes, sources) = (&self.bytes[..self.len], &self.sources[..]);
            emit(Word { bytes, sources, start: self.start, role });
            self.begin();
        }
    }
}
