//! BPE from left to right, the longest entry first, in linear time: no pair is ever looked for.
//!
//! BPE of a text is the only sequence of entries in which every two neighbours are what BPE makes of the two
//! alone, and every one what it makes of that alone. (If a merge crossed a border of such a sequence, take the
//! first: up to then both sides had been joined as they are alone, so it would cross there too. And where none
//! crosses, every part becomes what it is alone.) So a sequence that is begun right and ends with the text is
//! the answer; a place that no longer can be left is remembered as dead, and the entry before is tried shorter.
//! The same argument says that a place is reached in one way only, so it is left for good when it is dead.
//!
//! halves    what entries are joined from, and whether two may be neighbours
//! joins     which two entries join to which
//! verdicts  which were last found to be, or not
//! prefixes  the entries that a text begins with
//! stored    keeps them in files
//! rest      what is left where that takes too long
//! rows      words that are not long, many at once
//! stretches what is decided of a long word before its end
//!
//! New words of a text, most of them not long and spelled by their bytes, are joined at once instead, merge by merge:
//! `piecework_kernels::merges` has their rows. Both ways find what BPE makes of a word.
//!
//! What it demands:
//! - the merge of the lowest rank comes first, the leftmost of equals; none is left out at random;
//! - every symbol that a word begins with is an entry, told by its bytes, and none begins with another. Where
//!   one is not known nothing is joined, so the word ends before it;
//! - merges are given by rank. Several may make one entry: the first that can happen counts, as no other can.
//!   Entries that no merge can make are not matched;
//! - no merge is there twice, and none can join what only a later one makes: both are checked.
//!
//! The published description of the idea is the documentation of GitHub's `bpe` crate (van Antwerpen and
//! Neubeck 2024, "So many tokens, so little time").

mod interleaved;
mod merge_table;
mod prefixes;
mod rest;
#[cfg(test)]
mod small;
mod split_table;
#[cfg(test)]
mod splitting_tests;
mod stored;
mod stretches;
mod verdicts;

use piecework_kernels::merges::BytePairs;

pub(super) use self::interleaved::ByRows;
use self::prefixes::{Match, Prefixes};
pub(in crate::model) use self::split_table::Halves;
use self::verdicts::Verdicts;
use super::merges::Merge;
use crate::model::ByteAdjacency;
use crate::table_sections::TableSections;

/// Nothing of what numbers stand for here.
const NONE: u32 = u32::MAX;

/// Looks at bytes, matches and merges for each byte of a word, on average, after which another way is better: in
/// runs of one letter, say, entries may be tried in vain at every place.
const MOST_LOOKS: usize = 32;
/// Such looks that every word has.
const FREE_LOOKS: usize = 4096;
/// So many bytes may have one place that cannot be left, and every word some.
const BYTES_PER_DEAD: usize = 2;
const FREE_DEAD: usize = 64;

/// What is joined to what, by numbers of entries below `entry_bound`.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct Rules<'r> {
    pub(in crate::model) entry_bound: usize,
    /// The entries that words begin with.
    pub(in crate::model) symbols: &'r [u32],
    /// The merges by rank.
    pub(in crate::model) merges: &'r [Merge],
    /// Entries that are taken where they are the whole word, even if merges do not make them.
    pub(in crate::model) whole_words: &'r [u32],
    /// Tables that a file kept, if it did.
    pub(in crate::model) stored: &'r TableSections,
}

/// The entries that merges make, and how.
#[derive(Clone, Debug)]
pub(in crate::model) struct Linear {
    halves: Halves,
    prefixes: Prefixes,
    /// The entries by the time at which they are made, then those that only whole words are.
    entries: Vec<u32>,
    /// Where symbols are the bytes, and nothing but merges makes entries: words that are not long go by rows.
    byte_pairs: Option<BytePairs>,
    /// There, too, words may be taken apart where nothing joins.
    borders: Option<ByteAdjacency>,
    /// The most bytes that one of them has.
    longest: usize,
    /// After how many bytes it is asked what of them is decided.
    stretch: usize,
}

