//! Decomposition and composition of characters for the normalization forms (UAX #15), with Unicode 9.0 as
//! in tokenizers 0.23.

use super::classes::{BLOCK_BITS, BLOCK_MASK};
use super::recent_tables::{OTHER_FOLDS, RECENT_COMPOSITIONS, RECENT_DECOMPOSITIONS};
use super::row::Row;
use super::tables::{COMPOSITIONS, MAPPED_CHARS, ROWS, ROW_BLOCKS, ROW_INDEX};

/// A normalization form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalForm {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

impl NormalForm {
    /// Return whether the form uses compatibility decompositions.
    #[must_use]
    pub const fn is_compatible(self) -> bool {
        matches!(self, Self::Nfkc | Self::Nfkd)
    }

    /// Return whether the form composes.
    #[must_use]
    pub const fn composes(self) -> bool {
        matches!(self, Self::Nfc | Self::Nfkc)
    }
}

/// How normalization treats a code point.
#[derive(Clone, Copy, Debug)]
pub struct FormTraits {
    combining_class: u8,
    flags: u8,
}

impl FormTraits {
    /// Look up a character.
    #[inline]
    #[must_use]
    pub fn of(c: char) -> Self {
        let row = row_of(c);
        Self { combining_class: row.combining_class, flags: row.flags }
    }

    /// Return the canonical combining class.
    #[inline]
    #[must_use]
    pub const fn combining_class(self) -> u8 {
        self.combining_class
    }

    /// Return whether the character is a mark (category M).
    #[inline]
    #[must_use]
    pub const fn is_mark(self) -> bool {
        self.flags & 1 != 0
    }

    /// Return whether its decomposition can be reordered before the preceding character, or compose with
    /// it.
    #[inline]
    #[must_use]
    pub const fn joins(self, form: NormalForm) -> bool {
        self.flags & if form.is_compatible() { 4 } else { 2 } != 0
    }

    /// Return whether the form changes the character, or can compose it with the preceding one.
    #[inline]
    #[must_use]
    pub const fn needs_work(self, form: NormalForm) -> bool {
        self.flags & (8 << form as u8) != 0
    }
}

/// Call `emit` with the full canonical decomposition of a character, without canonical ordering.
pub fn decompose(c: char, emit: impl FnMut(char)) {
    decompose_for(NormalForm::Nfd, c, emit);
}

/// Call `emit` with the full decomposition of a character for a form, without canonical ordering.
pub fn decompose_for(form: NormalForm, c: char, mut emit: impl FnMut(char)) {
    if let Some(jamo) = hangul_jamo(c) {
        jamo.into_iter().flatten().for_each(emit);
        return;
    }
    let row = row_of(c);
    match mapped(if form.is_compatible() { row.compatible } else { row.canonical }) {
        [] => emit(c),
        parts => parts.iter().for_each(|&part| emit(part)),
    }
}

/// Return the character that two characters compose to.
#[must_use]
pub fn compose(first: char, second: char) -> Option<char> {
    hangul_syllable(first, second).or_else(|| {
        let pair = (u32::from(first), u32::from(second));
        let at = COMPOSITIONS.binary_search_by_key(&pair, |&(first, second, _)| (first, second));
        at.ok().map(|at| COMPOSITIONS[at].2)
    })
}

/// Return the canonical combining class of a character.
#[inline]
#[must_use]
pub fn combining_class(c: char) -> u8 {
    row_of(c).combining_class
}

// Hangul by arithmetic: Unicode core specification, section 3.12.
const SYLLABLES: u32 = 0xAC00;
const LEADS: u32 = 0x1100;
const VOWELS: u32 = 0x1161;
/// One before the first trailing consonant: index 0 means that there is none.
const TAILS: u32 = 0x11A7;
const VOWEL_COUNT: u32 = 21;
const TAIL_COUNT: u32 = 28;
const SYLLABLE_COUNT: u32 = 19 * VOWEL_COUNT * TAIL_COUNT;

/// Return the jamo of a Hangul syllable.
#[inline]
fn hangul_jamo(c: char) -> Option<[Option<char>; 3]> {
    let index = u32::from(c).checked_sub(SYLLABLES).filter(|&i| i < SYLLABLE_COUNT)?;
    let tail = index % TAIL_COUNT;
    Some([
        char::from_u32(LEADS + index / (VOWEL_COUNT * TAIL_COUNT)),
        char::from_u32(VOWELS + index % (VOWEL_COUNT * TAIL_COUNT) / TAIL_COUNT),
        char::from_u32(TAILS + tail).filter(|_| tail != 0),
    ])
}

