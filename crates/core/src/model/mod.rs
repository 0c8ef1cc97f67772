//! Models: one word in, vocabulary entries out.

mod adjacency;
mod bpe;
mod bytes;
mod char;
#[cfg(test)]
mod chi_square;
mod sampling;
mod sentencepiece;
mod unigram;
mod word;
mod wordpiece;

pub use self::char::CharModel;
pub use adjacency::{ByteAdjacency, CharAdjacency};
pub use bpe::Bpe;
pub use sampling::Sampling;
pub use sentencepiece::{Margin, PathScore, SentencePiece, SplitRule};
pub use unigram::{Path, SampledPath, Segmentations, Unigram, MAX_SEGMENTATIONS};
pub use word::WordModel;
pub use wordpiece::WordPiece;

use crate::error::{Error, ErrorKind};
use crate::spec::ModelSpec;
use crate::table_sections::TableSections;
use crate::text::printable_of;
use crate::vocab::Vocab;

/// A vocabulary entry with the byte span of the word that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Vocabulary id.
    pub id: u32,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

/// A word among others that are segmented at once.
#[derive(Clone, Copy, Debug)]
pub struct BatchWord {
    /// Its bytes.
    pub bytes: (usize, usize),
    /// Where its ids are.
    pub ids: (usize, usize),
}

/// Where a model writes: ids alone, or ids with their spans.
pub trait PieceSink {
    /// Append one piece.
    fn push(&mut self, piece: Piece);
    /// The number of pieces so far.
    fn checkpoint(&self) -> usize;
    /// Forget all pieces after `mark`.
    fn rollback(&mut self, checkpoint: usize);
}

impl PieceSink for Vec<u32> {
    #[inline]
    fn push(&mut self, piece: Piece) {
        self.push(piece.id);
    }

    fn checkpoint(&self) -> usize {
        self.len()
    }

    fn rollback(&mut self, checkpoint: usize) {
        self.truncate(checkpoint);
    }
}

impl PieceSink for Vec<Piece> {
    #[inline]
    fn push(&mut self, piece: Piece) {
        self.push(piece);
    }

    fn checkpoint(&self) -> usize {
        self.len()
    }

    fn rollback(&mut self, checkpoint: usize) {
        self.truncate(checkpoint);
    }
}

/// Working memory that models reuse from word to word.
#[derive(Clone, Debug, Default)]
pub struct ModelScratch {
    pub(crate) suffixes: Vec<wordpiece::BestSuffix>,
    pub(crate) bpe: bpe::BpeScratch,
    pub(crate) unigram: unigram::UnigramScratch,
    pub(crate) sentencepiece: sentencepiece::Scratch,
    /// A word as printable characters.
    pub(crate) printable: String,
    /// What segmentations are drawn with, where they are.
    pub(crate) rng: Option<sampling::SamplingRng>,
    /// A word had an unknown character and the model has no entry for it.
    pub(crate) missing_unk: bool,
}

impl ModelScratch {
    /// Say whether a word since the last call could not be segmented; such a word has no pieces.
    pub fn check(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.missing_unk) {
            return Err(missing_unk());
        }
        Ok(())
    }
}

fn missing_unk() -> Error {
    let found = "null, and a character that is not in the vocabulary";
    Error::new(ErrorKind::Vocabulary, "model.unk_id", found, "an entry for it")
}

/// A compiled model.
#[derive(Clone, Debug)]
pub enum Model {
    /// Longest match from the left.
    WordPiece(WordPiece),
    /// Whole words.
    Word(WordModel),
    /// Single characters.
    Char(CharModel),
    /// Characters merged by ranked merges.
    Bpe(Bpe),
    /// The likeliest segmentation.
    Unigram(Unigram),
    /// One of the four of SentencePiece.
    SentencePiece(SentencePiece),
}

