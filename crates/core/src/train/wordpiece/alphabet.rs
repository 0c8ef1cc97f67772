//! The alphabet: which characters are entries, in which forms and in which order.
//!
//! A character counts once for each of its occurrences, weighted by its word's count. `limit_alphabet`
//! keeps the best by (wanted by `initial_alphabet`, count descending, code point).

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::progress::Progress;
use super::{Score, TrainSpec};
use crate::error::Error;
use crate::train::Counts;

/// The characters kept, with where in words each was seen.
pub(super) struct Alphabet {
    kept: FxHashMap<char, Seen>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    count: u64,
    begins: bool,
    continues: bool,
    wanted: bool,
}

impl Alphabet {
    /// Count the characters of all words and keep the best.
    pub(super) fn choose(
        counts: &Counts,
        spec: &TrainSpec,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut kept: FxHashMap<char, Seen> = FxHashMap::default();
        for (word, count, _) in counts.iter() {
            progress.advance(word.len())?;
            for (at, character) in word.chars().enumerate() {
                let seen = kept.entry(character).or_default();
                seen.count += count;
                *(if at == 0 { &mut seen.begins } else { &mut seen.continues }) = true;
            }
        }
        for &character in &spec.initial_alphabet {
            kept.entry(character).or_default().wanted = true;
        }
        Ok(Self { kept: limited(kept, spec.limit_alphabet) })
    }

    /// Whether a character is an entry.
    pub(super) fn contains(&self, character: char) -> bool {
        self.kept.contains_key(&character)
    }

    /// Whether all characters of a word are entries.
    pub(super) fn spells(&self, word: &str) -> bool {
        word.chars().all(|character| self.contains(character))
    }

    /// How many characters of a word's start are spelled like the inner form of a single character; this
    /// happens only to words that begin with the prefix itself.
    pub(super) fn marked_start(&self, word: &str, prefix: &str) -> Option<u32> {
        let next = word.strip_prefix(prefix)?.chars().next()?;
        let seen = self.kept.get(&next)?;
        (seen.continues || seen.wanted).then(|| prefix.chars().count() as u32 + 1)
    }

    /// List the entries in vocabulary order.
    ///
    /// For `Score::Frequency` all plain forms come first, as `tokenizers` has them; for the other scores a
    /// character has the forms it was seen in, sorted together.
    pub(super) fn forms(&self, spec: &TrainSpec) -> Vec<String> {
        let prefix = &spec.continuing_subword_prefix;
        let frequency = spec.score == Score::Frequency;
        let mut plain: Vec<String> =
            self.select(|seen| frequency || seen.begins || seen.wanted).map(String::from).collect();
        let mut marked: Vec<String> = self
            .select(|seen| seen.continues || (seen.wanted && !frequency))
            .map(|character| format!("{prefix}{character}"))
            .collect();
        plain.sort_unstable();
        marked.sort_unstable();
        plain.append(&mut marked);
        if !frequency {
            plain.sort_unstable();
        }
        plain
    }

    fn select<'a>(&'a self, wants: impl Fn(&Seen) -> bool + 'a) -> impl Iterator<Item = char> + 'a {
        self.kept.iter().filter(move |(_, seen)| wants(seen)).map(|(&character, _)| character)
    }
}

fn limited(mut kept: FxHashMap<char, Seen>, limit: Option<usize>) -> FxHashMap<char, Seen> {
    let Some(limit) = limit.filter(|&limit| limit < kept.len()) else { return kept };
    let mut order: Vec<(Reverse<bool>, Reverse<u64>, char)> = kept
        .iter()
        .map(|(&character, seen)| (Reverse(seen.wanted), Reverse(seen.count), character))
        .collect();
    order.sort_unstable();
    for (_, _, character) in &order[limit..] {
        kept.remove(character);
    }
    kept
}
