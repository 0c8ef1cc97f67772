//! One text: the words in it, their keys in the memo, and what normalizing and marking makes of them.

use super::form::{Begins, Form, Layout, MARK, MARK_TEXT};
use super::lone::Put;
use super::scan::{Follows, Masks, Run, Stretch};
use crate::error::Error;
use crate::model::Cut;
use crate::normalize::Normalizer;
use crate::text::{class_of, Class};
use crate::word_cache::{block_at, Key, MAX_KEY_BYTES};

/// A byte that UTF-8 never has.
const NO_TEXT: u8 = 0xFF;

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
    pub(super) fn key_of(&self, word: Word) -> Option<Key> {
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
        Some(Key::from_block(block, len))
    }

    /// The key of a part of a marked word, if it is short: that of the word which it is the marked text of, or else one
    /// that no word has.
    #[inline]
    pub(super) fn key_of_part(&self, marked: &str, start: usize, end: usize) -> Option<Key> {
        let bytes = marked.as_bytes();
        let mut from = start;
        while self.form.layout != Layout::Apart && bytes[from..end].starts_with(MARK_TEXT.as_bytes()) {
            from += MARK_TEXT.len();
        }
        let spaces = (b' ', (from - start) / MARK_TEXT.len());
        match self.form.layout {
            Layout::Marked(_) => key_after((0, 0), bytes, start, end),
            Layout::Runs(_) => key_after(spaces, bytes, from, end),
            Layout::Single if self.form.keeps(&marked[from..end]) => key_after(spaces, bytes, from, end),
            _ => key_after((NO_TEXT, 1), bytes, start, end),
        }
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

    /// What a longer word is remembered by; nothing for one that is not.
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

    /// Give the span of every part of the marked text of a word between whose borders no piece or merge crosses, and
    /// whether the part begins a pre-token.
    pub(super) fn parts(&self, marked: &str, mut visit: impl FnMut(usize, usize, bool)) {
        self.pre_tokens(marked, |start, end| match &self.form.pairs {
            Some(pairs) => {
                let chars = marked[start..end].char_indices();
                pairs.cut(chars, end - start, |from, to| visit(start + from, start + to, from == 0));
            }
            None => visit(start, end, true),
        });
    }

    /// Give the span of every pre-token of the marked text of a word.
    pub(super) fn pre_tokens(&self, marked: &str, mut visit: impl FnMut(usize, usize)) {
        match self.form.layout {
            Layout::Apart => cut_before_marks(marked, visit),
            Layout::Marked(_) if !marked.is_empty() => visit(0, marked.len()),
            Layout::Marked(_) => {}
            _ => cut_all(Cut::BeforeSpace, marked, visit),
        }
    }
}

/// The key of the bytes of a text from `from` to `end` behind so many times another byte, if they are short.
#[inline]
fn key_after((first, count): (u8, usize), text: &[u8], from: usize, end: usize) -> Option<Key> {
    let len = count + end - from;
    if len > MAX_KEY_BYTES {
        return None;
    }
    let before = u128::from_le_bytes([first; 16]) & !(u128::MAX << (8 * count));
    let block = block_at(text, from) << (8 * count) | before;
    Some(Key::from_block(block, len))
}

fn cut_before_marks(text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    for (at, _) in text.match_indices(MARK).filter(|&(at, _)| at > 0) {
        visit(start, at);
        start = at;
    }
    if start < text.len() {
        visit(start, text.len());
    }
}

fn cut_all(cut: Cut, text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    while start < text.len() {
        let end = cut.next(text, start);
        visit(start, end);
        start = end;
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
