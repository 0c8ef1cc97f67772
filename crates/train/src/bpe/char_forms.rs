//! The entries of single characters: bare, and with the prefix and the suffix by their position in a word.

use rustc_hash::FxHashMap;

use super::spec::BpeTrainSpec;
use crate::alphabet::{Alphabet, CharPosition};
use crate::count::Counts;
use crate::entries::Entries;

/// Return the entries of the alphabet in vocabulary order: all bare characters, then the forms with prefix or
/// suffix that occur, both by code points; then in the order of the settings.
pub(super) fn alphabet_entries(counts: &Counts, alphabet: &Alphabet, spec: &BpeTrainSpec) -> Vec<String> {
    let mut bare: Vec<String> = alphabet.select(|_| true).map(String::from).collect();
    let mut affixed: Vec<String> = Vec::new();
    for position in CharPosition::ALL {
        affixed.extend(alphabet.select(|usage| usage.at(position)).map(|c| form(c, position, spec)));
    }
    bare.sort_unstable();
    affixed.sort_unstable();
    bare.append(&mut affixed);
    spec.alphabet_order
        .arrange(&mut bare, counts, &spec.initial_alphabet, |c, position| form(c, position, spec));
    bare
}

/// Looks up the entry of a character by its position in a word, and caches it.
pub(super) struct CharForms<'a> {
    entries: &'a Entries,
    alphabet: &'a Alphabet,
    spec: &'a BpeTrainSpec,
    known: FxHashMap<char, [Option<u32>; 4]>,
}

impl<'a> CharForms<'a> {
    pub(super) fn new(entries: &'a Entries, alphabet: &'a Alphabet, spec: &'a BpeTrainSpec) -> Self {
        Self { entries, alphabet, spec, known: FxHashMap::default() }
    }

    /// Return the entry of a character, unless the character is outside the alphabet.
    #[inline]
    pub(super) fn entry(&mut self, c: char, position: CharPosition) -> Option<u32> {
        match self.known.get(&c) {
            Some(entries) => entries[position.index()],
            None => self.look_up(c)[position.index()],
        }
    }

    fn look_up(&mut self, c: char) -> [Option<u32>; 4] {
        let Self { entries, alphabet, spec, known } = self;
        let found = CharPosition::ALL
            .map(|position| alphabet.contains(c).then(|| entries.find(&form(c, position, spec))).flatten());
        known.insert(c, found);
        found
    }
}

fn form(c: char, position: CharPosition, spec: &BpeTrainSpec) -> String {
    let prefix = if position.first { "" } else { spec.continuing_subword_prefix.as_str() };
    let suffix = if position.last { spec.end_of_word_suffix.as_str() } else { "" };
    format!("{prefix}{c}{suffix}")
}
