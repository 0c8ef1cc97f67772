//! BERT's normalizer and pre-tokenizer in one pass: a text to ASCII spans, and a span to words.
//!
//! ```text
//! char_actions  what both stages do with each character: a table of all code points
//! words         the words of one span, by that table
//! ```
//!
//! Normalization never changes ASCII spaces and punctuation and never joins anything to them, so the text is split there
//! first. A span of ASCII letters and digits is a word except for its case, and a whole chunk is lowercased at once.
//! Other spans are split character by character. The normalizer itself runs only where combining marks may have to be
//! reordered.

mod char_actions;
mod words;

pub(crate) use words::{SpanWord, WordBuffer, WordRole};

use std::ops::Range;

use piecework_kernels::classes::{class_masks, copy_lowercase, ByteClasses};
use piecework_kernels::positions;
use piecework_unicode::{class_of, Class, CodePointMap};

use crate::error::Error;
use crate::stages::normalize::Normalizer;
use crate::stages::pretokenize::PreTokenizer;
use crate::word_key::{WordKey, WordSink};
use char_actions::{split_actions, SplitAction};

/// A normalizer and a pre-tokenizer that split by classes of single characters.
#[derive(Clone, Debug)]
pub(crate) struct BertSplitter {
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    classes: ByteClasses,
    lowercases: bool,
    actions: CodePointMap<SplitAction>,
}

/// Memory of one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct BertScratch {
    pub(crate) chunk: SpanChunk,
    pub(crate) words: WordBuffer,
}

/// The next bytes of a text, up to an end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FoundSpans {
    /// The spans of a chunk.
    Chunk(usize),
    /// One span, or the first words of one, that is longer than a chunk.
    LongSpan(usize),
}

/// The spans of at most `CHUNK` bytes of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanChunk {
    /// Where the chunk begins in the text.
    pub(crate) from: usize,
    /// The bytes of the chunk, lowercased if they are ASCII, and `PADDING` bytes.
    lowered: Vec<u8>,
    finder: SpanFinder,
}

/// Bytes after the last byte of a chunk, so that a key can be read anywhere in it.
const PADDING: usize = 16;

impl BertSplitter {
    /// Compile the table, if no word contains ASCII whitespace and the normalizer looks at one character at a time.
    pub(super) fn of(normalizer: &Normalizer, pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let PreTokenizer::Classes { removed: Some(Class::WHITESPACE), isolated } = *pre_tokenizer else {
            return None;
        };
        let lowercases = match normalizer {
            Normalizer::Identity => false,
            Normalizer::Bert(bert) if !bert.is_original() => bert.lowercases(),
            _ => return None,
        };
        let actions = split_actions(normalizer, isolated).ok()?;
        let classes = ByteClasses::new(|byte| class_of_byte(byte, normalizer, isolated, lowercases));
        let (normalizer, pre_tokenizer) = (normalizer.clone(), pre_tokenizer.clone());
        Some(Self { normalizer, pre_tokenizer, classes, lowercases, actions })
    }

    /// Find the next spans of a text, from byte `from` on, which is not the end.
    #[inline]
    pub(crate) fn find(&self, text: &str, from: usize, chunk: &mut SpanChunk) -> FoundSpans {
        let bytes = &text.as_bytes()[from..text.len().min(from + CHUNK)];
        let is_last = from + bytes.len() == text.len();
        let done = chunk.finder.find(bytes, is_last, &self.classes);
        if done == 0 {
            return FoundSpans::LongSpan(from + self.long_span_len(&text[from..]));
        }
        chunk.from = from;
        self.lower(bytes, &mut chunk.lowered);
        FoundSpans::Chunk(from + done)
    }

