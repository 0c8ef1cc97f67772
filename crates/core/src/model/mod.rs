//! Models: segment one word into vocabulary entries.
//!
//! ```text
//! wordpiece, bpe, unigram                 one folder an algorithm
//! lookup                                  the word and the character models
//! pieces                                  what SentencePiece's models share
//! segmentations                           sampled, listed and scored segmentations
//! sampling                                random numbers for these
//! without_tokens                          models that never make some tokens
//! late_tables                             tables that are built after the first words
//! adjacency                               where words can be split before segmentation
//! output                                  the output of a model
//! scratch                                 the mutable state of one thread
//! bytes                                   byte fallback tokens
//! ```

mod adjacency;
mod bpe;
mod bytes;
#[cfg(test)]
mod chi_square;
mod late_tables;
mod lookup;
mod output;
mod pieces;
mod sampling;
mod scratch;
mod segmentations;
mod unigram;
mod without_tokens;
mod wordpiece;

pub use adjacency::{ByteAdjacency, CharAdjacency};
pub use bpe::{Bpe, ScoredBpe};
pub use lookup::{CharModel, LookupUnit, PieceLookup, WordModel};
pub use output::{BatchWord, TokenSink, TokenSpan};
pub(crate) use pieces::part_end;
pub use pieces::Pieces;
pub use sampling::Sampling;
pub use scratch::ModelScratch;
pub(crate) use unigram::UnigramF32Scratch;
pub use unigram::{
    Margin, Path, PathScore, SampledPath, Segmentations, Unigram, UnigramF32, MAX_SEGMENTATIONS,
};
pub use wordpiece::WordPiece;

use foldhash::HashSet;

use crate::error::Error;
use crate::spec::{ModelSpec, SentencePieceKind, SentencePieceSpec, UnigramSpec};
use crate::table_sections::TableSections;
use crate::text::printable_of;
use crate::vocab::Vocab;

/// A compiled model.
#[derive(Clone, Debug)]
pub enum Model {
    /// Longest match from the left, or the fewest tokens.
    WordPiece(WordPiece),
    /// Whole words.
    Word(WordModel),
    /// Single characters.
    Char(CharModel),
    /// Characters or bytes merged by ranked merges.
    Bpe(Bpe),
    /// The most probable segmentation.
    Unigram(Unigram),
    /// SentencePiece's BPE: pieces merged by their scores.
    ScoredBpe(Box<ScoredBpe>),
    /// SentencePiece's Unigram, whose scores are sums over the whole text.
    UnigramF32(Box<UnigramF32>),
    /// SentencePiece's word or character model.
    PieceLookup(PieceLookup),
}

impl Model {
    /// Compile a model over its compiled vocabulary; read tables from `sections` that contains them.
    pub fn compile(spec: &ModelSpec, vocab: &Vocab, sections: &TableSections) -> Result<Self, Error> {
        Ok(match spec {
            ModelSpec::WordPiece(spec) => Self::WordPiece(WordPiece::restore(spec, vocab, sections)?),
            ModelSpec::Word(spec) => Self::Word(WordModel::compile(spec, vocab)?),
            ModelSpec::Char(spec) => Self::Char(CharModel::compile(spec, vocab)?),
            ModelSpec::Bpe(spec) => Self::Bpe(Bpe::restore(spec, vocab, sections)?),
            ModelSpec::Unigram(spec) => Self::Unigram(Unigram::restore(spec, vocab, sections)?),
            ModelSpec::SentencePiece(spec) => Self::compile_pieces(spec, vocab, sections)?,
        })
    }

    fn compile_pieces(
        spec: &SentencePieceSpec,
        vocab: &Vocab,
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let look_up = |unit| PieceLookup::compile(unit, spec, vocab).map(Self::PieceLookup);
        Ok(match spec.kind {
            SentencePieceKind::Bpe => Self::ScoredBpe(Box::new(ScoredBpe::restore(spec, vocab, sections)?)),
            SentencePieceKind::Unigram => {
                Self::UnigramF32(Box::new(UnigramF32::restore(spec, vocab, sections)?))
            }
            SentencePieceKind::Word => look_up(LookupUnit::Word)?,
            SentencePieceKind::Char => look_up(LookupUnit::Char)?,
        })
    }