/// Memory for the way through one word.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct Walk {
    taken: Vec<Match>,
    /// A bit for each place that cannot be left; none while there is no such place.
    dead: Vec<u64>,
    word_len: usize,
    /// How many more looks are worth while.
    looks: usize,
    /// How many more dead places.
    dead_left: usize,
    verdicts: Verdicts,
}

impl Linear {
    /// Make the tables; `push_bytes` appends the bytes of an entry. None if merges are not in order, or too many.
    pub(in crate::model) fn compile(
        rules: &Rules<'_>,
        push_bytes: impl Fn(u32, &mut Vec<u8>),
    ) -> Option<Self> {
        let (halves, mut entries) = Halves::number(rules)?;
        let first_whole = entries.len();
        let mut is_made = vec![false; rules.entry_bound];
        entries.iter().for_each(|&entry| is_made[entry as usize] = true);
        entries.extend(rules.whole_words.iter().filter(|&&entry| !is_made[entry as usize]));
        let mut texts = Texts::default();
        rules.symbols.iter().for_each(|&symbol| texts.push(|bytes| push_bytes(symbol, bytes)));
        halves.of_joined().for_each(|(left, right)| texts.push_join(left, right));
        entries[first_whole..].iter().for_each(|&entry| texts.push(|bytes| push_bytes(entry, bytes)));
        let bytes: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        let are_bytes = halves.symbols() == 256 && texts.bytes.starts_with(&bytes);
        let goes_by_rows = are_bytes && entries.len() == first_whole;
        let byte_pairs = goes_by_rows.then(|| halves.byte_pairs());
        let texts = texts.all();
        let borders = goes_by_rows.then(|| ByteAdjacency::of(texts.iter().copied()));
        let prefixes = Prefixes::restore_or_make(rules.stored, &texts, first_whole as u32)?;
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let stretch = stretches::stretch(longest);
        Some(Self { halves, prefixes, entries, byte_pairs, borders, longest, stretch })
    }

    /// Give `found` the entries of a word and how many bytes each has, up to a symbol that is not known; gives
    /// how many bytes they have. Where it takes too long they are fewer, but right as far as they go.
    pub(in crate::model) fn segment(
        &self,
        word: &[u8],
        walk: &mut Walk,
        mut found: impl FnMut(u32, usize),
    ) -> usize {
        let (longest, looked) = self.prefixes.longest(word);
        if longest.len as usize == word.len() {
            found(self.entries[longest.entry as usize], word.len());
            return word.len();
        }
        if looked as usize == word.len() {
            if let Some(entry) = self.prefixes.whole(word) {
                found(self.entries[entry as usize], word.len());
                return word.len();
            }
        }
        let give = |taken: Match| found(self.entries[taken.entry as usize], taken.len as usize);
        self.walk(word, longest, walk, give)
    }

    /// Where words may be taken apart, if that is known.
    pub(in crate::model) fn borders(&self) -> Option<&ByteAdjacency> {
        self.borders.as_ref()
    }

    /// Whether a word begins with a symbol that is known.
    pub(in crate::model) fn knows(&self, word: &[u8]) -> bool {
        self.prefixes.longest(word).0.len > 0
    }

    /// Take entries of a word, of which the longest that it begins with is known, and give them out.
    fn walk(&self, word: &[u8], first: Match, walk: &mut Walk, mut give: impl FnMut(Match)) -> usize {
        walk.begin(word.len());
        let (mut at, mut given) = (first.len as usize, 0);
        walk.taken.extend((first.len > 0).then_some(first));
        loop {
            let end = word.len().min(at.saturating_add(self.stretch));
            match self.take_up_to(end, word, at, walk) {
                None => return given,
                Some(reached) => at = reached,
            }
            if at < end || at == word.len() {
                walk.taken.drain(..).for_each(give);
                return at;
            }
            let decided = self.decided(word, at, walk);
            for taken in walk.taken.drain(..decided) {
                given += taken.len as usize;
                give(taken);
            }
        }
    }

