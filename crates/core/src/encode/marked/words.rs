//! Words of Unigram models to ids through the memo, some at a time: all are hashed and their lines of the memo asked for,
//! then those are read, and what they hold is written.

use super::packed::MOST_IDS;
use super::scan::Masks;
use super::segmenter::Scored;
use super::source::{Source, Word};
use crate::error::Error;
use crate::text::ExpansionLimit;
use crate::word_cache::{self, Key, ShortWords};

/// How many words wait for their lines to arrive.
const WAITING: usize = 64;

/// A word that waits with its key, absent where it has more bytes than one holds, and its hash.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: Key,
    hash: u64,
    word: Word,
}

const NOTHING: Waiting = Waiting { key: Key::ABSENT, hash: 0, word: Word::NONE };

/// Memory for words that wait.
#[derive(Clone, Debug)]
pub(super) struct Waits(Box<[Waiting; WAITING]>);

impl Default for Waits {
    fn default() -> Self {
        Self(Box::new([NOTHING; WAITING]))
    }
}

/// The most ids of a word that is not new.
#[inline]
fn most_ids(word: Word) -> usize {
    if word.is_lone() {
        // One for a character beyond ASCII, and one for the mark.
        (word.end - word.start) / 2 + 2
    } else {
        MOST_IDS
    }
}

/// Memory for one word: marked, and normalized.
pub(super) type Texts<'t> = (&'t mut String, &'t mut String);

/// Takes the words of one text.
pub(super) struct Words<'s> {
    source: Source<'s>,
    segmenter: Scored<'s>,
    memo: &'s mut ShortWords,
    long_memo: &'s mut word_cache::LongWords,
    texts: Texts<'s>,
    out: &'s mut Vec<u32>,
    waiting: &'s mut [Waiting; WAITING],
    count: usize,
    /// How many ids those that wait may have, unless some are new.
    room: usize,
    growth: ExpansionLimit,
    result: Result<(), Error>,
}

impl<'s> Words<'s> {
    pub(super) fn new(
        source: Source<'s>,
        segmenter: Scored<'s>,
        (memo, long_memo): (&'s mut ShortWords, &'s mut word_cache::LongWords),
        texts: Texts<'s>,
        waits: &'s mut Waits,
        out: &'s mut Vec<u32>,
    ) -> Self {
        let waiting = &mut *waits.0;
        let growth = ExpansionLimit::of(source.text.len());
        Self {
            source,
            segmenter,
            memo,
            long_memo,
            texts,
            out,
            waiting,
            count: 0,
            room: 0,
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
        self.room += most_ids(word);
        let key = if word.is_lone() { None } else { self.source.key_of(word) };
        self.waiting[self.count] = match key {
            Some(key) => {
                let hash = key.hash();
                self.memo.prefetch_hashed(hash);
                Waiting { key, hash, word }
            }
            None if word.is_lone() => Waiting { word, ..NOTHING },
            None => {
                self.long_memo.prefetch_hashed(self.long_hash(word));
                Waiting { word, ..NOTHING }
            }
        };
        self.count += 1;
    }

    /// Append the ids of the words that wait.
    ///
    /// Room is made for the most ids that they have if none is new, and cut off at the end: no other check a word.
    fn look_up(&mut self) {
        let (count, mut room) = (std::mem::take(&mut self.count), std::mem::take(&mut self.room));
        let mut at = self.out.len();
        self.out.resize(at + room, 0);
        for done in 0..count {
            let Waiting { key, hash, word } = self.waiting[done];
            room -= most_ids(word);
            let known = if key == Key::ABSENT { None } else { self.memo.get_hashed(key, hash) };
            let put = match known {
                Some(known) => self.segmenter.repeat(known, word, at, self.out),
                None if word.is_lone() => self.segmenter.put_lone(word, self.source, at, self.out),
                None => None,
            };
            if let Some(put) = put {
                at += put;
                continue;
            }
            let is_long = key == Key::ABSENT || known == Some(&word_cache::ELSEWHERE);
            self.out.truncate(at);
            self.other_word(word, (key != Key::ABSENT).then_some(key), is_long);
            at = self.out.len();
            self.out.resize(at + room, 0);
        }
        self.out.truncate(at);
    }

    /// Append the ids of a word that the memo does not know; the other one may.
    #[cold]
    #[inline(never)]
    fn other_word(&mut self, word: Word, key: Option<Key>, is_long: bool) {
        if is_long && !word.is_lone() {
            let known = self.long_memo.get_hashed(self.source.long_key(word), self.long_hash(word));
            if known.is_some_and(|(note, ids)| self.segmenter.repeat_long(note, ids, word, self.out)) {
                return;
            }
        }
        if self.result.is_ok() {
            self.result = self.segment(word, key);
        }
    }

    fn long_hash(&self, word: Word) -> u64 {
        word_cache::LongWords::hash(self.source.long_key(word))
    }

    /// Segment a word, and remember it where it will be asked for.
    fn segment(&mut self, word: Word, key: Option<Key>) -> Result<(), Error> {
        let from = self.out.len();
        let (marked, normalized) = &mut self.texts;
        self.source.write(word, normalized, marked)?;
        self.growth.take(marked.len())?;
        let note = self.segmenter.segment(marked, word, self.source, self.out)?;
        if let Some(note) = note {
            if !word.is_lone() && !self.source.depends_on_space(word) {
                self.remember(word, key, note, from);
            }
            self.segmenter.place(note, word, from, self.out);
        }
        Ok(())
    }

    /// Remember a word whose ids begin at `from`.
    fn remember(&mut self, word: Word, key: Option<Key>, note: u32, from: usize) {
        let ids = &self.out[from..];
        match (key, self.segmenter.pack(ids, note)) {
            // It is there already where that did not hold.
            (Some(key), Some(packed)) if self.memo.get(key).is_none() => self.memo.insert(key, packed),
            (Some(_), Some(_)) => {}
            (key, _) => {
                let hash = self.long_hash(word);
                self.long_memo.insert_hashed(self.source.long_key(word), hash, note, ids);
                if let Some(key) = key {
                    self.memo.insert(key, word_cache::ELSEWHERE);
                }
            }
        }
    }
}
