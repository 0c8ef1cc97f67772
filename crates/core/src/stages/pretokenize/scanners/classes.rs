//! Class masks: bit `i` of a mask says whether byte `i` of a block of 64 belongs to the class. All bytes of
//! a character have its class.
//!
//! They follow from the kinds of characters that patterns distinguish, a bit each.

use piecework_kernels::classes::{class_masks, ByteClasses, BLOCK};
use piecework_kernels::wide_classes::{add_wide_classes, WideClasses};
use piecework_unicode::{wide_char_at, CodePointMap};

use super::scanner::Classification;
use crate::locks::LateStatic;
use crate::stages::pretokenize::simple::NUMERIC_CLASSES;

/// The class masks of one block.
pub(super) type ClassMasks = [u64; 6];

/// Indices of the masks. Characters of none of the first three classes are the other characters of a
/// pattern.
pub(super) const IS_LETTER: usize = 0;
pub(super) const IS_NUMBER: usize = 1;
pub(super) const IS_SPACE: usize = 2;
/// Among letters: capitals; among whitespace: line ends; among other characters: apostrophes.
pub(super) const FIRST: usize = 3;
/// Among letters: letters without case; among whitespace: the ASCII space; among other characters: slashes.
/// A letter in both masks is a mark.
pub(super) const SECOND: usize = 4;
/// Bytes of non-ASCII characters.
pub(super) const IS_NON_ASCII: usize = 5;

/// A representative of most non-ASCII characters: a letter without case.
const COMMON: char = '一';

/// The classes of all characters for one classification.
pub(super) struct ClassTable {
    ascii: ByteClasses,
    /// By lead byte without its upper two bits: the classes of `COMMON`, if all characters with it have them.
    of_lead: [u8; 64],
    /// The classes of each character, a bit for each mask.
    classes: CodePointMap<u8>,
    pub(super) kinds: &'static CodePointMap<u8>,
}

static UNICODE_TABLE: LateStatic<ClassTable> =
    LateStatic::new(|| ClassTable::new(&KINDS, plain_classes, set_apart));
static MARKED_TABLE: LateStatic<ClassTable> =
    LateStatic::new(|| ClassTable::new(&MARKS_AS_LETTERS_KINDS, plain_classes, set_apart));
static NUMERIC_TABLE: LateStatic<ClassTable> =
    LateStatic::new(|| ClassTable::new(&NUMERIC_KINDS, plain_classes, set_apart));
static CASED_TABLE: LateStatic<ClassTable> =
    LateStatic::new(|| ClassTable::new(&KINDS, cased_classes, set_apart));
static HAN_TABLE: LateStatic<ClassTable> =
    LateStatic::new(|| ClassTable::new(&HAN_KINDS, han_classes, set_apart));
static DEEPSEEK_TABLE: LateStatic<ClassTable> =
    LateStatic::new(|| ClassTable::new(&DEEPSEEK_KINDS, deepseek_classes, plain_space));

impl ClassTable {
    pub(super) fn of(classification: Classification) -> &'static Self {
        match classification {
            Classification::Unicode => &UNICODE_TABLE,
            Classification::MarksAsLetters => &MARKED_TABLE,
            Classification::Numeric => &NUMERIC_TABLE,
            Classification::Cased => &CASED_TABLE,
            Classification::CasedAndHan => &HAN_TABLE,
            Classification::DeepSeek => &DEEPSEEK_TABLE,
        }
    }

    /// Build the table from the classes of each kind, and the classes that `more` adds for ASCII bytes.
    fn new(
        kinds: &'static CodePointMap<u8>,
        classes_of: impl Fn(u8) -> u8,
        more: impl Fn(u8) -> u8,
    ) -> Self {
        let ascii = ByteClasses::new(|byte| classes_of(kinds.get(char::from(byte))) | more(byte));
        let classes = kinds.map(classes_of);
        let of_common = classes.get(COMMON);
        // Whether all code points with the leading bits `upper`, followed by `bits` bits, are common.
        let all_common = |upper: u32, bits: u32| {
            (upper << bits..(upper + 1) << bits).all(|code| classes.get_code(code) == of_common)
        };
        let of_lead = std::array::from_fn(|lead| {
            let is_common = match lead as u32 {
                lead @ 0..0x20 => all_common(lead, 6),
                lead @ 0x20..0x30 => all_common(lead & 0xF, 12),
                _ => false,
            };
            if is_common {
                of_common
            } else {
                0
            }
        });
        Self { ascii, of_lead, classes, kinds }
    }

    /// Compute the class masks of a text; `four` is scratch.
    pub(super) fn classify(&self, text: &str, masks: &mut Vec<ClassMasks>, four: &mut Vec<u32>) {
        masks.clear();
        class_masks(text.as_bytes(), &self.ascii, masks);
        let (numbers, pages) = self.classes.pages();
        let classes = WideClasses { of_lead: &self.of_lead, numbers, pages };
        add_wide_classes(text.as_bytes(), classes, masks, four);
        for at in four.drain(..).map(|at| at as usize) {
            if let Some((code, len)) = wide_char_at(text.as_bytes(), at) {
                let bytes = ((1 << len) - 1) << (at % BLOCK);
                add(self.classes.get_code(code), bytes, &mut masks[at / BLOCK..]);
            }
        }
    }
}