    /// Take entries from a place on until they reach another one, or a symbol that is not known; returns where
    /// they end.
    #[inline]
    fn take_up_to(&self, end: usize, word: &[u8], mut at: usize, walk: &mut Walk) -> Option<usize> {
        while at < end {
            let (longest, looked) = self.prefixes.longest(&word[at..]);
            if longest.len == 0 {
                break;
            }
            at = self.take(longest, at, walk)?;
            walk.look(looked)?;
        }
        Some(at)
    }

    /// Take an entry at a place, or the longest shorter one that may follow what was taken before, or let
    /// another be taken before; returns where it ends.
    #[inline]
    fn take(&self, mut next: Match, mut at: usize, walk: &mut Walk) -> Option<usize> {
        loop {
            let end = at + next.len as usize;
            if !walk.is_dead(end) && self.may_follow(next, walk) {
                walk.taken.push(next);
                return Some(end);
            }
            walk.look(1)?;
            next = self.prefixes.shorter(next.entry);
            while next.len == 0 {
                walk.set_dead(at)?;
                let last = walk.taken.pop()?;
                walk.look(1)?;
                at -= last.len as usize;
                next = self.prefixes.shorter(last.entry);
            }
        }
    }

    /// Whether a match may stand behind what was taken last.
    #[inline]
    fn may_follow(&self, next: Match, walk: &mut Walk) -> bool {
        let Walk { taken, looks, verdicts, .. } = walk;
        let Some(&last) = taken.last() else { return true };
        verdicts.get_or_find(last.entry, next.entry, || {
            *looks = looks.saturating_sub((last.len + next.len) as usize);
            self.halves.stay_apart(last.entry, next.entry)
        })
    }

    /// Take the tables apart that take long to make.
    pub(in crate::model) fn store(&self, parts: &mut TableSections) {
        self.prefixes.store(parts);
    }

    /// The memory of the others.
    pub(in crate::model) fn bytes(&self) -> usize {
        self.halves.bytes()
            + self.byte_pairs.as_ref().map_or(0, BytePairs::bytes)
            + self.borders.as_ref().map_or(0, ByteAdjacency::bytes)
            + size_of_val(self.entries.as_slice())
    }
}

impl Walk {
    fn begin(&mut self, word_len: usize) {
        self.taken.clear();
        self.dead.clear();
        self.word_len = word_len;
        self.looks = FREE_LOOKS + MOST_LOOKS * word_len;
        self.dead_left = FREE_DEAD + word_len / BYTES_PER_DEAD;
    }

    /// Count looks; none if they are too many.
    fn look(&mut self, times: u32) -> Option<()> {
        self.looks = self.looks.checked_sub(times as usize)?;
        Some(())
    }

    #[inline]
    fn is_dead(&self, at: usize) -> bool {
        self.dead.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0)
    }

    #[cold]
    fn set_dead(&mut self, at: usize) -> Option<()> {
        if self.dead.is_empty() {
            self.dead.resize(self.word_len / 64 + 1, 0);
        }
        self.dead[at / 64] |= 1 << (at % 64);
        self.dead_left = self.dead_left.checked_sub(1)?;
        Some(())
    }
}

/// The bytes of entries, one after another.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, push_bytes: impl FnOnce(&mut Vec<u8>)) {
        push_bytes(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Add the bytes of two that have been added, by their numbers.
    fn push_join(&mut self, left: u32, right: u32) {
        for number in [left, right] {
            self.bytes.extend_from_within(self.span(number as usize));
        }
        self.ends.push(self.bytes.len());
    }

    fn span(&self, number: usize) -> std::ops::Range<usize> {
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }

    fn all(&self) -> Vec<&[u8]> {
        (0..self.ends.len()).map(|number| &self.bytes[self.span(number)]).collect()
    }
}
