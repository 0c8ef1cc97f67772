//! Words spelled by their bytes to ids, some hundred at a time: hash all and ask for their lines of the memo,
//! then read those and write. What is new waits until there is enough of it to be segmented at once (`later`).

use std::convert::Infallible;

use crate::model::{Model, ModelScratch, UnjoinedPairs};
use crate::pretokenize::WordSpans;
use crate::vocab::Vocab;
use crate::word_cache::{self, Key, LongWords, Lookup, ShortWords, Uncopied};

use super::later::{answer, put_known, Held, Way};

/// How many words wait for their lines to arrive.
const ASKED: usize = 256;
/// The longest word, in bytes, that is remembered: of longer ones, whole sentences in some languages, one in
/// twenty comes again, which is not worth the memory that all take.
const MAX_REMEMBERED_BYTES: usize = 64;

/// Words from so many bytes on are taken apart where nothing joins, unless they are so long that room
/// for their parts is too much.
const LONG: u32 = 16;
const TOO_LONG: u32 = 1 << 12;

/// Memory for words that are asked for, and for those that are new.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    asked: Box<[Lookup; ASKED]>,
    /// The hashes of those that `LongWords` may have.
    long: Vec<u64>,
    /// The ids of one that is too long for it.
    long_ids: Vec<u32>,
    /// What new words were asked for by,
    new: Vec<Lookup>,
    /// their bytes, one word after the other,
    text: String,
    /// where those of each are,
    spans: Vec<(usize, usize)>,
    /// and where its ids end.
    ends: Vec<usize>,
    parts: Parts,
}

/// Words of a stretch of text, the long ones in parts.
#[derive(Clone, Debug, Default)]
struct Parts {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            asked: Box::new([Lookup::default(); ASKED]),
            long: Vec::new(),
            long_ids: Vec::new(),
            new: Vec::new(),
            text: String::new(),
            spans: Vec::new(),
            ends: Vec::new(),
            parts: Parts::default(),
        }
    }
}

/// What is needed to turn words into ids.
pub(super) struct ByteWords<'s> {
    pub(super) model: &'s Model,
    pub(super) vocab: &'s Vocab,
    pub(super) memo: &'s mut ShortWords,
    pub(super) texts: &'s mut LongWords,
    pub(super) scratch: &'s mut ModelScratch,
    pub(super) batch: &'s mut Batch,
    pub(super) held: &'s mut Held,
}

