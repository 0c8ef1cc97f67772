//! The distinct words as one text, split where no piece may cross: at characters outside the alphabet and
//! around user-defined symbols.

use std::ops::Range;
use std::sync::Arc;

use super::ranked_alphabet::RankedAlphabet;
use crate::count::Counts;
use crate::progress::Progress;
use crate::symbol_splitter::SymbolSplitter;
use piecework_core::error::{Error, ErrorKind};

/// Follows each segment; not a byte of UTF-8.
pub(super) const END: u8 = 0xFF;
/// Sums of expected counts stay below 2 to this power.
const MAX_BITS: u32 = 62;
/// The most fractional bits of expected counts.
const MAX_FRACTION_BITS: u32 = 40;

/// The most fractional bits of weighted uses.
const MAX_USE_BITS: u32 = 10;

/// The text of all segments.
pub(super) struct SegmentText {
    /// Shared with the thread that sorts its suffixes.
    pub(super) text: Arc<Vec<u8>>,
    pub(super) segments: Vec<TextSegment>,
    /// The integer that represents an expected count of 1.
    pub(super) one: f64,
    /// The integer that represents one use in the best segmentation.
    pub(super) one_use: f64,
}

/// A part of a word that pieces cover, and its count.
#[derive(Clone, Copy)]
pub(super) struct TextSegment {
    start: u32,
    end: u32,
    pub(super) count: u64,
    /// The count to the power of `count_exponent`.
    pub(super) weight: f64,
}

impl TextSegment {
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl SegmentText {
    /// Concatenate all words, with counts to the power of `exponent`; fails for 2^31 bytes or more.
    pub(super) fn new(
        counts: &Counts,
        splitter: &SymbolSplitter,
        alphabet: &RankedAlphabet,
        exponent: f64,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut corpus = Self { text: Arc::default(), segments: Vec::new(), one: 1.0, one_use: 1.0 };
        let mut text = Vec::new();
        let mut chars = 0;
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            let weight = if exponent == 1.0 { count as f64 } else { (count as f64).powf(exponent) };
            splitter.known_parts(
                word,
                |c| alphabet.contains(c),
                |part| {
                    chars += part.chars().count() as u64 * count;
                    corpus.push(&mut text, part, count, weight);
                },
            );
            if text.len() >= i32::MAX as usize {
                let found = "2^31 bytes or more in distinct words";
                return Err(Error::new(ErrorKind::Training, "counts", found, "fewer"));
            }
        }
        corpus.text = Arc::new(text);
        let bits = fraction_bits(chars)?;
        corpus.one = f64::from(bits).exp2();
        if exponent < 1.0 {
            corpus.one_use = f64::from(bits.min(MAX_USE_BITS)).exp2();
        }
        Ok(corpus)
    }

    fn push(&mut self, text: &mut Vec<u8>, part: &str, count: u64, weight: f64) {
        let start = text.len() as u32;
        text.extend_from_slice(part.as_bytes());
        self.segments.push(TextSegment { start, end: text.len() as u32, count, weight });
        text.push(END);
    }
}

fn fraction_bits(chars: u64) -> Result<u32, Error> {
    let bits = MAX_BITS.checked_sub(u64::BITS - chars.leading_zeros());
    let bits = bits.ok_or_else(|| {
        let found = format!("{chars} characters in all");
        Error::new(ErrorKind::Training, "counts", found, "fewer than 2^62")
    })?;
    Ok(bits.min(MAX_FRACTION_BITS))
}
