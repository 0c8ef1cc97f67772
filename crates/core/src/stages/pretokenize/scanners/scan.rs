//! Scan a text: class masks, boundary mask, then words.

use piecework_kernels::classes::BLOCK;
use piecework_kernels::positions;

use super::ambiguous::AmbiguousBytes;
use super::classes::{ClassMasks, ClassTable, NonAsciiScratch, IS_SPACE};
use super::scanner::{PatternFamily, Scanner};
use crate::stages::pretokenize::words::WordSpans;

/// Texts shorter than this, in bytes, use the scalar scanner if there is no scratch.
const MIN_MASKED_LEN: usize = 256;

/// Scratch for splitting texts.
#[derive(Clone, Debug, Default)]
pub struct ScanScratch {
    masks: Vec<ClassMasks>,
    non_ascii: NonAsciiScratch,
    /// A bit for each byte where a word starts.
    boundary_mask: Vec<u64>,
    ambiguous: AmbiguousBytes,
    /// Zero, then the end of each word.
    bounds: Vec<u32>,
    /// Words that no scanner found.
    pub(in crate::stages::pretokenize) starts: Vec<u32>,
    pub(in crate::stages::pretokenize) ends: Vec<u32>,
    /// Words of one stage, to be split by the next.
    pub(in crate::stages::pretokenize) words: Vec<(usize, usize)>,
    /// A text with a space before it.
    pub(in crate::stages::pretokenize) prefixed: String,
}

impl Scanner {
    /// Emit the byte span of every word.
    pub(in crate::stages::pretokenize) fn split(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        if text.len() < MIN_MASKED_LEN {
            return self.split_scalar(text, emit);
        }
        self.for_each_window(text, &mut ScanScratch::default(), |from, _, words| {
            words.spans().for_each(|(start, end)| emit(from + start, from + end));
        });
    }

    /// Call `take` for each window of the text with its start and its words.
    pub(in crate::stages::pretokenize) fn for_each_window(
        self,
        text: &str,
        scratch: &mut ScanScratch,
        mut take: impl FnMut(usize, &str, WordSpans<'_>),
    ) {
        let table = ClassTable::of(self.classification);
        let mut from = 0;
        while from < text.len() {
            let to = self.window_end(text, from);
            let window = &text[from..to];
            self.bounds(window, table, scratch);
            take(from, window, self.words(scratch));
            from = to;
        }
    }

    /// Return the words between the bounds; CLIP's omit whitespace.
    fn words(self, scratch: &mut ScanScratch) -> WordSpans<'_> {
        let ScanScratch { masks, bounds, starts, ends, .. } = scratch;
        let all = WordSpans { starts: &bounds[..bounds.len() - 1], ends: &bounds[1..] };
        if self.family != PatternFamily::Clip {
            return all;
        }
        let is_word = |start: usize| masks[start / BLOCK][IS_SPACE] >> (start % BLOCK) & 1 == 0;
        starts.clear();
        ends.clear();
        for (start, end) in all.spans().filter(|&(start, _)| is_word(start)) {
            starts.push(start as u32);
            ends.push(end as u32);
        }
        WordSpans { starts, ends }
    }

    /// Write the bounds of all words of a window, not empty, to the scratch.
    fn bounds(self, text: &str, table: &ClassTable, scratch: &mut ScanScratch) {
        let ScanScratch { masks, non_ascii, boundary_mask, ambiguous, bounds, .. } = scratch;
        table.classify(text, masks, non_ascii);
        ambiguous.clear();
        boundary_mask.clear();
        self.find_boundaries(masks, text.len(), boundary_mask, ambiguous);
        self.repair(text, masks, ambiguous, boundary_mask);
        positions::list(boundary_mask, bounds);
        bounds.push(text.len() as u32);
    }
}
