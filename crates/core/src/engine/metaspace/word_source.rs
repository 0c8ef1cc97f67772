//! The words of one text, their cache keys, and their normalized and escaped text.

use piecework_unicode::{class_of, Class};

use super::escaped_text::split_all;
use super::scanned_spans::{Preceding, ScannedSpan, SpanKind};
use super::scanner::Masks;
use super::single_chars::WrittenIds;
use super::word_rules::{DummyPrefix, WordLayout, WordRules};
use crate::engine::word_cache::{CacheKey, Words};
use crate::error::Error;
use crate::stages::normalize::Normalizer;
use crate::text::{METASPACE, METASPACE_STR};
use crate::word_key::{block_at, WordKey, MAX_KEY_BYTES};

/// The longest word, in bytes, that counts as plain.
const MAX_PLAIN: usize = 512;

/// A text to split into words.
#[derive(Clone, Copy)]
pub(super) struct WordSource<'t> {
    pub(super) rules: &'t WordRules,
    pub(super) normalizer: &'t Normalizer,
    pub(super) text: &'t str,
    /// Its byte offset in the original.
    pub(super) start: usize,
}

/// The byte span of a word in the raw text, including the spaces before it that belong to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    prefix: WordPrefix,
    kind: SpanKind,
}

impl WordSpan {
    /// An empty word.
    pub(super) const NONE: Self = Self { start: 0, end: 0, prefix: WordPrefix::None, kind: SpanKind::Word };

    /// Returns whether it is a run of single characters.
    #[inline]
    pub(super) fn is_single_chars(&self) -> bool {
        self.kind != SpanKind::Word
    }
}

/// A window of words of one text.
pub(super) struct SourceWords<'w> {
    pub(super) source: WordSource<'w>,
    pub(super) words: &'w [WordSpan],
}

impl Words for SourceWords<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    fn short_keys(&self) -> impl Iterator<Item = WordKey> {
        self.words.iter().map(|&word| self.source.short_key(word).unwrap_or(WordKey::NONE))
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        self.source.cache_key(self.words[number])
    }
}

/// The `▁` that a word begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WordPrefix {
    /// None: the word continues another one, or its span is escaped as it is.
    #[default]
    None,
    /// The `▁` of the space that the span begins with.
    Space,
    /// A `▁` that the normalizer adds.
    Added,
}

impl<'t> WordSource<'t> {
    /// Emits every word from left to right.
    #[inline]
    pub(super) fn words(&self, masks: &mut Masks, mut visit: impl FnMut(WordSpan)) {
        let (text, scanner) = (self.text.as_bytes(), &self.rules.scanner);
        match self.rules.layout {
            WordLayout::WhitespaceSplit => {
                scanner.scan(text, masks, |ScannedSpan { start, end, .. }| {
                    visit(WordSpan { start, end, ..WordSpan::NONE });
                });
            }
            WordLayout::SingleSpace => {
                scanner.scan(text, masks, |ScannedSpan { start, end, preceding, kind }| {
                    visit(match (preceding, start) {
                        (Preceding::Span, _) => WordSpan { start, end, prefix: WordPrefix::None, kind },
                        (Preceding::Separator, 1..) => {
                            WordSpan { start: start - 1, end, prefix: WordPrefix::Space, kind }
                        }
                        _ => WordSpan { start, end, prefix: WordPrefix::Added, kind },
                    });
                });
            }
            WordLayout::SpaceRuns(dummy_prefix) => {
                let mut prefix =
                    if self.has_dummy_prefix(dummy_prefix) { WordPrefix::Added } else { WordPrefix::None };
                let mut done = 0;
                scanner.scan(text, masks, |ScannedSpan { start, end, .. }| {
                    let spaces = self.rules.spaces.as_ref();
                    let word_start = spaces.map_or(done, |spaces| spaces.word_start(text, done, start));
                    if done < word_start {
                        visit(WordSpan {
                            start: done,
                            end: word_start,
                            prefix: std::mem::take(&mut prefix),
                            ..WordSpan::NONE
                        });
                    }
                    visit(WordSpan {
                        start: word_start,
                        end,
                        prefix: std::mem::take(&mut prefix),
                        ..WordSpan::NONE
                    });
                    done = end;
                });
                if done < text.len() {
                    visit(WordSpan { start: done, end: text.len(), prefix, ..WordSpan::NONE });
                }
            }
            WordLayout::Escaped(rule) => split_all(rule, self.text, |start, end| {
                visit(WordSpan { start, end, ..WordSpan::NONE });
            }),
        }
    }

    fn has_dummy_prefix(&self, dummy_prefix: DummyPrefix) -> bool {
        match dummy_prefix {
            DummyPrefix::Never => false,
            DummyPrefix::Always => true,
            DummyPrefix::FirstUnlessSpace if self.start > 0 => false,
            DummyPrefix::UnlessSpace | DummyPrefix::FirstUnlessSpace => !self.text.starts_with(' '),
        }
    }

    /// Returns the key of a short word: its bytes, with a space for a leading `▁`.
    #[inline(always)]
    pub(super) fn key_of(&self, word: WordSpan) -> Option<WordKey> {
        let len = word.end - word.start + usize::from(word.prefix == WordPrefix::Added);
        if len > MAX_KEY_BYTES {
            return None;
        }
        let mut block = block_at(self.text.as_bytes(), word.start);
        match word.prefix {
            WordPrefix::None => {}
            WordPrefix::Space => block = block & !0xFF | u128::from(b' '),
            WordPrefix::Added => block = block << 8 | u128::from(b' '),
        }
        Some(WordKey::from_block(block, len))
    }

