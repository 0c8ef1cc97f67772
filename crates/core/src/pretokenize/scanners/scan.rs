//! Scans a text: class masks, boundary masks, then the words.

use piecework_kernels::classes::BLOCK;
use piecework_kernels::positions;

use super::classes::{Masks, Table, WideScratch, IS_SPACE};
use super::doubts::Doubts;
use super::scanner::{Family, Scanner};
use crate::pretokenize::words::Words;

/// Shorter texts are scanned character by character where there is no scratch.
const SHORT: usize = 256;

/// Memory for the words of a text.
#[derive(Clone, Debug, Default)]
pub struct ScanScratch {
    masks: Vec<Masks>,
    wide: WideScratch,
    /// A bit for each byte where a word starts.
    start_bits: Vec<u64>,
    doubts: Doubts,
    /// Zero, and where each word ends.
    bounds: Vec<u32>,
    /// Words by other means than a scanner.
    pub(in crate::pretokenize) starts: Vec<u32>,
    pub(in crate::pretokenize) ends: Vec<u32>,
    /// The spans that are cut further.
    pub(in crate::pretokenize) pieces: Vec<(usize, usize)>,
    /// A text with a space before it.
    pub(in crate::pretokenize) spaced: String,
}

impl Scanner {
    /// Cut a text at every match; the matches leave nothing out, but spaces where they are no words.
    pub(in crate::pretokenize) fn cut(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        if text.len() < SHORT {
            return self.words_by_chars(text, emit);
        }
        self.for_each_stretch(text, &mut ScanScratch::default(), |from, _, words| {
            words.spans().for_each(|(start, end)| emit(from + start, from + end));
        });
    }

    /// Give stretches of the text, each with the byte where it starts and its words.
    pub(in crate::pretokenize) fn for_each_stretch(
        self,
        text: &str,
        scratch: &mut ScanScratch,
        mut take: impl FnMut(usize, &str, Words<'_>),
    ) {
        let table = Table::of(self.alphabet);
        let mut from = 0;
        while from < text.len() {
            let to = self.stretch_end(text, from);
            let stretch = &text[from..to];
            self.bounds(stretch, table, scratch);
            take(from, stretch, self.words(scratch));
            from = to;
        }
    }

    /// The words between the bounds.
    fn words(self, scratch: &mut ScanScratch) -> Words<'_> {
        let ScanScratch { masks, bounds, starts, ends, .. } = scratch;
        let all = Words { starts: &bounds[..bounds.len() - 1], ends: &bounds[1..] };
        if self.family != Family::Clip {
            return all;
        }
        let is_word = |start: usize| masks[start / BLOCK][IS_SPACE] >> (start % BLOCK) & 1 == 0;
        starts.clear();
        ends.clear();
        for (start, end) in all.spans().filter(|&(start, _)| is_word(start)) {
            starts.push(start as u32);
            ends.push(end as u32);
        }
        Words { starts, ends }
    }

    /// The bounds of all words of a text, not empty, into the scratch.
    fn bounds(self, text: &str, table: &Table, scratch: &mut ScanScratch) {
        let ScanScratch { masks, wide, start_bits, doubts, bounds, .. } = scratch;
        table.classify(text, masks, wide);
        doubts.clear();
        start_bits.clear();
        self.find_starts(masks, text.len(), start_bits, doubts);
        self.repair(text, masks, doubts, start_bits);
        positions::list(start_bits, bounds);
        bounds.push(text.len() as u32);
    }
}
