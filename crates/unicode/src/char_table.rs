//! Tables of one byte for each code point, built from classes in regular-expression syntax.
//!
//! The data is Unicode 16.0 of `regex-syntax`, as in the regular expressions of tokenizers 0.23.

use std::collections::HashMap;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// Code points in a block.
const BLOCK: usize = 128;
const CODE_POINTS: usize = 0x11_0000;

/// A byte for each code point, in two stages. A lookup takes two array reads.
#[derive(Debug)]
pub struct CharTable {
    blocks: Vec<u16>,
    values: Vec<u8>,
}

impl CharTable {
    /// Build a table that maps the members of each class to its byte, and all others to 0. Where classes
    /// overlap, the last one wins.
    ///
    /// # Panics
    ///
    /// If a class is not valid.
    #[must_use]
    pub fn new<'c>(classes: impl IntoIterator<Item = (&'c str, u8)>) -> Self {
        let mut flat = vec![0u8; CODE_POINTS];
        for (class, value) in classes {
            for range in char_class(class).ranges() {
                flat[range.start() as usize..=range.end() as usize].fill(value);
            }
        }
        Self::folded(&flat)
    }

    /// Return the byte of a character.
    #[inline]
    #[must_use]
    pub fn get(&self, c: char) -> u8 {
        let code = c as usize;
        let block = usize::from(self.blocks[code / BLOCK]);
        self.values[block * BLOCK + code % BLOCK]
    }

    /// Share equal blocks of a flat table.
    fn folded(flat: &[u8]) -> Self {
        let mut seen: HashMap<&[u8], u16> = HashMap::new();
        let (mut blocks, mut values) = (Vec::new(), Vec::new());
        for block in flat.chunks(BLOCK) {
            blocks.push(*seen.entry(block).or_insert_with(|| {
                values.extend_from_slice(block);
                (values.len() / BLOCK - 1) as u16
            }));
        }
        Self { blocks, values }
    }
}

/// Return the members of a class that the caller spells out, such as `[\p{L}&&[^a-z]]`.
///
/// # Panics
///
/// If the class is not valid. For names from outside use [`find_char_class`].
#[must_use]
pub fn char_class(class: &str) -> ClassUnicode {
    find_char_class(class).unwrap_or_else(|| unreachable!("{class} is not a class"))
}

/// Return the members of a class in regular-expression syntax, or `None` if it is not a valid class.
#[must_use]
pub fn find_char_class(class: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(class).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(literal) => {
            let members = std::str::from_utf8(&literal.0).ok()?.chars();
            Some(ClassUnicode::new(members.map(|c| ClassUnicodeRange::new(c, c))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(class: &str) -> u32 {
        char_class(class).ranges().iter().map(|r| r.end() as u32 - r.start() as u32 + 1).sum()
    }

    /// The sizes of the classes of tokenizers 0.23.3, counted over all code points. Other data fails.
    #[test]
    fn the_data_is_unicode_16() {
        assert_eq!(size(r"\p{L}"), 141_028);
        assert_eq!(size(r"\p{N}"), 1911);
        assert_eq!(size(r"\p{M}"), 2501);
        assert_eq!(size(r"\p{P}"), 855);
        assert_eq!(size(r"\p{S}"), 8514);
        assert_eq!(size(r"\w"), 144_667);
        assert_eq!(size(r"\s"), 25);
    }

    #[test]
    fn invalid_classes_are_not_found() {
        assert_eq!(find_char_class(r"\p{nothing}"), None);
        assert_eq!(find_char_class("a*"), None);
        assert_eq!(find_char_class("["), None);
    }

    #[test]
    fn looks_up_every_code_point() {
        let table = CharTable::new([(r"\p{L}", 1), ("a", 2)]);
        let letters = char_class(r"\p{L}");
        for c in '\0'..=char::MAX {
            let is_letter = letters.ranges().binary_search_by(|r| {
                if r.end() < c {
                    std::cmp::Ordering::Less
                } else if r.start() > c {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            });
            assert_eq!(table.get(c), if c == 'a' { 2 } else { u8::from(is_letter.is_ok()) });
        }
    }
}
