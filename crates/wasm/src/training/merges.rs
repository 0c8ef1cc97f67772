//! The steps of WordPiece and BPE: the learner decides every merge, and the scores of the other pairs are computed here.

use std::cmp::Ordering;

use foldhash::{HashMap, HashMapExt};
use piecework_core::error::{Error, ErrorKind};
use piecework_train::count::Counts;
use piecework_train::merges::{PairScore as Score, Ties};
use piecework_train::wordpiece::{self, Learner, Merges, WordPieceTrainSpec};
use piecework_train::{bpe, AlphabetForms, Learned, Merge};
use serde::Serialize;

use super::settings::{Settings, TOP};

/// The steps of a learner that merges.
#[derive(Serialize)]
pub(super) struct MergeTrace {
    alphabet: Vec<String>,
    splits: Vec<(Vec<String>, u64)>,
    steps: Vec<TrainingMerge>,
    step_count: usize,
    vocab: Vec<String>,
    stopped_early: Option<String>,
}

/// One merge: the best pairs, and what changes.
#[derive(Serialize)]
struct TrainingMerge {
    kind: &'static str,
    number: usize,
    winner: PairScore,
    reason: String,
    candidates: Vec<PairScore>,
    pairs: usize,
    tied: usize,
    changed_words: usize,
    vocab_size: usize,
    is_new: bool,
}

/// A pair that could be merged.
#[derive(Clone, Serialize)]
struct PairScore {
    left: String,
    right: String,
    token: String,
    count: u64,
    left_count: u64,
    right_count: u64,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_fraction: Option<String>,
}

/// The vocabulary, the merges, and the trace.
type Trained = (Vec<String>, Vec<(String, String)>, MergeTrace);

/// Learn a vocabulary and trace its first steps.
pub(super) fn train(counts: &Counts, learner: &str, settings: &Settings) -> Result<Trained, Error> {
    let method = Method::of(learner)?;
    let learned = method.learn(counts, settings)?;
    let token = |id: u32| learned.vocab[id as usize].clone();
    let merges = learned.merges.iter().map(|merge| (token(merge.left), token(merge.right))).collect();
    let trace = Replay::new(counts, &learned, method).trace(settings);
    Ok((learned.vocab, merges, trace))
}

/// What distinguishes the learners.
#[derive(Clone, Copy)]
struct Method {
    score: Score,
    ties: Ties,
    prefix: &'static str,
    /// Published examples of `pmi` print the entries that the corpus has.
    forms: AlphabetForms,
}

impl Method {
    fn of(learner: &str) -> Result<Self, Error> {
        let (score, ties, prefix) = match learner {
            "wordpiece-pmi" => (Score::Pmi, Ties::FirstSeen, "##"),
            "wordpiece-likelihood" => (Score::Likelihood, Ties::SmallestStrings, "##"),
            "wordpiece-frequency" => (Score::Frequency, Ties::LowestIds, "##"),
            "bpe" => (Score::Frequency, Ties::LowestIds, ""),
            _ => {
                let expected = "wordpiece-pmi, wordpiece-likelihood, wordpiece-frequency, bpe or unigram";
                return Err(Error::new(ErrorKind::Argument, "learner", format!("'{learner}'"), expected));
            }
        };
        let forms = match score {
            Score::Pmi => AlphabetForms::Seen,
            _ => AlphabetForms::Possible,
        };
        Ok(Self { score, ties, prefix, forms })
    }

    fn learn(self, counts: &Counts, settings: &Settings) -> Result<Learned, Error> {
        let (vocab_size, special_tokens) = (settings.vocab_size, settings.special_tokens.clone());
        let progress = &mut |_, _| std::ops::ControlFlow::Continue(());
        if self.prefix.is_empty() {
            let spec =
                bpe::BpeTrainSpec { vocab_size, min_frequency: 1, special_tokens, ..Default::default() };
            return bpe::learn(counts, &spec, progress);
        }
        let learner = Learner::Merges(Merges { score: self.score, ties: self.ties });
        let spec = WordPieceTrainSpec {
            vocab_size,
            learner,
            min_frequency: 1,
            special_tokens,
            alphabet_forms: self.forms,
            isolated_characters: settings.isolated_characters.clone(),
            ..Default::default()
        };
        wordpiece::learn(counts, &spec, progress)
    }
}

/// A pair with its counts, its place in the corpus and its score.
struct RankedPair {
    pair: (u32, u32),
    token: String,
    count: u64,
    first: usize,
    score: f64,
}

/// The symbols of each word while the merges of a learner are applied.
struct Replay<'l> {
    learned: &'l Learned,
    method: Method,
    words: Vec<(Vec<u32>, u64)>,
    /// The number of entries before the first merge.
    first_size: usize,
    /// The counts of entries.
    counts: Vec<u64>,
}