    /// Return how long the span at the beginning is, which is longer than a chunk, or its first words.
    ///
    /// It ends at the latest after the first character behind a chunk that no word and no reordering of marks goes past.
    fn long_span_len(&self, text: &str) -> usize {
        let continues = |byte: u8| !byte.is_ascii() || self.classes.of(byte) & (WORD | OTHER) != 0;
        let mut chars = text.char_indices().skip_while(|&(at, _)| at < CHUNK);
        let ends =
            |&(at, c): &(usize, char)| !continues(text.as_bytes()[at]) || self.actions.get(c).ends_word();
        chars.find(ends).map_or(text.len(), |(at, c)| {
            if continues(text.as_bytes()[at]) {
                at + c.len_utf8()
            } else {
                at
            }
        })
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

    /// Emit every word of a text.
    pub(super) fn run(
        &self,
        text: &str,
        scratch: &mut BertScratch,
        normalized: &mut String,
        sink: &mut impl WordSink,
    ) -> Result<(), Error> {
        let BertScratch { chunk, words } = scratch;
        let mut split = |span: &str, at: usize, sink: &mut _| {
            self.span_words(span, words, normalized, |word| {
                emit_word(word.bytes, at + word.start, sink);
            })
        };
        let mut from = 0;
        while from < text.len() {
            match self.find(text, from, chunk) {
                FoundSpans::LongSpan(end) => {
                    split(&text[from..end], from, sink)?;
                    from = end;
                }
                FoundSpans::Chunk(end) => {
                    for span in chunk.spans().spans() {
                        if span.needs_actions {
                            split(chunk.raw(text, span), from + span.start, sink)?;
                        } else {
                            emit_word(chunk.lowered(span), from + span.start, sink);
                        }
                    }
                    from = end;
                }
            }
        }
        Ok(())
    }

    /// Return the character at the beginning of a text if it is a word as it is, whatever follows.
    #[inline]
    pub(crate) fn isolated_char(&self, text: &str) -> Option<char> {
        text.chars().next().filter(|&c| self.actions.get(c).is_isolated())
    }

    /// Emit the normalized words of a span. Where marks are reordered, the byte where a word begins may be one before
    /// it.
    pub(crate) fn span_words(
        &self,
        span: &str,
        words: &mut WordBuffer,
        normalized: &mut String,
        mut emit: impl FnMut(SpanWord<'_>),
    ) -> Result<(), Error> {
        let rest = words.split::<false>(span, &self.actions, &self.normalizer, &mut emit)?;
        match rest {
            None => Ok(()),
            Some(from) => self.words_by_stages(&span[from..], normalized, |word| {
                emit(SpanWord { bytes: word.as_bytes(), sources: &[], start: from, role: WordRole::Part });
            }),
        }
    }

    /// Emit the normalized words of a text without delimiters, stage by stage.
    fn words_by_stages(
        &self,
        text: &str,
        normalized: &mut String,
        mut emit: impl FnMut(&str),
    ) -> Result<(), Error> {
        normalized.clear();
        self.normalizer.run(text, 0, normalized)?;
        self.pre_tokenizer.run(normalized, |start, end| emit(&normalized[start..end]));
        Ok(())
    }

    /// Emit the words of a span with the characters behind each byte. Return `false` if marks may have to be reordered:
    /// then only some words were emitted.
    pub(crate) fn traced_words(
        &self,
        span: &str,
        words: &mut WordBuffer,
        emit: impl FnMut(SpanWord<'_>),
    ) -> Result<bool, Error> {
        Ok(words.split::<true>(span, &self.actions, &self.normalizer, emit)?.is_none())
    }
}

/// Emit a word to a sink.
#[inline]
fn emit_word(word: &[u8], at: usize, sink: &mut impl WordSink) {
    if let Some(key) = WordKey::of(word) {
        sink.short_word(key, at);
    } else if let Ok(word) = std::str::from_utf8(word) {
        sink.word(word, at);
    }
}

impl SpanChunk {
    /// Return all spans.
    #[inline]
    pub(crate) fn spans(&self) -> SpanGroup<'_> {
        self.finder.spans()
    }

    /// Return the key of a span, or [`WordKey::NONE`]: of the word that it is, or of its raw text if it must be split.
    #[inline]
    pub(crate) fn short_key(&self, span: AsciiSpan) -> WordKey {
        let key = WordKey::at_or_none(&self.lowered, span.start, span.end);
        if span.needs_actions && key != WordKey::NONE {
            key.as_raw()
        } else {
            key
        }
    }

    /// Return the raw text of a span of a text.
    pub(crate) fn raw<'t>(&self, text: &'t str, span: AsciiSpan) -> &'t str {
        &text[self.from + span.start..self.from + span.end]
    }

