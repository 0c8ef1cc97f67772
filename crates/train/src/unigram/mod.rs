//! Unigram training: word counts to scored pieces.
//!
//! The trainer starts with many frequent substrings. In rounds it estimates the probabilities of the pieces by
//! EM and prunes the pieces whose loss is least.
//!
//! Source: Kudo 2018, "Subword Regularization", section 3.2, with the constants of SentencePiece's trainer.
//!
//! ```text
//! spec              settings
//! ranked_alphabet   the characters that must be entries
//! segment_text      the distinct words as one text, split where no piece may cross
//! piece_set         the pieces, and the pieces that begin at each position of the text
//! reserved_entries  the entries before the pieces, and the final choice
//! seeds             the initial pieces
//! pruned_seeds      the initial pieces by pruning
//! text_lattice      forward-backward and Viterbi over the segmentations of a text
//! expectation       E-step and M-step
//! pruning           the pruning loss of each piece
//! steps             the steps of a run as data
//! word_lattice      the lattice of one word as data
//! ```
//!
//! Expected counts are summed as integers, so the result depends neither on the number of threads nor on the
//! order of the words. An EM step takes time linear in the text and the pieces that match in it.

mod expectation;
mod piece_set;
mod pruned_seeds;
mod pruning;
mod ranked_alphabet;
mod reserved_entries;
mod seeds;
mod segment_text;
mod spec;
mod steps;
#[cfg(test)]
mod tests;
mod text_lattice;
mod word_lattice;

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::count::{Counts, MarkedSides};
use crate::learned::check_counts;
use crate::progress::Progress;
use crate::resume::Resume;
use crate::symbol_splitter::SymbolSplitter;
use crate::thread_team::ThreadTeam;
use piecework_core::error::Error;
use piecework_core::spec::Segmentation;

use piece_set::PieceSet;
use pruned_seeds::{pruned_seeds, SeedWords};
pub(crate) use ranked_alphabet::RankedAlphabet;
use reserved_entries::ReservedEntries;
use segment_text::SegmentText;
use steps::BegunStep;

pub use crate::trace::{LatticeEdge, PieceEstimate, PieceLoss, TrainingLattice, WordLattice};
pub use spec::UnigramTrainSpec;
pub use word_lattice::ScoredPieces;

/// The ratio of the pieces that pruning leaves to the entries of the vocabulary.
const SURPLUS: f64 = 1.1;
/// What is subtracted from each score where the fewest tokens are the best segmentation: more than the scores of 1,000
/// tokens differ.
const TOKEN_COST: f64 = 100_000.0;

/// The result of one EM step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmStep {
    /// The number of pieces.
    pub pieces: usize,
    /// The natural logarithm of the probability of the corpus, summed over all segmentations.
    pub log_likelihood: f64,
}

/// The result of Unigram training, or of a round of it, from which a trainer can continue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnedUnigram {
    /// Entries in id order with their log probabilities, 0 for reserved entries; after a round, the pieces by code points.
    pub pieces: Vec<(String, f64)>,
    /// All EM steps so far.
    pub steps: Vec<EmStep>,
}

/// The last round of a trainer that is running, for reading by another thread.
#[derive(Debug, Default)]
pub struct RoundLog(Mutex<Option<LearnedUnigram>>);

impl RoundLog {
    /// Remove and return the last round, if there is a new one.
    #[must_use]
    pub fn take(&self) -> Option<LearnedUnigram> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, round: LearnedUnigram) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(round);
    }
}

/// Where training begins, and where it records its rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnigramResume<'r> {
    /// The last round of an earlier run with the same counts and settings.
    pub earlier: Option<&'r LearnedUnigram>,
    /// Receives each round.
    pub log: Option<&'r RoundLog>,
    /// The choices of the pruning that finds seeds, and where it records them; and the log of the steps after it.
    pub pruning: Resume<'r>,
}

/// Learn a Unigram vocabulary of `vocab_size` entries from word counts, or of fewer if `hard_limit` is not set.
///
/// Continue after a round of an earlier run, if there is one; an interruption does not change the result.
/// Call `progress(done, vocab_size)` about every 50 ms or more often;
/// `ControlFlow::Break` stops the trainer.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_train::unigram::{resume, UnigramResume, UnigramTrainSpec};
/// use piecework_train::count::Counts;
/// let words = ["hug", "pug", "pun", "bun", "hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], None)?;
/// let spec = UnigramTrainSpec { vocab_size: 14, ..UnigramTrainSpec::default() };
/// let start = UnigramResume::default();
/// let learned = resume(&counts, &spec, 1, start, &mut |_, _| ControlFlow::Continue(()))?;
/// let best: Vec<&str> = learned.pieces[3..6].iter().map(|(piece, _)| piece.as_str()).collect();
/// assert_eq!(best, ["pun", "hug", "hugs"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: `Corpus` for counts without words; `Argument` for a setting out of range, and for a round that these counts
/// and settings do not yield; `Training` if `vocab_size`
/// cannot hold the reserved entries and the alphabet, if the corpus has too few substrings for it, or if
/// counts exceed the integers used here; `Interrupted` if `progress` stops the trainer.
pub fn resume(
    counts: &Counts,
    spec: &UnigramTrainSpec,
    num_threads: usize,
    resume: UnigramResume<'_>,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<LearnedUnigram, Error> {
    reserved_entries::check(spec)?;
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    progress.log_to(resume.pruning);
    let counts = counts.parts(MarkedSides::default())?;
    check_counts(&counts, &mut progress)?;
    let splitter = SymbolSplitter::new(&spec.user_defined_symbols, "")?;
    let alphabet = RankedAlphabet::choose(&counts, &splitter, spec, &mut progress)?;
    let learned = learn_within(&counts, &splitter, &alphabet, spec, num_threads, resume, &mut progress)?;
    progress.finish(spec.vocab_size)?;
    Ok(learned)
}

