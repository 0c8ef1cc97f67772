//! What BERT's normalizer and a splitter make of every code point: one table entry each.
//!
//! All that they do looks at one character alone but for the ordering of marks, so the table is made by
//! asking them, character by character; where a character can be moved by ordering, it says so.

use piecework_unicode::{class_block, class_of, decompose, Class};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::normalize::Normalizer;

/// What becomes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate(u32);

/// The kinds of fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of a word as it stands.
    StoredIds,
    /// Part of a word as other text, which may be empty.
    Mapped,
    /// Between words, and no part of them.
    Space,
    /// A word of its own as it stands.
    Alone,
    /// A word of its own as other text.
    AloneMapped,
    /// Part of a word as more text than an entry holds.
    Long,
    /// Its neighbours matter.
    Involved,
}

const KIND_BITS: u32 = 3;
const LEN_BITS: u32 = 2;
const TEXT_SHIFT: u32 = 8;
/// The most bytes of other text that an entry holds.
const MAX_TEXT: usize = 3;

impl Fate {
    const KEPT: Self = Self::plain(Kind::StoredIds);

    const fn plain(kind: Kind) -> Self {
        Self(kind as u32)
    }

    /// `kind` with the text put in place of the character; `otherwise` if it is too long.
    fn with_text(kind: Kind, text: &str, otherwise: Kind) -> Self {
        if text.len() > MAX_TEXT {
            return Self::plain(otherwise);
        }
        let bytes = text.bytes().rev().fold(0, |bytes, byte| bytes << 8 | u32::from(byte));
        Self(kind as u32 | (text.len() as u32) << KIND_BITS | bytes << TEXT_SHIFT)
    }

    /// Its kind.
    #[inline]
    pub(super) fn kind(self) -> Kind {
        const KINDS: [Kind; 1 << KIND_BITS] = [
            Kind::StoredIds,
            Kind::Mapped,
            Kind::Space,
            Kind::Alone,
            Kind::AloneMapped,
            Kind::Long,
            Kind::Involved,
            Kind::Involved,
        ];
        KINDS[(self.0 & ((1 << KIND_BITS) - 1)) as usize]
    }

    /// The text put in place of the character: its bytes and their number.
    #[inline]
    pub(super) fn text(self) -> ([u8; 4], usize) {
        let len = self.0 >> KIND_BITS & ((1 << LEN_BITS) - 1);
        ((self.0 >> TEXT_SHIFT).to_le_bytes(), len as usize)
    }
}

const BLOCK: usize = 128;
const BLOCKS: usize = 0x11_0000 / BLOCK;

/// The fate of every code point, in two stages.
#[derive(Clone, Debug)]
pub(super) struct Fates {
    blocks: Vec<u16>,
    fates: Vec<Fate>,
}

impl Fates {
    /// Ask the normalizer about every character; `isolated` ones stand alone, white space goes.
    pub(super) fn compile(normalizer: &Normalizer, isolated: Option<Class>) -> Result<Self, Error> {
        let mut made = Self { blocks: Vec::with_capacity(BLOCKS), fates: Vec::new() };
        let mut with_classes: FxHashMap<u16, u16> = FxHashMap::default();
        let mut asked = Asked { normalizer, isolated, normalized: String::new() };
        for start in (0..BLOCKS).map(|block| (block * BLOCK) as u32) {
            let classes = class_block(start);
            if let Some(&same) = with_classes.get(&classes) {
                made.blocks.push(same);
                continue;
            }
            let block = (made.fates.len() / BLOCK) as u16;
            made.blocks.push(block);
            for code in start..start + BLOCK as u32 {
                made.fates.push(char::from_u32(code).map_or(Ok(Fate::KEPT), |c| asked.fate(c))?);
            }
            if !(start..start + BLOCK as u32).any(has_text_of_its_own) {
                with_classes.insert(classes, block);
            }
        }
        Ok(made)
    }

    /// The fate of a character.
    #[inline]
    pub(super) fn of(&self, c: char) -> Fate {
        let code = c as usize;
        self.fates[usize::from(self.blocks[code / BLOCK]) * BLOCK + code % BLOCK]
    }
}

/// Whether classes do not tell what a normalizer makes of a code point. Hangul syllables become more text
/// than an entry holds, so that theirs do.
fn has_text_of_its_own(code: u32) -> bool {
    const SYLLABLES: std::ops::Range<char> = '\u{AC00}'..'\u{D7A4}';
    let changes = |c| class_of(c).has(Class::DECOMPOSES.or(Class::HAS_LOWERCASE));
    char::from_u32(code).is_some_and(|c| !SYLLABLES.contains(&c) && changes(c))
}

/// What the table is made from.
struct Asked<'a> {
    normalizer: &'a Normalizer,
    isolated: Option<Class>,
    normalized: String,
}

impl Asked<'_> {
    fn fate(&mut self, c: char) -> Result<Fate, Error> {
        let mut itself = [0; 4];
        let itself: &str = c.encode_utf8(&mut itself);
        self.normalized.clear();
        self.normalizer.run(itself, 0, &mut self.normalized)?;
        let text = self.normalized.as_str();
        let word = text.trim_matches(|c| class_of(c).has(Class::WHITESPACE));
        let stands_alone = |c| self.isolated.is_some_and(|isolated| class_of(c).has(isolated));
        Ok(if self.is_moved(c) {
            Fate::plain(Kind::Involved)
        } else if text == itself && word == text {
            Fate::plain(if stands_alone(c) { Kind::Alone } else { Kind::StoredIds })
        } else if word.is_empty() {
            if text.is_empty() {
                Fate::with_text(Kind::Mapped, "", Kind::Long)
            } else {
                Fate::plain(Kind::Space)
            }
        } else if is_word_alone(text, word, stands_alone) {
            match word == itself {
                true => Fate::plain(Kind::Alone),
                false => Fate::with_text(Kind::AloneMapped, word, Kind::Involved),
            }
        } else if word == text && !word.chars().any(|c| stands_alone(c) || is_space(c)) {
            Fate::with_text(Kind::Mapped, word, Kind::Long)
        } else {
            Fate::plain(Kind::Involved)
        })
    }

    /// Whether the normalizer may move (a part of) the character past others, or others past it.
    fn is_moved(&self, c: char) -> bool {
        let mut is_moved = false;
        decompose(c, |part| is_moved |= class_of(part).has(Class::REORDERS));
        is_moved && !matches!(self.normalizer, Normalizer::Identity)
    }
}

fn is_space(c: char) -> bool {
    class_of(c).has(Class::WHITESPACE)
}

/// Whether the text is one character that is a word whatever stands beside it.
fn is_word_alone(text: &str, word: &str, stands_alone: impl Fn(char) -> bool) -> bool {
    let mut chars = word.chars();
    let (first, rest) = (chars.next(), chars.next());
    let is_spaced = text.starts_with(is_space) && text.ends_with(is_space);
    rest.is_none() && first.is_some_and(|c| is_spaced || stands_alone(c))
}
