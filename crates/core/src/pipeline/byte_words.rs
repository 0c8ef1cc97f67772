//! Words spelled by their bytes to ids, some hundred at a time: hash all and ask for their lines of the memo,
//! then read those and write.

use crate::memo::{self, Key, Memo, PackedIds, Texts, MAX_PIECES};
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

/// A word whose ids are not in the memo, on its way to them.
#[derive(Clone, Copy, Debug)]
struct Later {
    /// Its number among those that wait.
    number: usize,
    /// Where its ids go, if those of all others that come later are left out.
    at: usize,
    way: Way,
    /// Where its ids are.
    ids: (usize, usize),
}

/// Where the ids of a word come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// `Texts` may have them.
    Elsewhere,
    /// The model.
    New,
    /// The same word came before, as the one with this number of those that come later.
    Again(usize),
}

/// Memory for the words that wait, and for those that take longer.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    waiting: Box<[Waiting; BATCH]>,
    later: Vec<Later>,
    /// The spans of new words, and where the ids of each end.
    spans: Vec<(usize, usize)>,
    ends: Vec<usize>,
    ids: Vec<u32>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            waiting: Box::new([Waiting { key: Key::ABSENT, hash: 0 }; BATCH]),
            later: Vec::new(),
            spans: Vec::new(),
            ends: Vec::new(),
            ids: Vec::new(),
        }
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
            } else if is_remembered(end - start) {
                *waiting = Waiting { key: Key::ABSENT, hash: Texts::hash(&text[start..end]) };
                texts.prefetch_hashed(waiting.hash);
            } else {
                *waiting = Waiting { key: Key::ABSENT, hash: 0 };
            }
        }
    }

    /// Append the ids of words that have been asked for.
    ///
    /// Room is made for the most ids that a memo's words have, and cut off at the end: no other check a word.
    fn answer(&mut self, text: &str, words: Words<'_>, out: &mut Vec<u32>) {
        let mut at = out.len();
        out.resize(at + MAX_PIECES * words.ends.len(), 0);
        let Batch { waiting, later, .. } = &mut *self.batch;
        later.clear();
        for (number, word) in waiting[..words.ends.len()].iter().enumerate() {
            match self.memo.get_hashed(word.key, word.hash) {
                Some(packed) if memo::are_ids(packed) => {
                    at += memo::put(packed, &mut out[at..at + MAX_PIECES]);
                }
                found => {
                    let way = way_of(*word, found);
                    if way == Way::New && word.key != Key::ABSENT {
                        self.memo.insert_hashed(word.key, word.hash, memo::awaited(later.len() as u32));
                    }
                    later.push(Later { number, at, way, ids: (0, 0) });
                }
            }
        }
        out.truncate(at);
        if !self.batch.later.is_empty() {
            self.answer_later(text, words, out);
        }
    }

    /// Put in the ids of words that are not in the memo.
    #[cold]
    #[inline(never)]
    fn answer_later(&mut self, text: &str, words: Words<'_>, out: &mut Vec<u32>) {
        self.batch.ids.clear();
        self.recall(text, words);
        self.segment_new(text);
        self.remember(text);
        self.batch.put_in(out);
    }

    /// Find the ids of words that `Texts` has; the others are new.
    fn recall(&mut self, text: &str, words: Words<'_>) {
        let Self { texts, batch: Batch { waiting, later, spans, ids, .. }, .. } = self;
        for word in later.iter().filter(|word| word.way == Way::Elsewhere) {
            texts.prefetch_found(waiting[word.number].hash);
        }
        spans.clear();
        for word in later.iter_mut() {
            let (start, end) = (words.starts[word.number] as usize, words.ends[word.number] as usize);
            if word.way == Way::Elsewhere {
                let bytes = &text.as_bytes()[start..end];
                match texts
                    .get_hashed(bytes, waiting[word.number].hash)
                    .filter(|_| is_remembered(bytes.len()))
                {
                    Some((_, found)) => {
                        word.ids = (ids.len(), ids.len() + found.len());
                        ids.extend_from_slice(found);
                    }
                    None => word.way = Way::New,
                }
            }
            if word.way == Way::New {
                spans.push((start, end));
            }
        }
    }

    /// Segment the words that are new.
    fn segment_new(&mut self, text: &str) {
        let Batch { later, spans, ends, ids, .. } = &mut *self.batch;
        let mut start = ids.len();
        ends.clear();
        self.model.run_spelled_all((text, spans), self.vocab, self.scratch, ids, ends);
        for (word, &end) in later.iter_mut().filter(|word| word.way == Way::New).zip(&*ends) {
            word.ids = (start, end);
            start = end;
        }
    }

    /// Remember the words that are new.
    fn remember(&mut self, text: &str) {
        let Batch { waiting, later, spans, ids, .. } = &*self.batch;
        for (word, &(start, end)) in later.iter().filter(|word| word.way == Way::New).zip(spans) {
            let Waiting { key, hash } = waiting[word.number];
            let ids = &ids[word.ids.0..word.ids.1];
            let packed = memo::pack(ids);
            if key != Key::ABSENT {
                self.memo.change_hashed(key, hash, packed.unwrap_or(memo::ELSEWHERE));
            }
            if (key == Key::ABSENT || packed.is_none()) && is_remembered(end - start) {
                self.texts.insert_hashed(&text.as_bytes()[start..end], hash, 0, ids);
            }
        }
    }
}

/// Where the ids of a word come from that are not in the memo.
fn way_of(word: Waiting, found: Option<&PackedIds>) -> Way {
    match found.map(memo::awaited_number) {
        None if word.key != Key::ABSENT => Way::New,
        None | Some(None) => Way::Elsewhere,
        Some(Some(number)) => Way::Again(number as usize),
    }
}

fn is_remembered(len: usize) -> bool {
    len <= MAX_REMEMBERED_BYTES
}

impl Batch {
    /// Put in the ids of words that come later, from the last on.
    fn put_in(&mut self, out: &mut Vec<u32>) {
        for at in 0..self.later.len() {
            if let Way::Again(number) = self.later[at].way {
                self.later[at].ids = self.later[number].ids;
            }
        }
        let mut from = out.len();
        let all: usize = self.later.iter().map(|word| word.ids.1 - word.ids.0).sum();
        out.resize(from + all, 0);
        let mut to = out.len();
        for word in self.later.iter().rev() {
            let ids = &self.ids[word.ids.0..word.ids.1];
            out.copy_within(word.at..from, to - (from - word.at));
            to -= from - word.at;
            from = word.at;
            out[to - ids.len()..to].copy_from_slice(ids);
            to -= ids.len();
        }
    }
}
