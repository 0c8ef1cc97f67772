//! Classes of characters in regular-expression syntax.
//!
//! The data is Unicode 16.0 of `regex-syntax`, as in the regular expressions of tokenizers 0.23.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::CodePointMap;

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

/// The script of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script(u8);

impl Script {
    /// The script of the space, and of code points that Unicode 9.0 does not assign.
    pub const NONE: Self = Self(0);
    /// Han, Hiragana and Katakana.
    pub const HAN: Self = Self(1);
    /// The script of combining marks, which take the script of the preceding character.
    pub const INHERITED: Self = Self(2);
    /// The script of digits, punctuation and symbols.
    pub const COMMON: Self = Self(3);
}

/// The number of the first script that has no constant.
const FIRST_OTHER: u8 = 4;

static SCRIPTS: LazyLock<CodePointMap<u8>> = LazyLock::new(|| {
    let named = [
        (r"[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]", Script::HAN),
        (r"\p{sc=Inherited}", Script::INHERITED),
        (r"\p{sc=Common}", Script::COMMON),
    ]
    .map(|(class, script)| (class.to_owned(), script.0));
    let others = (FIRST_OTHER..).zip(OTHER_SCRIPTS).map(|(id, name)| (format!(r"\p{{sc={name}}}"), id));
    let classes: Vec<(String, u8)> = named
        .into_iter()
        .chain(others)
        .map(|(class, id)| (format!(r"[{class}&&\p{{Age=9.0}}]"), id))
        .collect();
    let devanagari = (FIRST_OTHER..).zip(OTHER_SCRIPTS).find(|(_, name)| *name == "Devanagari");
    let exceptions = [
        ("[\u{61C}\u{589}]", Script::COMMON.0),
        ("[\u{953}\u{954}]", devanagari.map_or(Script::NONE.0, |(id, _)| id)),
        ("\u{30FC}", Script::HAN.0),
        (r"\x20", Script::NONE.0),
    ];
    CodePointMap::of_classes(classes.iter().map(|(class, id)| (class.as_str(), *id)).chain(exceptions))
});

/// Return the lookup function. The first call builds the table.
#[inline]
pub fn script_of() -> impl Fn(char) -> Script {
    let scripts = &*SCRIPTS;
    |c| Script(scripts.get(c))
}

/// The scripts of Unicode 9.0 that have no constant.
#[rustfmt::skip]
static OTHER_SCRIPTS: [&str; 132] = [
    "Adlam", "Ahom", "AnatolianHieroglyphs", "Arabic", "Armenian", "Avestan", "Balinese", "Bamum",
    "BassaVah", "Batak", "Bengali", "Bhaiksuki", "Bopomofo", "Brahmi", "Braille", "Buginese", "Buhid",
    "CanadianAboriginal", "Carian", "CaucasianAlbanian", "Chakma", "Cham", "Cherokee", 
    "Coptic", "Cuneiform", "Cypriot", "Cyrillic", "Deseret", "Devanagari", "Duployan",
    "EgyptianHieroglyphs", "Elbasan", "Ethiopic", "Georgian", "Glagolitic", "Gothic", "Grantha",
    "Greek", "Gujarati", "Gurmukhi", "Hangul", "Hanunoo", "Hatran", "Hebrew", "ImperialAramaic",
    "InscriptionalPahlavi", "InscriptionalParthian", "Javanese", "Kaithi", "Kannada",
    "KayahLi", "Kharoshthi", "Khmer", "Khojki", "Khudawadi", "Lao", "Latin", "Lepcha", "Limbu",
    "LinearA", "LinearB", "Lisu", "Lycian", "Lydian", "Mahajani", "Malayalam", "Mandaic", "Manichaean",
    "Marchen", "MeeteiMayek", "MendeKikakui", "MeroiticCursive", "MeroiticHieroglyphs", "Miao", "Modi",
    "Mongolian", "Mro", "Multani", "Myanmar", "Nabataean", "NewTaiLue", "Newa", "Nko", "Ogham",
    "OlChiki", "OldHungarian", "OldItalic", "OldNorthArabian", "OldPermic", "OldPersian",
    "OldSouthArabian", "OldTurkic", "Oriya", "Osage", "Osmanya", "PahawhHmong", "Palmyrene",
    "PauCinHau", "PhagsPa", "Phoenician", "PsalterPahlavi", "Rejang", "Runic", "Samaritan",
    "Saurashtra", "Sharada", "Shavian", "Siddham", "SignWriting", "Sinhala", "SoraSompeng", "Sundanese",
    "SylotiNagri", "Syriac", "Tagalog", "Tagbanwa", "TaiLe", "TaiTham", "TaiViet", "Takri", "Tamil",
    "Tangut", "Telugu", "Thaana", "Thai", "Tibetan", "Tifinagh", "Tirhuta", "Ugaritic", "Vai",
    "WarangCiti", "Yi",
];

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
