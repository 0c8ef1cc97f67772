//! The step of a merge as data: all pairs are ranked as the trainer would rank them, which it never needs to.

use std::cmp::Reverse;

use super::scores::{Likelihood, Objective, PairCounts, Pmi};
use super::settings::{PairScore, Ties};
use super::state::MergeState;
use super::ties::{FirstSeen, TieBreak};
use crate::trace::{MergeStep, Score, ScoredPair, SplitChange, Step, StepLog};
use piecework_core::text::six_digits;

/// Report the entries of each word before the first merge.
pub(super) fn log_splits(state: &MergeState, log: &StepLog) {
    let mut splits = Vec::with_capacity(state.words.number());
    state.words.visit_words(|word, count| splits.push((names(state, word, ""), count)));
    log.trace().splits = splits;
}

/// Report the merge of a pair, before it is made; all pairs that may be merged are tracked.
pub(super) fn log_merge<T: TieBreak>(state: &mut MergeState, pair: u32, log: &StepLog) {
    let Some(number) = log.next_step() else { return };
    let (ranked, tied) = ranked_pairs::<T>(state);
    let counts = entry_counts(state);
    let top = log.spec.top;
    let named = |state: &MergeState, pairs: &[(u32, Score)]| -> Vec<ScoredPair> {
        pairs.iter().map(|&pair| scored_pair(state, pair, &counts)).collect()
    };
    let mut by_position = ranked.clone();
    by_position.sort_by_cached_key(|&(pair, _)| FirstSeen::key(state, pair));
    by_position.truncate(top);
    let shown = named(state, &ranked[..ranked.len().min(top.max(2))]);
    let winner = ranked.iter().filter(|(ranked, _)| *ranked == pair).copied();
    let winner = named(state, &winner.take(1).collect::<Vec<_>>()).pop();
    let Some(winner) = winner else { return };
    let (changes, changed_words) = changes(state, pair, &winner.token, top);
    let (left, right) = state.pairs.parts(pair);
    let is_new = state.entries.find_merged(left, right).is_none();
    let step = MergeStep {
        number,
        reason: reason(&shown, tied, state.settings.ties),
        winner,
        first_pairs: named(state, &by_position),
        candidates: shown.into_iter().take(top).collect(),
        pairs: ranked.len(),
        tied,
        changes,
        changed_words,
        vocab_size: state.entries.len() + usize::from(is_new),
        is_new,
    };
    log.push(Step::Merge(step));
}

/// Return the pairs that may be merged with their scores, the best first, and how many share the best score.
fn ranked_pairs<T: TieBreak>(state: &mut MergeState) -> (Vec<(u32, Score)>, usize) {
    let mergeable = |&pair: &u32| state.is_frequent(pair) && !state.is_excluded(pair);
    let pairs: Vec<u32> = (0..state.pairs.len() as u32).filter(mergeable).collect();
    let keyed = pairs.into_iter().filter_map(|pair| Some((T::key(state, pair)?, pair)));
    let mut keyed: Vec<(T::Key, u32)> = keyed.collect();
    keyed.sort_unstable();
    let pairs = keyed.into_iter().map(|(_, pair)| pair).collect();
    match state.settings.score {
        PairScore::Pmi => by_score(&Pmi, state, pairs),
        PairScore::Likelihood => by_score(&Likelihood::new(state.total_chars), state, pairs),
        PairScore::Frequency => by_count(state, pairs),
    }
}

fn by_count(state: &MergeState, mut pairs: Vec<u32>) -> (Vec<(u32, Score)>, usize) {
    let count = |pair: u32| state.pairs.count(pair);
    pairs.sort_by_key(|&pair| Reverse(count(pair)));
    let tied = pairs.iter().take_while(|&&pair| count(pair) == count(pairs[0])).count();
    (pairs.into_iter().map(|pair| (pair, Score::Count(count(pair)))).collect(), tied)
}

fn by_score<O: Objective>(
    objective: &O,
    state: &MergeState,
    pairs: Vec<u32>,
) -> (Vec<(u32, Score)>, usize) {
    let scored = |pair: u32| {
        let key = objective.key(&pair_counts(state, pair));
        (pair, (key, objective.value(key, state.total)))
    };
    let mut scored: Vec<(u32, (O::Key, f64))> = pairs.into_iter().map(scored).collect();
    scored.sort_by(|one, two| objective.compare(two.1, one.1));
    let tied = scored.iter().take_while(|pair| objective.compare(pair.1, scored[0].1).is_eq()).count();
    (scored.into_iter().map(|(pair, (_, value))| (pair, Score::Real(value))).collect(), tied)
}

fn pair_counts(state: &MergeState, pair: u32) -> PairCounts {
    let (left, right) = state.pairs.parts(pair);
    let merged = state.entries.find_merged(left, right);
    PairCounts {
        count: state.pairs.count(pair),
        left: state.counts[left as usize],
        right: state.counts[right as usize],
        merged: merged.map_or(0, |merged| state.counts[merged as usize]),
        doubled: left == right,
    }
}

