//! The action of BERT's normalizer and pre-tokenizer on every code point: one table entry each.
//!
//! Except for the reordering of marks, both stages look at one character at a time. So the table is computed by running
//! them on each character. A character that reordering can move is marked as contextual.

use piecework_unicode::{class_block, class_of, decompose, Class, CodePointMap, CodePointMapBuilder, PAGE};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::stages::normalize::Normalizer;

/// The action on a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SplitAction(u32);

/// The kinds of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActionKind {
    /// Append the character to the word.
    Kept,
    /// Append other text, which may be empty.
    Mapped,
    /// End the word and drop the character.
    Space,
    /// Emit the character as a word of its own.
    Isolated,
    /// Emit other text as a word of its own.
    IsolatedMapped,
    /// Append the canonical decomposition, such as the letters of a Hangul syllable.
    Decomposed,
    /// Append more other text than an entry has room for.
    Long,
    /// The neighbours matter: run the normalizer.
    Contextual,
}

const KIND_BITS: u32 = 3;
const LEN_BITS: u32 = 2;
const TEXT_SHIFT: u32 = 8;
/// The most bytes of other text in an entry.
const MAX_TEXT: usize = 3;

impl SplitAction {
    const KEPT: Self = Self::plain(ActionKind::Kept);

    const fn plain(kind: ActionKind) -> Self {
        Self(kind as u32)
    }

    /// Return the action `kind` with the text that replaces the character, or `otherwise` if the text is too long.
    fn with_text(kind: ActionKind, text: &str, otherwise: ActionKind) -> Self {
        if text.len() > MAX_TEXT {
            return Self::plain(otherwise);
        }
        let bytes = text.bytes().rev().fold(0, |bytes, byte| bytes << 8 | u32::from(byte));
        Self(kind as u32 | (text.len() as u32) << KIND_BITS | bytes << TEXT_SHIFT)
    }

    /// Return the kind.
    #[inline]
    pub(super) fn kind(self) -> ActionKind {
        const KINDS: [ActionKind; 1 << KIND_BITS] = [
            ActionKind::Kept,
            ActionKind::Mapped,
            ActionKind::Space,
            ActionKind::Isolated,
            ActionKind::IsolatedMapped,
            ActionKind::Decomposed,
            ActionKind::Long,
            ActionKind::Contextual,
        ];
        KINDS[(self.0 & ((1 << KIND_BITS) - 1)) as usize]
    }

    /// Return whether the character is appended as it is.
    #[inline]
    pub(super) fn is_kept(self) -> bool {
        self == Self::KEPT
    }

    /// Return whether the character is a word as it is.
    #[inline]
    pub(super) fn is_isolated(self) -> bool {
        self == Self::plain(ActionKind::Isolated)
    }

    /// Return whether the character ends the word before it and is no part of the next.
    pub(super) fn ends_word(self) -> bool {
        matches!(self.kind(), ActionKind::Space | ActionKind::Isolated | ActionKind::IsolatedMapped)
    }

    /// Return the text that replaces the character: its bytes and their number.
    #[inline]
    pub(super) fn text(self) -> ([u8; 4], usize) {
        let len = self.0 >> KIND_BITS & ((1 << LEN_BITS) - 1);
        ((self.0 >> TEXT_SHIFT).to_le_bytes(), len as usize)
    }
}

/// Compute the action on every character; `isolated` characters are words, whitespace is dropped.
pub(super) fn split_actions(
    normalizer: &Normalizer,
    isolated: Option<Class>,
) -> Result<CodePointMap<SplitAction>, Error> {
    let mut actions = CodePointMapBuilder::new(SplitAction::KEPT);
    let mut page_with_classes: FxHashMap<u16, u32> = FxHashMap::default();
    let mut stages = StagesByChar { normalizer, isolated, normalized: String::new() };
    for page in (0..=u32::from(char::MAX)).step_by(PAGE) {
        let classes = class_block(page);
        if let Some(&same) = page_with_classes.get(&classes) {
            actions.share_page(page, same);
            continue;
        }
        let codes = page..page + PAGE as u32;
        for c in codes.clone().filter_map(char::from_u32) {
            actions.set(c, stages.action(c)?);
        }
        if !codes.into_iter().any(has_text_of_its_own) {
            page_with_classes.insert(classes, page);
        }
    }
    Ok(actions.build_as_is())
}

/// Return whether the normalized text of a code point differs from that of others with the same classes. Hangul syllables
/// decompose into more text than an entry has room for, so their entries are equal.
fn has_text_of_its_own(code: u32) -> bool {
    const SYLLABLES: std::ops::Range<char> = '\u{AC00}'..'\u{D7A4}';
    let changes = |c| class_of(c).has(Class::DECOMPOSES.or(Class::HAS_LOWERCASE));
    char::from_u32(code).is_some_and(|c| !SYLLABLES.contains(&c) && changes(c))
}

/// The stages that the table is computed from.
struct StagesByChar<'a> {
    normalizer: &'a Normalizer,
    isolated: Option<Class>,
    normalized: String,
}

impl StagesByChar<'_> {
    fn action(&mut self, c: char) -> Result<SplitAction, Error> {
        let mut itself = [0; 4];
        let itself: &str = c.encode_utf8(&mut itself);
        self.normalized.clear();
        self.normalizer.run(itself, 0, &mut self.normalized)?;
        let text = self.normalized.as_str();
        let word = text.trim_matches(|c| class_of(c).has(Class::WHITESPACE));
        let is_isolated = |c| self.isolated.is_some_and(|isolated| class_of(c).has(isolated));
        Ok(if self.is_moved(c) {
            SplitAction::plain(ActionKind::Contextual)
        } else if text == itself && word == text {
            SplitAction::plain(if is_isolated(c) { ActionKind::Isolated } else { ActionKind::Kept })
        } else if word.is_empty() {
            if text.is_empty() {
                SplitAction::with_text(ActionKind::Mapped, "", ActionKind::Long)
            } else {
                SplitAction::plain(ActionKind::Space)
            }
        } else if is_word_alone(text, word, is_isolated) {
            match word == itself {
                true => SplitAction::plain(ActionKind::Isolated),
                false => SplitAction::with_text(ActionKind::IsolatedMapped, word, ActionKind::Contextual),
            }
        } else if word == text && !word.chars().any(|c| is_isolated(c) || is_space(c)) {
            let mut decomposed = String::new();
            decompose(c, |part| decomposed.push(part));
            let long = if decomposed == text { ActionKind::Decomposed } else { ActionKind::Long };
            SplitAction::with_text(ActionKind::Mapped, word, long)
        } else {
            SplitAction::plain(ActionKind::Contextual)
        })
    }

    /// Return whether the normalizer may move the character, or a part of it, past others, or others past it.
    fn is_moved(&self, c: char) -> bool {
        let mut is_moved = false;
        decompose(c, |part| is_moved |= class_of(part).has(Class::REORDERS));
        is_moved && !matches!(self.normalizer, Normalizer::Identity)
    }
}

fn is_space(c: char) -> bool {
    class_of(c).has(Class::WHITESPACE)
}

/// Return whether the text is one character that is a word next to any neighbours.
fn is_word_alone(text: &str, word: &str, is_isolated: impl Fn(char) -> bool) -> bool {
    let mut chars = word.chars();
    let (first, rest) = (chars.next(), chars.next());
    let is_spaced = text.starts_with(is_space) && text.ends_with(is_space);
    rest.is_none() && first.is_some_and(|c| is_spaced || is_isolated(c))
}