/// Return the Hangul syllable that two characters compose to.
fn hangul_syllable(first: char, second: char) -> Option<char> {
    let (first, second) = (u32::from(first), u32::from(second));
    if let (0x1100..=0x1112, 0x1161..=0x1175) = (first, second) {
        return char::from_u32(SYLLABLES + ((first - LEADS) * VOWEL_COUNT + second - VOWELS) * TAIL_COUNT);
    }
    let without_tail = first.checked_sub(SYLLABLES).filter(|&i| i < SYLLABLE_COUNT && i % TAIL_COUNT == 0);
    match (without_tail, second) {
        (Some(_), 0x11A8..=0x11C2) => char::from_u32(first + second - TAILS),
        _ => None,
    }
}

/// Return the row of a character.
#[inline]
pub(crate) fn row_of(c: char) -> &'static Row {
    let code = c as usize;
    let block = ROW_BLOCKS[code >> BLOCK_BITS] as usize;
    &ROWS[ROW_INDEX[(block << BLOCK_BITS) | (code & BLOCK_MASK)] as usize]
}

/// Return the characters of a mapping.
#[inline]
pub(crate) fn mapped((start, len): (u16, u8)) -> &'static [char] {
    &MAPPED_CHARS[usize::from(start)..usize::from(start) + usize::from(len)]
}

/// Call `emit` with the lowercase of a character, without regard to context (Unicode 17.0).
pub fn lowercase(c: char, mut emit: impl FnMut(char)) {
    match mapped(row_of(c).lower) {
        [] => emit(c),
        parts => parts.iter().for_each(|&part| emit(part)),
    }
}

// Normalization and case folding of Unicode 17.0, for the normalization rules of SentencePiece.
//
// Decompositions of assigned characters never change, so the tables only add what is newer than Unicode 9.0.

/// Call `emit` with the full compatibility decomposition of a character, without canonical ordering.
pub fn decompose_recent(c: char, emit: impl FnMut(char)) {
    match RECENT_DECOMPOSITIONS.binary_search_by_key(&c, |&(c, _)| c) {
        Ok(at) => RECENT_DECOMPOSITIONS[at].1.chars().for_each(emit),
        Err(_) => decompose_for(NormalForm::Nfkd, c, emit),
    }
}

/// Return the character that two characters compose to.
#[must_use]
pub fn compose_recent(first: char, second: char) -> Option<char> {
    compose(first, second).or_else(|| {
        let at = RECENT_COMPOSITIONS.binary_search_by_key(&(first, second), |&(pair, _)| pair);
        at.ok().map(|at| RECENT_COMPOSITIONS[at].1)
    })
}

/// Return the simple case folding of a character.
#[must_use]
pub fn fold_case(c: char) -> char {
    if let Ok(at) = OTHER_FOLDS.binary_search_by_key(&c, |&(c, _)| c) {
        return OTHER_FOLDS[at].1;
    }
    let mut fold = c;
    lowercase(c, |lower| fold = lower);
    fold
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decomposed(c: char) -> String {
        let mut out = String::new();
        decompose(c, |d| out.push(d));
        out
    }

    #[test]
    fn decomposes_letters_and_hangul() {
        assert_eq!(decomposed('é'), "e\u{301}");
        assert_eq!(decomposed('각'), "\u{1100}\u{1161}\u{11A8}");
        assert_eq!(decomposed('가'), "\u{1100}\u{1161}");
        assert_eq!(decomposed('x'), "x");
    }

    #[test]
    fn composes_decomposed_characters() {
        assert_eq!(compose('e', '\u{301}'), Some('é'));
        assert_eq!(compose('\u{1100}', '\u{1161}'), Some('가'));
        assert_eq!(compose('가', '\u{11A8}'), Some('각'));
        assert_eq!(compose('각', '\u{11A8}'), None);
        assert_eq!(compose('\u{c8e0}', '\u{11a7}'), None);
        assert_eq!(compose('\u{11099}', '\u{110BA}'), Some('\u{1109A}'));
        assert_eq!(compose('\u{915}', '\u{93C}'), None, "excluded from composition");
    }

    #[test]
    fn lowercases_without_context() {
        let mut out = String::new();
        "İΣ".chars().for_each(|c| lowercase(c, |l| out.push(l)));
        assert_eq!(out, "i\u{307}σ");
    }

    #[test]
    fn includes_characters_newer_than_unicode_9() {
        let mut parts = String::new();
        decompose_recent('\u{32FF}', |c| parts.push(c));
        assert_eq!(parts, "令和");
        assert_eq!(compose_recent('\u{11935}', '\u{11930}'), Some('\u{11938}'));
        assert_eq!(compose_recent('e', '\u{301}'), Some('é'));
    }

    #[test]
    fn folds_one_character_to_one() {
        let folded: String = "AΣςſİß\u{13A0}\u{AB70}\u{16EA0}".chars().map(fold_case).collect();
        assert_eq!(folded, "aσσsİß\u{13A0}\u{13A0}\u{16EBB}");
    }
}
