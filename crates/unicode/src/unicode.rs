//! Character classes and mappings: one table look-up for every code point.
//!
//! The data is that of tokenizers 0.23 (see tools/unicode-tables), so that ids agree everywhere.

use super::tables::{CLASSES, CLASS_BLOCKS, COMPOSITIONS, MAPPED_CHARS, ROWS, ROW_BLOCKS, ROW_INDEX};

/// The versions of the Unicode data in use.
pub const UNICODE_VERSION: &str = "categories 8.0, normal forms 9.0, lowercase 17.0";

const BLOCK_BITS: usize = 7;
const BLOCK_MASK: usize = (1 << BLOCK_BITS) - 1;

/// The class flags of one code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    /// Removed by text cleaning: NUL, U+FFFD, control, format and private-use characters.
    pub const DROP: Self = Self(1);
    /// White_Space.
    pub const WHITESPACE: Self = Self(2);
    /// ASCII punctuation or any P category.
    pub const PUNCTUATION: Self = Self(4);
    /// In the ranges that BERT surrounds with spaces.
    pub const CJK: Self = Self(8);
    /// Mn, what accent stripping removes.
    pub const NONSPACING_MARK: Self = Self(16);
    /// Has a canonical decomposition.
    pub const DECOMPOSES: Self = Self(32);
    /// Has a lowercase mapping.
    pub const HAS_LOWERCASE: Self = Self(64);
    /// Not Mn, yet moved by canonical ordering.
    pub const REORDERS: Self = Self(128);

    /// Whether any flag of `flags` is set.
    #[inline]
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Whether no flag at all is set.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.0 == 0
    }

    /// All flags of both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Look up the class of a character.
#[inline]
#[must_use]
pub fn class_of(c: char) -> Class {
    let code = c as usize;
    let block = CLASS_BLOCKS[code >> BLOCK_BITS] as usize;
    Class(CLASSES[(block << BLOCK_BITS) | (code & BLOCK_MASK)])
}

/// A number for the 128 code points around one: where it is the same, so are the classes of all 128.
#[must_use]
pub fn class_block(code: u32) -> u16 {
    CLASS_BLOCKS[code as usize >> BLOCK_BITS]
}

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

/// Give the lowercase of a character, without context.
pub fn lowercase(c: char, mut emit: impl FnMut(char)) {
    match mapped(row_of(c).lower) {
        [] => emit(c),
        parts => parts.iter().for_each(|&part| emit(part)),
    }
}

/// The canonical combining class of a character.
#[must_use]
pub fn combining_class(c: char) -> u8 {
    row_of(c).combining_class
}

/// What one code point becomes, and how it behaves; texts are spans (start, length) of `MAPPED_CHARS`,
/// empty for the character itself.
#[derive(Debug)]
pub(super) struct Row {
    canonical: (u16, u8),
    compatible: (u16, u8),
    lower: (u16, u8),
    combining_class: u8,
    /// 1 mark; 2 and 4 joins, canonically and compatibly; 8, 16, 32, 64 work for each of `NormalForm`.
    flags: u8,
}

/// Make a row of the table.
pub(super) const fn row(
    canonical: (u16, u8),
    compatible: (u16, u8),
    lower: (u16, u8),
    combining_class: u8,
    flags: u8,
) -> Row {
    Row { canonical, compatible, lower, combining_class, flags }
}

#[inline]
fn row_of(c: char) -> &'static Row {
    let code = c as usize;
    let block = ROW_BLOCKS[code >> BLOCK_BITS] as usize;
    &ROWS[ROW_INDEX[(block << BLOCK_BITS) | (code & BLOCK_MASK)] as usize]
}

#[inline]
fn mapped((start, len): (u16, u8)) -> &'static [char] {
    &MAPPED_CHARS[usize::from(start)..usize::from(start) + usize::from(len)]
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
    fn lowercases_without_context() {
        let mut out = String::new();
        "İΣ".chars().for_each(|c| lowercase(c, |l| out.push(l)));
        assert_eq!(out, "i\u{307}σ");
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
