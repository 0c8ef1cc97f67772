//! The alphabet: the characters that are entries, their positions in words, and their entries there: bare, or with a prefix
//! and a suffix.
//!
//! Occurrences are weighted by word counts. A limit keeps the first characters by (required, count
//! descending, code point).

use std::cmp::Reverse;

use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Deserializer};

use crate::count::{Counts, MarkedSides, Part};
use crate::entries::Entries;
use crate::merges::PackedWords;
use crate::progress::Progress;
use piecework_core::error::{Error, ErrorKind};

/// The characters below this code point are counted and looked up in an array, not in a hash table: byte-level words have
/// no others, most texts few others; low in tests.
const LOW: usize = if cfg!(test) { b'c' as usize } else { 0x180 };

/// The order of the entries of single characters in the vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlphabetOrder {
    /// By code points, in the groups of the model.
    #[default]
    Sorted,
    /// By first occurrence in the corpus, then the others sorted; requires counts with first positions.
    FirstSeen,
    /// The characters of the initial alphabet in their order, then the others sorted.
    Given,
    /// WordPiece: the entries at the start of words, then those inside, each part by code points.
    WordStartsFirst,
}

/// The positions in words for which the characters of an alphabet have entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlphabetForms {
    /// Those that the pipeline can produce: the start of words, and the inside unless the pipeline isolates the character.
    #[default]
    Possible,
    /// The start of words, and the other positions that occur in the corpus, as in `tokenizers`.
    StartAndSeen,
    /// Those that occur in the corpus; both for characters of the initial alphabet.
    Seen,
}

/// Read characters from the string of them all.
pub(crate) fn characters<'de, D: Deserializer<'de>>(settings: D) -> Result<Vec<char>, D::Error> {
    Ok(String::deserialize(settings)?.chars().collect())
}

impl AlphabetOrder {
    /// Reject counts without the positions that the order needs.
    pub(super) fn check(self, counts: &Counts) -> Result<(), Error> {
        if self != Self::FirstSeen || counts.first().is_some() {
            return Ok(());
        }
        let found = "\"first-seen\" with counts that have no first positions";
        let expected = "counts of one run, shards counted with distinct source numbers (first_source=, source= or \
                        `piecework count --first-source`), Counts(..., first=...), or alphabet_order=\"sorted\"";
        Err(Error::new(ErrorKind::Argument, "alphabet_order", found, expected))
    }

    /// Arrange sorted entries; `form` returns the entry of a character by its position in a word.
    pub(super) fn arrange(
        self,
        entries: &mut [String],
        counts: &[&Counts],
        initial: &[char],
        form: impl Fn(char, CharPosition) -> String,
    ) {
        let mut ranks: HashMap<String, usize> = HashMap::default();
        match self {
            Self::Sorted | Self::WordStartsFirst => return,
            Self::Given => {
                for (rank, character) in initial.iter().enumerate() {
                    ranks.entry(character.to_string()).or_insert(rank);
                }
            }
            Self::FirstSeen => {
                let mut seen: HashSet<(char, usize)> = HashSet::default();
                let words = counts.iter().flat_map(|counts| counts.iter_parts());
                for (character, position) in words.flat_map(|(word, _)| char_positions(word)) {
                    if seen.insert((character, position.index())) {
                        let rank = ranks.len();
                        ranks.entry(form(character, position)).or_insert(rank);
                    }
                }
            }
        }
        entries.sort_by_key(|entry| ranks.get(entry).copied().unwrap_or(usize::MAX));
    }
}

/// The characters that are entries, with their use.
pub(super) struct Alphabet {
    kept: HashMap<char, CharUsage>,
}

/// The count of a character, and its positions in words.
#[derive(Clone, Copy, Default)]
pub(super) struct CharUsage {
    count: u64,
    /// By `CharPosition`: whether the character occurs there.
    positions: [bool; 4],
    /// Whether the alphabet includes the character in any case.
    required: bool,
    /// Whether the pipeline makes each such character a word of its own.
    isolated: bool,
}

