//! BERT's normalizer and splitter in one pass: a text in, its stretches out, most of them ready to look up.
//!
//! edges      where stretches are, 64 bytes at a time
//! fates      what becomes of each character, by a table of all code points
//! apart      a stretch taken apart by these
//! ids        stretches to ids through the memo, asked for some hundred at a time
//! fresh      those that are new, of one text or several, segmented at once
//! one_by_one words to ids, one after the other
//! tokens     ids laid along stretches, for offsets and word ids
//!
//! ASCII spaces and punctuation are never touched by normalization and never joined by it, so the text is cut
//! there first. A stretch of plain ASCII is a word but for its case, and a whole chunk is lowered at once. Any
//! other stretch is taken apart character by character; only where marks may have to be ordered does the
//! normalizer itself run.

mod apart;
mod edges;
mod fates;
mod fresh;
mod ids;
mod one_by_one;
#[cfg(test)]
mod tests;
mod tokens;

use piecework_kernels::ascii::copy_lowercase;
use piecework_kernels::classes::ByteClasses;
use piecework_unicode::{class_of, Class};

use crate::error::Error;
use crate::normalize::Normalizer;
use crate::pretokenize::PreTokenizer;
use crate::word_cache::Key;

use super::words::{Splitter, WordSink};
use apart::{Role, Word, Written};
use edges::{Edges, Stretch, ALONE, CHUNK, OTHER, WORD};
use fates::Fates;
use fresh::Fresh;
use ids::Waiting;

/// What is known of a normalizer and a pre-tokenizer that split by classes of characters.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    classes: ByteClasses,
    lowercases: bool,
    fates: Fates,
}

/// Working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct StretchScratch {
    edges: Edges,
    /// The chunk as normalized, if it is ASCII, and `PADDING` bytes.
    lowered: Vec<u8>,
    written: Written,
    waiting: Waiting,
    fresh: Fresh,
}

/// A part of a text.
enum Part<'c> {
    Chunk(Chunk<'c>),
    /// One stretch that is longer than a chunk, and where it begins.
    Stretch(&'c str, usize),
}

/// Whole stretches of a text, at most `CHUNK` bytes of it.
pub(super) struct Chunk<'c> {
    text: &'c str,
    /// Where the chunk begins in the text.
    from: usize,
    lowered: &'c [u8],
    edges: &'c Edges,
}

/// Bytes after the last of a chunk, so that a key can be read anywhere in it.
const PADDING: usize = 16;

impl Stretches {
    /// The table, if words never reach across ASCII space and the normalizer looks at one character at a
    /// time.
    pub(super) fn of(normalizer: &Normalizer, pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let PreTokenizer::Classes { removed: Some(Class::WHITESPACE), isolated } = *pre_tokenizer else {
            return None;
        };
        let lowercases = match normalizer {
            Normalizer::Identity => false,
            Normalizer::Bert(bert) => bert.lowercases(),
            _ => return None,
        };
        let fates = Fates::compile(normalizer, isolated).ok()?;
        let classes = ByteClasses::new(|byte| class_of_byte(byte, normalizer, isolated, lowercases));
        Some(Self { classes, lowercases, fates })
    }

    /// Give all of a text to `visit`, part by part.
    #[inline]
    fn parts<'c>(
        &self,
        text: &'c str,
        edges: &'c mut Edges,
        lowered: &'c mut Vec<u8>,
        mut visit: impl FnMut(Part<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut from = 0;
        while from < text.len() {
            let chunk = &text.as_bytes()[from..text.len().min(from + CHUNK)];
            let is_last = from + chunk.len() == text.len();
            let mut done = edges.find(chunk, is_last, &self.classes);
            if done > 0 {
                self.lower(chunk, lowered);
                visit(Part::Chunk(Chunk { text, from, lowered, edges }))?;
            } else {
                done = self.stretch_len(&text.as_bytes()[from..]);
                visit(Part::Stretch(&text[from..from + done], from))?;
            }
            from += done;
        }
        Ok(())
    }

    /// How long the stretch at the beginning is.
    fn stretch_len(&self, bytes: &[u8]) -> usize {
        let goes_on = |&byte: &u8| !byte.is_ascii() || self.classes.of(byte) & (WORD | OTHER) != 0;
        bytes.iter().position(|byte| !goes_on(byte)).unwrap_or(bytes.len())
    }

