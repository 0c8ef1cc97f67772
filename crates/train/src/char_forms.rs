//! The entries of single characters: bare, and with the prefix and the suffix by their position in a word.

use rustc_hash::FxHashMap;

use crate::alphabet::{char_positions, Alphabet, CharPosition, CharUsage};
use crate::count::Counts;
use crate::entries::Entries;
use crate::merges::PackedWords;
use crate::progress::Progress;
use crate::AlphabetOrder;
use piecework_core::error::Error;

/// The strings that mark characters by their position in a word; often empty.
#[derive(Clone, Copy, Default)]
pub(crate) struct Affixes<'a> {
    /// Precedes characters that do not begin a word.
    pub(crate) prefix: &'a str,
    /// Follows characters that end a word.
    pub(crate) suffix: &'a str,
}

impl Affixes<'_> {
    fn form(self, c: char, position: CharPosition) -> String {
        let prefix = if position.first { "" } else { self.prefix };
        let suffix = if position.last { self.suffix } else { "" };
        format!("{prefix}{c}{suffix}")
    }

    /// Return the entries of the alphabet in vocabulary order.
    ///
    /// With `all_bare`, as in `tokenizers`, all bare characters precede the forms with prefix or suffix that occur.
    /// Otherwise each character has the forms in which it occurs, or both if it is required, and all forms are
    /// sorted together. `order` then arranges them; `initial` is the initial alphabet.
    pub(crate) fn alphabet_entries(
        self,
        counts: &Counts,
        alphabet: &Alphabet,
        all_bare: bool,
        order: AlphabetOrder,
        initial: &[char],
    ) -> Vec<String> {
        let mut entries: Vec<String> = alphabet
            .select(|usage| all_bare || usage.begins_words() || usage.required)
            .map(String::from)
            .collect();
        let mut affixed: Vec<String> = Vec::new();
        for position in CharPosition::ALL {
            let is_used = |usage: &CharUsage| match all_bare {
                true => usage.at(position),
                false => !position.first && (usage.at(position) || usage.required),
            };
            affixed.extend(alphabet.select(is_used).map(|c| self.form(c, position)));
        }
        entries.sort_unstable();
        affixed.sort_unstable();
        entries.append(&mut affixed);
        if !all_bare && order != AlphabetOrder::WordStartsFirst {
            entries.sort_unstable();
        }
        order.arrange(&mut entries, counts, initial, |c, position| self.form(c, position));
        entries
    }
}

/// Looks up the entry of a character by its position in a word, and caches it.
pub(crate) struct CharForms<'a> {
    entries: &'a Entries,
    alphabet: &'a Alphabet,
    affixes: Affixes<'a>,
    known: FxHashMap<char, [Option<u32>; 4]>,
}

impl<'a> CharForms<'a> {
    pub(crate) fn new(entries: &'a Entries, alphabet: &'a Alphabet, affixes: Affixes<'a>) -> Self {
        Self { entries, alphabet, affixes, known: FxHashMap::default() }
    }

    /// Segment the words, of `chars` characters in all, into characters.
    ///
    /// Characters outside the alphabet are skipped or, with `whole_words`, the words that contain them.
    pub(crate) fn segment(
        &mut self,
        counts: &Counts,
        chars: usize,
        whole_words: bool,
        progress: &mut Progress<'_>,
    ) -> Result<PackedWords, Error> {
        let mut words = PackedWords::with_capacity(chars, counts.len())?;
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            if !whole_words || self.alphabet.contains_all(word) {
                words.push(
                    char_positions(word).filter_map(|(c, position)| self.entry(c, position)),
                    count,
                )?;
            }
        }
        words.numbered()
    }

    #[inline]
    fn entry(&mut self, c: char, position: CharPosition) -> Option<u32> {
        match self.known.get(&c) {
            Some(entries) => entries[position.index()],
            None => self.look_up(c)[position.index()],
        }
    }

    fn look_up(&mut self, c: char) -> [Option<u32>; 4] {
        let Self { entries, alphabet, affixes, known } = self;
        let found = CharPosition::ALL.map(|position| {
            alphabet.contains(c).then(|| entries.find(&affixes.form(c, position))).flatten()
        });
        known.insert(c, found);
        found
    }
}
