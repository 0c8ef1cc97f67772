//! Where a word of bytes may be taken apart: between two characters that no entry has side by side.
//!
//! No merge crosses such a place, so both sides become what they are alone. Long words of scripts without spaces fall
//! into single characters for the most part, and few of these are new.
//!
//! Entries may begin and end within characters: so of the character to the left only the end may be in an entry, and
//! of that to the right only the beginning.

use rustc_hash::FxHashSet;

/// The neighbours in entries that are not ASCII both.
#[derive(Clone, Debug)]
pub struct UnjoinedPairs {
    /// A bit for each hash of two neighbours; where it is not set no entry has them.
    bits: Vec<u64>,
    shift: u32,
}

/// How many bits there are for each pair: one place in 16 is kept together for nothing, at most.
const BITS_A_PAIR: usize = 16;
const LEAST_BITS: usize = 1 << 12;
/// In place of a character of which an entry has the last byte or some more.
const END_OF_CHAR: u32 = 0xFF << 24;

impl UnjoinedPairs {
    /// The neighbours in entries with these bytes.
    pub(super) fn of<'t>(entries: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut pairs = FxHashSet::default();
        for entry in entries.filter(|entry| !entry.is_ascii()) {
            let begins = (1..entry.len()).filter(|&at| !is_within_char(entry[at]));
            pairs.extend(begins.map(|at| pair_in_entry(entry, at)));
        }
        let bits = (pairs.len() * BITS_A_PAIR).next_power_of_two().max(LEAST_BITS);
        let mut built = Self { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() };
        for (one, next) in pairs {
            let at = built.place(one, next);
            built.bits[at / 64] |= 1 << (at % 64);
        }
        built
    }

    /// Append where the parts of a word of a text start and end.
    ///
    /// Every character is written as if a part began there, and what was none is written over: whether one does, nobody
    /// can foresee.
    pub fn push_parts(
        &self,
        text: &str,
        (start, end): (u32, u32),
        starts: &mut Vec<u32>,
        ends: &mut Vec<u32>,
    ) {
        let text = text.as_bytes();
        let (mut count, most) = (starts.len(), starts.len() + (end - start) as usize + 1);
        starts.resize(most, start);
        ends.resize(most, end);
        let mut one = Char::at(text, start as usize);
        let mut at = start + one.len;
        while at < end {
            let next = Char::at(text, at as usize);
            starts[count + 1] = at;
            ends[count] = at;
            count += usize::from(self.part(one, next));
            at += next.len;
            one = next;
        }
        ends[count] = end;
        starts.truncate(count + 1);
        ends.truncate(count + 1);
    }

    /// Whether no entry has these two characters, or the end of one and the beginning of the other, side by side.
    #[inline]
    fn part(&self, one: Char, next: Char) -> bool {
        let pairs = [
            (one.bytes, next.bytes),
            (one.bytes, next.first_two()),
            (one.bytes, next.first()),
            (END_OF_CHAR | one.last(), next.first()),
        ];
        let is_in_entry = pairs.iter().fold(false, |all, &(one, next)| all | self.may_have(one, next));
        (one.len | next.len) > 1 && !is_in_entry
    }

    #[inline]
    fn may_have(&self, one: u32, next: u32) -> bool {
        let at = self.place(one, next);
        self.bits[at / 64] >> (at % 64) & 1 != 0
    }

    #[inline]
    fn place(&self, one: u32, next: u32) -> usize {
        let pair = u64::from(one) << 32 | u64::from(next);
        (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// The memory it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.bits.as_slice())
    }
}

/// A character as its bytes, the first the lowest.
#[derive(Clone, Copy)]
struct Char {
    bytes: u32,
    len: u32,
}

impl Char {
    /// The character at a place of UTF-8.
    #[inline]
    fn at(text: &[u8], at: usize) -> Self {
        let len = len_of_char(text[at]);
        match text[at..].first_chunk() {
            Some(block) => Self { bytes: u32::from_le_bytes(*block) & (u32::MAX >> (32 - 8 * len)), len },
            None => Self { bytes: number(&text[at..at + len as usize]), len },
        }
    }

    fn first(self) -> u32 {
        self.bytes & 0xFF
    }

    fn first_two(self) -> u32 {
        self.bytes & 0xFFFF
    }

    fn last(self) -> u32 {
        self.bytes >> (8 * (self.len - 1))
    }
}

