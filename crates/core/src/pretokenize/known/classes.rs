//! Text to bit masks: bit `i` of a mask says that byte `i` of a block of 64 is of its class, each byte of a
//! longer character like the others.

use std::sync::LazyLock;

use piecework_kernels::classes::{class_masks, ByteClasses, BLOCK};

use super::scalar::{HAN, HAN_APART, KINDS, LETTER, LOWER, MARKED, NEWLINE, NUMBER, NUMERIC, SPACE, UPPER};
use super::{gapped, zoned, Alphabet};
use crate::text::{wide_char_at, CharTable};

/// The masks of one block.
pub(super) type Masks = [u64; 6];

/// The masks by number. Characters that are none of the first three are the pattern's other ones.
pub(super) const IS_LETTER: usize = 0;
pub(super) const IS_NUMBER: usize = 1;
pub(super) const IS_SPACE: usize = 2;
/// Of letters: a capital; of spaces: a line end; of others: an apostrophe.
pub(super) const FIRST: usize = 3;
/// Of letters: one without case; of spaces: the ASCII space; of others: a slash. A letter with both is a mark.
pub(super) const SECOND: usize = 4;
/// Not ASCII.
pub(super) const IS_WIDE: usize = 5;

/// What the characters are to a pattern.
pub(super) struct Table {
    ascii: ByteClasses,
    /// The classes of each kind of characters, a bit for each mask.
    of_kind: [u8; 128],
    pub(super) kinds: &'static CharTable,
}

static PLAIN: LazyLock<Table> = LazyLock::new(|| Table::new(&KINDS, plain_classes, set_apart));
static MARKED_TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(&MARKED, plain_classes, set_apart));
static NUMERIC_TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(&NUMERIC, plain_classes, set_apart));
static CASED: LazyLock<Table> = LazyLock::new(|| Table::new(&KINDS, cased_classes, set_apart));
static BLOOM: LazyLock<Table> =
    LazyLock::new(|| Table::new(&gapped::BLOOM_KINDS, plain_classes, plain_space));
static CODER: LazyLock<Table> = LazyLock::new(|| Table::new(&gapped::CODER_KINDS, coder_classes, |_| 0));
static HAN_TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(&HAN_APART, han_classes, set_apart));
static ZONED: LazyLock<Table> = LazyLock::new(|| Table::new(&zoned::KINDS, zoned_classes, plain_space));

impl Table {
    pub(super) fn of(alphabet: Alphabet) -> &'static Self {
        match alphabet {
            Alphabet::Plain => &PLAIN,
            Alphabet::Marked => &MARKED_TABLE,
            Alphabet::Numeric => &NUMERIC_TABLE,
            Alphabet::Cased => &CASED,
            Alphabet::Han => &HAN_TABLE,
            Alphabet::Zoned => &ZONED,
            Alphabet::Bloom => &BLOOM,
            Alphabet::Coder => &CODER,
        }
    }

    /// From the classes of each kind, and what more there is to say of some bytes.
    fn new(kinds: &'static CharTable, classes_of: impl Fn(u8) -> u8, more: impl Fn(u8) -> u8) -> Self {
        let ascii = ByteClasses::new(|byte| classes_of(kinds.get(char::from(byte))) | more(byte));
        Self { ascii, of_kind: std::array::from_fn(|kind| classes_of(kind as u8)), kinds }
    }

    /// Make the masks of a text.
    pub(super) fn classify(&self, text: &str, masks: &mut Vec<Masks>) {
        masks.clear();
        class_masks(text.as_bytes(), &self.ascii, masks);
        let mut begun = 0;
        for block in 0..masks.len() {
            if masks[block][IS_WIDE] != 0 {
                begun = self.classify_wide(text, block, begun, masks);
            }
        }
    }

    /// Add the characters of a block that are not ASCII; the bits `begun` belong to one that began before.
    /// Returns those of the next block that belong to one of this.
    fn classify_wide(&self, text: &str, block: usize, begun: u64, masks: &mut [Masks]) -> u64 {
        let mut left = masks[block][IS_WIDE] & !begun;
        let mut classes_of_all = [0; IS_WIDE];
        let mut beyond = 0;
        while left != 0 {
            let place = left.trailing_zeros() as usize;
            let Some((code, len)) = wide_char_at(text.as_bytes(), block * BLOCK + place) else { break };
            let c = char::from_u32(code).unwrap_or_default();
            let classes = self.of_kind[usize::from(self.kinds.get(c) & 127)];
            let bytes = (1 << len) - 1;
            let within = bytes << place;
            left &= !within;
            for (class, mask) in classes_of_all.iter_mut().enumerate() {
                *mask |= within & u64::from(classes >> class & 1).wrapping_neg();
            }
            if place + len > BLOCK {
                beyond = bytes >> (BLOCK - place);
                for (class, mask) in masks[block + 1][..IS_WIDE].iter_mut().enumerate() {
                    *mask |= beyond & u64::from(classes >> class & 1).wrapping_neg();
                }
            }
        }
        masks[block].iter_mut().zip(classes_of_all).for_each(|(mask, more)| *mask |= more);
        beyond
    }
}