impl<'l> Replay<'l> {
    fn new(counts: &Counts, learned: &'l Learned, method: Method) -> Self {
        let ids: HashMap<&str, u32> = learned.vocab.iter().map(String::as_str).zip(0..).collect();
        let split = |word: &str| {
            let form = |(at, c): (usize, char)| format!("{}{c}", if at > 0 { method.prefix } else { "" });
            word.chars().enumerate().filter_map(|c| ids.get(form(c).as_str()).copied()).collect()
        };
        let words: Vec<(Vec<u32>, u64)> = counts.iter().map(|(word, count)| (split(word), count)).collect();
        let first = learned.merges.iter().map(|merge| merge.merged as usize);
        let chars =
            words.iter().flat_map(|(symbols, _)| symbols).map(|&id| id as usize + 1).max().unwrap_or(0);
        let new = first.filter(|&merged| merged >= chars).min();
        Self { learned, method, words, first_size: new.unwrap_or(learned.vocab.len()), counts: Vec::new() }
    }

    fn trace(mut self, settings: &Settings) -> MergeTrace {
        let name = |id: &u32| self.learned.vocab[*id as usize].clone();
        let splits =
            self.words.iter().map(|(word, count)| (word.iter().map(name).collect(), *count)).collect();
        let alphabet = self.learned.vocab[..self.first_size].iter();
        let alphabet = alphabet.filter(|entry| !settings.special_tokens.contains(entry)).cloned().collect();
        let mut size = self.first_size;
        let mut steps = Vec::new();
        for (number, merge) in (1..).zip(&self.learned.merges).take(settings.steps) {
            let is_new = merge.merged as usize >= size;
            size += usize::from(is_new);
            steps.push(self.step(number, merge, size, is_new));
        }
        MergeTrace {
            alphabet,
            splits,
            steps,
            step_count: self.learned.merges.len(),
            vocab: self.learned.vocab.clone(),
            stopped_early: self.learned.stopped_early.clone(),
        }
    }

    fn step(&mut self, number: usize, merge: &Merge, vocab_size: usize, is_new: bool) -> TrainingMerge {
        self.count_entries();
        let pairs = self.ranked_pairs();
        let best = pairs.first().map_or(f64::NAN, |pair| pair.score);
        let tied = pairs.iter().filter(|pair| self.is_equal(pair, &pairs[0], best)).count();
        let candidates: Vec<PairScore> = pairs.iter().take(TOP).map(|pair| self.named(pair)).collect();
        let winner = pairs.iter().find(|pair| pair.pair == (merge.left, merge.right));
        let winner = self.named(winner.unwrap_or(&pairs[0]));
        let reason = self.reason(&candidates, tied);
        let changed_words = self.apply(merge);
        let kind = "TrainingMerge";
        let pairs = pairs.len();
        TrainingMerge {
            kind,
            number,
            winner,
            reason,
            candidates,
            pairs,
            tied,
            changed_words,
            vocab_size,
            is_new,
        }
    }

    fn count_entries(&mut self) {
        self.counts.clear();
        self.counts.resize(self.learned.vocab.len(), 0);
        for (symbols, count) in &self.words {
            symbols.iter().for_each(|&symbol| self.counts[symbol as usize] += count);
        }
    }

    /// Count all pairs and rank them, the best first.
    fn ranked_pairs(&self) -> Vec<RankedPair> {
        let mut found: HashMap<(u32, u32), (u64, usize)> = HashMap::new();
        let mut seen = 0;
        for (symbols, count) in &self.words {
            let mut last_end: HashMap<(u32, u32), usize> = HashMap::new();
            for (at, pair) in symbols.windows(2).enumerate() {
                let pair = (pair[0], pair[1]);
                if pair.0 == pair.1 && self.method.score == Score::Likelihood {
                    if last_end.get(&pair).is_some_and(|&end| at < end) {
                        continue;
                    }
                    last_end.insert(pair, at + 2);
                }
                seen += 1;
                found.entry(pair).or_insert((0, seen)).0 += count;
            }
        }
        let total: u64 = self.counts.iter().sum();
        let entries: HashMap<&str, u32> = self.learned.vocab.iter().map(String::as_str).zip(0..).collect();
        let scored = found.into_iter().map(|(pair, (count, first))| {
            let token = self.merged(pair);
            let merged = entries.get(token.as_str()).map_or(0, |&id| self.counts[id as usize]);
            RankedPair { pair, count, first, score: self.score(pair, merged, count, total), token }
        });
        let mut ranked: Vec<RankedPair> = scored.collect();
        ranked.sort_by(|one, two| self.order(one, two));
        ranked
    }

    fn merged(&self, (left, right): (u32, u32)) -> String {
        let [left, right] = [left, right].map(|id| self.learned.vocab[id as usize].as_str());
        format!("{left}{}", right.get(self.method.prefix.len()..).unwrap_or_default())
    }

    fn score(&self, (left, right): (u32, u32), merged: u64, count: u64, total: u64) -> f64 {
        let counts = [left, right].map(|id| self.counts[id as usize]);
        match self.method.score {
            Score::Pmi => count as f64 / (counts[0] as f64 * counts[1] as f64),
            Score::Likelihood => {
                let changed = if left == right {
                    growth(counts[0], counts[0] - 2 * count)
                } else {
                    growth(counts[0], counts[0] - count) + growth(counts[1], counts[1] - count)
                };
                (changed + growth(merged, merged + count)) + (x_ln_x(total) - x_ln_x(total - count))
            }
            _ => count as f64,
        }
    }

