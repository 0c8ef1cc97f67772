//! The four normal forms of Unicode (UAX #15): decomposition and composition of characters.

use super::mappings::{mapped, row_of};
use super::tables::COMPOSITIONS;

/// The four normal forms of Unicode (UAX #15).
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
    /// Whether compatibility characters decompose too.
    #[must_use]
    pub const fn is_compatible(self) -> bool {
        matches!(self, Self::Nfkc | Self::Nfkd)
    }

    /// Whether what was decomposed is composed again.
    #[must_use]
    pub const fn composes(self) -> bool {
        matches!(self, Self::Nfc | Self::Nfkc)
    }
}

/// How one code point behaves under normal forms.
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

    /// The canonical combining class.
    #[inline]
    #[must_use]
    pub const fn combining_class(self) -> u8 {
        self.combining_class
    }

    /// Whether it is a combining mark of any kind (M).
    #[inline]
    #[must_use]
    pub const fn is_mark(self) -> bool {
        self.flags & 1 != 0
    }

    /// Whether its decomposition can move before, or compose with, what stands before it.
    #[inline]
    #[must_use]
    pub const fn joins(self, form: NormalForm) -> bool {
        self.flags & if form.is_compatible() { 4 } else { 2 } != 0
    }

    /// Whether the form changes it, or can compose it with what stands before it.
    #[inline]
    #[must_use]
    pub const fn needs_work(self, form: NormalForm) -> bool {
        self.flags & (8 << form as u8) != 0
    }
}

/// Give the full canonical decomposition of a character, not yet in canonical order.
pub fn decompose(c: char, emit: impl FnMut(char)) {
    decompose_for(NormalForm::Nfd, c, emit);
}

/// Give the full decomposition of a character for a form, not yet in canonical order.
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

/// The character that two characters compose to.
#[must_use]
pub fn compose(first: char, second: char) -> Option<char> {
    hangul_syllable(first, second).or_else(|| {
        let pair = (u32::from(first), u32::from(second));
        let at = COMPOSITIONS.binary_search_by_key(&pair, |&(first, second, _)| (first, second));
        at.ok().map(|at| COMPOSITIONS[at].2)
    })
}

/// The canonical combining class of a character.
#[must_use]
pub fn combining_class(c: char) -> u8 {
    row_of(c).combining_class
}

// Hangul by arithmetic: Unicode core specification, section 3.12.
const SYLLABLES: u32 = 0xAC00;
const LEADS: u32 = 0x1100;
const VOWELS: u32 = 0x1161;
/// One before the first final consonant: an index of 0 is none.
const TAILS: u32 = 0x11A7;
const VOWEL_COUNT: u32 = 21;
const TAIL_COUNT: u32 = 28;
const SYLLABLE_COUNT: u32 = 19 * VOWEL_COUNT * TAIL_COUNT;

fn hangul_jamo(c: char) -> Option<[Option<char>; 3]> {
    let index = u32::from(c).checked_sub(SYLLABLES).filter(|&i| i < SYLLABLE_COUNT)?;
    let tail = index % TAIL_COUNT;
    Some([
        char::from_u32(LEADS + index / (VOWEL_COUNT * TAIL_COUNT)),
        char::from_u32(VOWELS + index % (VOWEL_COUNT * TAIL_COUNT) / TAIL_COUNT),
        char::from_u32(TAILS + tail).filter(|_| tail != 0),
    ])
}

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
    fn composes_what_decomposition_parted() {
        assert_eq!(compose('e', '\u{301}'), Some('é'));
        assert_eq!(compose('\u{1100}', '\u{1161}'), Some('가'));
        assert_eq!(compose('가', '\u{11A8}'), Some('각'));
        assert_eq!(compose('각', '\u{11A8}'), None);
        assert_eq!(compose('\u{c8e0}', '\u{11a7}'), None);
        assert_eq!(compose('\u{11099}', '\u{110BA}'), Some('\u{1109A}'));
        assert_eq!(compose('\u{915}', '\u{93C}'), None, "excluded from composition");
    }
}
