//! One text: the words in it, their keys in the memo, and what normalizing and marking makes of them.

use piecework_unicode::{class_of, Class};

use super::form::{Begins, Form, Layout, MARK, MARK_TEXT};
use super::marked_text::cut_all;
use super::scanner::{Follows, Masks, Run, Stretch};
use super::single_chars::Put;
use crate::error::Error;
use crate::normalize::Normalizer;
use crate::word_cache::{CacheKey, Words};
use crate::word_key::{block_at, WordKey, MAX_KEY_BYTES};

/// What has more bytes is not plain.
const MAX_PLAIN: usize = 512;

/// A text that is turned into words.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) form: &'t Form,
    pub(super) normalizer: &'t Normalizer,
    pub(super) text: &'t str,
    /// Where it stands in the original.
    pub(super) start: usize,
}

/// The span of a word in the raw text, with the spaces before it that are part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    mark: Mark,
    run: Run,
}

impl Word {
    /// No word.
    pub(super) const NONE: Self = Self { start: 0, end: 0, mark: Mark::None, run: Run::No };

    /// Whether it is a run of characters that are told one by one.
    #[inline]
    pub(super) fn is_lone(&self) -> bool {
        self.run != Run::No
    }
}

/// A window of words of one text.
pub(super) struct SourceWords<'w> {
    pub(super) source: Source<'w>,
    pub(super) words: &'w [Word],
}

impl Words for SourceWords<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    fn keys(&self) -> impl Iterator<Item = CacheKey<'_>> {
        self.words.iter().map(|&word| self.source.cache_key(word))
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        self.source.cache_key(self.words[number])
    }
}

/// What mark a word begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mark {
    /// None: it goes on after another one, or what it begins with is as in the text.
    #[default]
    None,
    /// That of the space that its span begins with.
    Space,
    /// One that stands for nothing in the text.
    Added,
}

impl<'t> Source<'t> {
    /// Give every word from left to right.
    #[inline]
    pub(super) fn words(&self, masks: &mut Masks, mut visit: impl FnMut(Word)) {
        let (text, scanner) = (self.text.as_bytes(), &self.form.scanner);
        match self.form.layout {
            Layout::Apart => scanner.run(text, masks, |Stretch { start, end, .. }| {
                visit(Word { start, end, ..Word::NONE });
            }),
            Layout::Single => scanner.run(text, masks, |Stretch { start, end, follows, run }| {
                visit(match (follows, start) {
                    (Follows::Text, _) => Word { start, end, mark: Mark::None, run },
                    (Follows::Byte, 1..) => Word { start: start - 1, end, mark: Mark::Space, run },
                    _ => Word { start, end, mark: Mark::Added, run },
                });
            }),
            Layout::Runs(begins) => {
                let mut mark = if self.is_prefixed(begins) { Mark::Added } else { Mark::None };
                let mut done = 0;
                scanner.run(text, masks, |Stretch { start, end, .. }| {
                    let spaces = self.form.spaces.as_ref();
                    let word_start = spaces.map_or(done, |spaces| spaces.word_start(text, done, start));
                    if done < word_start {
                        visit(Word {
                            start: done,
                            end: word_start,
                            mark: std::mem::take(&mut mark),
                            ..Word::NONE
                        });
                    }
                    visit(Word { start: word_start, end, mark: std::mem::take(&mut mark), ..Word::NONE });
                    done = end;
                });
                if done < text.len() {
                    visit(Word { start: done, end: text.len(), mark, ..Word::NONE });
                }
            }
            Layout::Marked(cut) => cut_all(cut, self.text, |start, end| {
                visit(Word { start, end, ..Word::NONE });
            }),
        }
    }

    fn is_prefixed(&self, begins: Begins) -> bool {
        match begins {
            Begins::Never => false,
            Begins::Always => true,
            Begins::FirstUnlessSpace if self.start > 0 => false,
            Begins::UnlessSpace | Begins::FirstUnlessSpace => !self.text.starts_with(' '),
        }
    }

    /// The key of a word, if it is short: its bytes, that of its mark as a space.
    #[inline(always)]
    pub(super) fn key_of(&self, word: Word) -> Option<WordKey> {
        let len = word.end - word.start + usize::from(word.mark == Mark::Added);
        if len > MAX_KEY_BYTES {
            return None;
        }
        let mut block = block_at(self.text.as_bytes(), word.start);
        match word.mark {
            Mark::None => {}
            Mark::Space => block = block & !0xFF | u128::from(b' '),
            Mark::Added => block = block << 8 | u128::from(b' '),
        }
        Some(WordKey::from_block(block, len))
    }