/// A position in a word: whether it is the first, and whether it is the last.
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
    /// Return whether the character occurs in a position.
    pub(super) fn at(&self, position: CharPosition) -> bool {
        self.positions[position.index()]
    }

    /// Return whether the character has an entry for a position other than a bare one.
    fn has_entry(&self, position: CharPosition, forms: AlphabetForms) -> bool {
        match forms {
            AlphabetForms::Possible => !position.first && (!self.isolated || self.at(position)),
            AlphabetForms::StartAndSeen => self.at(position),
            AlphabetForms::Seen => !position.first && (self.at(position) || self.required),
        }
    }

    /// Return whether a word begins with the character.
    fn begins_words(&self) -> bool {
        CharPosition::ALL.iter().any(|&position| position.first && self.at(position))
    }

    /// Return whether the character has an entry inside words.
    pub(super) fn has_inner_entry(&self, forms: AlphabetForms) -> bool {
        CharPosition::ALL.iter().any(|&position| !position.first && self.has_entry(position, forms))
    }
}

impl Alphabet {
    /// Count the characters of all words, perhaps of several sources, and keep at most `limit`.
    pub(super) fn choose(
        counts: &[&Counts],
        required: &[char],
        limit: Option<usize>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut kept: HashMap<char, CharUsage> = HashMap::default();
        let mut low = vec![CharUsage::default(); LOW];
        for (word, count) in counts.iter().flat_map(|counts| counts.iter_parts()) {
            progress.advance(word.text.len())?;
            for (character, position) in char_positions(word) {
                let usage = match low.get_mut(character as usize) {
                    Some(usage) => usage,
                    None => kept.entry(character).or_default(),
                };
                usage.count += count;
                usage.positions[position.index()] = true;
            }
        }
        let occurs = |usage: &CharUsage| usage.positions.contains(&true);
        kept.extend(('\0'..).zip(low).filter(|(_, usage)| occurs(usage)));
        for &character in required {
            kept.entry(character).or_default().required = true;
        }
        Ok(Self { kept: most_frequent(kept, limit) })
    }

    /// Mark characters that the pipeline makes words of their own.
    pub(super) fn isolate(&mut self, characters: &[char]) {
        for character in characters {
            if let Some(usage) = self.kept.get_mut(character) {
                usage.isolated = true;
            }
        }
    }

    /// Return whether the alphabet contains a character.
    pub(super) fn contains(&self, character: char) -> bool {
        self.kept.contains_key(&character)
    }

    /// Return whether the alphabet contains all characters of a word.
    pub(super) fn contains_all(&self, word: &str) -> bool {
        word.chars().all(|character| self.contains(character))
    }

    /// Return the use of a character, if the alphabet contains it.
    pub(super) fn get(&self, character: char) -> Option<&CharUsage> {
        self.kept.get(&character)
    }

    /// Return the characters whose use meets a condition, in no order.
    pub(super) fn select<'a>(
        &'a self,
        condition: impl Fn(&CharUsage) -> bool + 'a,
    ) -> impl Iterator<Item = char> + 'a {
        self.kept.iter().filter(move |(_, usage)| condition(usage)).map(|(&character, _)| character)
    }
}