/// Add bytes of a block and of the next one to some classes.
fn add(mut classes: u8, bytes: u128, masks: &mut [ClassMasks]) {
    let (within, beyond) = (bytes as u64, (bytes >> BLOCK) as u64);
    while classes != 0 {
        let class = classes.trailing_zeros() as usize;
        classes &= classes - 1;
        masks[0][class] |= within;
        if beyond != 0 {
            masks[1][class] |= beyond;
        }
    }
}

fn plain_space(byte: u8) -> u8 {
    u8::from(byte == b' ') << SECOND
}

/// Set the masks of the ASCII space, apostrophes and slashes.
fn set_apart(byte: u8) -> u8 {
    plain_space(byte) | u8::from(byte == b'\'') << FIRST | u8::from(byte == b'/') << SECOND
}

/// Return the classes of patterns that ignore case.
fn plain_classes(kind: u8) -> u8 {
    if kind & SPACE != 0 {
        1 << IS_SPACE | u8::from(kind & NEWLINE != 0) << FIRST
    } else if kind & NUMBER != 0 {
        1 << IS_NUMBER
    } else {
        u8::from(kind & LETTER != 0) << IS_LETTER
    }
}

/// Return the classes of patterns in which capitals begin words and marks belong to words.
fn cased_classes(kind: u8) -> u8 {
    match kind & (UPPER | LOWER) {
        0 => plain_classes(kind),
        UPPER => 1 << IS_LETTER | 1 << FIRST,
        LOWER => 1 << IS_LETTER,
        _ if kind & LETTER != 0 => 1 << IS_LETTER | 1 << SECOND,
        _ => 1 << IS_LETTER | 1 << FIRST | 1 << SECOND,
    }
}

/// As `cased_classes`, with Chinese characters apart: as numbers with the first mask where they are
/// letters, with both where they are numbers, and as other characters with both masks else.
fn han_classes(kind: u8) -> u8 {
    match (kind & HAN, kind & (LETTER | NUMBER)) {
        (0, _) => cased_classes(kind),
        (_, LETTER) => 1 << IS_NUMBER | 1 << FIRST,
        (_, NUMBER) => 1 << IS_NUMBER | 1 << FIRST | 1 << SECOND,
        _ => 1 << FIRST | 1 << SECOND,
    }
}

/// Return the classes of DeepSeek-V3: the first mask holds Han and kana, the second characters of no class, whitespace
/// aside.
fn deepseek_classes(kind: u8) -> u8 {
    if kind & (SPACE | NUMBER) != 0 {
        return plain_classes(kind);
    }
    let is_odd = kind & (LETTER | SYMBOL) == 0;
    plain_classes(kind) | u8::from(kind & EAST != 0) << FIRST | u8::from(is_odd) << SECOND
}

pub(super) const SPACE: u8 = 1;
pub(super) const NEWLINE: u8 = 2;
pub(super) const NUMBER: u8 = 4;
pub(super) const LETTER: u8 = 8;
/// Characters of the upper part of a word: capitals, letters without case, marks.
pub(super) const UPPER: u8 = 16;
/// Characters of the lower part of a word: small letters, letters without case, marks.
pub(super) const LOWER: u8 = 32;
/// Letters and marks.
pub(super) const WORD: u8 = UPPER | LOWER;
/// The bits that distinguish classes.
pub(super) const CLASSES: u8 = SPACE | NUMBER | LETTER;
/// Chinese characters, for patterns that split them from letters.
pub(super) const HAN: u8 = 64;

