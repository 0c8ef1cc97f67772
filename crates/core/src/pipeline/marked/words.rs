//! Words to ids through the memo. A word's line of the memo is asked for when the word is found, and read a
//! few words later, when it has come.

use super::scan::Masks;
use super::segmenter::{Segmenter, LONG};
use super::source::{Source, Word};
use crate::error::Error;
use crate::memo::{self, Key, Memo};
use crate::normalize::Growth;

/// How many words wait for their cache line to arrive.
const WAITING: usize = 16;

/// A word that waits, and what it is asked for by.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Short(Key, Word),
    Long(u64, Word),
}

/// Memory for one word: marked, and normalized.
pub(super) type Texts<'t> = (&'t mut String, &'t mut String);

/// Takes the words of one text.
pub(super) struct Words<'s, S> {
    source: Source<'s>,
    segmenter: S,
    memo: &'s mut Memo,
    long_memo: &'s mut memo::Texts,
    texts: Texts<'s>,
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
        texts: Texts<'s>,
        out: &'s mut Vec<u32>,
    ) -> Self {
        let waiting = [Waiting::Short(Key::from_low_bytes(0, 0), Word::default()); WAITING];
        let growth = Growth::of(source.text.len());
        Self { source, segmenter, memo, long_memo, texts, out, waiting, count: 0, growth, result: Ok(()) }
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
        let (marked, normalized) = &mut self.texts;
        self.source.write(word, normalized, marked)?;
        self.growth.take(marked.len())?;
        let note = self.segmenter.segment(marked, word, self.source, self.memo, self.out)?;
        match note {
            Some(note) if !self.source.leans_on_space(word) => self.remember(word, hash, key, note, from),
            _ => {}
        }
        Ok(())
    }

    /// Remember a word whose ids begin at `from`.
    fn remember(&mut self, word: Word, hash: u64, key: Option<Key>, note: u32, from: usize) {
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
