//! The steps of Unigram as data: what EM estimates, and what a round of pruning removes.

use foldhash::{HashMap, HashMapExt};

use super::expectation::ExpectedCounts;
use super::piece_set::PieceSet;
use super::segment_text::SegmentText;
use super::word_lattice::ScoredPieces;
use crate::trace::{PieceEstimate, PieceLoss, Score, Step, StepLog, TrainingLattice};

/// A step that a log wants, with the pieces before it.
pub(super) struct BegunStep<'l> {
    log: &'l StepLog,
    number: usize,
    before: Vec<(String, f64)>,
}

impl<'l> BegunStep<'l> {
    /// Begin a step, if there is a log that wants it.
    pub(super) fn new(log: Option<&'l StepLog>, pieces: &PieceSet, corpus: &SegmentText) -> Option<Self> {
        let log = log?;
        let number = log.next_step()?;
        Some(Self { log, number, before: pieces.named(corpus) })
    }

    /// Report an EM step, with the pieces after it.
    pub(super) fn end_estimate(
        self,
        (round, iteration): (usize, usize),
        expected: &ExpectedCounts,
        pieces: &PieceSet,
        corpus: &SegmentText,
    ) {
        let after: HashMap<String, f64> = pieces.named(corpus).into_iter().collect();
        let counts = expected.counts.iter().map(|&count| count as f64 / expected.one);
        let mut order: Vec<(&str, f64)> =
            self.before.iter().map(|(piece, _)| piece.as_str()).zip(counts).collect();
        order.sort_by(|one, two| two.1.total_cmp(&one.1));
        let estimate = |&(piece, expected): &(&str, f64)| PieceEstimate {
            piece: piece.to_owned(),
            expected,
            score: after.get(piece).copied(),
        };
        let dropped = order.iter().filter(|(piece, _)| !after.contains_key(*piece));
        let step = Step::Estimate {
            number: self.number,
            round,
            iteration,
            pieces: self.before.len(),
            log_likelihood: expected.log_likelihood,
            estimates: order.iter().take(self.log.spec.top).map(estimate).collect(),
            dropped: dropped.map(|(piece, _)| (*piece).to_owned()).collect(),
            lattice: lattice_of(self.log, &self.before),
        };
        self.log.push(step);
    }

    /// Report a round of pruning: the count and the loss of each piece, and the pieces after it.
    pub(super) fn end_pruning(
        self,
        round: usize,
        values: impl Iterator<Item = (f64, f64)>,
        is_kept: &[bool],
    ) {
        let mut order: Vec<(PrunedPiece<'_>, bool)> = (self.before.iter().zip(values))
            .map(|((piece, score), (count, loss))| PrunedPiece { piece, score: *score, count, loss })
            .zip(is_kept.iter().copied())
            .collect();
        order.sort_by(|(one, _), (two, _)| {
            one.loss.total_cmp(&two.loss).then(one.score.total_cmp(&two.score))
        });
        let top = self.log.spec.top;
        let shown = |kept: bool| {
            let pieces = order.iter().filter(move |(_, is_kept)| *is_kept == kept);
            pieces.take(top).map(|(piece, _)| piece.shown()).collect()
        };
        let step = Step::Pruning {
            number: self.number,
            round,
            pieces: order.len(),
            removed: shown(false),
            removed_count: is_kept.iter().filter(|&&kept| !kept).count(),
            kept: shown(true),
            lattice: lattice_of(self.log, &self.before),
        };
        self.log.push(step);
    }
}

/// A piece before pruning, with what pruning computes.
struct PrunedPiece<'p> {
    piece: &'p str,
    score: f64,
    count: f64,
    loss: f64,
}

impl PrunedPiece<'_> {
    fn shown(&self) -> PieceLoss {
        let reason = match self.loss {
            loss if loss.is_finite() => "",
            f64::INFINITY => "a single character in use stays",
            _ if self.count > 0.0 => "its parts are likelier",
            _ => "in no best segmentation",
        };
        let is_whole = self.count.fract() == 0.0;
        let count = if is_whole { Score::Count(self.count as u64) } else { Score::Real(self.count) };
        let loss = Some(self.loss).filter(|loss| loss.is_finite());
        PieceLoss { piece: self.piece.to_owned(), count, loss, reason }
    }
}

/// Report the initial pieces, the most probable first, and the characters that are pieces in any case.
pub(super) fn log_start(log: &StepLog, pieces: &PieceSet, corpus: &SegmentText, characters: Vec<String>) {
    let mut seeds = pieces.named(corpus);
    seeds.sort_by(|one, two| two.1.total_cmp(&one.1));
    let mut trace = log.trace();
    trace.seeds = seeds.into_iter().map(|(piece, score)| (piece, Score::Real(score))).collect();
    trace.alphabet = characters;
}

/// Report the lattice of the word with the final pieces.
pub(super) fn log_end(log: &StepLog, pieces: &[(String, f64)]) {
    let lattice = lattice_of(log, pieces);
    log.trace().lattice = lattice;
}

fn lattice_of(log: &StepLog, pieces: &[(String, f64)]) -> Option<TrainingLattice> {
    let word = log.spec.word.as_deref()?;
    let mut scores = HashMap::with_capacity(pieces.len());
    scores.extend(pieces.iter().cloned());
    ScoredPieces::new(scores).training_lattice(word)
}