/// Count the entries of all words; the trainer does so only for the scores that need it.
fn entry_counts(state: &MergeState) -> Vec<u64> {
    let mut counts = vec![0; state.entries.len()];
    state.words.visit_words(|word, count| word.iter().for_each(|&entry| counts[entry as usize] += count));
    counts
}

fn scored_pair(state: &MergeState, (pair, score): (u32, Score), counts: &[u64]) -> ScoredPair {
    let (left, right) = state.pairs.parts(pair);
    let name = |entry: u32| state.entries.name(entry).as_ref().to_owned();
    let count = state.pairs.count(pair);
    let (left_count, right_count) = (counts[left as usize], counts[right as usize]);
    let is_fraction = state.settings.score == PairScore::Pmi;
    let fraction = || fraction(u128::from(count), u128::from(left_count) * u128::from(right_count));
    ScoredPair {
        left: name(left),
        right: name(right),
        token: state.entries.merged_string(left, right),
        count,
        left_count,
        right_count,
        score,
        score_fraction: is_fraction.then(fraction),
    }
}

/// Return the first words that a merge changes, and the number of all of them.
fn changes(state: &MergeState, pair: u32, token: &str, most: usize) -> (Vec<SplitChange>, usize) {
    let (left, right) = state.pairs.parts(pair);
    let (mut changes, mut changed) = (Vec::new(), 0);
    state.words.visit_words(|word, count| {
        let after = with_pair_merged(word, left, right);
        if after.len() == word.len() {
            return;
        }
        changed += 1;
        if changes.len() < most {
            let (before, after) = (names(state, word, token), names(state, &after, token));
            changes.push(SplitChange { count, before, after });
        }
    });
    (changes, changed)
}

/// The entry that a merge is about to add.
const MERGED: u32 = u32::MAX;

fn with_pair_merged(word: &[u32], left: u32, right: u32) -> Vec<u32> {
    let (mut merged, mut at) = (Vec::with_capacity(word.len()), 0);
    while at < word.len() {
        let is_pair = word[at] == left && word.get(at + 1) == Some(&right);
        merged.push(if is_pair { MERGED } else { word[at] });
        at += 1 + usize::from(is_pair);
    }
    merged
}

/// Return the strings of entries; `merged` is the string of [`MERGED`].
fn names(state: &MergeState, word: &[u32], merged: &str) -> Vec<String> {
    let name = |&entry: &u32| match entry {
        MERGED => merged.to_owned(),
        entry => state.entries.names()[entry as usize].as_ref().to_owned(),
    };
    word.iter().map(name).collect()
}

// ---- how a pair was chosen

fn reason(best: &[ScoredPair], tied: usize, ties: Ties) -> String {
    let Some(winner) = best.first() else { return String::new() };
    if tied > 1 {
        let rule = match ties {
            Ties::LowestIds => "the pair with the lowest ids wins (ties=\"lowest-ids\")",
            Ties::SmallestStrings => {
                "the pair that is first in code point order wins (ties=\"smallest-strings\")"
            }
            Ties::GreatestStrings => {
                "the pair that is last in code point order wins (ties=\"greatest-strings\")"
            }
            Ties::ShortestEntries => {
                "the pair with the shortest piece wins, then the first in code point order"
            }
            Ties::FirstSeen => "the pair that occurs first in the corpus wins (ties=\"first-seen\")",
        };
        return format!("{} pairs share the best score, {}; {rule}", grouped(tied as u64), formula(winner));
    }
    match best.get(1) {
        None => format!("the only pair left, with a score of {}", formula(winner)),
        Some(second) => format!(
            "the best score, {}; {} {} is second with {}",
            formula(winner),
            second.left,
            second.right,
            formula(second)
        ),
    }
}

fn formula(pair: &ScoredPair) -> String {
    match (&pair.score_fraction, pair.score) {
        (Some(fraction), _) => {
            format!("{} / ({} x {}) = {fraction}", pair.count, pair.left_count, pair.right_count)
        }
        (None, Score::Count(count)) => grouped(count),
        (None, Score::Real(score)) => six_digits(score),
    }
}

/// Return a fraction in lowest terms.
fn fraction(numerator: u128, denominator: u128) -> String {
    let (mut divisor, mut rest) = (numerator, denominator);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    match denominator / divisor {
        1 => (numerator / divisor).to_string(),
        lowest => format!("{}/{lowest}", numerator / divisor),
    }
}

/// Return a number with separators of thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_python() {
        assert_eq!(
            (grouped(7), grouped(1_234), grouped(1_234_567)),
            ("7".into(), "1,234".into(), "1,234,567".into())
        );
        assert_eq!((fraction(5, 100), fraction(6, 3)), ("1/20".into(), "2".into()));
    }
}
