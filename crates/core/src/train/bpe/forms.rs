//! The entries of single characters: plain, and with the prefix or the suffix where a word has them.

use rustc_hash::FxHashMap;

use super::TrainSpec;
use crate::train::alphabet::{Alphabet, CharPosition};
use crate::train::entries::Entries;

/// List the entries in vocabulary order: every character as it is, then the marked forms that were seen,
/// both in code point order.
pub(super) fn listed(alphabet: &Alphabet, spec: &TrainSpec) -> Vec<String> {
    let mut plain: Vec<String> = alphabet.select(|_| true).map(String::from).collect();
    let mut marked: Vec<String> = Vec::new();
    for place in CharPosition::ALL {
        marked.extend(alphabet.select(|usage| usage.at(place)).map(|c| form(c, place, spec)));
    }
    plain.sort_unstable();
    marked.sort_unstable();
    plain.append(&mut marked);
    plain
}

/// Looks up the entry of a character in its place.
pub(super) struct Forms<'a> {
    entries: &'a Entries,
    alphabet: &'a Alphabet,
    spec: &'a TrainSpec,
    known: FxHashMap<char, [Option<u32>; 4]>,
}

impl<'a> Forms<'a> {
    pub(super) fn new(entries: &'a Entries, alphabet: &'a Alphabet, spec: &'a TrainSpec) -> Self {
        Self { entries, alphabet, spec, known: FxHashMap::default() }
    }

    /// The entry of a character, unless it is outside the alphabet.
    #[inline]
    pub(super) fn entry(&mut self, c: char, place: CharPosition) -> Option<u32> {
        match self.known.get(&c) {
            Some(entries) => entries[place.index()],
            None => self.look_up(c)[place.index()],
        }
    }

    fn look_up(&mut self, c: char) -> [Option<u32>; 4] {
        let Self { entries, alphabet, spec, known } = self;
        let found = CharPosition::ALL
            .map(|place| alphabet.contains(c).then(|| entries.find(&form(c, place, spec))).flatten());
        known.insert(c, found);
        found
    }
}

fn form(c: char, place: CharPosition, spec: &TrainSpec) -> String {
    let prefix = if place.first { "" } else { spec.continuing_subword_prefix.as_str() };
    let suffix = if place.last { spec.end_of_word_suffix.as_str() } else { "" };
    format!("{prefix}{c}{suffix}")
}
