//! Words spelled by their bytes to ids, some hundred at a time: hash all and ask for their lines of the memo,
//! then read those and write. What is new is put in when there is enough of it to be segmented at once.

use std::ops::Range;

use crate::memo::{self, Asked, Key, Marked, Memo, Texts, MAX_PIECES};
use crate::model::{Model, ModelScratch};
use crate::pretokenize::Words;
use crate::vocab::Vocab;

use super::later::{put_in, Later, Way};

/// How many words wait for their lines to arrive.
const ASKED: usize = 256;
/// How many words are gone through before those are segmented that are new.
const BATCH: usize = 4 * ASKED;
/// The longest word, in bytes, that is remembered: of longer ones, whole sentences in some languages, one in
/// twenty comes again, which is not worth the memory that all take.
const MAX_REMEMBERED_BYTES: usize = 64;

/// Memory for the words that wait, and for those that take longer.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    asked: Box<[Asked; BATCH]>,
    /// The hashes of those that `Texts` may have.
    long: Vec<u64>,
    later: Vec<Later>,
    /// The spans of new words, and where the ids of each end.
    spans: Vec<(usize, usize)>,
    ends: Vec<usize>,
    ids: Vec<u32>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            asked: Box::new([Asked::default(); BATCH]),
            long: Vec::new(),
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
            self.batch.later.clear();
            for first in (0..ends.len()).step_by(ASKED) {
                let numbers = first..ends.len().min(first + ASKED);
                self.ask(text.as_bytes(), words, numbers.clone());
                self.answer(text, words, numbers, out);
            }
            if !self.batch.later.is_empty() {
                self.answer_later(text, words, out);
            }
        }
    }

    /// Hash words and ask for their lines.
    fn ask(&mut self, text: &[u8], words: Words<'_>, numbers: Range<usize>) {
        let Self { memo, texts, batch: Batch { asked, long, .. }, .. } = self;
        long.clear();
        let words = Words { starts: &words.starts[numbers.clone()], ends: &words.ends[numbers.clone()] };
        for ((start, end), asked) in words.spans().zip(&mut asked[numbers]) {
            if let Some(key) = Key::at(text, start, end) {
                *asked = key.asked();
                memo.prefetch_hashed(asked.hash);
            } else if is_remembered(end - start) {
                let hash = Texts::hash(&text[start..end]);
                *asked = Key::asked_in_vain(hash);
                texts.prefetch_hashed(hash);
                long.push(hash);
            } else {
                *asked = Key::asked_in_vain(0);
            }
        }
    }

    /// Append the ids of words that have been asked for.
    ///
    /// Room is made for the most ids that a memo's words have, and cut off at the end: no other check a word.
    fn answer(&mut self, text: &str, words: Words<'_>, numbers: Range<usize>, out: &mut Vec<u32>) {
        self.batch.long.iter().for_each(|&hash| self.texts.prefetch_found(hash));
        let (mut number, mut at, end) = (numbers.start, out.len(), numbers.end);
        out.resize(at + MAX_PIECES * numbers.len(), 0);
        loop {
            let known = self.memo.put_known(&self.batch.asked[number..end], &mut out[at..]);
            (number, at) = (number + known.words, at + known.ids);
            if number == end {
                break;
            }
            let (start, end) = (words.starts[number] as usize, words.ends[number] as usize);
            at = self.answer_other(number, &text.as_bytes()[start..end], at, out);
            number += 1;
        }
        out.truncate(at);
    }

    /// Put the ids of a word that the memo does not have at `at`, if they are known, and more room behind; returns
    /// where they end. Others come later.
    #[cold]
    #[inline(never)]
    fn answer_other(&mut self, number: usize, word: &[u8], at: usize, out: &mut Vec<u32>) -> usize {
        let asked = self.batch.asked[number];
        let known = match Key::of_asked(asked) {
            Ok(key) => self.memo.get_hashed(key, asked.hash).map(memo::marked),
            Err(_) => Some(Marked::Elsewhere),
        };
        if let Some(ids) = self.ids_elsewhere(known, asked, word) {
            out.resize(out.len() + ids.len(), 0);
            out[at..at + ids.len()].copy_from_slice(ids);
            return at + ids.len();
        }
        let way = self.way_of(known, asked);
        self.batch.later.push(Later { number, at, way, ids: (0, 0) });
        at
    }

    /// The ids of a word that `Texts` has.
    fn ids_elsewhere(&self, known: Option<Marked>, asked: Asked, word: &[u8]) -> Option<&[u32]> {
        match (known, Key::of_asked(asked)) {
            (Some(Marked::Kept(kept)), _) => self.texts.kept(kept),
            (_, Err(hash)) if is_remembered(word.len()) => {
                self.texts.get_hashed(word, hash).map(|(_, ids)| ids)
            }
            _ => None,
        }
    }

    /// Where the ids of a word come from that nobody has.
    fn way_of(&mut self, known: Option<Marked>, asked: Asked) -> Way {
        if let Some(Marked::Awaited(number)) = known {
            return Way::Again(number as usize);
        }
        if let (None, Ok(key)) = (known, Key::of_asked(asked)) {
            let number = self.batch.later.len() as u32;
            self.memo.insert_hashed(key, asked.hash, memo::awaited(number));
        }
        Way::New
    }

    /// Put in the ids of words that are not known.
    #[cold]
    #[inline(never)]
    fn answer_later(&mut self, text: &str, words: Words<'_>, out: &mut Vec<u32>) {
        self.segment_new(text, words);
        self.remember(text);
        let Batch { later, ids, .. } = &mut *self.batch;
        put_in(later, ids, out);
    }

    /// Segment the words that are new.
    fn segment_new(&mut self, text: &str, words: Words<'_>) {
        let Batch { later, spans, ends, ids, .. } = &mut *self.batch;
        let span = |at: usize| (words.starts[at] as usize, words.ends[at] as usize);
        spans.clear();
        spans.extend(later.iter().filter(|word| word.way == Way::New).map(|word| span(word.number)));
        ids.clear();
        ends.clear();
        self.model.run_spelled_all((text, spans), self.vocab, self.scratch, ids, ends);
        let mut start = 0;
        for (word, &end) in later.iter_mut().filter(|word| word.way == Way::New).zip(&*ends) {
            word.ids = (start, end);
            start = end;
        }
    }

    /// Remember the words that are new.
    fn remember(&mut self, text: &str) {
        let Batch { asked, later, spans, ids, .. } = &*self.batch;
        for (word, &(start, end)) in later.iter().filter(|word| word.way == Way::New).zip(spans) {
            let asked = asked[word.number];
            let ids = &ids[word.ids.0..word.ids.1];
            match Key::of_asked(asked) {
                Ok(key) => {
                    let kept = || self.texts.keep(ids).map(memo::kept);
                    let packed = memo::pack(ids).or_else(kept).unwrap_or(memo::ELSEWHERE);
                    self.memo.change_hashed(key, asked.hash, packed);
                }
                Err(hash) if is_remembered(end - start) => {
                    self.texts.insert_hashed(&text.as_bytes()[start..end], hash, 0, ids);
                }
                Err(_) => {}
            }
        }
    }
}

fn is_remembered(len: usize) -> bool {
    len <= MAX_REMEMBERED_BYTES
}
