//! Naive training by merges: count everything, merge the best pair, repeat.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::count::Counts;
use crate::merges::{PairScore, Ties};
use crate::wordpiece::{Learner, Merges, WordPieceTrainSpec};
use crate::AlphabetForms;

/// Vocabulary and merges (left, right, count) as strings.
pub(super) type NaiveResult = (Vec<String>, Vec<(String, String, u64)>);

struct Word {
    pieces: Vec<String>,
    count: u64,
}

/// Return the characters of the alphabet, and the vocabulary of special tokens and alphabet.
pub(super) fn alphabet(counts: &Counts, spec: &WordPieceTrainSpec) -> (BTreeSet<char>, Vec<String>) {
    let mut totals: BTreeMap<char, u64> =
        spec.initial_alphabet.iter().map(|&character| (character, 0)).collect();
    for (word, count) in counts.iter() {
        word.chars().for_each(|character| *totals.entry(character).or_default() += count);
    }
    let mut order: Vec<char> = totals.keys().copied().collect();
    order.sort_by_key(|&character| {
        (!spec.initial_alphabet.contains(&character), std::cmp::Reverse(totals[&character]), character)
    });
    order.truncate(spec.limit_alphabet.unwrap_or(usize::MAX));
    let kept: BTreeSet<char> = order.into_iter().collect();
    let begins = |wanted: char| counts.iter().any(|(word, _)| word.starts_with(wanted));
    let continues = |wanted: char| {
        counts.iter().any(|(word, _)| word.chars().skip(1).any(|character| character == wanted))
    };
    let frequency = matches!(spec.learner, Learner::Merges(Merges { score: PairScore::Frequency, .. }));
    let wanted = |character: char| spec.initial_alphabet.contains(&character);
    let seen = spec.alphabet_forms == AlphabetForms::Seen;
    let plain = kept.iter().copied().filter(|&one| !seen || wanted(one) || begins(one)).map(String::from);
    let marked = kept.iter().copied().filter(|&one| match spec.alphabet_forms {
        AlphabetForms::Possible => !spec.isolated_characters.contains(&one) || continues(one),
        AlphabetForms::StartAndSeen => continues(one),
        AlphabetForms::Seen => wanted(one) || continues(one),
    });
    let marked = marked.map(|character| format!("{}{character}", spec.continuing_subword_prefix));
    let (mut plain, mut marked): (Vec<String>, Vec<String>) = (plain.collect(), marked.collect());
    plain.sort();
    marked.sort();
    plain.append(&mut marked);
    if !frequency {
        plain.sort();
    }
    let mut vocab = Vec::new();
    for name in spec.special_tokens.iter().cloned().chain(plain) {
        if !vocab.contains(&name) {
            vocab.push(name);
        }
    }
    (kept, vocab)
}

/// Learn by the score and the ties of a spec whose learner merges pairs.
pub(super) fn learn(counts: &Counts, spec: &WordPieceTrainSpec) -> NaiveResult {
    let Learner::Merges(Merges { score, ties }) = spec.learner else {
        panic!("{:?} merges no pairs", spec.learner)
    };
    let (kept, mut vocab) = alphabet(counts, spec);
    let mut words = segment(counts, spec, score, &kept);
    let mut merges = Vec::new();
    while vocab.len() < spec.vocab_size {
        let Some((left, right, count)) = best_pair(&words, &vocab, spec, (score, ties)) else { break };
        let merged = merge_names(&left, &right, spec);
        words.iter_mut().for_each(|word| merge(word, &left, &right, &merged));
        if !vocab.contains(&merged) {
            vocab.push(merged);
        }
        merges.push((left, right, count));
    }
    (vocab, merges)
}

fn segment(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    score: PairScore,
    kept: &BTreeSet<char>,
) -> Vec<Word> {
    let mut words = Vec::new();
    for (word, count) in counts.iter() {
        if score != PairScore::Frequency && word.chars().any(|character| !kept.contains(&character)) {
            continue;
        }
        let form = |(at, character): (usize, char)| {
            if at == 0 {
                character.to_string()
            } else {
                format!("{}{character}", spec.continuing_subword_prefix)
            }
        };
        let pieces =
            word.chars().enumerate().filter(|(_, character)| kept.contains(character)).map(form).collect();
        words.push(Word { pieces, count });
    }
    words
}