impl Model {
    /// Compile a model over its compiled vocabulary, with the tables that `parts` has of it.
    pub fn compile(spec: &ModelSpec, vocab: &Vocab, parts: &TableSections) -> Result<Self, Error> {
        Ok(match spec {
            ModelSpec::WordPiece(spec) => Self::WordPiece(WordPiece::restore(spec, vocab, parts)?),
            ModelSpec::Word(spec) => Self::Word(WordModel::compile(spec, vocab)?),
            ModelSpec::Char(spec) => Self::Char(CharModel::compile(spec, vocab)?),
            ModelSpec::Bpe(spec) => Self::Bpe(Bpe::restore(spec, vocab, parts)?),
            ModelSpec::Unigram(spec) => Self::Unigram(Unigram::restore(spec, vocab, parts)?),
            ModelSpec::SentencePiece(spec) => {
                Self::SentencePiece(SentencePiece::restore(spec, vocab, parts)?)
            }
        })
    }

    /// Take the tables apart that take long to build.
    pub fn store(&self, parts: &mut TableSections) {
        match self {
            Self::WordPiece(model) => model.store(parts),
            Self::Unigram(model) => model.store(parts),
            Self::SentencePiece(model) => model.store(parts),
            Self::Bpe(model) => model.store(parts),
            Self::Word(_) | Self::Char(_) => {}
        }
    }

    /// The ranks of the first merge that is there twice, of which the second counts.
    #[must_use]
    pub fn duplicate_merge(&self) -> Option<(usize, usize)> {
        match self {
            Self::Bpe(model) => model.duplicate_merge(),
            _ => None,
        }
    }

    /// The memory of the tables that [`Model::store`] does not take apart.
    #[must_use]
    pub fn derived_bytes(&self) -> usize {
        match self {
            Self::WordPiece(model) => model.derived_bytes(),
            Self::Unigram(model) => model.derived_bytes(),
            Self::SentencePiece(model) => model.derived_bytes(),
            Self::Bpe(model) => model.derived_bytes(),
            Self::Word(_) | Self::Char(_) => 0,
        }
    }

    /// Prepare to draw the segmentations of the first (0) or second (1) sequence of an input, or not to.
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
                let expected = "None: a BPE model leaves merges out, and its segmentations have no order";
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

    /// Whether segmentations are made by joining.
    fn has_merges(&self) -> bool {
        match self {
            Self::Bpe(_) => true,
            Self::SentencePiece(model) => model.has_merges(),
            _ => false,
        }
    }

    /// Whether the segmentations of a text have scores, by which they are drawn.
    #[must_use]
    pub fn scores_segmentations(&self) -> bool {
        match self {
            Self::Unigram(_) => true,
            Self::SentencePiece(model) => model.scores_segmentations(),
            _ => false,
        }
    }

    /// Whether every word has a segmentation, be it an unknown token.
    #[must_use]
    pub fn never_fails(&self) -> bool {
        !matches!(self, Self::Unigram(_))
    }

