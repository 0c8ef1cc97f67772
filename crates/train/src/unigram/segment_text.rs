//! The distinct words as one text, split where no piece may cross: at characters outside the alphabet and
//! around user-defined symbols.

use std::ops::Range;

use super::ranked_alphabet::RankedAlphabet;
use super::spec::UnigramTrainSpec;
use crate::count::{Counts, Part};
use crate::progress::Progress;
use crate::substrings::{SubstringIndex, WordText};
use crate::symbol_splitter::SymbolSplitter;
use piecework_core::error::{Error, ErrorKind};

/// Sums of expected counts stay below 2 to this power.
const MAX_BITS: u32 = 62;
/// The most fractional bits of expected counts.
const MAX_FRACTION_BITS: u32 = 40;

/// The most fractional bits of weighted uses.
const MAX_USE_BITS: u32 = 10;

/// The segments, which are the parts of words that pieces cover, and their substrings.
pub(super) struct SegmentText {
    pub(super) index: SubstringIndex,
    /// By segment: its count to the power of `count_exponent`.
    weights: Vec<f64>,
    /// The integer that represents an expected count of 1.
    pub(super) one: f64,
    /// The integer that represents one use in the best segmentation.
    pub(super) one_use: f64,
}

/// A segment: its positions in the text, and its count.
#[derive(Clone)]
pub(super) struct TextSegment {
    pub(super) range: Range<usize>,
    pub(super) count: u64,
    /// The count to the power of `count_exponent`.
    pub(super) weight: f64,
}

impl SegmentText {
    /// Lay out all segments and sort their substrings; fails for 2^31 characters or more.
    pub(super) fn new(
        counts: &Counts,
        splitter: &SymbolSplitter,
        alphabet: &RankedAlphabet,
        spec: &UnigramTrainSpec,
        num_threads: usize,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let (mut segments, mut chars) = (Vec::with_capacity(counts.len()), 0);
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            splitter.known_parts(
                word,
                |c| alphabet.contains(c),
                |segment| {
                    chars += segment.chars().count() as u64 * count;
                    segments.push((Part::whole(segment), count));
                },
            );
        }
        let exponent = spec.count_exponent;
        let weight = |&(_, count): &(Part<'_>, u64)| {
            if exponent == 1.0 {
                count as f64
            } else {
                (count as f64).powf(exponent)
            }
        };
        // Whether a substring continues in one way is known from one character more than the longest piece has.
        let depth = spec.max_piece_length + 1;
        let text = WordText::new(&segments, "", false, progress)?;
        let bits = fraction_bits(chars)?;
        Ok(Self {
            index: SubstringIndex::new(text, depth, num_threads, progress)?,
            weights: segments.iter().map(weight).collect(),
            one: f64::from(bits).exp2(),
            one_use: if exponent < 1.0 { f64::from(bits.min(MAX_USE_BITS)).exp2() } else { 1.0 },
        })
    }

    /// Return the number of segments.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Iterate over the segments with these indices.
    pub(super) fn segments(&self, indices: Range<usize>) -> impl Iterator<Item = TextSegment> + '_ {
        indices.map(|index| {
            let word = self.index.text.word(index as u32);
            let range = word.start as usize..word.end as usize;
            TextSegment { range, count: word.count, weight: self.weights[index] }
        })
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