    /// Return a span with ASCII capitals lowercased: its normalized text if it is ASCII.
    pub(crate) fn lowered(&self, span: AsciiSpan) -> &[u8] {
        &self.lowered[span.start..span.end]
    }
}

/// Return the class of a byte for the span finder.
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
        ISOLATED
    } else if normalized.chars().eq([expected]) {
        WORD
    } else {
        OTHER
    }
}

/// Classes of bytes, as bits of `ByteClasses`; a byte without a class is whitespace.
const WORD: u8 = 1;
const ISOLATED: u8 = 2;
const OTHER: u8 = 4;

/// The most bytes of a chunk.
pub(crate) const CHUNK: usize = 4096;

/// Set in the end of a span that must be split by the table of actions.
const NEEDS_ACTIONS: u16 = 1 << 15;

/// Finds the spans of a chunk, by arithmetic on the class masks of 64 bytes.
///
/// A span is a run of bytes that are neither ASCII whitespace nor isolated, or one isolated byte. Bit `i` of a mask is byte
/// `i` of a block; the state at the end of a block is carried into the next.
#[derive(Clone, Debug, Default)]
struct SpanFinder {
    masks: Vec<[u64; 4]>,
    blocks: Blocks,
    starts: Vec<u16>,
    ends: Vec<u16>,
}

/// For each block, as masks: the first bytes of spans, the bytes after spans, and the bytes after spans that need the
/// table of actions.
#[derive(Clone, Debug, Default)]
struct Blocks {
    starts: Vec<u64>,
    ends: Vec<u64>,
    ends_of_others: Vec<u64>,
}

/// Adjacent ASCII spans.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanGroup<'e> {
    starts: &'e [u16],
    ends: &'e [u16],
}

/// An ASCII span: its bytes in the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AsciiSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// It has bytes that are neither `WORD` nor `ISOLATED`.
    pub(crate) needs_actions: bool,
}

impl SpanFinder {
    /// Find the spans of a chunk of at most `CHUNK` bytes that begins outside a span; return the number of bytes covered.
    ///
    /// A span that reaches the end of the chunk is left out, unless the chunk is the last of its text.
    fn find(&mut self, chunk: &[u8], is_last: bool, classes: &ByteClasses) -> usize {
        let Self { masks, blocks, starts, ends } = self;
        masks.clear();
        class_masks(chunk, classes, masks);
        let carried = blocks.fill(masks);
        positions::list(&blocks.starts, starts);
        positions::list(&blocks.ends, ends);
        blocks.mark(ends);
        if carried.in_span != 0 && !is_last {
            return starts.pop().map_or(chunk.len(), usize::from);
        }
        if carried.in_span | carried.alone != 0 {
            let others = if carried.in_others != 0 { NEEDS_ACTIONS } else { 0 };
            ends.push(chunk.len() as u16 | others);
        }
        chunk.len()
    }

    /// Return the spans that were found last.
    #[inline]
    fn spans(&self) -> SpanGroup<'_> {
        SpanGroup { starts: &self.starts, ends: &self.ends }
    }
}

impl<'e> SpanGroup<'e> {
    /// Return the spans of a range of numbers.
    #[inline]
    pub(crate) fn range(self, numbers: Range<usize>) -> Self {
        Self { starts: &self.starts[numbers.clone()], ends: &self.ends[numbers] }
    }

    /// Return the number of spans.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Return one span.
    #[inline]
    pub(crate) fn span(&self, number: usize) -> AsciiSpan {
        AsciiSpan::of(self.starts[number], self.ends[number])
    }

    /// Return the spans in order.
    #[inline]
    pub(crate) fn spans(self) -> impl Iterator<Item = AsciiSpan> + 'e {
        self.starts.iter().zip(self.ends).map(|(&start, &end)| AsciiSpan::of(start, end))
    }
}

