//! How a text splits into words, and what a word consists of: one [`Layout`] for each pipeline, chosen when the tokenizer is
//! compiled.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::scanner::{Masks, MetaspaceScanner, ScanState};
use super::spans::WordSpan;
use crate::error::Error;
use crate::model::{part_end, CharAdjacency};
use crate::stages::normalize::{Boundaries, Normalizer};
use crate::text::METASPACE_STR;
use crate::word_key::{block_at, WordKey, MAX_KEY_BYTES};

/// A byte that never occurs in UTF-8.
const NO_TEXT: u8 = 0xFF;

/// How a text splits into words.
#[derive(Clone, Debug)]
pub(in super::super::super) struct WordRules {
    /// What a word consists of.
    pub(super) layout: Arc<dyn Layout>,
    /// Finds the words.
    pub(super) scanner: MetaspaceScanner,
    /// By ASCII character: it is not whitespace, and normalization leaves it unchanged among such characters.
    pub(super) unchanged: Boundaries,
    /// Decides where escaped misses split into parts; `None` if they must not split.
    pub(super) pairs: Option<CharAdjacency>,
    /// Finds `▁` in raw text.
    pub(super) metaspace: Finder<'static>,
}

/// A text to split into words.
#[derive(Clone, Copy)]
pub(in super::super::super) struct MetaspaceText<'t> {
    pub(in super::super::super) rules: &'t WordRules,
    pub(in super::super::super) normalizer: &'t Normalizer,
    pub(in super::super::super) text: &'t str,
    /// Its byte offset in the original.
    pub(in super::super::super) start: usize,
}

/// How far the words of a text are found.
#[derive(Clone, Debug, Default)]
pub(super) struct FindState {
    pub(super) scan: ScanState,
    /// The end of the last word.
    pub(super) done: usize,
}

/// What the words of a pipeline consist of.
pub(super) trait Layout: Debug + Send + Sync {
    /// Append the next words, until there are `count` or the text ends.
    fn find(
        &self,
        text: MetaspaceText<'_>,
        count: usize,
        state: &mut FindState,
        masks: &mut Masks,
        words: &mut Vec<WordSpan>,
    );

    /// Append the normalized and escaped text of a word. `normalized` is scratch.
    fn write_escaped(
        &self,
        text: MetaspaceText<'_>,
        word: WordSpan,
        normalized: &mut String,
        out: &mut String,
    ) -> Result<(), Error>;

    /// Return the end of the pre-token of an escaped word that begins at byte `start`.
    fn pre_token_end(&self, escaped: &str, start: usize) -> usize {
        part_end(escaped, start)
    }

    /// Return the key of the word whose escaped text is this part of one, if it is short; a key that no word has if there
    /// is no such word.
    fn key_of_part(&self, _rules: &WordRules, escaped: &str, part: Range<usize>) -> Option<WordKey> {
        key_after((NO_TEXT, 1), escaped, part)
    }

    /// Return whether a preceding space changes the normalized text of a word.
    fn depends_on_space(&self, _text: MetaspaceText<'_>, _word: WordSpan) -> bool {
        false
    }

    /// Make every table that is made late.
    fn warm_up(&self) {}

    /// Return whether a `▁` is added before every text, as for a space.
    fn adds_metaspace(&self) -> bool {
        false
    }

    /// Return whether raw text that has a `▁` splits like other text.
    fn splits_metaspace(&self) -> bool {
        false
    }
}

impl WordRules {
    /// Make every table that is made late.
    pub(in super::super::super) fn warm_up(&self) {
        self.layout.warm_up();
        if let Some(single_chars) = &self.scanner.late_single_chars {
            single_chars.warm_up();
        }
    }

    /// Return whether raw text can be split. A `▁` in it is a space to the model, but not to the normalizer.
    pub(in super::super::super) fn supports(&self, text: &str) -> bool {
        self.layout.splits_metaspace() || self.metaspace.find(text.as_bytes()).is_none()
    }

    /// Return whether a `▁` is added before every text, as for a space.
    pub(in super::super::super) fn adds_metaspace(&self) -> bool {
        self.layout.adds_metaspace()
    }

    /// Return whether normalization leaves a span unchanged. It may return `false` for a span that is unchanged too.
    pub(super) fn is_unchanged(&self, span: &str) -> bool {
        span.bytes().all(|byte| self.unchanged.get(usize::from(byte)).is_some_and(|&unchanged| unchanged))
    }
}

/// Return the key of a word by its escaped text, a part of a longer one: its first `▁` are spaces. `is_word` decides
/// whether there is a word with the text after them.
#[inline]
pub(super) fn key_with_spaces(
    escaped: &str,
    part: Range<usize>,
    is_word: impl Fn(&str) -> bool,
) -> Option<WordKey> {
    let mut start = part.start;
    while escaped[start..part.end].starts_with(METASPACE_STR) {
        start += METASPACE_STR.len();
    }
    if !is_word(&escaped[start..part.end]) {
        return key_after((NO_TEXT, 1), escaped, part);
    }
    key_after((b' ', (start - part.start) / METASPACE_STR.len()), escaped, start..part.end)
}

/// Return the key of `count` times the byte `first` and then a part of a text; `None` if it is too long.
#[inline]
fn key_after((first, count): (u8, usize), text: &str, part: Range<usize>) -> Option<WordKey> {
    let len = count + part.len();
    if len > MAX_KEY_BYTES {
        return None;
    }
    let before = u128::from_le_bytes([first; 16]) & !(u128::MAX << (8 * count));
    let block = block_at(text.as_bytes(), part.start) << (8 * count) | before;
    Some(WordKey::from_block(block, len))
}
