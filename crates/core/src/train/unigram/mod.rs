//! Learning a Unigram vocabulary from word counts: many frequent substrings, of which the least useful are
//! dropped round by round (Kudo 2018, section 3.2, with the constants of SentencePiece's trainer).
//!
//! ```text
//! alphabet     the characters that must be entries
//! corpus       the distinct words as one text, cut where no piece may cross
//! seeds        the frequent substrings, from a suffix array
//! pieces       the pieces, and which of them begin at each place of the text
//! shares       all segments, shared out over threads
//! lattice      all segmentations of a stretch of text: their sum and the best of them
//! expectation  how often each piece is expected, and its new score
//! pruning      what the likelihood loses without a piece
//! vocabulary   the entries that go before the pieces, and the final choice
//! ```
//!
//! Expected counts are summed as integers, so the outcome depends neither on the number of threads nor on
//! the order of the words.

mod expectation;
mod piece_set;
mod pruning;
mod ranked_alphabet;
mod reserved_entries;
mod seeds;
mod segment_text;
#[cfg(test)]
mod tests;
mod text_lattice;
mod threads;

use std::ops::ControlFlow;

use crate::count::Counts;
use crate::error::Error;
use crate::train::learned::check_counts;
use crate::train::progress::Progress;
use crate::train::symbol_splitter::SymbolSplitter;
use crate::train::PieceRules;

use piece_set::PieceSet;
pub(in crate::train) use ranked_alphabet::RankedAlphabet;
use reserved_entries::ReservedEntries;
use segment_text::SegmentText;
use threads::ThreadTeam;

/// How many more pieces than entries the rounds leave for the final choice.
const SURPLUS: f64 = 1.1;

/// What to learn.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramTrainSpec {
    /// Entries wanted, all others included.
    pub vocab_size: usize,
    /// Entries that come first and are never part of a segmentation.
    pub special_tokens: Vec<String>,
    /// Entries that come next; words are cut around them, so they are always tokens of their own.
    pub user_defined_symbols: Vec<String>,
    /// Put the entries `<0x00>` to `<0xFF>` next.
    pub byte_fallback: bool,
    /// The share of the corpus's characters that the alphabet must reach; the rarest are left out.
    pub character_coverage: f64,
    /// Characters that are entries even when rare or unseen.
    pub initial_alphabet: Vec<char>,
    /// At most this many pieces to begin with.
    pub seed_size: usize,
    /// Pieces to begin with, with their counts; without, substrings of the corpus.
    pub seeds: Option<Vec<(String, u64)>>,
    /// The longest piece in characters.
    pub max_piece_length: usize,
    /// What a round keeps of the pieces; above 0 and below 1.
    pub shrinking_factor: f64,
    /// Steps of expectation and maximization in a round.
    pub num_sub_iterations: usize,
    /// What a piece may look like, if not anything of at most `max_piece_length` characters.
    pub piece_rules: Option<PieceRules>,
    /// Learn exactly `vocab_size` entries; else fewer where more would be of no use.
    pub hard_limit: bool,
}

impl Default for UnigramTrainSpec {
    fn default() -> Self {
        Self {
            vocab_size: 8_000,
            special_tokens: ["<unk>", "<s>", "</s>"].map(String::from).to_vec(),
            user_defined_symbols: Vec::new(),
            byte_fallback: false,
            character_coverage: 0.9995,
            initial_alphabet: Vec::new(),
            seed_size: 1_000_000,
            seeds: None,
            max_piece_length: 16,
            shrinking_factor: 0.75,
            num_sub_iterations: 2,
            piece_rules: None,
            hard_limit: true,
        }
    }
}

/// What one step of expectation found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmStep {
    /// How many pieces there were.
    pub pieces: usize,
    /// The natural logarithm of the corpus's probability, summed over all segmentations.
    pub log_likelihood: f64,
}

/// What the learner made.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedUnigram {
    /// Entries in id order with their log probabilities; 0 for those that are not learned.
    pub pieces: Vec<(String, f64)>,
    /// The steps that led there.
    pub steps: Vec<EmStep>,
}

