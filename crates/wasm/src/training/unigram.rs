//! The steps of Unigram: the expected counts of each EM step, and what each round of pruning removes.

use foldhash::{HashMap, HashMapExt};
use piecework_core::error::Error;
use piecework_train::count::Counts;
use piecework_train::unigram::{
    self, EmStep, LearnedUnigram, StepLog, StepValues, UnigramResume, UnigramStep, UnigramTrainSpec,
};
use serde::Serialize;

use super::settings::{Settings, TOP};
use crate::explain::{ScoredPieces, WordLattice};

/// Seeds for each entry of the vocabulary.
const SEEDS_PER_ENTRY: usize = 16;
/// The longest word that is drawn well, in characters.
const LONGEST_WORD: usize = 10;

/// The steps of the learner.
#[derive(Serialize)]
pub(super) struct UnigramTrace {
    alphabet: Vec<String>,
    seeds: Vec<(String, f64)>,
    steps: Vec<Step>,
    step_count: usize,
    vocab: Vec<String>,
    scores: Vec<f64>,
    lattice: Option<TrainingLattice>,
}

#[derive(Serialize)]
#[serde(tag = "kind")]
enum Step {
    #[serde(rename = "TrainingEstimate")]
    Estimate {
        number: usize,
        round: usize,
        iteration: usize,
        pieces: usize,
        log_likelihood: f64,
        estimates: Vec<PieceEstimate>,
        dropped: Vec<String>,
        lattice: Option<TrainingLattice>,
    },
    #[serde(rename = "TrainingPruning")]
    Pruning {
        number: usize,
        round: usize,
        pieces: usize,
        removed: Vec<PieceLoss>,
        removed_count: usize,
        kept: Vec<PieceLoss>,
        lattice: Option<TrainingLattice>,
    },
}

#[derive(Serialize)]
struct PieceEstimate {
    piece: String,
    expected: f64,
    score: Option<f64>,
}

#[derive(Serialize)]
struct PieceLoss {
    piece: String,
    count: f64,
    loss: Option<f64>,
    reason: &'static str,
}

/// The lattice of a word, and for each of its edges the probability that a segmentation has it.
#[derive(Serialize)]
struct TrainingLattice {
    word: String,
    lattice: WordLattice,
    probabilities: Vec<f64>,
}

/// Learn pieces and trace the first steps.
pub(super) fn train(
    counts: &Counts,
    settings: &Settings,
) -> Result<(Vec<(String, f64)>, UnigramTrace), Error> {
    let (learned, steps) = learn_at_most(counts, settings)?;
    let word = word_of(counts, settings.word.as_deref());
    let trace = UnigramTrace {
        alphabet: alphabet_of(counts, &learned, settings),
        seeds: seeds_of(&steps),
        steps: traced(&steps, &learned.steps, settings, word.as_deref()),
        step_count: steps.len(),
        vocab: learned.pieces.iter().map(|(piece, _)| piece.clone()).collect(),
        scores: learned.pieces.iter().map(|(_, score)| *score).collect(),
        lattice: lattice_of(word.as_deref(), learned.pieces.iter().skip(settings.special_tokens.len())),
    };
    Ok((learned.pieces, trace))
}

/// Learn `vocab_size` pieces, or as many as the corpus has.
fn learn_at_most(
    counts: &Counts,
    settings: &Settings,
) -> Result<(LearnedUnigram, Vec<UnigramStep>), Error> {
    let mut spec = UnigramTrainSpec {
        vocab_size: settings.vocab_size,
        special_tokens: settings.special_tokens.clone(),
        seed_size: SEEDS_PER_ENTRY.saturating_mul(settings.vocab_size),
        ..UnigramTrainSpec::default()
    };
    match learn(counts, &spec) {
        Err(error) if error.limit().is_some_and(|most| most < spec.vocab_size as u64) => {
            spec.vocab_size = error.limit().map_or(0, |most| most as usize);
            learn(counts, &spec)
        }
        learned => learned,
    }
}

fn learn(counts: &Counts, spec: &UnigramTrainSpec) -> Result<(LearnedUnigram, Vec<UnigramStep>), Error> {
    let log = StepLog::default();
    let resume = UnigramResume { steps: Some(&log), ..UnigramResume::default() };
    let learned =
        unigram::resume(counts, spec, 1, resume, &mut |_, _| std::ops::ControlFlow::Continue(()))?;
    Ok((learned, log.into_steps()))
}

fn traced(steps: &[UnigramStep], em: &[EmStep], settings: &Settings, word: Option<&str>) -> Vec<Step> {
    let mut em = em.iter();
    let (mut round, mut iteration) = (1, 0);
    let mut traced = Vec::new();
    for (number, step) in (1..).zip(steps).take(settings.steps) {
        let lattice = lattice_of(word, step.before.iter());
        traced.push(match &step.values {
            StepValues::Expected(expected) => {
                iteration += 1;
                let log_likelihood = em.next().map_or(f64::NAN, |step| step.log_likelihood);
                estimate(step, expected, (number, round, iteration), log_likelihood, lattice)
            }
            StepValues::Losses(losses) => {
                let pruned = pruning(step, losses, (number, round), lattice);
                (round, iteration) = (round + 1, 0);
                pruned
            }
        });
    }
    traced
}

