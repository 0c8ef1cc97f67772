//! The layouts of words.

use std::ops::Range;

use piecework_unicode::{class_of, Class};

use super::layout::{key_with_spaces, FindState, Layout, MetaspaceText, WordRules};
use super::scanner::Masks;
use super::space_runs::LateSpaceRuns;
use super::spans::{Preceding, ScannedSpan, WordPrefix, WordSpan};
use crate::error::Error;
use crate::stages::normalize::Normalizer;
use crate::text::{METASPACE, METASPACE_STR};
use crate::word_key::WordKey;

/// The text between whitespace. It is normalized, split at new whitespace, prefixed with `▁` and split before each `▁`.
#[derive(Debug)]
pub(super) struct WhitespaceSplit;

/// One space and the text up to the next. Extra spaces are removed, and the first word gets a `▁`.
#[derive(Debug)]
pub(super) struct SingleSpace;

/// A run of spaces and the text up to the next. Normalization only escapes spaces.
#[derive(Debug)]
pub(super) struct SpacesBefore {
    pub(super) dummy_prefix: DummyPrefix,
    /// Decides where runs of spaces split from the next word; `None` if they must not split.
    pub(super) runs: Option<LateSpaceRuns>,
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

impl Layout for WhitespaceSplit {
    fn find(
        &self,
        text: MetaspaceText<'_>,
        count: usize,
        state: &mut FindState,
        masks: &mut Masks,
        words: &mut Vec<WordSpan>,
    ) {
        let (scanner, bytes) = (&text.rules.scanner, text.text.as_bytes());
        scanner.scan(bytes, &mut state.scan, masks, (count, words), |span, words| {
            words.push(WordSpan::whole(span.start, span.end));
        });
    }

    fn write_escaped(
        &self,
        text: MetaspaceText<'_>,
        word: WordSpan,
        normalized: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        let raw = &text.text[word.start..word.end];
        if text.rules.is_unchanged(raw) {
            out.extend([METASPACE_STR, raw]);
            return Ok(());
        }
        let follows_space = text.text[..word.start].ends_with(' ');
        let from = word.start - usize::from(follows_space);
        normalized.clear();
        text.normalizer.run(&text.text[from..word.end], 0, normalized)?;
        escape_words(normalized, out);
        Ok(())
    }

    fn pre_token_end(&self, escaped: &str, start: usize) -> usize {
        let next = escaped[start..].char_indices().skip(1).find(|&(_, c)| c == METASPACE);
        next.map_or(escaped.len(), |(at, _)| start + at)
    }

    fn depends_on_space(&self, text: MetaspaceText<'_>, word: WordSpan) -> bool {
        text.normalizer.depends_on_space(&text.text[word.start..word.end])
    }

    fn splits_metaspace(&self) -> bool {
        true
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

impl Layout for SingleSpace {
    fn find(
        &self,
        text: MetaspaceText<'_>,
        count: usize,
        state: &mut FindState,
        masks: &mut Masks,
        words: &mut Vec<WordSpan>,
    ) {
        let (scanner, bytes) = (&text.rules.scanner, text.text.as_bytes());
        scanner.scan(bytes, &mut state.scan, masks, (count, words), |span, words| {
            let ScannedSpan { start, end, preceding, kind } = span;
            words.push(match (preceding, start) {
                (Preceding::Span, _) => WordSpan { start, end, prefix: WordPrefix::None, kind },
                (Preceding::Separator, 1..) => {
                    WordSpan { start: start - 1, end, prefix: WordPrefix::Space, kind }
                }
                _ => WordSpan { start, end, prefix: WordPrefix::Added, kind },
            });
        });
    }

    fn write_escaped(
        &self,
        text: MetaspaceText<'_>,
        word: WordSpan,
        normalized: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        let (span, has_prefix) = text.without_prefix(word);
        let mut new = span;
        if !text.rules.is_unchanged(span) {
            if let Normalizer::SentencePiece(normalizer) = text.normalizer {
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

    fn key_of_part(&self, rules: &WordRules, escaped: &str, part: Range<usize>) -> Option<WordKey> {
        key_with_spaces(escaped, part, |text| rules.is_unchanged(text))
    }

    fn adds_metaspace(&self) -> bool {
        true
    }
}

impl Layout for SpacesBefore {
    fn find(
        &self,
        text: MetaspaceText<'_>,
        count: usize,
        state: &mut FindState,
        masks: &mut Masks,
        words: &mut Vec<WordSpan>,
    ) {
        let (scanner, bytes) = (&text.rules.scanner, text.text.as_bytes());
        let FindState { scan, done } = state;
        let push = |words: &mut Vec<WordSpan>, done: &mut usize, end: usize| {
            if *done < end {
                let prefix = if *done == 0 { self.dummy_prefix.of(text) } else { WordPrefix::None };
                words.push(WordSpan { prefix, ..WordSpan::whole(*done, end) });
                *done = end;
            }
        };
        scanner.scan(bytes, scan, masks, (count, words), |ScannedSpan { start, end, .. }, words| {
            let word_start = self.runs.as_ref().map_or(*done, |runs| runs.word_start(bytes, *done, start));
            push(words, done, word_start);
            push(words, done, end);
        });
        if scan.is_done() {
            push(words, done, bytes.len());
        }
    }

    fn write_escaped(
        &self,
        text: MetaspaceText<'_>,
        word: WordSpan,
        _: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        out.extend((word.prefix == WordPrefix::Added).then_some(METASPACE));
        let raw = &text.text[word.start..word.end];
        // Every space is a separator, so there are none after the first other character.
        let spaces = raw.bytes().position(|byte| byte != b' ').unwrap_or(raw.len());
        out.extend(std::iter::repeat_n(METASPACE, spaces));
        out.push_str(&raw[spaces..]);
        Ok(())
    }

    fn key_of_part(&self, _: &WordRules, escaped: &str, part: Range<usize>) -> Option<WordKey> {
        key_with_spaces(escaped, part, |_| true)
    }

    fn adds_metaspace(&self) -> bool {
        self.dummy_prefix == DummyPrefix::Always
    }

    fn warm_up(&self) {
        if let Some(runs) = &self.runs {
            runs.warm_up();
        }
    }
}
