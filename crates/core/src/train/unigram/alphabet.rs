//! The alphabet: the most frequent characters, up to the share of the text that they must cover.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::TrainSpec;
use crate::error::Error;
use crate::train::cutter::Cutter;
use crate::train::progress::Progress;
use crate::train::Counts;

/// The characters that must be entries.
pub(in crate::train) struct Alphabet {
    /// With their counts, by (count descending, code point).
    ranked: Vec<(char, u64)>,
    known: FxHashSet<char>,
}

impl Alphabet {
    /// Count all characters and keep the most frequent, and those wanted in any case.
    pub(super) fn choose(
        counts: &Counts,
        cutter: &Cutter,
        spec: &TrainSpec,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut seen: FxHashMap<char, u64> = FxHashMap::default();
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            cutter.stretches(word, |stretch| {
                stretch.chars().for_each(|character| *seen.entry(character).or_default() += count);
            });
        }
        let mut kept =
            covering(seen.iter().map(|(&c, &count)| (c, count)).collect(), spec.character_coverage);
        kept.extend(spec.initial_alphabet.iter().map(|c| (*c, seen.get(c).copied().unwrap_or(0))));
        Ok(Self::of(kept))
    }

    /// The alphabet of these characters with their counts.
    pub(in crate::train) fn of(kept: Vec<(char, u64)>) -> Self {
        let ranked: Vec<(char, u64)> = by_count(kept);
        let known = ranked.iter().map(|&(character, _)| character).collect();
        Self { ranked, known }
    }

    /// Whether a character is an entry.
    pub(in crate::train) fn contains(&self, character: char) -> bool {
        self.known.contains(&character)
    }

    /// All characters with their counts, the most frequent first.
    pub(in crate::train) fn ranked(&self) -> &[(char, u64)] {
        &self.ranked
    }
}

/// The most frequent characters that make up this share of all.
fn covering(seen: Vec<(char, u64)>, coverage: f64) -> Vec<(char, u64)> {
    let total: u64 = seen.iter().map(|&(_, count)| count).sum();
    let mut covered = 0;
    let mut ranked = by_count(seen);
    let enough = ranked.iter().position(|&(_, count)| {
        let before = covered;
        covered += count;
        before as f64 / total as f64 >= coverage
    });
    ranked.truncate(enough.unwrap_or(ranked.len()));
    ranked
}

fn by_count(mut characters: Vec<(char, u64)>) -> Vec<(char, u64)> {
    characters.sort_unstable_by_key(|&(character, count)| (Reverse(count), character));
    characters.dedup();
    characters
}