/// Return the characters of a part of a word with their positions in the word.
pub(super) fn char_positions(part: Part<'_>) -> impl Iterator<Item = (char, CharPosition)> + '_ {
    part.text.char_indices().map(move |(at, character)| {
        let is_last = at + character.len_utf8() == part.text.len();
        (character, CharPosition { first: part.begins && at == 0, last: part.ends && is_last })
    })
}

fn most_frequent(mut kept: HashMap<char, CharUsage>, limit: Option<usize>) -> HashMap<char, CharUsage> {
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

/// The strings that mark characters by their position in a word; often empty.
#[derive(Clone, Copy, Default)]
pub(super) struct Affixes<'a> {
    /// Precedes characters that do not begin a word.
    pub(super) prefix: &'a str,
    /// Follows characters that end a word.
    pub(super) suffix: &'a str,
}

impl Affixes<'_> {
    /// Return the sides at which parts of words differ from words.
    pub(super) fn marked_sides(self) -> MarkedSides {
        MarkedSides { starts: !self.prefix.is_empty(), ends: !self.suffix.is_empty() }
    }

    fn form(self, c: char, position: CharPosition) -> String {
        let prefix = if position.first { "" } else { self.prefix };
        let suffix = if position.last { self.suffix } else { "" };
        format!("{prefix}{c}{suffix}")
    }

    /// Return the entries of the alphabet in vocabulary order.
    ///
    /// With `bare_first`, as in `tokenizers`, all bare characters precede the forms with prefix or suffix. Otherwise
    /// all forms are sorted together. `order` then arranges them; `initial` is the initial alphabet.
    pub(super) fn alphabet_entries(
        self,
        counts: &[&Counts],
        alphabet: &Alphabet,
        forms: AlphabetForms,
        bare_first: bool,
        order: AlphabetOrder,
        initial: &[char],
    ) -> Vec<String> {
        let mut entries: Vec<String> = alphabet
            .select(|usage| forms != AlphabetForms::Seen || usage.begins_words() || usage.required)
            .map(String::from)
            .collect();
        let mut affixed: Vec<String> = Vec::new();
        for position in CharPosition::ALL {
            let has_entry = |usage: &CharUsage| usage.has_entry(position, forms);
            affixed.extend(alphabet.select(has_entry).map(|c| self.form(c, position)));
        }
        entries.sort_unstable();
        affixed.sort_unstable();
        entries.append(&mut affixed);
        if !bare_first && order != AlphabetOrder::WordStartsFirst {
            entries.sort_unstable();
        }
        order.arrange(&mut entries, counts, initial, |c, position| self.form(c, position));
        entries
    }
}

/// Looks up the entry of a character by its position in a word, and caches it.
pub(super) struct CharForms<'a> {
    entries: &'a Entries,
    alphabet: &'a Alphabet,
    affixes: Affixes<'a>,
    /// By code point.
    low: Vec<[Option<u32>; 4]>,
    known: HashMap<char, [Option<u32>; 4]>,
}

impl<'a> CharForms<'a> {
    pub(super) fn new(entries: &'a Entries, alphabet: &'a Alphabet, affixes: Affixes<'a>) -> Self {
        let mut forms = Self { entries, alphabet, affixes, low: Vec::new(), known: HashMap::default() };
        forms.low = ('\0'..).take(LOW).map(|c| forms.find(c)).collect();
        forms
    }

    /// Segment the words, of `chars` characters in all, into characters.
    ///
    /// Characters outside the alphabet are skipped or, with `whole_words`, the words that contain them.
    pub(super) fn segment(
        &mut self,
        counts: &Counts,
        chars: usize,
        whole_words: bool,
        progress: &mut Progress<'_>,
    ) -> Result<PackedWords, Error> {
        let mut words = PackedWords::with_capacity(chars, counts.len())?;
        self.append(&mut words, counts, whole_words, progress)?;
        words.numbered()
    }

    /// Append words as [`segment`](Self::segment) segments them.
    pub(super) fn append(
        &mut self,
        words: &mut PackedWords,
        counts: &Counts,
        whole_words: bool,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        for (word, count) in counts.iter_parts() {
            progress.advance(word.text.len())?;
            if !whole_words || self.alphabet.contains_all(word.text) {
                words.push(
                    char_positions(word).filter_map(|(c, position)| self.entry(c, position)),
                    count,
                )?;
            }
        }
        Ok(())
    }

    #[inline]
    fn entry(&mut self, c: char, position: CharPosition) -> Option<u32> {
        let entries = match self.low.get(c as usize).or_else(|| self.known.get(&c)) {
            Some(&entries) => entries,
            None => {
                let entries = self.find(c);
                self.known.insert(c, entries);
                entries
            }
        };
        entries[position.index()]
    }

    fn find(&self, c: char) -> [Option<u32>; 4] {
        let find = |position| self.entries.find(&self.affixes.form(c, position));
        CharPosition::ALL.map(|position| self.alphabet.contains(c).then(|| find(position)).flatten())
    }
}