    /// Whether a word, no very long one, is known by its marked text, which is ASCII, with spaces for marks.
    pub(super) fn is_plain(&self, word: Word) -> bool {
        let Word { start, end, mark, .. } = word;
        let is_short = end - start < MAX_KEY_BYTES;
        match self.form.layout {
            _ if end - start > MAX_PLAIN => false,
            Layout::Runs(_) => {
                (is_short || mark == Mark::None) && self.text.as_bytes()[start..end].is_ascii()
            }
            Layout::Single => is_short && self.form.keeps(self.unmarked(word).0),
            Layout::Apart | Layout::Marked(_) => false,
        }
    }

    /// The raw text of a word without what its mark stands for, and whether it has one.
    #[inline]
    pub(super) fn unmarked(&self, word: Word) -> (&'t str, bool) {
        (&self.text[word.start + usize::from(word.mark == Mark::Space)..word.end], word.mark != Mark::None)
    }

    /// Put the ids of a run of characters that are told one by one.
    #[inline]
    pub(super) fn put_lone(&self, word: Word, is_after_unknown: bool, ids: &mut [u32]) -> Put {
        let Some(lone) = &self.form.scanner.lone else { return Put::default() };
        let (text, is_marked) = self.unmarked(word);
        let mark = lone.put_mark(is_marked, is_after_unknown, ids);
        match word.run {
            Run::Unknown(count) => lone.put_unknown(count, mark, ids),
            _ => lone.put(text.as_bytes(), mark, ids),
        }
    }

    /// Write the id of every character of such a run; false for another word.
    pub(super) fn spell(&self, word: Word, out: &mut Vec<u32>) -> bool {
        let (run, is_marked) = self.unmarked(word);
        out.clear();
        let lone = self.form.scanner.lone.as_ref().filter(|_| word.is_lone());
        lone.map(|lone| lone.spell(run.as_bytes(), is_marked, out)).is_some()
    }

    /// Returns how the cache identifies a word.
    #[inline(always)]
    pub(super) fn cache_key(&self, word: Word) -> CacheKey<'t> {
        match (self.key_of(word), self.long_key(word)) {
            (Some(key), _) => CacheKey::Short(key),
            (None, []) => CacheKey::Uncached,
            (None, long) => CacheKey::Long(long, 0),
        }
    }

    /// Returns the bytes that identify a longer word; none if it is not cached.
    #[inline]
    pub(super) fn long_key(&self, word: Word) -> &'t [u8] {
        match word.mark {
            Mark::Added => &[],
            _ => &self.text.as_bytes()[word.start..word.end],
        }
    }

    /// Whether a word becomes something else after a space than elsewhere.
    pub(super) fn depends_on_space(&self, word: Word) -> bool {
        self.form.layout == Layout::Apart
            && self.normalizer.depends_on_space(&self.text[word.start..word.end])
    }

    /// Write a word of ASCII with a space for each mark.
    pub(super) fn write_ascii(&self, word: Word, out: &mut String) {
        out.clear();
        let (unmarked, is_marked) = self.unmarked(word);
        out.extend(is_marked.then_some(' '));
        out.push_str(unmarked);
    }

    /// Write the marked text of a word.
    pub(super) fn write(&self, word: Word, normalized: &mut String, out: &mut String) -> Result<(), Error> {
        out.clear();
        let Word { start, end, mark, .. } = word;
        let raw = &self.text[start..end];
        match self.form.layout {
            Layout::Marked(_) => out.push_str(raw),
            Layout::Runs(_) => {
                out.extend((mark == Mark::Added).then_some(MARK));
                out.extend(raw.chars().map(|c| if c == ' ' { MARK } else { c }));
            }
            Layout::Single => {
                let (stretch, is_marked) = self.unmarked(word);
                return self.write_single(stretch, is_marked, normalized, out);
            }
            Layout::Apart if self.form.keeps(raw) => {
                out.push(MARK);
                out.push_str(raw);
            }
            Layout::Apart => {
                let follows_space = start > 0 && self.text.as_bytes()[start - 1] == b' ';
                let from = start - usize::from(follows_space);
                normalized.clear();
                self.normalizer.run(&self.text[from..end], 0, normalized)?;
                mark_words(normalized, out);
            }
        }
        Ok(())
    }

    fn write_single(
        &self,
        stretch: &str,
        is_marked: bool,
        normalized: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        let mut new = stretch;
        if !self.form.keeps(stretch) {
            if let Normalizer::SentencePiece(normalizer) = self.normalizer {
                normalized.clear();
                normalizer.normalize_segment(stretch, !is_marked, normalized)?;
                new = normalized;
            }
        }
        if !new.is_empty() {
            out.extend(is_marked.then_some(MARK));
            out.push_str(new);
        }
        Ok(())
    }
}

/// Write every word between whitespace with a mark before it, unless it has one.
fn mark_words(text: &str, out: &mut String) {
    let words = text.split(|c| class_of(c).has(Class::WHITESPACE)).filter(|word| !word.is_empty());
    for word in words {
        if !word.starts_with(MARK) {
            out.push_str(MARK_TEXT);
        }
        out.push_str(word);
    }
}
