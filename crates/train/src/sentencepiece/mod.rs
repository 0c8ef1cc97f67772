//! SentencePiece training: counts of normalized words or sentences to the pieces of a model.
//!
//! Sources: Kudo and Richardson 2018, "SentencePiece"; the trainers of sentencepiece 0.2.3.
//!
//! ```text
//! spec      settings
//! alphabet  the characters that must be pieces
//! input     what a model is learned from
//! bpe       merged pieces; after a transition they may cross spaces
//! ```
//!
//! Unigram and BPE models are trained by `unigram` and `merges` within the rules for pieces. Pieces never cross
//! symbols, unknown characters or the delimiter.

mod alphabet;
mod bpe;
mod input;
mod spec;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::ControlFlow;

use crate::count::{Counts, MarkedSides};
use crate::learned::check_counts;
use crate::progress::Progress;
use crate::symbol_splitter::SymbolSplitter;
use crate::unigram::{self, EmStep, RankedAlphabet, UnigramResume};
use crate::Resume;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::SentencePieceKind;

use input::TrainingInput;

pub use spec::{SentencePieceTrainSpec, SuperwordPieces};

/// A piece and its score.
pub type PieceScore = (String, f32);

/// The result of SentencePiece training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnedPieces {
    /// The learned pieces in the order of their ids.
    pub pieces: Vec<PieceScore>,
    /// All EM steps (Unigram).
    pub steps: Vec<EmStep>,
}

/// Where training begins, and where it records its state; word and character models have none.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentencePieceResume<'r> {
    /// The rounds of a Unigram model.
    pub rounds: UnigramResume<'r>,
    /// The merges of a BPE model.
    pub merges: Resume<'r>,
}

/// Learn the pieces of a model.
///
/// Continue after a round or the merges of an earlier run, if there are any; an interruption does not change the result.
/// With `sequences`, the counts of sequences of words whose words are `counts`, learn a BPE model with pieces that
/// cross spaces; without `superwords` in `spec`, learn from the words only. `progress` is called as by
/// `unigram::resume`. The number of threads changes no result.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_core::spec::SentencePieceKind;
/// use piecework_train::sentencepiece::{resume, SentencePieceResume, SentencePieceTrainSpec};
/// use piecework_train::count::Counts;
/// let words = ["▁hug", "▁pug", "▁pun", "▁bun", "▁hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], None)?;
/// let spec = SentencePieceTrainSpec { kind: SentencePieceKind::Bpe, vocab_size: Some(14), ..SentencePieceTrainSpec::default() };
/// let start = SentencePieceResume::default();
/// let learned = resume(&counts, None, &spec, 1, start, &mut |_, _| ControlFlow::Continue(()))?;
/// let first: Vec<&str> = learned.pieces[..3].iter().map(|(piece, _)| piece.as_str()).collect();
/// assert_eq!(first, ["ug", "▁p", "un"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: those of `unigram::resume`; `Argument` also for merges that these counts and settings do not yield;
/// `Training` also if the corpus has too few pieces, or if the words yield fewer than an exact transition.
pub fn resume(
    counts: &Counts,
    sequences: Option<&Counts>,
    spec: &SentencePieceTrainSpec,
    num_threads: usize,
    resume: SentencePieceResume<'_>,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<LearnedPieces, Error> {
    let size = spec.vocab_size.unwrap_or(0);
    let mut progress = Progress::start(size, progress)?;
    let is_unigram = spec.kind == SentencePieceKind::Unigram;
    progress.log_to(if is_unigram { resume.rounds.pruning } else { resume.merges });
    if sequences.is_some() {
        counts.check_unbounded("a model of superwords")?;
    }
    if spec.kind == SentencePieceKind::Word {
        counts.check_unbounded("a model of words")?;
    }
    let counts = &*counts.parts(MarkedSides::default())?;
    check_counts(counts, &mut progress)?;
    let splitter = SymbolSplitter::new(&spec.symbols, &spec.pretokenization_delimiter)?;
    let alphabet = alphabet::choose(counts, &splitter, spec, &mut progress)?;
    check_room(spec, &alphabet)?;
    let input = TrainingInput { counts, splitter, alphabet };
    let learned = input.learn(spec, sequences, num_threads, resume, &mut progress)?;
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
    Err(wrong_size(spec, expected).with_limit(symbols + characters))
}

