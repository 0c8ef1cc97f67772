//! Cuts where the script changes; Japanese counts as one script, and spaces as any.
//!
//! The scripts are those of Unicode 9.0 (as in SentencePiece and tokenizers), taken from a later version of
//! the data by each code point's age; the few that changed since are listed. Linear.

use std::sync::LazyLock;

use crate::text::CharTable;

/// The script of spaces and of what Unicode 9.0 does not assign: that of whatever comes before.
const ANY: u8 = 0;
const HAN: u8 = 1;
const FIRST_OTHER: u8 = 2;

static SCRIPTS: LazyLock<CharTable> = LazyLock::new(|| {
    let han = [r"[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]"].map(|class| (class.to_owned(), HAN));
    let others = (FIRST_OTHER..).zip(OTHER_SCRIPTS).map(|(id, name)| (format!(r"\p{{sc={name}}}"), id));
    let classes: Vec<(String, u8)> = han
        .into_iter()
        .chain(others)
        .map(|(class, id)| (format!(r"[{class}&&\p{{Age=9.0}}]"), id))
        .collect();
    let id_of = |name: &str| {
        (FIRST_OTHER..).zip(OTHER_SCRIPTS).find(|(_, n)| *n == name).map_or(ANY, |found| found.0)
    };
    let exceptions = [
        ("[\u{61C}\u{589}]", id_of("Common")),
        ("[\u{953}\u{954}]", id_of("Devanagari")),
        ("\u{30FC}", HAN),
        (r"\x20", ANY),
    ];
    CharTable::new(classes.iter().map(|(class, id)| (class.as_str(), *id)).chain(exceptions))
});

/// Give the stretches of one script; what comes before the first character of a known script is dropped.
pub(super) fn cut(text: &str, emit: &mut dyn FnMut(usize, usize)) {
    let scripts = &*SCRIPTS;
    let (mut start, mut script) = (0, ANY);
    for (at, c) in text.char_indices() {
        let next = scripts.get(c);
        if next != ANY && next != script {
            if script != ANY {
                emit(start, at);
            }
            (start, script) = (at, next);
        }
    }
    if script != ANY {
        emit(start, text.len());
    }
}

/// Every script of Unicode 9.0 but the three that Japanese mixes.
#[rustfmt::skip]
static OTHER_SCRIPTS: [&str; 134] = [
    "Adlam", "Ahom", "AnatolianHieroglyphs", "Arabic", "Armenian", "Avestan", "Balinese", "Bamum",
    "BassaVah", "Batak", "Bengali", "Bhaiksuki", "Bopomofo", "Brahmi", "Braille", "Buginese", "Buhid",
    "CanadianAboriginal", "Carian", "CaucasianAlbanian", "Chakma", "Cham", "Cherokee", "Common",
    "Coptic", "Cuneiform", "Cypriot", "Cyrillic", "Deseret", "Devanagari", "Duployan",
    "EgyptianHieroglyphs", "Elbasan", "Ethiopic", "Georgian", "Glagolitic", "Gothic", "Grantha",
    "Greek", "Gujarati", "Gurmukhi", "Hangul", "Hanunoo", "Hatran", "Hebrew", "ImperialAramaic",
    "Inherited", "InscriptionalPahlavi", "InscriptionalParthian", "Javanese", "Kaithi", "Kannada",
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

    fn pieces(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        cut(text, &mut |start, end| pieces.push(&text[start..end]));
        pieces
    }

    #[test]
    fn cuts_between_scripts() {
        assert_eq!(pieces("どこで生れ。Yes"), ["どこで生れ", "。", "Yes"]);
        assert_eq!(pieces("Apples are りんご 林檎"), ["Apples are ", "りんご 林檎"]);
        assert_eq!(pieces("ラーメンx\u{301}y"), ["ラーメン", "x", "\u{301}", "y"]);
    }

    #[test]
    fn drops_leading_spaces_as_tokenizers_does() {
        assert_eq!(pieces("  a b"), ["a b"]);
        assert!(pieces("  ").is_empty());
    }
}