    /// All segmentations of the words of a text, for a model that has more than one.
    pub fn segmentations<'w>(&'w self, words: &[&'w str]) -> Result<Box<dyn Segmentations + 'w>, Error> {
        let scoreless = || {
            let found = "a model that does not score segmentations";
            Error::new(ErrorKind::Argument, "model", found, "a Unigram model")
        };
        Ok(match self {
            Self::Unigram(model) => Box::new(model.segmentations(words).ok_or_else(missing_unk)?),
            Self::SentencePiece(model) => Box::new(model.segmentations(words).ok_or_else(scoreless)?),
            _ => return Err(scoreless()),
        })
    }

    /// What an entry adds to the score of a segmentation, for a model that scores them.
    #[must_use]
    pub fn score_of(&self, id: u32) -> Option<f64> {
        match self {
            Self::Unigram(model) => model.score_of(id),
            Self::SentencePiece(model) => model.score_of(id),
            _ => None,
        }
    }

    /// Append the tokens of the pieces of a word as [`Segmentations`] give them.
    pub fn push_tokens(&self, word: &str, pieces: &[Piece], vocab: &Vocab, out: &mut impl PieceSink) {
        match self {
            Self::Unigram(model) => model.push_tokens(word, pieces, vocab, out),
            Self::SentencePiece(model) => model.push_tokens(word, pieces, out),
            _ => pieces.iter().for_each(|&piece| out.push(piece)),
        }
    }

    /// The id of a word of one character, where a model keeps them ready.
    #[inline]
    #[must_use]
    pub fn id_of_char(&self, c: char) -> Option<u32> {
        match self {
            Self::WordPiece(model) => Some(model.id_of_char(c)),
            _ => None,
        }
    }

    /// Segment one non-empty word.
    pub fn run(&self, word: &str, vocab: &Vocab, scratch: &mut ModelScratch, out: &mut impl PieceSink) {
        match self {
            Self::WordPiece(model) => model.run(word, scratch, out),
            Self::Word(model) => model.run(word, vocab, out),
            Self::Char(model) => model.run(word, vocab, out),
            Self::Bpe(model) => model.run(word, vocab, scratch, out),
            Self::Unigram(model) => model.run(word, vocab, scratch, out),
            Self::SentencePiece(model) => model.run(word, vocab, scratch, out),
        }
    }

    /// Whether a word of this many bytes may be segmented part by part with [`Model::run_part`].
    pub fn supports_parts(&self, word_bytes: usize) -> bool {
        match self {
            Self::Unigram(model) => model.supports_parts(word_bytes),
            _ => true,
        }
    }

    /// Segment a part of a word that no entry crosses the byte_adjacency of and that does not begin the word. Returns whether
    /// the ids are the same in every word; if they are not, the word must be segmented as a whole.
    pub fn run_part(
        &self,
        part: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut impl PieceSink,
    ) -> bool {
        match self {
            Self::Unigram(model) => model.run_part(part, vocab, scratch, out),
            _ => {
                self.run(part, vocab, scratch, out);
                true
            }
        }
    }

    /// Segment words of `bytes`, which do not overlap; says of each where its ids are. Those without bytes stay
    /// as they are.
    pub fn run_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        ids: &mut Vec<u32>,
    ) {
        if let Self::WordPiece(model) = self {
            if model.run_batch(bytes, words, ids) {
                return;
            }
        }
        for word in words.iter_mut().filter(|word| word.bytes.0 < word.bytes.1) {
            let start = ids.len();
            if let Ok(text) = std::str::from_utf8(&bytes[word.bytes.0..word.bytes.1]) {
                self.run(text, vocab, scratch, ids);
            }
            word.ids = (start, ids.len());
        }
    }

    /// Segment one non-empty word whose bytes the entries spell by printable characters.
    pub fn run_byte_level(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes(word.as_bytes(), scratch, out) {
                return;
            }
        }
        let mut printable = std::mem::take(&mut scratch.printable);
        printable.clear();
        printable.extend(word.bytes().map(printable_of));
        self.run(&printable, vocab, scratch, out);
        scratch.printable = printable;
    }

    /// Where words that are printable by their bytes may be taken apart, if that is known.
    #[must_use]
    pub fn byte_adjacency(&self) -> Option<&ByteAdjacency> {
        match self {
            Self::Bpe(model) => model.byte_adjacency(),
            _ => None,
        }
    }

    /// Segment words of a text as `run_byte_level` does, some at a time; `ends` are where the ids of each end.
    pub fn run_byte_level_batch(
        &self,
        (text, spans): (&str, &[(usize, usize)]),
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
        ends: &mut Vec<usize>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes_batch((text, spans), scratch, out, ends) {
                return;
            }
        }
        for &(start, end) in spans {
            self.run_byte_level(&text[start..end], vocab, scratch, out);
            ends.push(out.len());
        }
    }
}