    fn lower(&self, chunk: &[u8], lowered: &mut Vec<u8>) {
        if lowered.len() < CHUNK + PADDING {
            lowered.resize(CHUNK + PADDING, 0);
        }
        let lowered = &mut lowered[..chunk.len()];
        if self.lowercases {
            copy_lowercase(chunk, lowered);
        } else {
            lowered.copy_from_slice(chunk);
        }
    }

    /// Give every word of a text to `sink`.
    pub(super) fn run(
        &self,
        text: &str,
        splitter: &Splitter,
        scratch: &mut StretchScratch,
        normalized: &mut String,
        sink: &mut impl WordSink,
    ) -> Result<(), Error> {
        let StretchScratch { edges, lowered, written, .. } = scratch;
        let mut apart = |stretch: &str, at: usize, sink: &mut _| {
            self.words(stretch, splitter, written, normalized, |word| {
                give(word.bytes, at + word.start, sink);
            })
        };
        self.parts(text, edges, lowered, |part| match part {
            Part::Stretch(stretch, at) => apart(stretch, at, sink),
            Part::Chunk(chunk) => chunk.edges.all().stretches().try_for_each(|stretch| {
                let at = chunk.from + stretch.start;
                if stretch.needs_tables {
                    return apart(chunk.raw(stretch), at, sink);
                }
                give(chunk.lowered(stretch), at, sink);
                Ok(())
            }),
        })
    }

    /// Give the normalized words of a stretch to `emit`; where marks are ordered, the byte where a word begins may
    /// be one before it.
    fn words(
        &self,
        stretch: &str,
        splitter: &Splitter,
        written: &mut Written,
        normalized: &mut String,
        mut emit: impl FnMut(Word<'_>),
    ) -> Result<(), Error> {
        let tables = (&self.fates, splitter.normalizer());
        let rest = apart::words::<false>(stretch, tables, written, &mut emit)?;
        match rest {
            None => Ok(()),
            Some(from) => splitter.slow_words(&stretch[from..], normalized, |word| {
                emit(Word { bytes: word.as_bytes(), sources: &[], start: from, role: Role::Part });
            }),
        }
    }
}

/// Give a word to a sink.
#[inline]
fn give(word: &[u8], at: usize, sink: &mut impl WordSink) {
    if let Some(key) = Key::of(word) {
        sink.short_word(key, at);
    } else if let Ok(word) = std::str::from_utf8(word) {
        sink.word(word, at);
    }
}

impl<'c> Chunk<'c> {
    /// The key of a stretch, if it is not too long: of the word that it is, or of the text where it may be more.
    #[inline]
    fn key(&self, stretch: Stretch) -> Option<Key> {
        let key = Key::at(self.lowered, stretch.start, stretch.end)?;
        Some(if stretch.needs_tables { key.as_raw() } else { key })
    }

    /// The text of a stretch.
    fn raw(&self, stretch: Stretch) -> &'c str {
        &self.text[self.from + stretch.start..self.from + stretch.end]
    }

    /// A stretch as normalized, if it is ASCII; else with nothing done but to ASCII capitals.
    fn lowered(&self, stretch: Stretch) -> &'c [u8] {
        &self.lowered[stretch.start..stretch.end]
    }
}

/// What a byte is to the cutter.
fn class_of_byte(byte: u8, normalizer: &Normalizer, isolated: Option<Class>, lowercases: bool) -> u8 {
    let c = char::from(byte);
    let class = class_of(c);
    let mut normalized = String::new();
    if normalizer.run(c.encode_utf8(&mut [0; 4]), 0, &mut normalized).is_err() {
        return OTHER;
    }
    let expected = if lowercases { c.to_ascii_lowercase() } else { c };
    if class.has(Class::WHITESPACE) {
        return if normalized.is_empty() { OTHER } else { 0 };
    }
    if isolated.is_some_and(|isolated| class.has(isolated)) {
        ALONE
    } else if normalized.chars().eq([expected]) {
        WORD
    } else {
        OTHER
    }
}