/// What an entry has before and behind the place where a character begins.
fn pair_in_entry(entry: &[u8], at: usize) -> (u32, u32) {
    let before = entry[..at].iter().rposition(|&byte| !is_within_char(byte)).filter(|&from| at - from <= 4);
    let len = len_of_char(entry[at]) as usize;
    let behind = &entry[at..entry.len().min(at + len)];
    match (before, behind.len() == len) {
        (None, _) => (END_OF_CHAR | u32::from(entry[at - 1]), number(&behind[..1])),
        (Some(from), true) => (number(&entry[from..at]), number(behind)),
        (Some(from), false) => (number(&entry[from..at]), number(&behind[..behind.len().min(2)])),
    }
}

/// Up to four bytes, the first the lowest.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// How many bytes a character has that begins with this one.
#[inline]
fn len_of_char(first: u8) -> u32 {
    match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

fn is_within_char(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::super::{Linear, Merge, Rules, Walk};
    use super::*;
    use crate::table_sections::TableSections;
    use proptest::prelude::*;

    const TEXT: &str = "aéèñ中丮𝄞";

    fn parts<'w>(borders: &UnjoinedPairs, word: &'w str) -> Vec<&'w str> {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        borders.push_parts(word, (0, word.len() as u32), &mut starts, &mut ends);
        let spans = starts.iter().zip(&ends);
        spans.map(|(&start, &end)| &word[start as usize..end as usize]).collect()
    }

    fn borders(entries: &[&[u8]]) -> UnjoinedPairs {
        UnjoinedPairs::of(entries.iter().copied())
    }

    #[test]
    fn words_are_parted_where_no_entry_has_both_sides() {
        let none = borders(&[b"ab", "中".as_bytes(), "é".as_bytes()]);
        assert_eq!(parts(&none, "中é中𝄞"), ["中", "é", "中", "𝄞"]);
        assert_eq!(parts(&none, "xyé"), ["xy", "é"]);
        assert_eq!(parts(&borders(&["a中é".as_bytes()]), "a中中é中"), ["a中", "中é", "中"]);
    }

    #[test]
    fn entries_may_begin_and_end_within_characters() {
        assert_eq!(parts(&borders(&[b"\xC3\xA9\xE4"]), "é中é丮éè𝄞"), ["é中", "é丮", "é", "è", "𝄞"]);
        assert_eq!(parts(&borders(&[b"\xC3\xA9\xE4\xB8"]), "é中é万éa"), ["é中", "é万", "é", "a"]);
        assert_eq!(parts(&borders(&[b"\xAD\xC3"]), "中é丮é"), ["中é", "丮", "é"]);
        assert_eq!(parts(&borders(&[b"a\xF0\x9D\x84"]), "a𝄞a"), ["a𝄞", "a"]);
    }

    /// All bytes, and what comes of those of `TEXT` by these pairs of them and what comes of them.
    fn linear(pairs: &[(usize, usize)]) -> Option<Linear> {
        let mut texts: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut used: Vec<usize> = TEXT.bytes().map(usize::from).collect();
        let mut merges = Vec::new();
        for &(left, right) in pairs {
            let (left, right) = (used[left % used.len()], used[right % used.len()]);
            let text = [&texts[left][..], &texts[right]].concat();
            if !texts.contains(&text) {
                let [left, right, joined] = [left, right, texts.len()].map(|entry| entry as u32);
                merges.push(Merge { left, right, joined });
                used.push(texts.len());
                texts.push(text);
            }
        }
        let (symbols, stored): (Vec<u32>, _) = ((0..256).collect(), &TableSections::default());
        let (entry_bound, merges) = (texts.len(), &merges);
        let rules = Rules { entry_bound, symbols: &symbols, merges, whole_words: &[], stored };
        Linear::compile(&rules, |entry, bytes| bytes.extend_from_slice(&texts[entry as usize]))
    }

    fn segment(linear: &Linear, word: &str) -> Vec<u32> {
        let mut entries = Vec::new();
        linear.segment(word.as_bytes(), &mut Walk::default(), |entry, _| entries.push(entry));
        entries
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn parts_become_together_what_the_word_becomes(
            pairs in prop::collection::vec((0..1000usize, 0..1000usize), 0..60),
            word in "[aéèñ中丮𝄞]{1,20}",
        ) {
            let Some(linear) = linear(&pairs) else { return Ok(()) };
            let parts = parts(linear.borders().unwrap(), &word);
            prop_assert_eq!(parts.concat(), word.as_str());
            let alone: Vec<u32> = parts.iter().flat_map(|part| segment(&linear, part)).collect();
            prop_assert_eq!(alone, segment(&linear, &word));
        }
    }
}