    fn unigram_without(spec: &UnigramSpec, vocab: &Vocab, ids: &HashSet<u32>) -> Result<Self, Error> {
        Unigram::compile_without(spec, vocab, ids).map(Self::Unigram)
    }

    /// Add the table sections of tables that take long to build.
    pub fn store(&self, vocab: &Vocab, sections: &mut TableSections) {
        match self {
            Self::WordPiece(model) => model.store(vocab, sections),
            Self::Unigram(model) => model.store(sections),
            Self::UnigramF32(model) => model.store(sections),
            Self::Bpe(model) => model.store(vocab, sections),
            Self::ScoredBpe(model) => model.store(vocab, sections),
            Self::Word(_) | Self::Char(_) | Self::PieceLookup(_) => {}
        }
    }

    /// Build every table that is built late, so that no call waits for one.
    pub fn warm_up(&self, vocab: &Vocab) {
        match self {
            Self::WordPiece(model) => model.warm_up(vocab),
            Self::Unigram(model) => model.warm_up(),
            Self::UnigramF32(model) => model.warm_up(),
            Self::Bpe(model) => model.warm_up(vocab),
            Self::ScoredBpe(model) => model.warm_up(vocab),
            Self::Word(_) | Self::Char(_) | Self::PieceLookup(_) => {}
        }
    }

    /// Return the ranks of the first merge that occurs twice. The second one counts.
    #[must_use]
    pub fn duplicate_merge(&self) -> Option<(usize, usize)> {
        match self {
            Self::Bpe(model) => model.duplicate_merge(),
            _ => None,
        }
    }

    /// Return the bytes of memory of the tables that [`Model::store`] does not store.
    #[must_use]
    pub fn derived_bytes(&self) -> usize {
        match self {
            Self::WordPiece(model) => model.derived_bytes(),
            Self::Unigram(model) => model.derived_bytes(),
            Self::UnigramF32(model) => model.derived_bytes(),
            Self::Bpe(model) => model.derived_bytes(),
            Self::ScoredBpe(model) => model.derived_bytes(),
            Self::Word(_) | Self::Char(_) | Self::PieceLookup(_) => 0,
        }
    }

    /// Return the id of the token for what the model does not know.
    #[must_use]
    pub fn unk_id(&self) -> Option<u32> {
        match self {
            Self::WordPiece(model) => Some(model.unk_id()),
            Self::Word(model) => Some(model.unk_id()),
            Self::Char(model) => Some(model.unk_id()),
            Self::Bpe(model) => model.unk_id(),
            Self::Unigram(model) => model.unk_id(),
            Self::ScoredBpe(_) | Self::UnigramF32(_) | Self::PieceLookup(_) => {
                self.pieces().map(Pieces::unk_id)
            }
        }
    }

    /// Return the pieces of a model of SentencePiece.
    #[must_use]
    pub fn pieces(&self) -> Option<&Pieces> {
        match self {
            Self::ScoredBpe(model) => Some(model.pieces()),
            Self::UnigramF32(model) => Some(model.pieces()),
            Self::PieceLookup(model) => Some(model.pieces()),
            _ => None,
        }
    }

    /// Return whether every word has a segmentation, if only an unknown token.
    #[must_use]
    pub fn never_fails(&self) -> bool {
        !matches!(self, Self::Unigram(model) if model.unk_id().is_none())
    }

    /// Return the id of a word of one character, if the model has a table of these.
    #[inline]
    #[must_use]
    pub fn id_of_char(&self, c: char) -> Option<u32> {
        match self {
            Self::WordPiece(model) => Some(model.id_of_char(c)),
            _ => None,
        }
    }