fn estimate(
    step: &UnigramStep,
    expected: &[f64],
    (number, round, iteration): (usize, usize, usize),
    log_likelihood: f64,
    lattice: Option<TrainingLattice>,
) -> Step {
    let after: HashMap<&str, f64> =
        step.after.iter().map(|(piece, score)| (piece.as_str(), *score)).collect();
    let mut order: Vec<(&str, f64)> =
        step.before.iter().map(|(piece, _)| piece.as_str()).zip(expected.iter().copied()).collect();
    order.sort_by(|one, two| two.1.total_cmp(&one.1));
    let shown = order.iter().take(TOP).map(|&(piece, expected)| {
        let score = after.get(piece).copied();
        PieceEstimate { piece: piece.to_owned(), expected, score }
    });
    let dropped = order.iter().filter(|(piece, _)| !after.contains_key(piece));
    Step::Estimate {
        number,
        round,
        iteration,
        pieces: step.before.len(),
        log_likelihood,
        estimates: shown.collect(),
        dropped: dropped.map(|(piece, _)| (*piece).to_owned()).collect(),
        lattice,
    }
}

fn pruning(
    step: &UnigramStep,
    losses: &[(f64, f64)],
    (number, round): (usize, usize),
    lattice: Option<TrainingLattice>,
) -> Step {
    let after: HashMap<&str, f64> =
        step.after.iter().map(|(piece, score)| (piece.as_str(), *score)).collect();
    let pieces = step.before.iter().zip(losses);
    let mut order: Vec<PrunedPiece> = pieces
        .map(|((piece, score), &(count, loss))| PrunedPiece { piece, score: *score, count, loss })
        .collect();
    order.sort_by(|one, two| one.loss.total_cmp(&two.loss).then(one.score.total_cmp(&two.score)));
    let (kept, removed): (Vec<_>, Vec<_>) =
        order.into_iter().partition(|pruned| after.contains_key(pruned.piece));
    let shown = |pieces: &[PrunedPiece]| pieces.iter().take(TOP).map(PrunedPiece::shown).collect();
    Step::Pruning {
        number,
        round,
        pieces: step.before.len(),
        removed: shown(&removed),
        removed_count: removed.len(),
        kept: shown(&kept),
        lattice,
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
        let loss = Some(self.loss).filter(|loss| loss.is_finite());
        PieceLoss { piece: self.piece.to_owned(), count: self.count, loss, reason }
    }
}

/// Return the initial pieces, the most probable first.
fn seeds_of(steps: &[UnigramStep]) -> Vec<(String, f64)> {
    let mut seeds = steps.first().map(|step| step.before.clone()).unwrap_or_default();
    seeds.sort_by(|one, two| two.1.total_cmp(&one.1));
    seeds
}

/// Return the single characters among the pieces, the most frequent first.
fn alphabet_of(counts: &Counts, learned: &LearnedUnigram, settings: &Settings) -> Vec<String> {
    let mut totals: HashMap<char, u64> = HashMap::new();
    for (word, count) in counts.iter() {
        word.chars().for_each(|c| *totals.entry(c).or_default() += count);
    }
    let total = |piece: &str| piece.chars().next().and_then(|c| totals.get(&c)).copied().unwrap_or(0);
    let pieces = learned.pieces.iter().skip(settings.special_tokens.len()).map(|(piece, _)| piece.clone());
    let mut alphabet: Vec<String> = pieces.filter(|piece| piece.chars().count() == 1).collect();
    alphabet.sort_by(|one, two| total(two).cmp(&total(one)).then(one.cmp(two)));
    alphabet
}

/// Return the wanted word if the corpus has it, else the first of the longest words that are drawn well.
fn word_of(counts: &Counts, wanted: Option<&str>) -> Option<String> {
    let words = || counts.iter().map(|(word, _)| word);
    if let Some(wanted) = wanted.filter(|wanted| words().any(|word| word == *wanted)) {
        return Some(wanted.to_owned());
    }
    let length = |word: &str| word.chars().count();
    let short: Vec<&str> = words().filter(|word| length(word) <= LONGEST_WORD).collect();
    let words: Vec<&str> = if short.is_empty() { words().collect() } else { short };
    let longest = words.iter().map(|word| length(word)).max()?;
    words.into_iter().find(|word| length(word) == longest).map(str::to_owned)
}

fn lattice_of<'p>(
    word: Option<&str>,
    pieces: impl Iterator<Item = &'p (String, f64)>,
) -> Option<TrainingLattice> {
    let word = word?;
    let lattice = ScoredPieces::new(pieces.cloned().collect()).lattice(word)?;
    let chars = word.chars().count();
    let (mut forward, mut backward) = (vec![0.0; chars + 1], vec![0.0; chars + 1]);
    (forward[0], backward[chars]) = (1.0, 1.0);
    for edge in &lattice.edges {
        forward[edge.end] += forward[edge.start] * edge.score.exp();
    }
    for edge in lattice.edges.iter().rev() {
        backward[edge.start] += backward[edge.end] * edge.score.exp();
    }
    let total = forward[chars];
    let share = |sum: f64| if total > 0.0 { sum / total } else { 0.0 };
    let probabilities = lattice
        .edges
        .iter()
        .map(|edge| share(forward[edge.start] * edge.score.exp() * backward[edge.end]))
        .collect();
    Some(TrainingLattice { word: word.to_owned(), lattice, probabilities })
}
