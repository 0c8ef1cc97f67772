//! Words spelled by their bytes to ids, some hundred at a time: hash all and ask for their lines of the memo,
//! then read those and write.

use crate::memo::{self, Key, Memo, Texts, MAX_PIECES};
use crate::model::{Model, ModelScratch};
use crate::pretokenize::Words;
use crate::vocab::Vocab;

/// How many words wait for their lines to arrive.
const BATCH: usize = 256;
/// The longest word, in bytes, that is remembered: of longer ones, whole sentences in some languages, one in
/// twenty comes again, which is not worth the memory that all take.
const MAX_REMEMBERED_BYTES: usize = 32;

/// The key of a word, absent where it has more bytes than one holds, and its hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    key: Key,
    hash: u64,
}

/// Memory for the words that wait, and for the ids of one.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    waiting: Box<[Waiting; BATCH]>,
    ids: Vec<u32>,
}

impl Default for Batch {
    fn default() -> Self {
        Self { waiting: Box::new([Waiting { key: Key::ABSENT, hash: 0 }; BATCH]), ids: Vec::new() }
    }
}

/// What is needed to turn words into ids.
pub(super) struct ByteWords<'s> {
    pub(super) model: &'s Model,
    pub(super) vocab: &'s Vocab,
    pub(super) memo: &'s mut Memo,
    pub(super) texts: &'s mut Texts,
    pub(super) scratch: &'s mut ModelScratch,
    pub(super) batch: &'s mut Batch,
}

impl ByteWords<'_> {
    /// Append the ids of the words of a stretch of text, through the memo unless they are drawn at random.
    #[inline]
    pub(super) fn write(&mut self, text: &str, words: Words<'_>, out: &mut Vec<u32>) {
        if self.scratch.draws.is_some() {
            return words.spans().for_each(|(start, end)| {
                self.model.run_spelled(&text[start..end], self.vocab, self.scratch, out);
            });
        }
        for (starts, ends) in words.starts.chunks(BATCH).zip(words.ends.chunks(BATCH)) {
            let words = Words { starts, ends };
            self.ask(text.as_bytes(), words);
            self.answer(text, words, out);
        }
    }

    /// Hash words and ask for their lines.
    fn ask(&mut self, text: &[u8], words: Words<'_>) {
        let Self { memo, texts, batch, .. } = self;
        for ((start, end), waiting) in words.spans().zip(batch.waiting.iter_mut()) {
            if let Some(key) = Key::at(text, start, end) {
                *waiting = Waiting { key, hash: key.hash() };
                memo.prefetch_hashed(waiting.hash);
            } else if end - start <= MAX_REMEMBERED_BYTES {
                *waiting = Waiting { key: Key::ABSENT, hash: Texts::hash(&text[start..end]) };
                texts.prefetch_hashed(waiting.hash);
            } else {
                waiting.key = Key::ABSENT;
            }
        }
    }

    /// Append the ids of words that have been asked for.
    ///
    /// Room is made for the most ids that a memo's words have, and cut off at the end: no other check a word.
    fn answer(&mut self, text: &str, words: Words<'_>, out: &mut Vec<u32>) {
        let mut at = out.len();
        out.resize(at + MAX_PIECES * words.ends.len(), 0);
        for (i, span) in words.spans().enumerate() {
            let word = self.batch.waiting[i];
            let remembered = match word.key {
                Key::ABSENT => None,
                key => self.memo.get_hashed(key, word.hash),
            };
            at += match remembered {
                Some(packed) if memo::are_ids(packed) => memo::put(packed, &mut out[at..at + MAX_PIECES]),
                Some(_) => self.put_longer(&text[span.0..span.1], word, at, out),
                None if word.key == Key::ABSENT => self.put_longer(&text[span.0..span.1], word, at, out),
                None => self.put_new(&text[span.0..span.1], word, at, out),
            };
        }
        out.truncate(at);
    }

    /// Put the ids of a word that has no key, or is known to be in `Texts`, at a place; returns how many.
    #[cold]
    #[inline(never)]
    fn put_longer(&mut self, text: &str, word: Waiting, at: usize, out: &mut Vec<u32>) -> usize {
        if text.len() > MAX_REMEMBERED_BYTES {
            return put_all(self.segmented(text), at, out);
        }
        if let Some((_, ids)) = self.texts.get_hashed(text.as_bytes(), word.hash) {
            return put_all(ids, at, out);
        }
        self.segmented(text);
        self.texts.insert_hashed(text.as_bytes(), word.hash, 0, &self.batch.ids);
        put_all(&self.batch.ids, at, out)
    }

    /// Put the ids of a word that the memo should have, but does not, at a place; returns how many.
    #[cold]
    #[inline(never)]
    fn put_new(&mut self, text: &str, word: Waiting, at: usize, out: &mut Vec<u32>) -> usize {
        let packed = memo::pack(self.segmented(text));
        self.memo.insert(word.key, packed.unwrap_or(memo::ELSEWHERE));
        if packed.is_none() {
            self.texts.insert_hashed(text.as_bytes(), word.hash, 0, &self.batch.ids);
        }
        put_all(&self.batch.ids, at, out)
    }

    fn segmented(&mut self, text: &str) -> &[u32] {
        self.batch.ids.clear();
        self.model.run_spelled(text, self.vocab, self.scratch, &mut self.batch.ids);
        &self.batch.ids
    }
}

/// Put ids at a place where there is room for `MAX_PIECES`; returns how many they are.
fn put_all(ids: &[u32], at: usize, out: &mut Vec<u32>) -> usize {
    out.resize(out.len() + ids.len().saturating_sub(MAX_PIECES), 0);
    out[at..at + ids.len()].copy_from_slice(ids);
    ids.len()
}
