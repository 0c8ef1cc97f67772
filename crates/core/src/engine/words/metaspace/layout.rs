//! How a text splits into words, and what a word consists of: one [`Layout`] for each pipeline, chosen when the tokenizer is
//! compiled.

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr_iter;
use memchr::memmem::Finder;
use piecework_unicode::{class_of, Class};

use super::scanner::{Masks, MetaspaceScanner, ScanState};
use super::space_runs::LateSpaceRuns;
use super::spans::{Preceding, ScannedSpan, WordPrefix, WordSpan};
use crate::error::Error;
use crate::model::{part_end, CharAdjacency};
use crate::stages::normalize::{Boundaries, Normalizer};
use crate::text::{METASPACE, METASPACE_STR};
use crate::word_key::{block_at, WordKey, MAX_KEY_BYTES};

/// A byte that never occurs in UTF-8.
const NO_TEXT: u8 = 0xFF;

/// How a text splits into words.
#[derive(Clone, Debug)]
pub(in super::super::super) struct WordRules {
    /// What a word consists of.
    pub(super) layout: Layout,
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
#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// The text between whitespace. It is normalized, split at new whitespace, prefixed with `▁` and split before each `▁`.
    WhitespaceSplit,
    /// One space and the text up to the next. Extra spaces are removed, and the first word gets a `▁`.
    SingleSpace,
    /// A run of spaces and the text up to the next. Normalization only escapes spaces.
    SpacesBefore {
        dummy_prefix: DummyPrefix,
        /// Decides where runs of spaces split from the next word; `None` if they must not split.
        runs: Option<Arc<LateSpaceRuns>>,
    },
}

impl WordRules {
    /// Make every table that is made late.
    pub(in super::super::super) fn warm_up(&self) {
        if let Layout::SpacesBefore { runs: Some(runs), .. } = &self.layout {
            runs.warm_up();
        }
        if let Some(single_chars) = &self.scanner.late_single_chars {
            single_chars.warm_up();
        }
    }

    /// Return whether raw text can be split. A `▁` in it is a space to the model, but not to the normalizer.
    pub(in super::super::super) fn supports(&self, text: &str) -> bool {
        matches!(self.layout, Layout::WhitespaceSplit) || self.metaspace.find(text.as_bytes()).is_none()
    }

    /// Return whether a `▁` is added before every text, as for a space.
    pub(in super::super::super) fn adds_metaspace(&self) -> bool {
        matches!(
            &self.layout,
            Layout::SingleSpace | Layout::SpacesBefore { dummy_prefix: DummyPrefix::Always, .. }
        )
    }

    /// Return the end of the pre-token of an escaped word that begins at byte `start`.
    pub(super) fn pre_token_end(&self, escaped: &str, start: usize) -> usize {
        if !matches!(self.layout, Layout::WhitespaceSplit) {
            return part_end(escaped, start);
        }
        let word = &escaped.as_bytes()[start..];
        let is_next = |at: &usize| *at > 0 && word[*at..].starts_with(METASPACE_STR.as_bytes());
        let next = memchr_iter(METASPACE_STR.as_bytes()[0], word).find(is_next);
        next.map_or(escaped.len(), |at| start + at)
    }

    /// Return whether a part that is a whole word has the key of this word.
    #[inline]
    pub(super) fn has_keys_of_words(&self) -> bool {
        !matches!(self.layout, Layout::WhitespaceSplit)
    }

    /// Return the key of the word whose escaped text is this part of one, if it is short; a key that no word has if there
    /// is no such word.
    #[inline]
    pub(super) fn key_of_part(&self, text: &str, part: Range<usize>) -> Option<WordKey> {
        match self.layout {
            Layout::WhitespaceSplit => key_after((NO_TEXT, 1), text, part),
            Layout::SingleSpace => key_with_spaces(text, part, |bytes| self.keeps_ascii(bytes)),
            Layout::SpacesBefore { .. } => key_with_spaces(text, part, |_| true),
        }
    }