impl ByteWords<'_> {
    /// Append the ids of the words of a stretch of text, through the memo unless they are drawn at random; those of
    /// new ones may be left out until [`Self::settle`].
    #[inline]
    pub(super) fn write(&mut self, text: &str, words: WordSpans<'_>, out: &mut Vec<u32>) {
        if self.scratch.draws.is_some() {
            return words.spans().for_each(|(start, end)| {
                self.model.run_spelled(&text[start..end], self.vocab, self.scratch, out);
            });
        }
        match self.model.borders().filter(|_| !text.is_ascii()) {
            Some(borders) => {
                let mut parts = std::mem::take(&mut self.batch.parts);
                self.write_all(text, parts.of(text, words, borders), out);
                self.batch.parts = parts;
            }
            None => self.write_all(text, words, out),
        }
    }

    /// Append the ids of words as they are.
    fn write_all(&mut self, text: &str, words: WordSpans<'_>, out: &mut Vec<u32>) {
        for (starts, ends) in words.starts.chunks(ASKED).zip(words.ends.chunks(ASKED)) {
            let words = WordSpans { starts, ends };
            self.ask(text.as_bytes(), words);
            self.answer(text, words, out);
            if self.held.is_full() {
                self.settle(out);
            }
        }
    }

    /// Hash words and ask for their lines.
    fn ask(&mut self, text: &[u8], words: WordSpans<'_>) {
        let Self { memo, texts, batch: Batch { asked, long, .. }, .. } = self;
        long.clear();
        for ((start, end), asked) in words.spans().zip(asked.iter_mut()) {
            if let Some(key) = Key::at(text, start, end) {
                *asked = key.asked();
                memo.prefetch_hashed(asked.hash);
            } else if is_remembered(end - start) {
                let hash = LongWords::hash(&text[start..end]);
                *asked = Key::asked_in_vain(hash);
                texts.prefetch_hashed(hash);
                long.push(hash);
            } else {
                *asked = Key::asked_in_vain(0);
            }
        }
    }

    /// Append the ids of words that have been asked for.
    fn answer(&mut self, text: &str, words: WordSpans<'_>, out: &mut Vec<u32>) {
        self.batch.long.iter().for_each(|&hash| self.texts.prefetch_found(hash));
        let count = words.ends.len();
        let known = |all: &Self, from: usize, room: &mut [u32]| {
            all.memo.copy_hits(&all.batch.asked[from..count], room)
        };
        let Ok(()) = answer::<_, Infallible>(self, count, out, known, |all, number, at, out| {
            let (start, end) = (words.starts[number] as usize, words.ends[number] as usize);
            Ok(all.answer_other(all.batch.asked[number], &text[start..end], at, out))
        });
    }

    /// Put the ids of a word that the memo does not have at `at`, if they are known or never will be, and more room
    /// behind; returns where they end. Others come later.
    #[cold]
    #[inline(never)]
    fn answer_other(&mut self, asked: Lookup, word: &str, at: usize, out: &mut Vec<u32>) -> usize {
        let known = self.memo.marked(asked);
        if let Some(ids) = self.ids_elsewhere(known, asked, word.as_bytes()) {
            return put_known(ids, at, out);
        }
        if !is_remembered(word.len()) {
            let ids = &mut self.batch.long_ids;
            ids.clear();
            self.model.run_spelled(word, self.vocab, self.scratch, ids);
            return put_known(ids, at, out);
        }
        match known {
            Some(Uncopied::Awaited(number)) => self.held.push_again(number as usize, at),
            _ => self.let_wait(word, asked, known.is_none(), at),
        }
        at
    }

    /// The ids of a word that `LongWords` has.
    fn ids_elsewhere(&self, known: Option<Uncopied>, asked: Lookup, word: &[u8]) -> Option<&[u32]> {
        match (known, Key::of_asked(asked)) {
            (Some(Uncopied::StoredIds(kept)), _) => self.texts.kept(kept),
            (_, Err(hash)) if is_remembered(word.len()) => {
                self.texts.get_hashed(word, hash).map(|(_, ids)| ids)
            }
            _ => None,
        }
    }

    /// Let a new word wait, and say so in the memo if it has nothing of it.
    fn let_wait(&mut self, word: &str, asked: Lookup, is_missing: bool, at: usize) {
        let Batch { new, text, spans, .. } = &mut *self.batch;
        let number = self.held.push(new.len(), at, Way::New);
        new.push(asked);
        spans.push((text.len(), text.len() + word.len()));
        text.push_str(word);
        if let (true, Ok(key)) = (is_missing, Key::of_asked(asked)) {
            self.memo.insert_hashed(key, asked.hash, word_cache::awaited(number as u32));
        }
    }

    /// Put in the ids of all words that wait.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&mut self, out: &mut Vec<u32>) {
        self.segment_new();
        self.remember();
        self.held.put_in(out);
        let Batch { new, text, spans, .. } = &mut *self.batch;
        new.clear();
        text.clear();
        spans.clear();
    }

    /// Segment the words that are new.
    fn segment_new(&mut self) {
        let Batch { text, spans, ends, .. } = &mut *self.batch;
        let Held { words, ids, .. } = &mut *self.held;
        ends.clear();
        self.model.run_spelled_all((text, spans), self.vocab, self.scratch, ids, ends);
        let mut start = 0;
        for (word, &end) in words.iter_mut().filter(|word| word.way == Way::New).zip(&*ends) {
            word.ids = (start, end);
            start = end;
        }
    }

    /// Remember the words that are new.
    fn remember(&mut self) {
        let Batch { new, text, spans, ends, .. } = &*self.batch;
        let mut from = 0;
        for ((&asked, &(start, end)), &to) in new.iter().zip(spans).zip(ends) {
            let ids = &self.held.ids[from..to];
            from = to;
            match Key::of_asked(asked) {
                Ok(key) => {
                    self.memo.change_hashed(key, asked.hash, word_cache::packed(ids, self.texts));
                }
                Err(hash) if is_remembered(end - start) => {
                    self.texts.insert_hashed(&text.as_bytes()[start..end], hash, 0, ids);
                }
                Err(_) => {}
            }
        }
    }
}

impl Parts {
    /// These words, the long ones that end with other than ASCII taken apart.
    fn of<'p>(&'p mut self, text: &str, words: WordSpans<'p>, borders: &UnjoinedPairs) -> WordSpans<'p> {
        let Self { starts, ends } = self;
        starts.clear();
        ends.clear();
        let mut done = 0;
        for (number, (&start, &end)) in words.starts.iter().zip(words.ends).enumerate() {
            if (LONG..TOO_LONG).contains(&(end - start)) && !text.as_bytes()[end as usize - 1].is_ascii() {
                starts.extend_from_slice(&words.starts[done..number]);
                ends.extend_from_slice(&words.ends[done..number]);
                borders.push_parts(text, (start, end), starts, ends);
                done = number + 1;
            }
        }
        if done == 0 {
            return words;
        }
        starts.extend_from_slice(&words.starts[done..]);
        ends.extend_from_slice(&words.ends[done..]);
        WordSpans { starts, ends }
    }
}

fn is_remembered(len: usize) -> bool {
    len <= MAX_REMEMBERED_BYTES
}
