//! Scanners for the split patterns of well-known models, equal to their regular expressions on every text.
//!
//! spellings  the texts that a pattern is known by
//! scalar     character by character: the definition, and where the others do not reach
//! classes    text to bit masks, one for each class of characters
//! starts     masks to the bytes where words start, 64 at a time
//! repairs    the rare places where that takes more than a byte's neighbours
//! stretches  long texts, cut where every pattern cuts
//! zoned      DeepSeek-V3's family, by both
//! clip       CLIP's, which leaves spaces out
//! gapped     BLOOM's and DeepSeek Coder's, by both
//!
//! Families: GPT-2; cl100k (Llama 3, Qwen), where a word is a run of letters with any one character before; o200k
//! (tekken, Kimi), where capitals may only begin one; DeepSeek-V3's three patterns that cut one after the other; CLIP,
//! whose words leave spaces out; BLOOM and DeepSeek Coder, whose gaps between words stay together. The first three
//! may come after a cut at every number, as StarCoder's does. Linear, one pass.

mod ascii_spans;
mod bloom;
mod boundary_masks;
mod classes;
mod clip;
mod deepseek;
mod kind_text;
mod kinds;
mod recognize;
mod repairs;
mod scalar;
#[cfg(test)]
mod tests;

use piecework_kernels::classes::BLOCK;
use piecework_kernels::positions;

use super::words::Words;
pub(super) use bloom::DEEPSEEK_CODER;
use classes::{Masks, Table, WideScratch, IS_SPACE};
pub(super) use clip::CLIP;
pub(super) use deepseek::DEEPSEEK;
pub(super) use recognize::Digits;
use repairs::Doubts;

/// Shorter texts are scanned character by character where there is no scratch.
const SHORT: usize = 256;

/// A known pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scanner {
    family: Family,
    alphabet: Alphabet,
    /// `'s` and the like: words of their own, or with `Cased` the end of one.
    contractions: bool,
    max_digits: usize,
    /// What words of others take after them.
    trail: Trail,
    /// Numbers are cut out first: the pattern sees only what is between them.
    between_numbers: bool,
    /// The spaces that a text ends with are one word, line ends or not.
    joins_last_spaces: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Words are runs of one class, with a space before.
    Gpt2,
    /// Words are runs of letters, with any one character before.
    Plain,
    /// Capitals begin a word.
    Cased,
    /// Words stay within zones: numbers, Han and kana, the rest.
    Zoned,
    /// Words are runs of one class, spaces none.
    Clip,
    /// Words are runs of all but spaces and some punctuation, with a space before.
    Bloom,
    /// Words are runs of letters or punctuation, with a space of any kind before.
    Coder,
}

/// What characters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alphabet {
    /// Letters, numbers, spaces and others as Unicode has them.
    Plain,
    /// Marks are letters.
    Marked,
    /// Numbers are those of the pre-tokenizer for digits.
    Numeric,
    /// Capitals, small letters and marks are told apart.
    Cased,
    /// The same, and Chinese characters.
    Han,
    /// As DeepSeek-V3's patterns see them.
    Zoned,
    /// What BLOOM's words are made of, or spaces.
    Bloom,
    /// As DeepSeek Coder's patterns see them.
    Coder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trail {
    Nothing,
    LineEnds,
    LineEndsAndSlashes,
}

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
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
    /// The spans that are cut further.
    pub(super) pieces: Vec<(usize, usize)>,
    /// A text with a space before it.
    pub(super) spaced: String,
}

impl Scanner {
    /// That of the byte level.
    pub(super) const GPT2: Self = Self {
        family: Family::Gpt2,
        alphabet: Alphabet::Plain,
        contractions: true,
        max_digits: usize::MAX,
        trail: Trail::Nothing,
        between_numbers: false,
        joins_last_spaces: false,
    };

    /// That of `DEEPSEEK`.
    pub(super) const DEEPSEEK: Self = Self {
        family: Family::Zoned,
        alphabet: Alphabet::Zoned,
        contractions: false,
        max_digits: 3,
        trail: Trail::LineEnds,
        ..Self::GPT2
    };

    /// That of `BLOOM`.
    const BLOOM: Self = Self { family: Family::Bloom, alphabet: Alphabet::Bloom, ..Self::GPT2 };

    /// That of `DEEPSEEK_CODER` and a cut at every digit.
    pub(super) const DEEPSEEK_CODER: Self =
        Self { family: Family::Coder, alphabet: Alphabet::Coder, max_digits: 1, ..Self::GPT2 };

    /// That of `CLIP` and the byte level's own after it.
    pub(super) const CLIP: Self = Self { family: Family::Clip, max_digits: 1, ..Self::GPT2 };

    /// Cut a text at every match; the matches leave nothing out, but spaces where they are no words.
    pub(super) fn cut(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        if text.len() < SHORT {
            return self.words_by_chars(text, emit);
        }
        self.for_each_stretch(text, &mut ScanScratch::default(), |from, _, words| {
            words.spans().for_each(|(start, end)| emit(from + start, from + end));
        });
    }

    /// Give stretches of the text, each with the byte where it starts and its words.
    pub(super) fn for_each_stretch(
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