    /// Compare pairs: the better score first, then by ties.
    fn order(&self, one: &RankedPair, two: &RankedPair) -> Ordering {
        let name = |id: u32| self.learned.vocab[id as usize].as_str();
        self.compare_scores(two, one).then_with(|| match self.method.ties {
            Ties::FirstSeen => one.first.cmp(&two.first),
            Ties::SmallestStrings => {
                let names = |pair: (u32, u32)| (name(pair.0), name(pair.1));
                names(one.pair).cmp(&names(two.pair))
            }
            _ => one.pair.cmp(&two.pair),
        })
    }

    /// Compare scores, those of `pmi` as fractions.
    fn compare_scores(&self, one: &RankedPair, two: &RankedPair) -> Ordering {
        if self.method.score != Score::Pmi {
            return one.score.total_cmp(&two.score);
        }
        let [(one_up, one_down), (two_up, two_down)] = [one, two].map(|pair| self.fraction(pair));
        (one_up * two_down).cmp(&(two_up * one_down))
    }

    fn fraction(&self, pair: &RankedPair) -> (u128, u128) {
        let count = |id: u32| u128::from(self.counts[id as usize]);
        (u128::from(pair.count), count(pair.pair.0) * count(pair.pair.1))
    }

    fn is_equal(&self, pair: &RankedPair, best: &RankedPair, score: f64) -> bool {
        match self.method.score {
            Score::Pmi => self.compare_scores(pair, best) == Ordering::Equal,
            _ => pair.score == score,
        }
    }

    fn named(&self, pair: &RankedPair) -> PairScore {
        let [left, right] = [pair.pair.0, pair.pair.1].map(|id| id as usize);
        let score_fraction = (self.method.score == Score::Pmi).then(|| {
            let (up, down) = self.fraction(pair);
            let common = greatest_divisor(up, down);
            match down / common {
                1 => format!("{}", up / common),
                down => format!("{}/{down}", up / common),
            }
        });
        PairScore {
            left: self.learned.vocab[left].clone(),
            right: self.learned.vocab[right].clone(),
            token: pair.token.clone(),
            count: pair.count,
            left_count: self.counts[left],
            right_count: self.counts[right],
            score: pair.score,
            score_fraction,
        }
    }

    fn reason(&self, pairs: &[PairScore], tied: usize) -> String {
        let Some(best) = pairs.first() else { return String::new() };
        let formula = |pair: &PairScore| match &pair.score_fraction {
            Some(fraction) => {
                format!("{} / ({} x {}) = {fraction}", pair.count, pair.left_count, pair.right_count)
            }
            None => self.shown_score(pair.score),
        };
        if tied > 1 {
            let rule = match self.method.ties {
                Ties::FirstSeen => "the pair that occurs first in the corpus wins (ties=\"first-seen\")",
                Ties::SmallestStrings => {
                    "the pair that is first in code point order wins (ties=\"smallest-strings\")"
                }
                _ => "the pair with the lowest ids wins (ties=\"lowest-ids\")",
            };
            return format!(
                "{} pairs share the best score, {}; {rule}",
                grouped(tied as u64),
                formula(best)
            );
        }
        let Some(second) = pairs.get(1) else {
            return format!("the only pair left, with a score of {}", formula(best));
        };
        let runner_up = format!("{} {} is second with {}", second.left, second.right, formula(second));
        format!("the best score, {}; {runner_up}", formula(best))
    }

    fn shown_score(&self, score: f64) -> String {
        match self.method.score {
            Score::Likelihood => six_digits(score),
            _ => grouped(score as u64),
        }
    }

    /// Merge a pair in all words; return the number of words that changed.
    fn apply(&mut self, merge: &Merge) -> usize {
        let mut changed = 0;
        for (symbols, _) in &mut self.words {
            let before = symbols.len();
            let (mut read, mut write) = (0, 0);
            while read < before {
                let is_pair = symbols[read] == merge.left && symbols.get(read + 1) == Some(&merge.right);
                symbols[write] = if is_pair { merge.merged } else { symbols[read] };
                read += 1 + usize::from(is_pair);
                write += 1;
            }
            symbols.truncate(write);
            changed += usize::from(write < before);
        }
        changed
    }
}

fn growth(before: u64, after: u64) -> f64 {
    x_ln_x(after) - x_ln_x(before)
}

fn x_ln_x(x: u64) -> f64 {
    if x == 0 {
        return 0.0;
    }
    x as f64 * (x as f64).ln()
}

fn greatest_divisor(a: u128, b: u128) -> u128 {
    if b == 0 {
        a
    } else {
        greatest_divisor(b, a % b)
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

/// Return a number with at most six significant digits, without trailing zeros.
fn six_digits(number: f64) -> String {
    let exponent = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    let decimals = usize::try_from(5 - exponent).unwrap_or(0);
    let shown = format!("{number:.decimals$}");
    if shown.contains('.') {
        shown.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        shown
    }
}
