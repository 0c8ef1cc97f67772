//! The four models of SentencePiece, which segment a whole normalized text.
//!
//! Adjacent unknown characters are one token, or the tokens of their bytes with byte fallback. A text may be
//! segmented part by part (see [`split_rule`]) with the same result.
//!
//! unigram, viterbi_fixed, viterbi_f32, margin   Unigram by 32-bit floats, and of parts of texts
//! bpe, backtracking, equal_scores, merge_queue  BPE by scores
//! ascii_merges                                  batches of short words of BPE models
//! piece_trie                                    pieces by their text
//! parts, split_rule, text_symbols               sections, words and symbols of a text
//! piece_writer                                  pieces to tokens
//! nbest, segmentations                          listed and sampled segmentations
//! checks                                        checks of a specification
//!
//! Kudo and Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for
//! Neural Text Processing"; compared with `sentencepiece` 0.2.

mod ascii_merges;
mod backtracking;
mod bpe;
mod checks;
mod equal_scores;
mod margin;
mod merge_queue;
mod nbest;
mod parts;
mod piece_trie;
mod piece_writer;
#[cfg(test)]
mod segmentation_tests;
mod segmentations;
mod split_rule;
#[cfg(test)]
mod tests;
mod text_symbols;
mod unigram;
mod viterbi_f32;
mod viterbi_fixed;

pub use margin::{Margin, PathScore};
pub use split_rule::SplitRule;

use self::bpe::SpmBpe;
use self::piece_writer::PieceWriter;
use self::text_symbols::TextSymbols;
use self::unigram::SpmUnigram;
use super::bytes::ByteTokens;
use super::sampling::SamplingRng;
use super::unigram::PathSampler;
use super::TokenSink;
use crate::error::Error;
use crate::spec::{SentencePieceKind, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// A compiled model.
#[derive(Clone, Debug)]
pub struct SentencePiece {
    algorithm: Algorithm,
    symbols: TextSymbols,
    bytes: Option<ByteTokens>,
    split_rule: Option<SplitRule>,
}

#[derive(Clone, Debug)]
enum Algorithm {
    Unigram(Box<SpmUnigram>),
    Bpe(Box<SpmBpe>),
    Word,
    Char,
}

/// The buffers of one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpmScratch {
    lattice: unigram::SpmUnigramScratch,
    symbols: bpe::SpmBpeScratch,
    /// The score of the text so far, if it is segmented in parts.
    score: f32,
    sampler: PathSampler,
}

impl SentencePiece {
    /// Check the pieces and build the tables.
    pub fn compile(spec: &SentencePieceSpec, vocab: &Vocab) -> Result<Self, Error> {
        Self::restore(spec, vocab, &TableSections::default())
    }

    /// The same, with the tables that `sections` contains.
    pub(super) fn restore(
        spec: &SentencePieceSpec,
        vocab: &Vocab,
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let unk_id = checks::check(spec)?;
        Ok(Self {
            algorithm: match spec.kind {
                SentencePieceKind::Unigram => {
                    Algorithm::Unigram(Box::new(SpmUnigram::compile(spec, unk_id, sections)?))
                }
                SentencePieceKind::Bpe => Algorithm::Bpe(Box::new(SpmBpe::compile(spec, sections)?)),
                SentencePieceKind::Word => Algorithm::Word,
                SentencePieceKind::Char => Algorithm::Char,
            },
            symbols: TextSymbols::of(&spec.pieces, unk_id),
            bytes: spec.byte_fallback.then(|| ByteTokens::collect(vocab)),
            split_rule: split_rule::split_rule_of(spec),
        })
    }

    /// Add the table sections of tables that take long to build.
    pub(super) fn store(&self, sections: &mut TableSections) {
        match &self.algorithm {
            Algorithm::Unigram(unigram) => unigram.store(sections),
            Algorithm::Bpe(bpe) => bpe.store(sections),
            Algorithm::Word | Algorithm::Char => {}
        }
    }

    /// The bytes of memory of the other tables.
    pub(super) fn derived_bytes(&self) -> usize {
        match &self.algorithm {
            Algorithm::Unigram(unigram) => unigram.derived_bytes(),
            Algorithm::Bpe(bpe) => bpe.derived_bytes(),
            Algorithm::Word | Algorithm::Char => 0,
        }
    }

    /// Where texts can be split.
    #[must_use]
    pub fn split_rule(&self) -> Option<SplitRule> {
        self.split_rule
    }

    /// Segment a whole text; at random if there are random numbers.
    pub(super) fn run(
        &self,
        text: &str,
        vocab: &Vocab,
        scratch: &mut SpmScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        if let Some(rng) = rng {
            return self.sample(text, vocab, scratch, rng, out);
        }
        self.begin(scratch);
        self.run_next(text, vocab, scratch, out);
    }

    /// Start a text that is segmented in parts.
    pub(crate) fn begin(&self, scratch: &mut SpmScratch) {
        scratch.score = 0.0;
    }

    /// Segment the next part of a text, with any score before it.
    pub(crate) fn run_next(
        &self,
        text: &str,
        vocab: &Vocab,
        scratch: &mut SpmScratch,
        out: &mut impl TokenSink,
    ) {
        let SpmScratch { lattice, symbols, score, .. } = scratch;
        let mut writer = PieceWriter::new(text, self.symbols.unk_id, self.bytes.as_ref(), out);
        match &self.algorithm {
            Algorithm::Unigram(unigram) => *score = unigram.run(text, *score, lattice, &mut writer),
            Algorithm::Bpe(bpe) => bpe.run(text, &self.symbols, vocab, symbols, None, &mut writer),
            Algorithm::Word => self.symbols.for_each_word(text, |start, end| {
                writer.push(self.symbols.id_of(&text[start..end], vocab), start, end);
            }),
            Algorithm::Char => self.symbols.for_each_symbol(text, 0, |start, end, _| {
                writer.push(self.symbols.id_of(&text[start..end], vocab), start, end);
            }),
        }
        writer.finish();
    }
}