/// Punctuation and symbols, for DeepSeek-V3's patterns.
pub(super) const SYMBOL: u8 = 16;
/// Han and kana, for the same.
pub(super) const EAST: u8 = 32;

const KINDS_OF_CLASSES: [(&str, u8); 7] = [
    (r"\s", SPACE),
    (r"[\r\n]", SPACE | NEWLINE),
    (r"\p{N}", NUMBER),
    (r"[\p{Lu}\p{Lt}]", LETTER | UPPER),
    (r"\p{Ll}", LETTER | LOWER),
    (r"[\p{Lm}\p{Lo}]", LETTER | UPPER | LOWER),
    (r"\p{M}", UPPER | LOWER),
];

pub(super) static KINDS: LateStatic<CodePointMap<u8>> =
    LateStatic::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES));

/// With marks as letters.
pub(super) static MARKS_AS_LETTERS_KINDS: LateStatic<CodePointMap<u8>> =
    LateStatic::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain([(r"\p{M}", LETTER)])));

/// With Chinese characters apart: they are letters without case, numbers or others.
pub(super) static HAN_KINDS: LateStatic<CodePointMap<u8>> = LateStatic::new(|| {
    let han = [(r"\p{Han}", HAN), (r"[\p{Han}&&\p{L}]", HAN | LETTER), (r"[\p{Han}&&\p{N}]", HAN | NUMBER)];
    CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain(han))
});

/// With the numbers of the `Digits` pre-tokenizer.
pub(super) static NUMERIC_KINDS: LateStatic<CodePointMap<u8>> = LateStatic::new(|| {
    CodePointMap::of_classes(
        KINDS_OF_CLASSES.into_iter().chain(NUMERIC_CLASSES.map(|class| (class, NUMBER))),
    )
});

/// For DeepSeek-V3's patterns; letters are letters and marks.
pub(super) static DEEPSEEK_KINDS: LateStatic<CodePointMap<u8>> = LateStatic::new(|| {
    CodePointMap::of_classes([
        (r"\s", SPACE),
        (r"[\r\n]", SPACE | NEWLINE),
        (r"\p{N}", NUMBER),
        (r"[\p{L}\p{M}]", LETTER),
        (r"[\p{P}\p{S}]", SYMBOL),
        (r"[一-龥぀-ゟ゠-ヿ]", EAST),
        (r"[\p{L}\p{M}&&[一-龥぀-ゟ゠-ヿ]]", LETTER | EAST),
        (r"[\p{P}\p{S}&&[一-龥぀-ゟ゠-ヿ]]", SYMBOL | EAST),
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSIFICATIONS: [Classification; 6] = [
        Classification::Unicode,
        Classification::MarksAsLetters,
        Classification::Numeric,
        Classification::Cased,
        Classification::CasedAndHan,
        Classification::DeepSeek,
    ];

    /// Return every non-ASCII character, with others between them at varying distances.
    fn all_wide_chars() -> String {
        let codes = 0x80..=u32::from(char::MAX);
        let near = codes.clone().filter_map(char::from_u32);
        let far = codes.map(|code| code.wrapping_mul(7919) % 0x3_0000).filter_map(char::from_u32);
        near.zip(far).flat_map(|(near, far)| [near, far]).collect()
    }

    #[test]
    fn every_byte_of_a_character_has_its_classes() {
        let text = all_wide_chars();
        for classification in CLASSIFICATIONS {
            let table = ClassTable::of(classification);
            let mut masks = Vec::new();
            table.classify(&text, &mut masks, &mut Vec::new());
            for (at, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
                let expected = table.classes.get(c);
                for at in at..at + c.len_utf8() {
                    let is_of = |class: usize| masks[at / BLOCK][class] >> (at % BLOCK) & 1;
                    let found = (0..IS_NON_ASCII).map(|class| (is_of(class) as u8) << class).sum::<u8>();
                    assert_eq!(found, expected, "{classification:?} {c:?}");
                }
            }
        }
    }

    #[test]
    fn most_letters_are_common() {
        for classification in
            [Classification::Unicode, Classification::MarksAsLetters, Classification::Numeric]
        {
            let of_lead =
                |c: &str| ClassTable::of(classification).of_lead[usize::from(c.as_bytes()[0] & 0x3F)];
            assert_eq!([of_lead("ж"), of_lead("思"), of_lead("a")], [1 << IS_LETTER, 1 << IS_LETTER, 0]);
        }
    }
}