fn check_supply(spec: &SentencePieceTrainSpec, learned: usize) -> Result<(), Error> {
    let may_be_fewer = !spec.hard_vocab_limit || spec.takes_all() || spec.kind == SentencePieceKind::Char;
    if may_be_fewer || learned >= spec.learned() {
        return Ok(());
    }
    let most = spec.symbols.len() + learned;
    let error = wrong_size(spec, format!("at most {most}"));
    Err(error.with_limit(most).with_hint("the corpus has no more pieces"))
}

fn wrong_size(spec: &SentencePieceTrainSpec, expected: String) -> Error {
    let found = spec.vocab_size.unwrap_or(0).to_string();
    Error::new(ErrorKind::Training, "vocab_size", found, expected)
}

impl TrainingInput<'_> {
    fn learn(
        &self,
        spec: &SentencePieceTrainSpec,
        sequences: Option<&Counts>,
        num_threads: usize,
        resume: SentencePieceResume<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<LearnedPieces, Error> {
        let pieces = match spec.kind {
            SentencePieceKind::Unigram => return self.unigram(spec, num_threads, resume.rounds, progress),
            SentencePieceKind::Bpe => {
                let pieces =
                    bpe::learn(self, spec, sequences, resume.merges.earlier, num_threads, progress)?;
                pieces.into_iter().enumerate().map(|(rank, piece)| (piece, bpe::score_of(rank))).collect()
            }
            SentencePieceKind::Word => self.words(spec.learned(), progress)?,
            SentencePieceKind::Char => self.characters(spec.learned()),
        };
        Ok(LearnedPieces { pieces, steps: Vec::new() })
    }

    fn unigram(
        &self,
        spec: &SentencePieceTrainSpec,
        num_threads: usize,
        resume: UnigramResume<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<LearnedPieces, Error> {
        let own = unigram::UnigramTrainSpec {
            vocab_size: spec.symbols.len() + spec.learned(),
            special_tokens: spec.symbols.clone(),
            seed_size: spec.seed_size,
            seeds: spec.seeds.clone(),
            pruning: spec.pruning,
            max_piece_length: spec.piece_rules.max_chars,
            shrinking_factor: spec.shrinking_factor,
            num_sub_iterations: spec.num_sub_iterations,
            piece_rules: Some(spec.piece_rules.clone()),
            hard_limit: spec.hard_vocab_limit,
            ..unigram::UnigramTrainSpec::default()
        };
        let Self { counts, splitter, alphabet } = self;
        let learned =
            unigram::learn_within(counts, splitter, alphabet, &own, num_threads, resume, progress)?;
        let pieces = learned.pieces.into_iter().skip(spec.symbols.len());
        let pieces = pieces.map(|(piece, score)| (piece, score as f32)).collect();
        Ok(LearnedPieces { pieces, steps: learned.steps })
    }

    /// Return the most frequent characters, scored by log probability.
    fn characters(&self, size: usize) -> Vec<PieceScore> {
        let ranked = self.alphabet.ranked();
        let total = ranked.iter().map(|&(_, count)| count).sum();
        let kept = ranked.iter().take(size);
        kept.map(|&(character, count)| (character.to_string(), log_share(count, total))).collect()
    }

    /// Return the most frequent words without unknown characters, scored by log probability.
    fn words(&self, size: usize, progress: &mut Progress<'_>) -> Result<Vec<PieceScore>, Error> {
        let Self { counts, splitter, alphabet } = self;
        let mut total = 0;
        let mut whole = Vec::new();
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            total += count;
            let mut is_whole = false;
            splitter.known_parts(
                word,
                |c| alphabet.contains(c),
                |part| is_whole |= part.len() == word.len(),
            );
            if is_whole {
                whole.push((word, count));
            }
        }
        whole.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
        whole.truncate(size);
        Ok(whole.into_iter().map(|(word, count)| (word.to_owned(), log_share(count, total))).collect())
    }
}

/// Return the logarithm of count / total, as a difference of 32-bit logarithms; a count of 0 means 1.
fn log_share(count: u64, total: u64) -> f32 {
    let logarithm = |count: u64| f64::from(count.max(1) as f32).ln() as f32;
    logarithm(count) - logarithm(total)
}