    /// Returns whether a word is ASCII, not very long, and its key equals its escaped text with spaces for `▁`.
    pub(super) fn is_plain(&self, word: WordSpan) -> bool {
        let WordSpan { start, end, prefix, .. } = word;
        let is_short = end - start < MAX_KEY_BYTES;
        match self.rules.layout {
            _ if end - start > MAX_PLAIN => false,
            WordLayout::SpaceRuns(_) => {
                (is_short || prefix == WordPrefix::None) && self.text.as_bytes()[start..end].is_ascii()
            }
            WordLayout::SingleSpace => is_short && self.rules.is_unchanged(self.without_prefix(word).0),
            WordLayout::WhitespaceSplit | WordLayout::Escaped(_) => false,
        }
    }

    /// Returns the raw text of a word without the space of its prefix, and whether it has a prefix.
    #[inline]
    pub(super) fn without_prefix(&self, word: WordSpan) -> (&'t str, bool) {
        (
            &self.text[word.start + usize::from(word.prefix == WordPrefix::Space)..word.end],
            word.prefix != WordPrefix::None,
        )
    }

    /// Writes the ids of a run of single characters, with its prefix. `ids` has room for one id per character and one
    /// more.
    #[inline]
    pub(super) fn write_single_chars(
        &self,
        word: WordSpan,
        is_after_unknown: bool,
        ids: &mut [u32],
    ) -> WrittenIds {
        let Some(single_chars) = &self.rules.scanner.single_chars else { return WrittenIds::default() };
        let (text, has_prefix) = self.without_prefix(word);
        let prefix = single_chars.write_prefix(has_prefix, is_after_unknown, ids);
        match word.kind {
            SpanKind::UnknownChars(count) => single_chars.write_unknown(count, prefix, ids),
            _ => single_chars.write(text.as_bytes(), prefix, ids),
        }
    }

    /// Writes the id of every character of a run of single characters. Returns `false` for another word.
    pub(super) fn push_char_ids(&self, word: WordSpan, out: &mut Vec<u32>) -> bool {
        let (run, has_prefix) = self.without_prefix(word);
        out.clear();
        let single_chars = self.rules.scanner.single_chars.as_ref().filter(|_| word.is_single_chars());
        single_chars
            .map(|single_chars| single_chars.push_char_ids(run.as_bytes(), has_prefix, out))
            .is_some()
    }

    /// Returns how the cache identifies a word.
    #[inline(always)]
    pub(super) fn cache_key(&self, word: WordSpan) -> CacheKey<'t> {
        if let Some(key) = self.short_key(word) {
            return CacheKey::Short(key);
        }
        match self.long_key(word) {
            [] => CacheKey::Uncached,
            _ if word.is_single_chars() => CacheKey::Uncached,
            long => CacheKey::Long(long, 0),
        }
    }

    /// Returns the short key of a word, if it has one.
    #[inline(always)]
    fn short_key(&self, word: WordSpan) -> Option<WordKey> {
        if word.is_single_chars() {
            return None;
        }
        self.key_of(word)
    }

    /// Returns the bytes that identify a longer word; none if it is not cached.
    #[inline]
    pub(super) fn long_key(&self, word: WordSpan) -> &'t [u8] {
        match word.prefix {
            WordPrefix::Added => &[],
            _ => &self.text.as_bytes()[word.start..word.end],
        }
    }

    /// Returns whether a preceding space changes the normalized text of a word.
    pub(super) fn depends_on_space(&self, word: WordSpan) -> bool {
        self.rules.layout == WordLayout::WhitespaceSplit
            && self.normalizer.depends_on_space(&self.text[word.start..word.end])
    }

    /// Writes a plain word with a space for each `▁`.
    pub(super) fn write_ascii(&self, word: WordSpan, out: &mut String) {
        out.clear();
        let (without_prefix, has_prefix) = self.without_prefix(word);
        out.extend(has_prefix.then_some(' '));
        out.push_str(without_prefix);
    }

    /// Writes the normalized and escaped text of a word.
    pub(super) fn write_escaped(
        &self,
        word: WordSpan,
        normalized: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        out.clear();
        let WordSpan { start, end, prefix, .. } = word;
        let raw = &self.text[start..end];
        match self.rules.layout {
            WordLayout::Escaped(_) => out.push_str(raw),
            WordLayout::SpaceRuns(_) => {
                out.extend((prefix == WordPrefix::Added).then_some(METASPACE));
                out.extend(raw.chars().map(|c| if c == ' ' { METASPACE } else { c }));
            }
            WordLayout::SingleSpace => {
                let (span, has_prefix) = self.without_prefix(word);
                return self.write_single_space(span, has_prefix, normalized, out);
            }
            WordLayout::WhitespaceSplit if self.rules.is_unchanged(raw) => {
                out.push(METASPACE);
                out.push_str(raw);
            }
            WordLayout::WhitespaceSplit => {
                let follows_space = start > 0 && self.text.as_bytes()[start - 1] == b' ';
                let from = start - usize::from(follows_space);
                normalized.clear();
                self.normalizer.run(&self.text[from..end], 0, normalized)?;
                escape_words(normalized, out);
            }
        }
        Ok(())
    }

    fn write_single_space(
        &self,
        span: &str,
        has_prefix: bool,
        normalized: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        let mut new = span;
        if !self.rules.is_unchanged(span) {
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
}

/// Appends every word between whitespace, with a `▁` before it unless it begins with one.
fn escape_words(text: &str, out: &mut String) {
    let words = text.split(|c| class_of(c).has(Class::WHITESPACE)).filter(|word| !word.is_empty());
    for word in words {
        if !word.starts_with(METASPACE) {
            out.push_str(METASPACE_STR);
        }
        out.push_str(word);
    }
}
