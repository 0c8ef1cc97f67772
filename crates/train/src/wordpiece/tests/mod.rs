//! Published figures, edge cases, and comparison with naive trainers.

mod against_naive;
mod cases;
mod naive_merges;
mod naive_top_down;

use std::ops::ControlFlow;

use super::{resume, Learner, Merges, WordPieceTrainSpec};
use crate::count::Counts;
use crate::merges::{PairScore, Ties};
use crate::{ChoiceLog, Learned, Resume, StepLog, Trace, TraceSpec};
use piecework_core::error::Error;

/// Counts of words whose first positions are in the order given.
fn counts(words: &[(&str, u64)]) -> Counts {
    let (words, counts): (Vec<&str>, Vec<u64>) = words.iter().copied().unzip();
    let first: Vec<u64> = (0..words.len() as u64).collect();
    Counts::from_parts(&words, &counts, Some(&first)).expect("distinct words")
}

/// Merges by a score, with its usual ties.
fn merges_by(score: PairScore) -> Learner {
    let ties = match score {
        PairScore::Pmi => Ties::FirstSeen,
        PairScore::Frequency => Ties::LowestIds,
        PairScore::Likelihood => Ties::SmallestStrings,
    };
    merges_with(score, ties)
}

const fn merges_with(score: PairScore, ties: Ties) -> Learner {
    Learner::Merges(Merges { score, ties })
}

fn spec(learner: Learner, vocab_size: usize, min_frequency: u64) -> WordPieceTrainSpec {
    WordPieceTrainSpec {
        learner,
        vocab_size,
        min_frequency,
        special_tokens: Vec::new(),
        ..WordPieceTrainSpec::default()
    }
}

fn run(counts: &Counts, spec: &WordPieceTrainSpec) -> Result<Learned, Error> {
    resume(counts, spec, Resume::default(), &mut |_, _| ControlFlow::Continue(()))
}

/// Learn with all steps, after some choices of an earlier run; return what is learned, the steps and the choices.
fn traced(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    earlier_choices: &[u64],
) -> (Learned, Trace, Vec<u64>) {
    let steps = StepLog::new(TraceSpec { steps: vec![(1, None)], top: 100, word: None });
    let choices = ChoiceLog::default();
    let logs = Resume { steps: Some(&steps), choice_log: Some(&choices), ..Resume::default() };
    let start = Resume { earlier_choices, ..logs };
    let learned = resume(counts, spec, start, &mut |_, _| ControlFlow::Continue(()));
    (learned.expect("room for the alphabet"), steps.take(), choices.choices())
}

/// Return the merges as strings: left, right and count.
fn merges(learned: &Learned) -> Vec<(&str, &str, u64)> {
    let name = |id: u32| learned.vocab[id as usize].as_str();
    learned.merges.iter().map(|merge| (name(merge.left), name(merge.right), merge.count)).collect()
}
