//! Models of SentencePiece from words, or from whole sentences, that its normalizer has made.
//!
//! ```text
//! alphabet  the characters that must be pieces
//! counted   word and character models
//! ```
//!
//! Unigram and BPE learn as `unigram` and `bpe` do, within the shapes that pieces may have. Symbols,
//! unknown characters and the delimiter part what pieces cover.

mod alphabet;
mod frequency_models;

use std::ops::ControlFlow;

use crate::count::Counts;
use crate::error::{Error, ErrorKind};
use crate::spec::SentencePieceKind;
use crate::train::bpe::{self, BpeTies};
use crate::train::learned::check_counts;
use crate::train::progress::Progress;
use crate::train::symbol_splitter::SymbolSplitter;
use crate::train::unigram::{self, EmStep, RankedAlphabet};
use crate::train::PieceRules;

/// What to learn.
#[derive(Clone, Debug, PartialEq)]
pub struct SentencePieceTrainSpec {
    /// The kind of model.
    pub kind: SentencePieceKind,
    /// Pieces in all, symbols included; none takes all words or characters there are.
    pub vocab_size: Option<usize>,
    /// Whether fewer pieces are an error.
    pub hard_vocab_limit: bool,
    /// The pieces that are not learned; where one stands in a text, no learned piece does.
    pub symbols: Vec<String>,
    /// The share of the text that the characters must reach which are pieces.
    pub character_coverage: f64,
    /// Characters that are pieces in any case.
    pub required_chars: Vec<char>,
    /// What pieces may look like.
    pub piece_rules: PieceRules,
    /// Where this stands, no piece goes across; empty for none.
    pub pretokenization_delimiter: String,
    /// Unigram: at most this many pieces to begin with.
    pub seed_size: usize,
    /// Unigram: pieces to begin with, with their counts; without, substrings of the corpus.
    pub seeds: Option<Vec<(String, u64)>>,
    /// Unigram: what a round keeps.
    pub shrinking_factor: f64,
    /// Unigram: steps of expectation and maximization in a round.
    pub num_sub_iterations: usize,
}

/// A text and its score.
pub type PieceScore = (String, f32);

/// What the learner made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnedPieces {
    /// The pieces that were learned, in the order of their ids.
    pub pieces: Vec<PieceScore>,
    /// The steps that led there (Unigram).
    pub steps: Vec<EmStep>,
}

impl Default for SentencePieceTrainSpec {
    fn default() -> Self {
        Self {
            kind: SentencePieceKind::Unigram,
            vocab_size: Some(8_000),
            hard_vocab_limit: true,
            symbols: ["<unk>", "<s>", "</s>"].map(String::from).to_vec(),
            character_coverage: 0.9995,
            required_chars: Vec::new(),
            piece_rules: PieceRules::default(),
            pretokenization_delimiter: String::new(),
            seed_size: 1_000_000,
            seeds: None,
            shrinking_factor: 0.75,
            num_sub_iterations: 2,
        }
    }
}

impl SentencePieceTrainSpec {
    fn takes_all(&self) -> bool {
        self.vocab_size.is_none()
    }

    /// How many pieces are to be learned.
    fn learned(&self) -> usize {
        self.vocab_size.unwrap_or(usize::MAX).saturating_sub(self.symbols.len())
    }

    fn is_counted(&self) -> bool {
        matches!(self.kind, SentencePieceKind::Word | SentencePieceKind::Char)
    }
}