    /// Segment one non-empty word.
    pub fn run(&self, word: &str, vocab: &Vocab, scratch: &mut ModelScratch, out: &mut impl TokenSink) {
        let ModelScratch { suffixes, bpe, scored_bpe, unigram, unigram_f32, rng, .. } = scratch;
        match self {
            Self::WordPiece(model) => model.run(word, vocab, suffixes, out),
            Self::Word(model) => model.run(word, vocab, out),
            Self::Char(model) => model.run(word, vocab, out),
            Self::Bpe(model) => model.run(word, vocab, bpe, rng.as_mut(), out),
            Self::Unigram(model) => model.run(word, vocab, unigram, rng.as_mut(), out),
            Self::ScoredBpe(model) => model.run(word, vocab, scored_bpe, rng.as_mut(), out),
            Self::UnigramF32(model) => model.run(word, unigram_f32, rng.as_mut(), out),
            Self::PieceLookup(model) => model.run(word, vocab, out),
        }
    }

    /// Return whether a word of this many bytes can be segmented part by part with [`Model::run_part`].
    pub fn supports_parts(&self, word_bytes: usize) -> bool {
        match self {
            Self::Unigram(model) => model.supports_parts(word_bytes),
            _ => true,
        }
    }

    /// Segment a part of a word that does not begin the word and whose boundaries no token crosses. Return whether
    /// the ids are the same in every word; if not, the word must be segmented as a whole.
    pub fn run_part(
        &self,
        part: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut impl TokenSink,
    ) -> bool {
        match self {
            Self::Unigram(model) => model.run_part(part, vocab, &mut scratch.unigram, out),
            _ => {
                self.run(part, vocab, scratch, out);
                true
            }
        }
    }

    /// Segment words of `bytes`, which do not overlap, and set the span of the ids of each. Words without bytes keep
    /// their span.
    pub fn run_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        ids: &mut Vec<u32>,
    ) {
        if let Self::WordPiece(model) = self {
            if model.run_batch(bytes, words, vocab, ids) {
                return;
            }
        }
        run_each(bytes, words, ids, |word, ids| self.run(word, vocab, scratch, ids));
    }

    /// Segment one non-empty word with a byte-level vocabulary, whose tokens contain printable characters instead of
    /// bytes.
    pub fn run_byte_level(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes(word.as_bytes(), &mut scratch.bpe, out) {
                return;
            }
        }
        let mut printable = std::mem::take(&mut scratch.printable);
        printable.clear();
        printable.extend(word.bytes().map(printable_of));
        self.run(&printable, vocab, scratch, out);
        scratch.printable = printable;
    }

    /// Return where words of a byte-level text of `len` bytes can be split before segmentation, if the model has such
    /// positions.
    #[must_use]
    pub fn byte_adjacency(&self, len: usize, vocab: &Vocab) -> Option<&ByteAdjacency> {
        match self {
            Self::Bpe(model) => model.byte_adjacency(len, vocab),
            _ => None,
        }
    }

    /// Segment byte-level words of `bytes` like `run_byte_level`, several at a time, and set the span of the ids of each. Words
    /// without bytes keep their span.
    pub fn run_byte_level_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        ids: &mut Vec<u32>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes_batch(bytes, words, vocab, &mut scratch.bpe, ids) {
                return;
            }
        }
        run_each(bytes, words, ids, |word, ids| self.run_byte_level(word, vocab, scratch, ids));
    }
}

/// Segment the words of `bytes` one after the other and set the span of the ids of each. Words without bytes keep their
/// span.
fn run_each(
    bytes: &[u8],
    words: &mut [BatchWord],
    ids: &mut Vec<u32>,
    mut run: impl FnMut(&str, &mut Vec<u32>),
) {
    for word in words.iter_mut().filter(|word| word.bytes.0 < word.bytes.1) {
        let start = ids.len();
        if let Ok(text) = std::str::from_utf8(&bytes[word.bytes.0..word.bytes.1]) {
            run(text, ids);
        }
        word.ids = (start, ids.len());
    }
}