    /// Return whether normalization leaves an ASCII span unchanged; `false` for other spans.
    #[inline]
    fn keeps_ascii(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.unchanged.get(usize::from(byte)).is_some_and(|&unchanged| unchanged))
    }
}

/// Return the key of a word by its escaped text, a part of a longer one: its first `▁` are spaces. `is_word` decides
/// whether there is a word with the text after them.
#[inline]
fn key_with_spaces(text: &str, part: Range<usize>, is_word: impl Fn(&[u8]) -> bool) -> Option<WordKey> {
    let (mut rest, mut spaces) = (&text.as_bytes()[part.clone()], 0);
    while let Some(after) = rest.strip_prefix(METASPACE_STR.as_bytes()) {
        (rest, spaces) = (after, spaces + 1);
    }
    if !is_word(rest) {
        return key_after((NO_TEXT, 1), text, part);
    }
    key_after((b' ', spaces), text, part.end - rest.len()..part.end)
}

/// Return the key of `count` times the byte `first` and then a part of a text; `None` if it is too long.
#[inline]
fn key_after((first, count): (u8, usize), text: &str, part: Range<usize>) -> Option<WordKey> {
    let len = count + part.len();
    if len > MAX_KEY_BYTES {
        return None;
    }
    let block = block_at(text.as_bytes(), part.start);
    let block = match count {
        0 => block,
        1 => block << 8 | u128::from(first),
        _ => block << (8 * count) | u128::from_le_bytes([first; 16]) & !(u128::MAX << (8 * count)),
    };
    Some(WordKey::from_block(block, len))
}

/// When a `▁` is added before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DummyPrefix {
    Never,
    Always,
    /// Unless the text begins with a space.
    UnlessSpace,
    /// Only at the start of the original, unless that begins with a space.
    FirstUnlessSpace,
}

impl DummyPrefix {
    fn of(self, text: MetaspaceText<'_>) -> WordPrefix {
        let is_added = match self {
            Self::Never => false,
            Self::Always => true,
            Self::FirstUnlessSpace if text.start > 0 => false,
            Self::UnlessSpace | Self::FirstUnlessSpace => !text.text.starts_with(' '),
        };
        if is_added {
            WordPrefix::Added
        } else {
            WordPrefix::None
        }
    }
}

