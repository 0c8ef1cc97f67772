//! Words to ids through the memo. A word's line of the memo is asked for when the word is found, and read a
//! few words later, when it has come.

use super::super::words::block_at;
use super::scan::Masks;
use super::segmenter::{Segmenter, Texts, LONG};
use super::source::{Source, Word};
use crate::error::Error;
use crate::memo::{self, Key, Memo, MAX_KEY_BYTES};
use crate::model::Worth;
use crate::normalize::Growth;

/// How many words wait for their cache line to arrive.
const WAITING: usize = 16;

/// A word that waits, and what it is asked for by.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Short(Key, Word),
    Long(u64, Word),
}

/// Takes the words of one text.
pub(super) struct Words<'s, S> {
    source: Source<'s>,
    segmenter: S,
    memo: &'s mut Memo,
    long_memo: &'s mut memo::Texts,
    texts: Texts<'s>,
    parts: &'s mut Vec<Part>,
    out: &'s mut Vec<u32>,
    waiting: [Waiting; WAITING],
    count: usize,
    growth: Growth,
    result: Result<(), Error>,
}

impl<'s, S: Segmenter> Words<'s, S> {
    pub(super) fn new(
        source: Source<'s>,
        segmenter: S,
        (memo, long_memo): (&'s mut Memo, &'s mut memo::Texts),
        (texts, parts): (Texts<'s>, &'s mut Vec<Part>),
        out: &'s mut Vec<u32>,
    ) -> Self {
        let waiting = [Waiting::Short(Key::from_low_bytes(0, 0), Word::default()); WAITING];
        let growth = Growth::of(source.text.len());
        Self {
            source,
            segmenter,
            memo,
            long_memo,
            texts,
            parts,
            out,
            waiting,
            count: 0,
            growth,
            result: Ok(()),
        }
    }

    /// Append the ids of all words.
    pub(super) fn run(mut self, masks: &mut Masks) -> Result<(), Error> {
        let source = self.source;
        source.words(masks, |word| self.word(word));
        self.look_up();
        self.result
    }

    #[inline]
    fn word(&mut self, word: Word) {
        if self.count == WAITING {
            self.look_up();
        }
        self.waiting[self.count] = match self.source.key_of(word) {
            Some(key) => {
                self.memo.prefetch(key);
                Waiting::Short(key, word)
            }
            None => {
                let hash = self.long_hash(word);
                self.long_memo.prefetch_hashed(hash);
                Waiting::Long(hash, word)
            }
        };
        self.count += 1;
    }

    /// Append the ids of the words that wait.
    fn look_up(&mut self) {
        for at in 0..std::mem::take(&mut self.count) {
            match self.waiting[at] {
                Waiting::Short(key, word) => match self.memo.get(key) {
                    Some(ids) if self.segmenter.repeat(ids, word, self.out) => {}
                    Some(LONG) => self.long_word(self.long_hash(word), word, Some(key)),
                    _ => self.new_word(self.long_hash(word), word, Some(key)),
                },
                Waiting::Long(hash, word) => self.long_word(hash, word, None),
            }
        }
    }

    /// Append the ids of a word that the memo does not know.
    fn long_word(&mut self, hash: u64, word: Word, key: Option<Key>) {
        let known = self.long_memo.get_hashed(self.source.long_key(word), hash);
        if known.is_some_and(|(note, ids)| self.segmenter.repeat_long(note, ids, word, self.out)) {
            return;
        }
        self.new_word(hash, word, key);
    }

    #[cold]
    fn new_word(&mut self, hash: u64, word: Word, key: Option<Key>) {
        if self.result.is_ok() {
            self.result = self.segment(word, hash, key);
        }
    }

    fn long_hash(&self, word: Word) -> u64 {
        memo::Texts::hash(self.source.long_key(word))
    }

    /// Segment a word, and remember it where it will be asked for.
    fn segment(&mut self, word: Word, hash: u64, key: Option<Key>) -> Result<(), Error> {
        let from = self.out.len();
        self.write(word)?;
        self.growth.take(self.texts.0.len())?;
        if let Some(worth) = self.append_parts() {
            self.end_word(worth, word, hash, key, from);
            return Ok(());
        }
        self.out.truncate(from);
        self.segmenter.settle(self.source, &mut self.texts, self.out)?;
        self.write(word)?;
        match self.append_parts() {
            Some(worth) => self.end_word(worth, word, hash, key, from),
            None => {
                self.out.truncate(from);
                for &(start, end, _) in self.parts.iter() {
                    self.segmenter.append_settled(&self.texts.0[start..end], self.out);
                }
            }
        }
        Ok(())
    }

    /// Write the marked text of a word and its parts.
    fn write(&mut self, word: Word) -> Result<(), Error> {
        let (marked, normalized) = &mut self.texts;
        self.source.write(word, normalized, marked)?;
        self.parts.clear();
        self.source.parts(marked, |start, end| {
            let key = part_key(marked.as_bytes(), start, end);
            if let Some(key) = key {
                self.memo.prefetch(key);
            }
            self.parts.push((start, end, key));
        });
        Ok(())
    }

    /// Append the ids of the word that is written, part by part through the memo; what they are worth, or
    /// `None` where the score of the text so far must be known first.
    fn append_parts(&mut self) -> Option<Worth> {
        let mut worth = Worth::default();
        for &(start, end, key) in self.parts.iter() {
            let from = self.out.len();
            let remembered = key.and_then(|key| self.memo.get(key));
            let part = &self.texts.0[start..end];
            let of_part = self.segmenter.append_part(part, remembered, worth, self.out)?;
            if let (Some(key), None, Some(note)) = (key, remembered, self.segmenter.note(of_part)) {
                if let Some(packed) = S::pack(&self.out[from..], note) {
                    self.memo.insert(key, packed);
                }
            }
            worth = worth.and(of_part);
        }
        Some(worth)
    }

    /// Go on after a word whose ids begin at `from`, and remember it.
    fn end_word(&mut self, worth: Worth, word: Word, hash: u64, key: Option<Key>, from: usize) {
        self.segmenter.end_word(worth, word, from..self.out.len());
        let Some(note) = self.segmenter.note(worth) else { return };
        if self.source.leans_on_space(word) {
            return;
        }
        let ids = &self.out[from..];
        match (key, S::pack(ids, note)) {
            (Some(key), Some(packed)) => self.memo.insert(key, packed),
            (key, _) => {
                self.long_memo.insert_hashed(self.source.long_key(word), hash, note, ids);
                if let Some(key) = key {
                    self.memo.insert(key, LONG);
                }
            }
        }
    }
}

/// A part of a marked word: its span, and its key if it is short.
pub(super) type Part = (usize, usize, Option<Key>);

/// The key of a part of a marked word; no text begins like this, so it is no word's.
#[inline]
fn part_key(marked: &[u8], start: usize, end: usize) -> Option<Key> {
    let len = end - start + 1;
    if len > MAX_KEY_BYTES {
        return None;
    }
    let block = u128::from_le_bytes(block_at(marked, start)) << 8 | u128::from(NO_TEXT);
    Some(Key::from_low_bytes(block & (u128::MAX >> (128 - 8 * len)), len))
}

/// A byte that UTF-8 never has.
const NO_TEXT: u8 = 0xFF;