fn plain_space(byte: u8) -> u8 {
    u8::from(byte == b' ') << SECOND
}

/// The ASCII space, apostrophes and slashes.
fn set_apart(byte: u8) -> u8 {
    plain_space(byte) | u8::from(byte == b'\'') << FIRST | u8::from(byte == b'/') << SECOND
}

/// Where case does not count.
fn plain_classes(kind: u8) -> u8 {
    if kind & SPACE != 0 {
        1 << IS_SPACE | u8::from(kind & NEWLINE != 0) << FIRST
    } else if kind & NUMBER != 0 {
        1 << IS_NUMBER
    } else {
        u8::from(kind & LETTER != 0) << IS_LETTER
    }
}

/// Where capitals begin words, and marks are part of them.
fn cased_classes(kind: u8) -> u8 {
    match kind & (UPPER | LOWER) {
        0 => plain_classes(kind),
        UPPER => 1 << IS_LETTER | 1 << FIRST,
        LOWER => 1 << IS_LETTER,
        _ if kind & LETTER != 0 => 1 << IS_LETTER | 1 << SECOND,
        _ => 1 << IS_LETTER | 1 << FIRST | 1 << SECOND,
    }
}

/// Where Chinese characters stand apart: numbers of the first of the two are letters of theirs, those of both are
/// numbers of theirs, and others of both are what else they have.
fn han_classes(kind: u8) -> u8 {
    match (kind & HAN, kind & (LETTER | NUMBER)) {
        (0, _) => cased_classes(kind),
        (_, LETTER) => 1 << IS_NUMBER | 1 << FIRST,
        (_, NUMBER) => 1 << IS_NUMBER | 1 << FIRST | 1 << SECOND,
        _ => 1 << FIRST | 1 << SECOND,
    }
}

/// Where zones count: all but spaces are of the first of the two where they are Han or kana, and of the second where
/// they are odd.
fn zoned_classes(kind: u8) -> u8 {
    if kind & (SPACE | NUMBER) != 0 {
        return plain_classes(kind);
    }
    let is_odd = kind & (LETTER | zoned::SYMBOL) == 0;
    plain_classes(kind) | u8::from(kind & zoned::EAST != 0) << FIRST | u8::from(is_odd) << SECOND
}

/// Where gaps and a range of scripts count: others are of the first of the two where they are punctuation, and all
/// but numbers of the second where they are of that range.
fn coder_classes(kind: u8) -> u8 {
    let symbol = u8::from(kind & zoned::SYMBOL != 0) << FIRST;
    plain_classes(kind) | symbol | u8::from(kind & zoned::EAST != 0) << SECOND
}
