//! The entries of single characters: as they are at the start of a word, with the prefix inside.

use rustc_hash::FxHashMap;

use super::spec::WordPieceTrainSpec;
use crate::alphabet::{Alphabet, CharPosition};
use crate::count::Counts;
use crate::entries::Entries;
use crate::AlphabetOrder;

/// The entries of the alphabet in vocabulary order.
///
/// For the score `Frequency`, all characters without the prefix come first, as in `tokenizers`. For others,
/// each character has the forms in which it occurs, and all forms are sorted together. `alphabet_order` then
/// arranges them.
pub(super) fn alphabet_entries(
    counts: &Counts,
    alphabet: &Alphabet,
    spec: &WordPieceTrainSpec,
) -> Vec<String> {
    let prefix = &spec.continuing_subword_prefix;
    let frequency = spec.learner.as_learn().has_tokenizers_alphabet();
    let mut initial: Vec<String> = alphabet
        .select(|usage| frequency || usage.begins_words() || usage.required)
        .map(String::from)
        .collect();
    let mut continuing: Vec<String> = alphabet
        .select(|usage| usage.continues_words() || (usage.required && !frequency))
        .map(|character| format!("{prefix}{character}"))
        .collect();
    initial.sort_unstable();
    continuing.sort_unstable();
    initial.append(&mut continuing);
    if !frequency && spec.alphabet_order != AlphabetOrder::WordStartsFirst {
        initial.sort_unstable();
    }
    let prefix_at = |first: bool| if first { "" } else { prefix.as_str() };
    let form = |c: char, position: CharPosition| format!("{}{c}", prefix_at(position.first));
    spec.alphabet_order.arrange(&mut initial, counts, &spec.initial_alphabet, form);
    initial
}

/// The length in characters of the continuation entry that a word begins with, if it begins with one.
///
/// Only words that begin with the prefix itself, such as `##a`, do.
pub(super) fn continuation_like_start(alphabet: &Alphabet, word: &str, prefix: &str) -> Option<u32> {
    let next = word.strip_prefix(prefix)?.chars().next()?;
    let usage = alphabet.get(next)?;
    (usage.continues_words() || usage.required).then(|| prefix.chars().count() as u32 + 1)
}

/// The ids of the entries of single characters.
pub(super) struct CharEntries {
    initial: FxHashMap<char, u32>,
    continuing: FxHashMap<char, u32>,
}

impl CharEntries {
    /// Look up the entries of all characters of the alphabet that occur in the words.
    pub(super) fn new(
        entries: &Entries,
        alphabet: &Alphabet,
        spec: &WordPieceTrainSpec,
        counts: &Counts,
    ) -> Self {
        let mut found = Self { initial: FxHashMap::default(), continuing: FxHashMap::default() };
        for (word, _) in counts.iter() {
            for (at, c) in word.chars().enumerate().filter(|&(_, c)| alphabet.contains(c)) {
                found.look_up(at == 0, c, entries, &spec.continuing_subword_prefix);
            }
        }
        found
    }

    fn look_up(&mut self, is_initial: bool, character: char, entries: &Entries, prefix: &str) {
        let (ids, prefix) =
            if is_initial { (&mut self.initial, "") } else { (&mut self.continuing, prefix) };
        if ids.contains_key(&character) {
            return;
        }
        if let Some(id) = entries.find(&format!("{prefix}{character}")) {
            ids.insert(character, id);
        }
    }

    /// The entry of a character at the start of a word, or inside.
    pub(super) fn get(&self, is_initial: bool, character: char) -> Option<u32> {
        let ids = if is_initial { &self.initial } else { &self.continuing };
        ids.get(&character).copied()
    }
}