impl MetaspaceText<'_> {
    /// Append the next words, until there are `count` or the text ends.
    pub(super) fn find(
        self,
        count: usize,
        state: &mut FindState,
        masks: &mut Masks,
        words: &mut Vec<WordSpan>,
    ) {
        let (scanner, bytes) = (&self.rules.scanner, self.text.as_bytes());
        let FindState { scan, done } = state;
        match &self.rules.layout {
            Layout::WhitespaceSplit => scanner.scan(bytes, scan, masks, (count, words), |span, words| {
                words.push(WordSpan::whole(span.start, span.end));
            }),
            Layout::SingleSpace => scanner.scan(bytes, scan, masks, (count, words), |span, words| {
                words.push(with_prefix(span));
            }),
            Layout::SpacesBefore { dummy_prefix, runs } => {
                let push = |words: &mut Vec<WordSpan>, done: &mut usize, end: usize| {
                    if *done < end {
                        let prefix = if *done == 0 { dummy_prefix.of(self) } else { WordPrefix::None };
                        words.push(WordSpan { prefix, ..WordSpan::whole(*done, end) });
                        *done = end;
                    }
                };
                scanner.scan(
                    bytes,
                    scan,
                    masks,
                    (count, words),
                    |ScannedSpan { start, end, .. }, words| {
                        let word_start =
                            runs.as_ref().map_or(*done, |runs| runs.word_start(bytes, *done, start));
                        push(words, done, word_start);
                        push(words, done, end);
                    },
                );
                if scan.is_done() {
                    push(words, done, bytes.len());
                }
            }
        }
    }

    /// Return whether a preceding space changes the normalized text of a word.
    pub(in super::super::super) fn depends_on_space(self, word: WordSpan) -> bool {
        matches!(self.rules.layout, Layout::WhitespaceSplit)
            && self.normalizer.depends_on_space(&self.text[word.start..word.end])
    }

    /// Append the normalized and escaped text of a word. `normalized` is scratch.
    pub(in super::super::super) fn write_escaped(
        self,
        word: WordSpan,
        normalized: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        match self.rules.layout {
            Layout::WhitespaceSplit => self.write_split(word, normalized, out),
            Layout::SingleSpace => self.write_single(word, normalized, out),
            Layout::SpacesBefore { .. } => {
                self.write_spaces(word, out);
                Ok(())
            }
        }
    }

    /// Return whether normalization leaves a span unchanged, and escaping only adds a `▁`. It may return `false` for a span
    /// that is unchanged too.
    fn is_unchanged(self, span: &str) -> bool {
        let is_kept = |byte: u8| self.rules.unchanged.get(usize::from(byte)).copied();
        match span.bytes().find(|&byte| is_kept(byte) != Some(true)) {
            None => true,
            Some(byte) if byte.is_ascii() => false,
            Some(_) => span.bytes().all(|byte| is_kept(byte) != Some(false)) && self.normalizer.keeps(span),
        }
    }

    fn write_split(self, word: WordSpan, normalized: &mut String, out: &mut String) -> Result<(), Error> {
        let raw = &self.text[word.start..word.end];
        if self.is_unchanged(raw) {
            out.extend([METASPACE_STR, raw]);
            return Ok(());
        }
        let follows_space = self.text[..word.start].ends_with(' ');
        let from = word.start - usize::from(follows_space);
        normalized.clear();
        self.normalizer.run(&self.text[from..word.end], 0, normalized)?;
        escape_words(normalized, out);
        Ok(())
    }

    fn write_single(self, word: WordSpan, normalized: &mut String, out: &mut String) -> Result<(), Error> {
        let (span, has_prefix) = self.without_prefix(word);
        let mut new = span;
        if !self.is_unchanged(span) {
            if let Normalizer::SentencePiece(normalizer) = self.normalizer {
                normalized.clear();
                normalizer.normalize_segment(span, !has_prefix, normalized)?;
                new = normalized;
            }
        }
        if !new.is_empty() {
            out.extend(has_prefix.then_some(METASPACE));
            out.push_str(new);
        }
        Ok(())
    }

    fn write_spaces(self, word: WordSpan, out: &mut String) {
        out.extend((word.prefix == WordPrefix::Added).then_some(METASPACE));
        let raw = &self.text[word.start..word.end];
        // Every space is a separator, so there are none after the first other character.
        let spaces = raw.bytes().position(|byte| byte != b' ').unwrap_or(raw.len());
        (0..spaces).for_each(|_| out.push_str(METASPACE_STR));
        out.push_str(&raw[spaces..]);
    }
}

/// Return the word of a span, with the one space before it.
fn with_prefix(ScannedSpan { start, end, preceding, kind }: ScannedSpan) -> WordSpan {
    match (preceding, start) {
        (Preceding::Span, _) => WordSpan { start, end, prefix: WordPrefix::None, kind },
        (Preceding::Separator, 1..) => WordSpan { start: start - 1, end, prefix: WordPrefix::Space, kind },
        _ => WordSpan { start, end, prefix: WordPrefix::Added, kind },
    }
}

/// Append every word between whitespace, with a `▁` before it unless it begins with one.
fn escape_words(text: &str, out: &mut String) {
    let words = text.split(|c| class_of(c).has(Class::WHITESPACE)).filter(|word| !word.is_empty());
    for word in words {
        if !word.starts_with(METASPACE) {
            out.push_str(METASPACE_STR);
        }
        out.push_str(word);
    }
}
