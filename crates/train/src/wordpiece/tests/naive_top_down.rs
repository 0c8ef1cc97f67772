//! Naive top-down training: tables of all substrings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::naive_merges::alphabet;
use crate::count::Counts;
use crate::wordpiece::WordPieceTrainSpec;

/// Whether the substring begins a word, and its characters.
type Substring = (bool, Vec<char>);
type Table = BTreeMap<Substring, u64>;

struct Search<'a> {
    spec: &'a WordPieceTrainSpec,
    words: Vec<(Vec<char>, u64)>,
    base: Vec<String>,
    alphabet: Vec<String>,
}

pub(super) fn learn(counts: &Counts, spec: &WordPieceTrainSpec) -> Vec<String> {
    let (kept, base) = alphabet(counts, spec);
    let known = counts.iter().filter(|(word, _)| word.chars().all(|character| kept.contains(&character)));
    let words = known.map(|(word, count)| (word.chars().collect(), count)).collect();
    let (_, alphabet) =
        alphabet(counts, &WordPieceTrainSpec { special_tokens: Vec::new(), ..spec.clone() });
    let search = Search { spec, words, base, alphabet };
    let least = spec.min_frequency.max(1);
    let largest = search.count(None).values().copied().max().unwrap_or(0);
    let (mut low, mut high) = (least, least.max(largest + 1));
    while low < high {
        let middle = (low + high) / 2;
        if search.vocabulary(middle).len() <= spec.vocab_size {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let mut vocab = search.vocabulary(low);
    if low > least {
        let more: Vec<String> =
            search.vocabulary(low - 1).into_iter().filter(|name| !vocab.contains(name)).collect();
        vocab.extend(more);
        vocab.truncate(spec.vocab_size);
    }
    vocab
}

impl Search<'_> {
    fn vocabulary(&self, threshold: u64) -> Vec<String> {
        let mut kept = keep(self.count(None), threshold);
        for _ in 0..3 {
            let entries = kept
                .keys()
                .map(|substring| self.name(substring))
                .chain(self.alphabet.iter().cloned())
                .collect();
            kept = keep(self.count(Some(&entries)), threshold);
        }
        let mut order: Vec<(Reverse<u64>, String)> =
            kept.iter().map(|(substring, &count)| (Reverse(count), self.name(substring))).collect();
        order.sort();
        let mut vocab = self.base.clone();
        for (_, name) in order {
            if !vocab.contains(&name) {
                vocab.push(name);
            }
        }
        vocab
    }

    fn name(&self, (plain, body): &Substring) -> String {
        let prefix = if *plain { "" } else { self.spec.continuing_subword_prefix.as_str() };
        prefix.chars().chain(body.iter().copied()).collect()
    }

    /// Without a prefix all substrings are counted together.
    fn is_plain(&self, start: usize) -> bool {
        start == 0 || self.spec.continuing_subword_prefix.is_empty()
    }

    /// Count the substrings that start anywhere, or at the splits of the longest matches of `entries`.
    fn count(&self, entries: Option<&BTreeSet<String>>) -> Table {
        let mut table = Table::new();
        for (word, count) in &self.words {
            let starts =
                entries.map_or_else(|| (0..word.len()).collect(), |entries| self.splits(word, entries));
            for start in starts {
                let longest = word.len().min(start + self.spec.max_token_length.unwrap_or(50).max(1));
                for end in start + 1..=longest {
                    *table.entry((self.is_plain(start), word[start..end].to_vec())).or_default() += count;
                }
            }
        }
        table
    }

    fn splits(&self, word: &[char], entries: &BTreeSet<String>) -> Vec<usize> {
        let (mut starts, mut start) = (Vec::new(), 0);
        while start < word.len() {
            let matches = |&end: &usize| {
                entries.contains(&self.name(&(self.is_plain(start), word[start..end].to_vec())))
            };
            starts.push(start);
            start = (start + 1..=word.len()).rev().find(matches).unwrap_or(start + 1);
        }
        starts
    }
}

fn keep(mut table: Table, threshold: u64) -> Table {
    let mut order: Vec<Substring> = table.keys().filter(|(_, body)| body.len() > 1).cloned().collect();
    order.sort_by_key(|(_, body)| Reverse(body.len()));
    let mut kept = Table::new();
    for (plain, body) in order {
        let count = table[&(plain, body.clone())];
        if count < threshold {
            continue;
        }
        for length in 1..body.len() {
            *table.get_mut(&(plain, body[..length].to_vec())).expect("a prefix") -= count;
        }
        kept.insert((plain, body), count);
    }
    kept
}
