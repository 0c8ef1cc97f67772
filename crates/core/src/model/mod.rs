//! Models: segment one word into vocabulary entries.
//!
//! ```text
//! wordpiece, bpe, unigram                 one folder an algorithm
//! lookup                                  the word and the character models
//! pieces                                  what SentencePiece's models share
//! late_tables                             tables that are built after the first words
//! sampling                                random numbers for sampled segmentations
//! without_tokens                          models that never make some tokens
//! adjacency                               where words can be split before segmentation
//! tokens                                  vocabulary entries as models emit them
//! ```

mod adjacency;
mod bpe;
mod late_tables;
mod lookup;
mod pieces;
mod sampling;
mod tokens;
mod unigram;
mod without_tokens;
mod wordpiece;

use foldhash::HashSet;

use crate::error::{Error, ErrorKind};
use crate::spec::{ModelSpec, SentencePieceKind, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::text::printable_of;
use crate::vocab::Vocab;
pub(crate) use bpe::CharCodes;
use bpe::{BpeScratch, ScoredBpeScratch};
use sampling::SamplingRng;
use unigram::UnigramScratch;
use wordpiece::BestSuffix;

pub use adjacency::{ByteAdjacency, CharAdjacency};
pub use bpe::{Bpe, ScoredBpe};
pub use lookup::{LookupUnit, PieceLookup, VocabLookup};
pub(crate) use pieces::part_end;
pub use pieces::Pieces;
pub use sampling::Sampling;
use tokens::ByteTokens;
pub use tokens::{BatchWord, TokenSink, TokenSpan};
pub(crate) use unigram::UnigramF32Scratch;
pub use unigram::{
    Margin, Path, PathScore, SampledPath, Segmentations, Unigram, UnigramF32, MAX_SEGMENTATIONS,
};
pub use wordpiece::WordPiece;

/// A compiled model.
#[derive(Clone, Debug)]
pub enum Model {
    /// Longest match from the left, or the fewest tokens.
    WordPiece(WordPiece),
    /// Whole words, or single characters.
    Lookup(VocabLookup),
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
            ModelSpec::WordPiece(spec) => Self::WordPiece(WordPiece::compile(spec, vocab, sections)?),
            ModelSpec::Word(spec) => {
                Self::Lookup(VocabLookup::compile(LookupUnit::Word, &spec.unk_token, vocab)?)
            }
            ModelSpec::Char(spec) => {
                Self::Lookup(VocabLookup::compile(LookupUnit::Char, &spec.unk_token, vocab)?)
            }
            ModelSpec::Bpe(spec) => Self::Bpe(Bpe::compile(spec, vocab, sections)?),
            ModelSpec::Unigram(spec) => {
                Self::Unigram(Unigram::compile(spec, vocab, sections, &HashSet::default())?)
            }
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
            SentencePieceKind::Bpe => Self::ScoredBpe(Box::new(ScoredBpe::compile(spec, vocab, sections)?)),
            SentencePieceKind::Unigram => {
                Self::UnigramF32(Box::new(UnigramF32::compile(spec, vocab, sections)?))
            }
            SentencePieceKind::Word => look_up(LookupUnit::Word)?,
            SentencePieceKind::Char => look_up(LookupUnit::Char)?,
        })
    }

    /// Add the table sections of tables that take long to build.
    pub fn store(&self, vocab: &Vocab, sections: &mut TableSections) {
        match self {
            Self::WordPiece(model) => model.store(vocab, sections),
            Self::Unigram(model) => model.store(sections),
            Self::UnigramF32(model) => model.store(sections),
            Self::Bpe(model) => model.store(vocab, sections),
            Self::ScoredBpe(model) => model.store(vocab, sections),
            Self::Lookup(_) | Self::PieceLookup(_) => {}
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
            Self::Lookup(_) | Self::PieceLookup(_) => {}
        }
    }

    /// Return the ranks of the first merge that occurs twice. The second one counts.
    pub(crate) fn duplicate_merge(&self) -> Option<(usize, usize)> {
        match self {
            Self::Bpe(model) => model.duplicate_merge(),
            _ => None,
        }
    }

    /// Return the bytes of memory of the tables that [`Model::store`] does not store.
    pub(crate) fn derived_bytes(&self) -> usize {
        match self {
            Self::WordPiece(model) => model.derived_bytes(),
            Self::Unigram(model) => model.derived_bytes(),
            Self::UnigramF32(model) => model.derived_bytes(),
            Self::Bpe(model) => model.derived_bytes(),
            Self::ScoredBpe(model) => model.derived_bytes(),
            Self::Lookup(_) | Self::PieceLookup(_) => 0,
        }
    }

    /// Return the id of the token for what the model does not know.
    #[must_use]
    pub fn unk_id(&self) -> Option<u32> {
        match self {
            Self::WordPiece(model) => Some(model.unk_id()),
            Self::Lookup(model) => Some(model.unk_id()),
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
    pub(crate) fn never_fails(&self) -> bool {
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
            Self::Lookup(model) => model.run(word, vocab, out),
            Self::Bpe(model) => model.run(word, vocab, bpe, rng.as_mut(), out),
            Self::Unigram(model) => model.run(word, vocab, unigram, rng.as_mut(), out),
            Self::ScoredBpe(model) => model.run(word, vocab, scored_bpe, rng.as_mut(), out),
            Self::UnigramF32(model) => model.run(word, unigram_f32, rng.as_mut(), out),
            Self::PieceLookup(model) => model.run(word, vocab, out),
        }
    }

    /// Return whether a word of this many bytes can be segmented part by part with [`Model::run_part`].
    pub(crate) fn supports_parts(&self, word_bytes: usize) -> bool {
        match self {
            Self::Unigram(model) => model.supports_parts(word_bytes),
            _ => true,
        }
    }

    /// Segment a part of a word that does not begin the word and whose boundaries no token crosses. Return whether
    /// the ids are the same in every word; if not, the word must be segmented as a whole.
    pub(crate) fn run_part(
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
    pub(crate) fn run_batch(
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
    pub(crate) fn run_byte_level(
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
    pub(crate) fn byte_adjacency(&self, len: usize, vocab: &Vocab) -> Option<&ByteAdjacency> {
        match self {
            Self::Bpe(model) => model.byte_adjacency(len, vocab),
            _ => None,
        }
    }

    /// Segment byte-level words of `bytes` like `run_byte_level`, several at a time, and set the span of the ids of each. Words
    /// without bytes keep their span.
    pub(crate) fn run_byte_level_batch(
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

/// Buffers that models reuse from word to word. A model sees only its own.
#[derive(Clone, Debug, Default)]
pub struct ModelScratch {
    suffixes: Vec<BestSuffix>,
    bpe: BpeScratch,
    pub(crate) scored_bpe: ScoredBpeScratch,
    unigram: UnigramScratch,
    pub(crate) unigram_f32: UnigramF32Scratch,
    /// A word as printable characters.
    printable: String,
    /// The random numbers of sampled segmentations, if they are sampled.
    rng: Option<SamplingRng>,
}

impl ModelScratch {
    /// Prepare for a text whose segmentations are not sampled.
    pub(crate) fn begin_unsampled(&mut self) {
        self.rng = None;
    }

    /// Return an error if a word since the last call could not be segmented. Such a word has no pieces.
    pub fn check(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.unigram.missing_unk) {
            return Err(missing_unk());
        }
        Ok(())
    }

    /// Return whether a word since the last [`ModelScratch::check`] could not be segmented.
    pub(crate) fn has_failed(&self) -> bool {
        self.unigram.missing_unk
    }
}

fn missing_unk() -> Error {
    let found = "null, and a character that is not in the vocabulary";
    Error::new(ErrorKind::Vocabulary, "model.unk_id", found, "an entry for it")
}

impl Model {
    /// Prepare the scratch for the first (0) or second (1) sequence of an input, with or without sampling.
    pub fn begin(
        &self,
        sampling: Option<Sampling>,
        sequence: u64,
        scratch: &mut ModelScratch,
    ) -> Result<(), Error> {
        scratch.rng = sampling.map(|sampling| sampling.rng(sequence));
        let refused = |place: &str, found: String, expected: &str| {
            Err(Error::new(ErrorKind::Argument, place, found, expected))
        };
        match sampling {
            Some(Sampling { nbest: Some(n), .. }) if self.has_merges() => {
                let expected = "None, as the segmentations of a BPE model have no order";
                refused("sampling.nbest_size", n.to_string(), expected)
            }
            Some(Sampling { alpha, .. }) if self.has_merges() && alpha > 1.0 => {
                refused("sampling.alpha", alpha.to_string(), "a share from 0 to 1 of a BPE model's merges")
            }
            Some(_) if !self.has_merges() && !self.scores_segmentations() => {
                let found = "a model that always gives the same segmentation";
                refused("sampling", found.into(), "a BPE or Unigram model")
            }
            _ => Ok(()),
        }
    }

    /// Return whether the model segments by merges.
    fn has_merges(&self) -> bool {
        matches!(self, Self::Bpe(_) | Self::ScoredBpe(_))
    }

    /// Return whether segmentations have scores that they can be sampled by.
    #[must_use]
    pub fn scores_segmentations(&self) -> bool {
        matches!(self, Self::Unigram(_) | Self::UnigramF32(_))
    }

    /// Return all segmentations of the words of a text, for a model that scores them.
    pub fn segmentations<'w>(&'w self, words: &[&'w str]) -> Result<Box<dyn Segmentations + 'w>, Error> {
        let scoreless = || {
            let found = "a model that does not score segmentations";
            Error::new(ErrorKind::Argument, "model", found, "a Unigram model")
        };
        Ok(match self {
            Self::Unigram(model) => Box::new(model.segmentations(words).ok_or_else(missing_unk)?),
            Self::UnigramF32(model) => Box::new(model.segmentations(words)),
            _ => return Err(scoreless()),
        })
    }

    /// Return the score that an entry adds to a segmentation, for a model that scores them.
    #[must_use]
    pub fn score_of(&self, id: u32) -> Option<f64> {
        match self {
            Self::Unigram(model) => model.score_of(id),
            Self::UnigramF32(model) => model.score_of(id),
            _ => None,
        }
    }

    /// Append the tokens of a path that [`Segmentations`] returned.
    pub(crate) fn push_tokens(
        &self,
        word: &str,
        pieces: &[TokenSpan],
        vocab: &Vocab,
        out: &mut impl TokenSink,
    ) {
        match self {
            Self::Unigram(model) => model.push_tokens(word, pieces, vocab, out),
            Self::UnigramF32(model) => model.pieces().push_tokens(word, pieces, out),
            _ => pieces.iter().for_each(|&piece| out.push(piece)),
        }
    }
}