impl AsciiSpan {
    #[inline]
    fn of(start: u16, end: u16) -> Self {
        let needs_actions = end & NEEDS_ACTIONS != 0;
        Self { start: usize::from(start), end: usize::from(end & !NEEDS_ACTIONS), needs_actions }
    }
}

/// The state at the end of a block, each 0 or 1.
#[derive(Clone, Copy, Default)]
struct Carried {
    /// The last byte is in a span that can continue.
    in_span: u64,
    /// That span has bytes that need the table of actions.
    in_others: u64,
    /// The last byte is isolated.
    alone: u64,
}

impl Blocks {
    /// Compute the blocks of class masks; return the state at the end.
    fn fill(&mut self, masks: &[[u64; 4]]) -> Carried {
        let mut carried = Carried::default();
        for list in [&mut self.starts, &mut self.ends, &mut self.ends_of_others] {
            list.clear();
            list.resize(masks.len(), 0);
        }
        let lists = self.starts.iter_mut().zip(&mut self.ends).zip(&mut self.ends_of_others);
        for (&masks, ((starts, ends), others)) in masks.iter().zip(lists) {
            [*starts, *ends, *others] = carried.block(masks);
        }
        carried
    }

    /// Mark the listed ends of spans that need the table of actions.
    fn mark(&self, listed: &mut [u16]) {
        let mut before = 0;
        for (ends, others) in self.ends.iter().zip(&self.ends_of_others) {
            let mut marked = *others;
            while marked != 0 {
                let below = (marked & marked.wrapping_neg()) - 1;
                listed[before + (ends & below).count_ones() as usize] |= NEEDS_ACTIONS;
                marked &= marked - 1;
            }
            before += ends.count_ones() as usize;
        }
    }
}

impl Carried {
    /// Return the masks of one block and update the state.
    #[inline]
    fn block(&mut self, [word, alone, other, wide]: [u64; 4]) -> [u64; 3] {
        let others = other | wide;
        let runs = word | others;
        let after_run = runs << 1 | self.in_span;
        let after_alone = alone << 1 | self.alone;
        // Adding the other bytes to the runs carries a bit out of the end of each run that has one.
        let (sum, overflows) = runs.overflowing_add(others);
        let (sum, overflows_too) = sum.overflowing_add(self.in_others);
        *self = Self {
            in_span: runs >> 63,
            in_others: u64::from(overflows | overflows_too),
            alone: alone >> 63,
        };
        [runs & !after_run | alone, after_run & !runs | after_alone, sum & !runs]
    }
}

#[cfg(test)]
mod tests {
    use piecework_kernels::level::Level;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spans_equal_a_walk_over_the_bytes(
            bytes in prop::collection::vec(prop::sample::select(b"aaaaa b,,\xC3\x01".to_vec()), 0..600)
        ) {
            let classes = ByteClasses::new(|byte| match byte {
                b'a' | b'b' => WORD,
                b',' => ISOLATED,
                b' ' => 0,
                _ => OTHER,
            });
            for level in Level::supported() {
                level.activate();
                let mut finder = SpanFinder::default();
                prop_assert_eq!(finder.find(&bytes, true, &classes), bytes.len());
                let found: Vec<AsciiSpan> = finder.spans().spans().collect();
                prop_assert_eq!(found, walked(&bytes));
            }
        }
    }

    fn walked(bytes: &[u8]) -> Vec<AsciiSpan> {
        let mut found: Vec<AsciiSpan> = Vec::new();
        let mut is_open = false;
        for (at, &byte) in bytes.iter().enumerate() {
            let is_other = matches!(byte, 0xC3 | 1);
            if matches!(byte, b' ' | b',') || !is_open {
                if byte != b' ' {
                    found.push(AsciiSpan { start: at, end: at + 1, needs_actions: is_other });
                }
                is_open = !matches!(byte, b' ' | b',');
            } else if let Some(last) = found.last_mut() {
                *last = AsciiSpan { end: at + 1, needs_actions: last.needs_actions | is_other, ..*last };
            }
        }
        found
    }
}
