//! Classes of characters in regular-expression syntax.
//!
//! The data is Unicode 16.0 of `regex-syntax`, as in the regular expressions of tokenizers 0.23.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

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
}
