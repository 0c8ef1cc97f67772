//! Words spelled by their bytes to ids, some hundred at a time: hash all and ask for their lines of the memo,
//! then read those and write.

use crate::memo::{self, Key, Memo, PackedIds, Texts, MAX_PIECES};
use crate::model::{Model, ModelScratch};
use crate::pretokenize::Words;
use crate::vocab::Vocab;

/// How many words wait for their lines to arrive.
const BATCH: usize = 256;

/// A word of a stretch of text; the key is missing where it has more bytes than one holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    key: Option<Key>,
    hash: u64,
    start: u32,
    end: u32,
}

/// Memory for the words that wait, and for the ids of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    waiting: Vec<Waiting>,
    ids: Vec<u32>,
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
            return words.for_each(|start, end| {
                self.model.run_spelled(&text[start..end], self.vocab, self.scratch, out);
            });
        }
        words.for_each(|start, end| {
            self.ask(text.as_bytes(), start, end);
            if self.batch.waiting.len() == BATCH {
                self.answer(text, out);
            }
        });
        self.answer(text, out);
    }

    /// Hash a word and ask for its line.
    #[inline(always)]
    fn ask(&mut self, text: &[u8], start: usize, end: usize) {
        let key = Key::at(text, start, end);
        let hash = match key {
            Some(key) => {
                let hash = key.hash();
                self.memo.prefetch_hashed(hash);
                hash
            }
            None => {
                let hash = Texts::hash(&text[start..end]);
                self.texts.prefetch_hashed(hash);
                hash
            }
        };
        self.batch.waiting.push(Waiting { key, hash, start: start as u32, end: end as u32 });
    }

    /// Append the ids of all words that wait.
    ///
    /// Room is made for the most ids that a memo's words have, and cut off at the end: no other check a word.
    fn answer(&mut self, text: &str, out: &mut Vec<u32>) {
        let mut at = out.len();
        out.resize(at + MAX_PIECES * self.batch.waiting.len(), 0);
        for i in 0..self.batch.waiting.len() {
            let word = self.batch.waiting[i];
            match word.key.and_then(|key| self.memo.get_hashed(key, word.hash)) {
                Some(packed) => at += put(packed, &mut out[at..at + MAX_PIECES]),
                None => at += self.put_other(text, word, at, out),
            }
        }
        out.truncate(at);
        self.batch.waiting.clear();
    }

    /// Put the ids of a word that the memo does not have at a place; returns how many.
    #[cold]
    fn put_other(&mut self, text: &str, word: Waiting, at: usize, out: &mut Vec<u32>) -> usize {
        let bytes = &text[word.start as usize..word.end as usize];
        let known = self.texts.get_hashed(bytes.as_bytes(), word.hash);
        let ids = match known {
            Some(ids) => ids,
            None => {
                self.batch.ids.clear();
                self.model.run_spelled(bytes, self.vocab, self.scratch, &mut self.batch.ids);
                match word.key.and_then(|key| Some((key, memo::pack(&self.batch.ids)?))) {
                    Some((key, packed)) => self.memo.insert(key, packed),
                    None => self.texts.insert_hashed(bytes.as_bytes(), word.hash, &self.batch.ids),
                }
                &self.batch.ids
            }
        };
        out.resize(out.len() + ids.len().saturating_sub(MAX_PIECES), 0);
        out[at..at + ids.len()].copy_from_slice(ids);
        ids.len()
    }
}

/// Put packed ids where there is room for the most; returns how many they are.
#[inline(always)]
fn put(packed: PackedIds, room: &mut [u32]) -> usize {
    let (ids, count) = memo::unpacked(packed);
    room.copy_from_slice(&ids);
    count
}
