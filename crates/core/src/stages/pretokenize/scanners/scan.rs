//! Scan a text: class masks, boundary mask, then words.

use piecework_kernels::classes::BLOCK;
use piecework_kernels::positions;

use super::boundary_rules::AmbiguousBytes;
use super::classes::{ClassMasks, ClassTable, IS_SPACE, NUMBER, SPACE, WORD};
use super::kind_text::{follows_word, KindText};
use super::scanner::{PatternFamily, Scanner};

/// Texts shorter than this, in bytes, use the scalar scanner if there is no scratch.
const MIN_MASKED_LEN: usize = 256;

/// The size of a window in bytes, if it contains a certain boundary. Long texts are scanned in windows, which end where
/// the pattern splits whatever the neighbours are.
const WINDOW: usize = if cfg!(test) { 192 } else { 16 << 10 };

/// The spans of words, as two arrays of byte positions.
#[derive(Clone, Copy, Debug)]
pub struct WordSpans<'w> {
    /// The start of each word.
    pub starts: &'w [u32],
    /// The end of each word.
    pub ends: &'w [u32],
}

impl<'w> WordSpans<'w> {
    /// Iterate over the spans.
    #[inline]
    pub fn spans(self) -> impl Iterator<Item = (usize, usize)> + 'w {
        self.starts.iter().zip(self.ends).map(|(&start, &end)| (start as usize, end as usize))
    }
}

/// Scratch for splitting texts.
#[derive(Clone, Debug, Default)]
pub struct ScanScratch {
    masks: Vec<ClassMasks>,
    /// The positions of characters of four bytes.
    four: Vec<u32>,
    /// A bit for each byte where a word starts.
    boundary_mask: Vec<u64>,
    ambiguous: AmbiguousBytes,
    /// Zero, then the end of each word.
    bounds: Vec<u32>,
    /// Whether the words are between the bounds.
    has_bounds: bool,
    /// The words that are not.
    pub(in crate::stages::pretokenize) starts: Vec<u32>,
    pub(in crate::stages::pretokenize) ends: Vec<u32>,
    /// Words of one stage, to be split by the next.
    pub(in crate::stages::pretokenize) words: Vec<(usize, usize)>,
}

impl ScanScratch {
    /// Return the words that were found last, from the beginning of their window.
    #[inline]
    #[must_use]
    pub fn words(&self) -> WordSpans<'_> {
        let Self { bounds, starts, ends, .. } = self;
        if self.has_bounds {
            return WordSpans { starts: &bounds[..bounds.len() - 1], ends: &bounds[1..] };
        }
        WordSpans { starts, ends }
    }

    /// List the words between the bounds, without whitespace.
    fn omit_whitespace(&mut self) {
        let Self { masks, bounds, starts, ends, .. } = self;
        let is_word =
            |start: u32| masks[start as usize / BLOCK][IS_SPACE] >> (start as usize % BLOCK) & 1 == 0;
        starts.clear();
        ends.clear();
        for two in bounds.windows(2).filter(|two| is_word(two[0])) {
            starts.push(two[0]);
            ends.push(two[1]);
        }
    }

    /// Begin a list of words that are not between bounds.
    pub(in crate::stages::pretokenize) fn begin_list(&mut self) {
        self.has_bounds = false;
        self.starts.clear();
        self.ends.clear();
    }
}

impl Scanner {
    /// Emit the byte span of every word.
    pub(in crate::stages::pretokenize) fn split(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        if text.len() < MIN_MASKED_LEN {
            return self.split_scalar(text, emit);
        }
        let (mut scratch, mut from) = (ScanScratch::default(), 0);
        while from < text.len() {
            let to = self.find_words(text, from, &mut scratch);
            scratch.words().spans().for_each(|(start, end)| emit(from + start, from + end));
            from = to;
        }
    }

    /// Find the words of the window that begins at byte `from`, not the end. Return where the window ends.
    pub(in crate::stages::pretokenize) fn find_words(
        self,
        text: &str,
        from: usize,
        scratch: &mut ScanScratch,
    ) -> usize {
        let to = self.window_end(text, from);
        let table = ClassTable::of(self.classification);
        self.bounds(&text[from..to], table, scratch);
        if self.joins_words {
            KindText { text: &text[from..to], kinds: table.kinds }.join_words(&mut scratch.bounds);
        }
        scratch.has_bounds = self.family != PatternFamily::Clip;
        if !scratch.has_bounds {
            scratch.omit_whitespace();
        }
        to
    }

    /// Write the bounds of all words of a window, not empty, to the scratch.
    fn bounds(self, text: &str, table: &ClassTable, scratch: &mut ScanScratch) {
        let ScanScratch { masks, four, boundary_mask, ambiguous, bounds, .. } = scratch;
        table.classify(text, masks, four);
        ambiguous.clear();
        boundary_mask.clear();
        self.find_boundaries(masks, text.len(), boundary_mask, ambiguous);
        self.repair(text, masks, ambiguous, boundary_mask);
        positions::list(boundary_mask, bounds);
        bounds.push(text.len() as u32);
    }
}

impl Scanner {
    /// Return the end of the window that begins at a byte.
    fn window_end(self, text: &str, from: usize) -> usize {
        let bytes = text.as_bytes();
        if bytes.len() - from <= WINDOW {
            return bytes.len();
        }
        let limit = from + WINDOW;
        let backwards = memchr::memrchr_iter(b' ', &bytes[from + 1..limit]).map(|at| from + 1 + at);
        let onwards = memchr::memchr_iter(b' ', &bytes[limit..]).map(|at| limit + at);
        backwards.chain(onwards).find(|&at| self.splits_at_space(text, at)).unwrap_or(bytes.len())
    }

    /// Return whether the pattern always splits before the ASCII space at a byte. Patterns that join words do so after
    /// characters of other kinds.
    fn splits_at_space(self, text: &str, at: usize) -> bool {
        if !self.joins_words {
            return follows_word(text, at);
        }
        let kinds = ClassTable::of(self.classification).kinds;
        let mut before = text[..at].chars().rev().map(|c| kinds.get(c));
        let (last, second) = (before.next().unwrap_or(SPACE), before.next().unwrap_or(SPACE));
        last & (SPACE | WORD) == 0 && (last & NUMBER != 0 || second & WORD == 0)
    }
}
