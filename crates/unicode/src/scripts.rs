//! Scripts as SentencePiece uses them. Han, Hiragana and Katakana are one script.
//!
//! The data is Unicode 9.0. It is derived from a later version by the age of each code point; the few code
//! points whose script has changed are listed.

use std::sync::LazyLock;

use super::CodePointMap;

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
