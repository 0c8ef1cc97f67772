//! The alphabet: which characters are entries, and where in words each was seen.
//!
//! A character counts once for each of its occurrences, weighted by its word's count. `limit` keeps the
//! best by (wanted in any case, count descending, code point).

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::progress::Progress;
use crate::count::Counts;
use crate::error::Error;

/// The characters kept, with where in words each was seen.
pub(super) struct Alphabet {
    kept: FxHashMap<char, CharUsage>,
}

/// How often and where a character was seen.
#[derive(Clone, Copy, Default)]
pub(super) struct CharUsage {
    count: u64,
    /// By `Place`.
    positions: [bool; 4],
    /// Whether the alphabet has it even when unseen.
    pub(super) required: bool,
}

/// Where in a word a character stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharPosition {
    pub(super) first: bool,
    pub(super) last: bool,
}

impl CharPosition {
    pub(super) const ALL: [Self; 4] = [
        Self { first: false, last: false },
        Self { first: false, last: true },
        Self { first: true, last: false },
        Self { first: true, last: true },
    ];

    pub(super) fn index(self) -> usize {
        2 * usize::from(self.first) + usize::from(self.last)
    }
}

impl CharUsage {
    /// Whether it was seen in this place.
    pub(super) fn at(&self, position: CharPosition) -> bool {
        self.positions[position.index()]
    }

    /// Whether a word begins with it.
    pub(super) fn begins_words(&self) -> bool {
        CharPosition::ALL.iter().any(|&position| position.first && self.at(position))
    }

    /// Whether it was seen after another character.
    pub(super) fn continues_words(&self) -> bool {
        CharPosition::ALL.iter().any(|&position| !position.first && self.at(position))
    }
}

impl Alphabet {
    /// Count the characters of all words and keep the best.
    pub(super) fn choose(
        counts: &Counts,
        required: &[char],
        limit: Option<usize>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut kept: FxHashMap<char, CharUsage> = FxHashMap::default();
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            for (character, position) in char_positions(word) {
                let usage = kept.entry(character).or_default();
                usage.count += count;
                usage.positions[position.index()] = true;
            }
        }
        for &character in required {
            kept.entry(character).or_default().required = true;
        }
        Ok(Self { kept: most_frequent(kept, limit) })
    }

    /// Whether a character is an entry.
    pub(super) fn contains(&self, character: char) -> bool {
        self.kept.contains_key(&character)
    }

    /// Whether all characters of a word are entries.
    pub(super) fn spells(&self, word: &str) -> bool {
        word.chars().all(|character| self.contains(character))
    }

    /// Where a character was seen, if it was kept.
    pub(super) fn get(&self, character: char) -> Option<&CharUsage> {
        self.kept.get(&character)
    }

    /// The characters kept for which `wants` says so, in no order.
    pub(super) fn select<'a>(
        &'a self,
        condition: impl Fn(&CharUsage) -> bool + 'a,
    ) -> impl Iterator<Item = char> + 'a {
        self.kept.iter().filter(move |(_, usage)| condition(usage)).map(|(&character, _)| character)
    }
}

/// The characters of a word with their places.
pub(super) fn char_positions(word: &str) -> impl Iterator<Item = (char, CharPosition)> + '_ {
    word.char_indices().map(|(at, character)| {
        (character, CharPosition { first: at == 0, last: at + character.len_utf8() == word.len() })
    })
}

fn most_frequent(mut kept: FxHashMap<char, CharUsage>, limit: Option<usize>) -> FxHashMap<char, CharUsage> {
    let Some(limit) = limit.filter(|&limit| limit < kept.len()) else { return kept };
    let mut order: Vec<(Reverse<bool>, Reverse<u64>, char)> = kept
        .iter()
        .map(|(&character, usage)| (Reverse(usage.required), Reverse(usage.count), character))
        .collect();
    order.sort_unstable();
    for (_, _, character) in &order[limit..] {
        kept.remove(character);
    }
    kept
}