/// Learn from the parts of words between symbols, with a given alphabet.
pub(crate) fn learn_within(
    counts: &Counts,
    splitter: &SymbolSplitter,
    alphabet: &RankedAlphabet,
    spec: &UnigramTrainSpec,
    num_threads: usize,
    resume: UnigramResume<'_>,
    progress: &mut Progress<'_>,
) -> Result<LearnedUnigram, Error> {
    let reserved = ReservedEntries::new(spec, alphabet)?;
    let words = SeedWords { counts, splitter, alphabet };
    let prune =
        |pruning| pruned_seeds(&words, &reserved, pruning, spec, num_threads, resume.pruning, progress);
    let uses = spec.pruning.as_ref().map(prune).transpose()?;
    let mut corpus = SegmentText::new(counts, splitter, alphabet, spec, num_threads, progress)?;
    let pieces = match uses {
        Some(uses) => seeds::used_pieces(&corpus, &reserved, &uses, progress)?,
        None => seeds::initial_pieces(&corpus, &reserved, spec, num_threads, progress)?,
    };
    corpus.index.drop_positions();
    let wanted = if spec.hard_limit { reserved.learned() } else { 0 };
    if spec.hard_limit {
        reserved.check_supply(&corpus, &pieces, spec)?;
    }
    if let Some(log) = progress.steps() {
        let characters = alphabet.ranked().iter().map(|(character, _)| character.to_string());
        let characters = characters.filter(|character| !reserved.contains(character)).collect();
        steps::log_start(log, &pieces, &corpus, characters);
    }
    let mut trainer =
        UnigramTrainer { spec, corpus: &corpus, num_threads, wanted, steps: Vec::new(), resume };
    let pieces = trainer.run(pieces, progress)?;
    let mut pieces = reserved.choose(&corpus, &pieces);
    if let Some(log) = progress.steps() {
        steps::log_end(log, &pieces[reserved.len()..]);
    }
    if spec.pruning.is_some_and(|pruning| pruning.segmentation == Segmentation::Shortest) {
        pieces[reserved.len()..].iter_mut().for_each(|(_, score)| *score -= TOKEN_COST);
    }
    Ok(LearnedUnigram { pieces, steps: trainer.steps })
}

struct UnigramTrainer<'a> {
    spec: &'a UnigramTrainSpec,
    corpus: &'a SegmentText,
    num_threads: usize,
    /// The least number of pieces.
    wanted: usize,
    steps: Vec<EmStep>,
    resume: UnigramResume<'a>,
}

impl UnigramTrainer<'_> {
    /// Estimate and prune until the pieces are few enough.
    fn run(&mut self, mut pieces: PieceSet, progress: &mut Progress<'_>) -> Result<PieceSet, Error> {
        let target = (self.spec.vocab_size as f64 * SURPLUS) as usize;
        let seeds = pieces.len();
        if let Some(round) = self.resume.earlier {
            pieces.restore(self.corpus, &round.pieces)?;
            self.steps.clone_from(&round.steps);
        }
        for round in 1.. {
            for iteration in 1..=self.spec.num_sub_iterations {
                self.estimate(&mut pieces, (round, iteration), progress)?;
            }
            if pieces.len() <= target {
                break;
            }
            let size = ((self.spec.shrinking_factor * pieces.len() as f64) as usize).max(target);
            let step = BegunStep::new(progress.steps(), &pieces, self.corpus);
            let mut team = ThreadTeam::new(self.num_threads, progress);
            let pruned = pruning::prune(&mut pieces, self.corpus, size, self.wanted, &mut team)?;
            if let Some(step) = step {
                step.end_pruning(round, pruned.values(self.corpus), &pruned.is_kept);
            }
            if let Some(log) = self.resume.log {
                log.set(LearnedUnigram { pieces: pieces.named(self.corpus), steps: self.steps.clone() });
            }
            progress.reach(done(seeds, pieces.len(), target, self.spec.vocab_size));
        }
        Ok(pieces)
    }

    fn estimate(
        &mut self,
        pieces: &mut PieceSet,
        numbers: (usize, usize),
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let step = BegunStep::new(progress.steps(), pieces, self.corpus);
        let mut team = ThreadTeam::new(self.num_threads, progress);
        let expected = expectation::expect(pieces, self.corpus, &mut team)?;
        self.steps.push(EmStep { pieces: pieces.len(), log_likelihood: expected.log_likelihood });
        expectation::maximize(pieces, &expected, self.wanted);
        if let Some(step) = step {
            step.end_estimate(numbers, &expected, pieces, self.corpus);
        }
        Ok(())
    }
}

/// Return the progress on the scale of the vocabulary; all rounds count as equally long.
fn done(seeds: usize, pieces: usize, target: usize, vocab_size: usize) -> usize {
    let rounds = |from: usize, to: usize| (from as f64 / to.max(1) as f64).ln().max(0.0);
    let share = rounds(seeds, pieces) / rounds(seeds, target).max(f64::MIN_POSITIVE);
    (share.min(1.0) * vocab_size as f64) as usize
}