fn merge_names(left: &str, right: &str, spec: &WordPieceTrainSpec) -> String {
    format!("{left}{}", right.strip_prefix(&spec.continuing_subword_prefix).unwrap_or(right))
}

fn merge(word: &mut Word, left: &str, right: &str, merged: &str) {
    let mut at = 0;
    while at + 1 < word.pieces.len() {
        if word.pieces[at] == left && word.pieces[at + 1] == right {
            word.pieces.splice(at..at + 2, [merged.to_owned()]);
        }
        at += 1;
    }
}

/// Count pairs in order of first position: all adjacent ones, or the non-overlapping matches.
fn count_pairs(words: &[Word], score: PairScore) -> Vec<((String, String), u64)> {
    let mut order: Vec<(String, String)> = Vec::new();
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for word in words {
        let mut free_from = 0;
        for (at, two) in word.pieces.windows(2).enumerate() {
            let pair = (two[0].clone(), two[1].clone());
            if !counts.contains_key(&pair) {
                order.push(pair.clone());
            }
            let overlaps = score == PairScore::Likelihood && two[0] == two[1] && at < free_from;
            if two[0] == two[1] && !overlaps {
                free_from = at + 2;
            } else if two[0] != two[1] {
                free_from = 0;
            }
            *counts.entry(pair).or_default() += if overlaps { 0 } else { word.count };
        }
    }
    order.into_iter().map(|pair| (pair.clone(), counts[&pair])).collect()
}

fn best_pair(
    words: &[Word],
    vocab: &[String],
    spec: &WordPieceTrainSpec,
    (score, ties): (PairScore, Ties),
) -> Option<(String, String, u64)> {
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    for word in words {
        word.pieces.iter().for_each(|piece| *totals.entry(piece).or_default() += word.count);
    }
    let sum: u64 = totals.values().sum();
    let of = |name: &str| totals.get(name).copied().unwrap_or(0);
    let mut best: Option<((String, String), u64)> = None;
    for ((left, right), count) in count_pairs(words, score) {
        let merged = merge_names(&left, &right, spec);
        let body = merged.strip_prefix(&spec.continuing_subword_prefix).unwrap_or(&merged);
        if count < spec.min_frequency.max(1)
            || spec.max_token_length.is_some_and(|limit| body.chars().count() > limit)
        {
            continue;
        }
        let Some(((old_left, old_right), old)) = &best else {
            best = Some(((left, right), count));
            continue;
        };
        let gain = |left: &str, right: &str, count| {
            gain(of(left), of(right), of(&merge_names(left, right, spec)), count, sum, left == right)
        };
        let id = |name: &str| vocab.iter().position(|entry| entry == name);
        let compared = match score {
            PairScore::Pmi => (u128::from(count) * u128::from(of(old_left)) * u128::from(of(old_right)))
                .cmp(&(u128::from(*old) * u128::from(of(&left)) * u128::from(of(&right)))),
            PairScore::Likelihood => gain(&left, &right, count).total_cmp(&gain(old_left, old_right, *old)),
            PairScore::Frequency => count.cmp(old),
        };
        // Pairs come in the order of their first positions.
        let order = compared.then_with(|| match ties {
            Ties::LowestIds => (id(old_left), id(old_right)).cmp(&(id(&left), id(&right))),
            Ties::SmallestStrings => (old_left, old_right).cmp(&(&left, &right)),
            Ties::GreatestStrings => (&left, &right).cmp(&(old_left, old_right)),
            Ties::ShortestEntries => unreachable!("an order of SentencePiece"),
            Ties::FirstSeen => Ordering::Less,
        });
        if order == Ordering::Greater {
            best = Some(((left, right), count));
        }
    }
    let ((left, right), count) = best?;
    let merged = of(&merge_names(&left, &right, spec));
    let gains = score != PairScore::Likelihood
        || gain(of(&left), of(&right), merged, count, sum, left == right) > 0.0;
    gains.then_some((left, right, count))
}

fn gain(left: u64, right: u64, merged: u64, count: u64, sum: u64, twins: bool) -> f64 {
    let g = |x: u64| if x == 0 { 0.0 } else { x as f64 * (x as f64).ln() };
    if twins {
        return ((g(left - 2 * count) - g(left)) + (g(merged + count) - g(merged)))
            + (g(sum) - g(sum - count));
    }
    (((g(left - count) - g(left)) + (g(right - count) - g(right))) + (g(merged + count) - g(merged)))
        + (g(sum) - g(sum - count))
}