/// Learn the pieces of a model.
///
/// `progress` is that of `unigram::learn`. Only Unigram makes use of several `workers`.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_core::spec::SentencePieceKind;
/// use piecework_core::train::sentencepiece::{learn, SentencePieceTrainSpec};
/// use piecework_core::count::Counts;
/// let words = ["▁hug", "▁pug", "▁pun", "▁bun", "▁hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], None)?;
/// let spec = SentencePieceTrainSpec { kind: SentencePieceKind::Bpe, vocab_size: Some(14), ..SentencePieceTrainSpec::default() };
/// let learned = learn(&counts, &spec, 1, &mut |_, _| ControlFlow::Continue(()))?;
/// let first: Vec<&str> = learned.pieces[..3].iter().map(|(piece, _)| piece.as_str()).collect();
/// assert_eq!(first, ["ug", "▁p", "un"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: those of `unigram::learn`; `Training` too when there are fewer pieces than asked for.
pub fn learn(
    counts: &Counts,
    spec: &SentencePieceTrainSpec,
    workers: usize,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<LearnedPieces, Error> {
    let size = spec.vocab_size.unwrap_or(0);
    let mut progress = Progress::start(size, progress)?;
    check_counts(counts, &mut progress)?;
    let splitter = SymbolSplitter::new(&spec.symbols, &spec.pretokenization_delimiter)?;
    let alphabet = alphabet::choose(counts, &splitter, spec, &mut progress)?;
    check_room(spec, &alphabet)?;
    let input = TrainingInput { counts, splitter, alphabet };
    let learned = input.learn(spec, workers, &mut progress)?;
    check_supply(spec, learned.pieces.len())?;
    progress.finish(size)?;
    Ok(learned)
}

fn check_room(spec: &SentencePieceTrainSpec, alphabet: &RankedAlphabet) -> Result<(), Error> {
    let (symbols, characters) = (spec.symbols.len(), alphabet.ranked().len());
    if spec.is_counted() || spec.learned() >= characters {
        return Ok(());
    }
    let expected = format!(
        "at least {} ({symbols} symbols and an alphabet of {characters}), or a lower character_coverage",
        symbols + characters
    );
    Err(wrong_size(spec, expected))
}

fn check_supply(spec: &SentencePieceTrainSpec, learned: usize) -> Result<(), Error> {
    let may_be_fewer = !spec.hard_vocab_limit || spec.takes_all() || spec.kind == SentencePieceKind::Char;
    if may_be_fewer || learned >= spec.learned() {
        return Ok(());
    }
    let most = spec.symbols.len() + learned;
    Err(wrong_size(spec, format!("at most {most}: the input has no more pieces")))
}

fn wrong_size(spec: &SentencePieceTrainSpec, expected: String) -> Error {
    let found = spec.vocab_size.unwrap_or(0).to_string();
    Error::new(ErrorKind::Training, "vocab_size", found, expected)
}

/// The text that is learned from.
struct TrainingInput<'c> {
    counts: &'c Counts,
    splitter: SymbolSplitter,
    alphabet: RankedAlphabet,
}

impl TrainingInput<'_> {
    fn learn(
        &self,
        spec: &SentencePieceTrainSpec,
        workers: usize,
        progress: &mut Progress<'_>,
    ) -> Result<LearnedPieces, Error> {
        let Self { counts, splitter, alphabet } = self;
        let size = spec.learned();
        let pieces = match spec.kind {
            SentencePieceKind::Unigram => return self.unigram(spec, workers, progress),
            SentencePieceKind::Bpe => self.bpe(spec, progress)?,
            SentencePieceKind::Word => frequency_models::words(counts, splitter, alphabet, size, progress)?,
            SentencePieceKind::Char => frequency_models::characters(alphabet, size),
        };
        Ok(LearnedPieces { pieces, steps: Vec::new() })
    }

    fn unigram(
        &self,
        spec: &SentencePieceTrainSpec,
        workers: usize,
        progress: &mut Progress<'_>,
    ) -> Result<LearnedPieces, Error> {
        let own = unigram::UnigramTrainSpec {
            vocab_size: spec.symbols.len() + spec.learned(),
            special_tokens: spec.symbols.clone(),
            seed_size: spec.seed_size,
            seeds: spec.seeds.clone(),
            max_piece_length: spec.piece_rules.max_chars,
            shrinking_factor: spec.shrinking_factor,
            num_sub_iterations: spec.num_sub_iterations,
            piece_rules: Some(spec.piece_rules.clone()),
            hard_limit: spec.hard_vocab_limit,
            ..unigram::UnigramTrainSpec::default()
        };
        let Self { counts, splitter, alphabet } = self;
        let learned = unigram::learn_within(counts, splitter, alphabet, &own, workers, progress)?;
        let pieces = learned.pieces.into_iter().skip(spec.symbols.len());
        let pieces = pieces.map(|(piece, score)| (piece, score as f32)).collect();
        Ok(LearnedPieces { pieces, steps: learned.steps })
    }

    /// The merged pieces in their order, then the characters; the score is the rank below zero.
    fn bpe(
        &self,
        spec: &SentencePieceTrainSpec,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<PieceScore>, Error> {
        let own = bpe::BpeTrainSpec {
            vocab_size: spec.learned(),
            ties: BpeTies::ShortestEntries,
            piece_rules: Some(spec.piece_rules.clone()),
            distinct: true,
            ..bpe::BpeTrainSpec::default()
        };
        let learned = bpe::learn_within(self.counts, &self.splitter, &self.alphabet, &own, progress)?;
        let mut pieces = learned.vocab;
        pieces.rotate_left(self.alphabet.ranked().len());
        Ok(pieces.into_iter().enumerate().map(|(rank, piece)| (piece, -(rank as f32))).collect())
    }
}
