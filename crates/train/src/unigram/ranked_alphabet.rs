//! The alphabet of Unigram: the most frequent characters, up to the share of the text that they must cover.

use std::cmp::Reverse;

use foldhash::{HashMap, HashSet};

use super::spec::UnigramTrainSpec;
use crate::count::Counts;
use crate::progress::Progress;
use crate::symbol_splitter::SymbolSplitter;
use piecework_core::error::Error;

/// The characters that must be entries.
pub(crate) struct RankedAlphabet {
    /// Characters with their counts, by (count descending, code point).
    ranked: Vec<(char, u64)>,
    known: HashSet<char>,
}

impl RankedAlphabet {
    /// Count all characters and keep the most frequent ones and the required ones.
    pub(super) fn choose(
        counts: &Counts,
        splitter: &SymbolSplitter,
        spec: &UnigramTrainSpec,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut counts_by_char: HashMap<char, u64> = HashMap::default();
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            splitter.split(word, |part| {
                part.chars().for_each(|character| *counts_by_char.entry(character).or_default() += count);
            });
        }
        let mut kept = covering(
            counts_by_char.iter().map(|(&c, &count)| (c, count)).collect(),
            spec.character_coverage,
        );
        kept.extend(
            spec.initial_alphabet.iter().map(|c| (*c, counts_by_char.get(c).copied().unwrap_or(0))),
        );
        Ok(Self::of(kept))
    }

    /// Return the alphabet of given characters with their counts.
    pub(crate) fn of(kept: Vec<(char, u64)>) -> Self {
        let ranked: Vec<(char, u64)> = by_count(kept);
        let known = ranked.iter().map(|&(character, _)| character).collect();
        Self { ranked, known }
    }

    /// Return whether the alphabet contains a character.
    pub(crate) fn contains(&self, character: char) -> bool {
        self.known.contains(&character)
    }

    /// Return all characters with their counts, by count descending.
    pub(crate) fn ranked(&self) -> &[(char, u64)] {
        &self.ranked
    }
}

/// Return the most frequent characters that cover this share of the text.
fn covering(counts_by_char: Vec<(char, u64)>, coverage: f64) -> Vec<(char, u64)> {
    let total: u64 = counts_by_char.iter().map(|&(_, count)| count).sum();
    let mut covered = 0;
    let mut ranked = by_count(counts_by_char);
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
