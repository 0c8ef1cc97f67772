//! The words of one ASCII span, character by character, by the table of actions.

use std::str::CharIndices;

use piecework_unicode::{decompose, CodePointMap};

use super::char_actions::{ActionKind, SplitAction};
use crate::error::Error;
use crate::stages::normalize::Normalizer;

/// The word that is being built.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordBuffer {
    /// The normalized word so far in the first `len` bytes; the rest has no meaning.
    bytes: Vec<u8>,
    len: usize,
    /// For each byte of it, the span of characters that it comes from; only if traced.
    sources: Vec<(u32, u32)>,
    /// The byte of the span where the word begins.
    start: usize,
    long: String,
}

/// A normalized word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanWord<'w> {
    pub(crate) bytes: &'w [u8],
    /// For each of its bytes, the span of characters that it comes from; empty unless traced.
    pub(crate) sources: &'w [(u32, u32)],
    /// The byte of the span where it begins.
    pub(crate) start: usize,
    pub(crate) role: WordRole,
}

/// How a word relates to its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// The only word, from all characters of the span.
    Whole,
    /// One of several words, or not all of the span.
    Part,
    /// An isolated character that normalization keeps.
    Isolated(char),
}

/// The position of a character in a span.
#[derive(Clone, Copy)]
struct SourceChar {
    byte: usize,
    nth: u32,
}

/// Return the four bytes from `at` on, with zeros after the end.
#[inline]
fn front(text: &str, at: usize) -> [u8; 4] {
    let rest = &text.as_bytes()[at..];
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut front = [0; 4];
        front[..rest.len()].copy_from_slice(rest);
        front
    })
}

/// Skip the characters that are kept, up to the first other one. Return the byte where that begins.
#[inline]
fn skip_kept(chars: &mut CharIndices<'_>, actions: &CodePointMap<SplitAction>) -> usize {
    let mut rest = chars.clone();
    while rest.next().is_some_and(|(_, c)| actions.get(c).is_kept()) {
        *chars = rest.clone();
    }
    chars.offset()
}

impl WordBuffer {
    /// Emit the words of a span.
    ///
    /// If the neighbours of a character matter, return the byte from which on the span needs the normalizer itself. Before
    /// that byte is nothing, or a character that no mark is moved past.
    #[inline]
    pub(super) fn split<const TRACED: bool>(
        &mut self,
        span: &str,
        actions: &CodePointMap<SplitAction>,
        normalizer: &Normalizer,
        mut emit: impl FnMut(SpanWord<'_>),
    ) -> Result<Option<usize>, Error> {
        self.begin();
        let (mut start, mut role) = (0, WordRole::Whole);
        let mut chars = span.char_indices();
        if !TRACED {
            let kept = skip_kept(&mut chars, actions);
            if kept == span.len() && kept > 0 {
                emit(SpanWord { bytes: span.as_bytes(), sources: &[], start, role });
                return Ok(None);
            }
            self.push_kept(&span.as_bytes()[..kept]);
        }
        for (nth, (at, c)) in (0..).zip(chars) {
            let action = actions.get(c);
            let next = at + c.len_utf8();
            let source = SourceChar { byte: at, nth };
            match action.kind() {
                ActionKind::Kept => self.push::<TRACED>(front(span, at), next - at, source),
                ActionKind::Mapped => {
                    let (bytes, len) = action.text();
                    self.push::<TRACED>(bytes, len, source);
                }
                ActionKind::Space => {
                    role = WordRole::Part;
                    self.end(role, &mut emit);
                    start = next;
                }
                ActionKind::Isolated => {
                    role = WordRole::Part;
                    self.end(role, &mut emit);
                    let sources = [(nth, nth + 1); 4];
                    emit(SpanWord {
                        bytes: &span.as_bytes()[at..next],
                        sources: if TRACED { &sources } else { &[] },
                        start: at,
                        role: WordRole::Isolated(c),
                    });
                    start = next;
                }
                ActionKind::IsolatedMapped => {
                    role = WordRole::Part;
                    self.end(role, &mut emit);
                    let (bytes, len) = action.text();
                    self.push::<TRACED>(bytes, len, source);
                    self.end(role, &mut emit);
                    start = next;
                }
                ActionKind::Decomposed => decompose(c, |part| {
                    let mut bytes = [0; 4];
                    let len = part.encode_utf8(&mut bytes).len();
                    self.push::<TRACED>(bytes, len, source);
                }),
                ActionKind::Long => self.push_long::<TRACED>(&span[at..next], source, normalizer)?,
                ActionKind::Contextual => return Ok(Some(start)),
            }
        }
        self.end(role, &mut emit);
        Ok(None)
    }

    fn begin(&mut self) {
        self.len = 0;
        self.sources.clear();
    }

    /// Append the first bytes of a span.
    #[inline]
    fn push_kept(&mut self, bytes: &[u8]) {
        if self.bytes.len() < bytes.len() {
            self.bytes.resize(bytes.len(), 0);
        }
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        self.note::<false>(bytes.len(), SourceChar { byte: 0, nth: 0 });
    }

    /// Append the first `len` of four bytes.
    #[inline]
    fn push<const TRACED: bool>(&mut self, bytes: [u8; 4], len: usize, source: SourceChar) {
        if self.bytes.len() < self.len + bytes.len() {
            self.bytes.resize(2 * self.len + 64, 0);
        }
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(&bytes);
        self.note::<TRACED>(len, source);
    }

    /// Append the normalized text of a character.
    fn push_long<const TRACED: bool>(
        &mut self,
        c: &str,
        source: SourceChar,
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
    fn note<const TRACED: bool>(&mut self, len: usize, source: SourceChar) {
        if self.len == 0 && len > 0 {
            self.start = source.byte;
        }
        if TRACED {
            self.sources.extend(std::iter::repeat_n((source.nth, source.nth + 1), len));
        }
        self.len += len;
    }

    /// Emit the word if there is one, and begin the next.
    #[inline]
    fn end(&mut self, role: WordRole, emit: &mut impl FnMut(SpanWord<'_>)) {
        if self.len > 0 {
            let (bytes, sources) = (&self.bytes[..self.len], &self.sources[..]);
            emit(SpanWord { bytes, sources, start: self.start, role });
            self.begin();
        }
    }
}