/// Learn a Unigram vocabulary of exactly `vocab_size` entries from word counts.
///
/// `progress(done, vocab_size)` is called at least every 50 ms or so, but for the time that sorting the
/// suffixes of the words takes, and stops the learner by `ControlFlow::Break`.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_core::train::unigram::{learn, UnigramTrainSpec};
/// use piecework_core::count::Counts;
/// let words = ["hug", "pug", "pun", "bun", "hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], None)?;
/// let spec = UnigramTrainSpec { vocab_size: 14, ..UnigramTrainSpec::default() };
/// let learned = learn(&counts, &spec, 1, &mut |_, _| ControlFlow::Continue(()))?;
/// let best: Vec<&str> = learned.pieces[3..6].iter().map(|(piece, _)| piece.as_str()).collect();
/// assert_eq!(best, ["pun", "hug", "hugs"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: `Corpus` without any word, `Argument` for a setting out of range, `Training` when `vocab_size`
/// cannot hold what must be there or is more than the corpus has substrings for, or when the corpus is
/// beyond what integers here can count; `Interrupted` when `progress` says so.
pub fn learn(
    counts: &Counts,
    spec: &UnigramTrainSpec,
    workers: usize,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<LearnedUnigram, Error> {
    reserved_entries::check(spec)?;
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    check_counts(counts, &mut progress)?;
    let splitter = SymbolSplitter::new(&spec.user_defined_symbols, "")?;
    let alphabet = RankedAlphabet::choose(counts, &splitter, spec, &mut progress)?;
    let learned = learn_within(counts, &splitter, &alphabet, spec, workers, &mut progress)?;
    progress.finish(spec.vocab_size)?;
    Ok(learned)
}

/// Learn from what a cutter leaves of words, with an alphabet that has been chosen.
pub(in crate::train) fn learn_within(
    counts: &Counts,
    splitter: &SymbolSplitter,
    alphabet: &RankedAlphabet,
    spec: &UnigramTrainSpec,
    workers: usize,
    progress: &mut Progress<'_>,
) -> Result<LearnedUnigram, Error> {
    let reserved = ReservedEntries::new(spec, alphabet)?;
    let corpus = SegmentText::new(counts, splitter, alphabet, progress)?;
    let pieces = seeds::initial_pieces(&corpus, &reserved, spec, progress)?;
    let wanted = if spec.hard_limit { reserved.learned() } else { 0 };
    if spec.hard_limit {
        reserved.check_supply(&corpus, &pieces, spec)?;
    }
    let mut trainer = UnigramTrainer { spec, corpus: &corpus, workers, wanted, steps: Vec::new() };
    let pieces = trainer.run(pieces, progress)?;
    Ok(LearnedUnigram { pieces: reserved.choose(&corpus, &pieces), steps: trainer.steps })
}

struct UnigramTrainer<'a> {
    spec: &'a UnigramTrainSpec,
    corpus: &'a SegmentText,
    workers: usize,
    /// How many entries must be learned.
    wanted: usize,
    steps: Vec<EmStep>,
}

impl UnigramTrainer<'_> {
    /// Estimate and prune in turns until there are few enough pieces.
    fn run(&mut self, mut pieces: PieceSet, progress: &mut Progress<'_>) -> Result<PieceSet, Error> {
        let target = (self.spec.vocab_size as f64 * SURPLUS) as usize;
        let seeds = pieces.len();
        loop {
            for _ in 0..self.spec.num_sub_iterations {
                self.estimate(&mut pieces, progress)?;
            }
            if pieces.len() <= target {
                return Ok(pieces);
            }
            let size = ((self.spec.shrinking_factor * pieces.len() as f64) as usize).max(target);
            let mut workers = ThreadTeam::new(self.workers, progress);
            pruning::prune(&mut pieces, self.corpus, size, self.wanted, &mut workers)?;
            progress.reach(done(seeds, pieces.len(), target, self.spec.vocab_size));
        }
    }

    fn estimate(&mut self, pieces: &mut PieceSet, progress: &mut Progress<'_>) -> Result<(), Error> {
        let mut workers = ThreadTeam::new(self.workers, progress);
        let expected = expectation::expect(pieces, self.corpus, &mut workers)?;
        self.steps.push(EmStep { pieces: pieces.len(), log_likelihood: expected.log_likelihood });
        expectation::maximize(pieces, &expected, self.wanted);
        Ok(())
    }
}

/// How far the learner is, on the scale of the vocabulary: every round is as long as the last.
fn done(seeds: usize, pieces: usize, target: usize, vocab_size: usize) -> usize {
    let rounds = |from: usize, to: usize| (from as f64 / to.max(1) as f64).ln().max(0.0);
    let share = rounds(seeds, pieces) / rounds(seeds, target).max(f64::MIN_POSITIVE);
    (share.min(1.0) * vocab_size as f64) as usize
}
