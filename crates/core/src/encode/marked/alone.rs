//! Words of models that see each alone to ids, some hundred at a time: all are hashed and their lines of the memo asked
//! for, then those are read and what they hold is written. What is new is put in at the end of a text, or when there is
//! enough of it.

use std::convert::Infallible;

use super::super::later::{answer, put_known, Held, Later, Way};
use super::joining::{self, Joining};
use super::parts::{PartSegmenter, Parts};
use super::scan::Masks;
use super::source::{Source, Word};
use crate::error::Error;
use crate::model::{Model, ModelScratch};
use crate::text::ExpansionLimit;
use crate::vocab::Vocab;
use crate::word_cache::{self, Key, LongWords, Lookup, ShortWords, Uncopied};

/// How many words wait for their lines to arrive.
const ASKED: usize = 256;
/// How many words are gone through before those are segmented that are new.
const BATCH: usize = 4 * ASKED;

/// So many of the longer words that are on their way are told apart.
const RECENT: usize = 256;

/// Memory for the words that wait, and for those that take longer.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// The words that have been asked for, and by what; how many of them are answered.
    words: Vec<Word>,
    asked: Vec<Lookup>,
    answered: usize,
    /// The hashes of those of the others that `LongWords` may have.
    long: Vec<u64>,
    held: Held,
    /// By hashes of longer words: the last that came later, by its number among these.
    recent: Vec<usize>,
    marked: String,
    normalized: String,
    parts: Parts,
    joining: joining::Waiting,
}

/// Takes the words of one text.
pub(super) struct Alone<'s> {
    pub(super) source: Source<'s>,
    pub(super) model: &'s Model,
    pub(super) vocab: &'s Vocab,
    pub(super) memo: &'s mut ShortWords,
    pub(super) long_memo: &'s mut LongWords,
    pub(super) scratch: &'s mut ModelScratch,
    pub(super) batch: &'s mut Batch,
    pub(super) out: &'s mut Vec<u32>,
}

impl Alone<'_> {
    /// Append the ids of all words.
    pub(super) fn run(mut self, masks: &mut Masks) -> Result<(), Error> {
        let mut growth = ExpansionLimit::of(self.source.text.len());
        let mut result = Ok(());
        self.batch.recent.resize(RECENT, 0);
        let source = self.source;
        source.words(masks, |word| {
            self.ask(word);
            if self.batch.words.len().is_multiple_of(ASKED) {
                self.answer();
                if self.batch.words.len() == BATCH {
                    let finished = self.finish(&mut growth);
                    result = std::mem::replace(&mut result, Ok(())).and(finished);
                }
            }
        });
        self.answer();
        result.and(self.finish(&mut growth))
    }

    /// Hash a word and ask for its line.
    #[inline]
    fn ask(&mut self, word: Word) {
        let asked = match self.source.key_of(word) {
            Some(key) => key.asked(),
            None => self.ask_long(word),
        };
        self.memo.prefetch_hashed(asked.hash);
        self.batch.words.push(word);
        self.batch.asked.push(asked);
    }

    #[cold]
    #[inline(never)]
    fn ask_long(&mut self, word: Word) -> Lookup {
        let hash = LongWords::hash(self.source.long_key(word));
        self.long_memo.prefetch_hashed(hash);
        self.batch.long.push(hash);
        Key::asked_in_vain(hash)
    }

    /// Append the ids of the words that wait.
    #[inline(never)]
    fn answer(&mut self) {
        let Batch { words, answered, long, .. } = &mut *self.batch;
        long.drain(..).for_each(|hash| self.long_memo.prefetch_found(hash));
        let from = std::mem::replace(answered, words.len());
        let (count, mut out) = (words.len() - from, std::mem::take(self.out));
        let known = |all: &Self, number: usize, room: &mut [u32]| {
            all.memo.copy_hits(&all.batch.asked[from + number..], room)
        };
        let Ok(()) = answer::<_, Infallible>(self, count, &mut out, known, |all, number, at, out| {
            Ok(all.answer_other(from + number, at, out))
        });
        *self.out = out;
    }

    /// Put the ids of a word that the memo does not have at `at`, if they are known, and more room behind; returns
    /// where they end. Others come later.
    #[cold]
    #[inline(never)]
    fn answer_other(&mut self, number: usize, at: usize, out: &mut Vec<u32>) -> usize {
        let (asked, word) = (self.batch.asked[number], self.batch.words[number]);
        let known = self.memo.marked(asked);
        let ids = match (known, Key::of_asked(asked)) {
            (Some(Uncopied::StoredIds(kept)), _) => self.long_memo.kept(kept),
            (_, Err(hash)) => {
                self.long_memo.get_hashed(self.source.long_key(word), hash).map(|(_, ids)| ids)
            }
            _ => None,
        };
        if let Some(ids) = ids {
            return put_known(ids, at, out);
        }
        let way = self.way_of(known, asked, word);
        self.batch.held.push(number, at, way);
        at
    }

    /// Where the ids of a word come from that nobody has.
    fn way_of(&mut self, known: Option<Uncopied>, asked: Lookup, word: Word) -> Way {
        if let Some(Uncopied::Awaited(number)) = known {
            return Way::Again(number as usize);
        }
        let awaited = word_cache::awaited(self.batch.held.words.len() as u32);
        match (known, Key::of_asked(asked)) {
            (_, Ok(_)) if self.source.depends_on_space(word) => Way::New,
            (None, Ok(key)) => {
                self.memo.insert_hashed(key, asked.hash, awaited);
                Way::New
            }
            (Some(_), Ok(key)) => {
                self.memo.change_hashed(key, asked.hash, awaited);
                Way::New
            }
            (_, Err(hash)) => self.way_of_long(hash, word),
        }
    }

    /// The same for a longer word, which the memo does not tell to be on its way.
    fn way_of_long(&mut self, hash: u64, word: Word) -> Way {
        let Batch { recent, held: Held { words: later, .. }, words, .. } = &mut *self.batch;
        let recent = &mut recent[hash as usize % RECENT];
        let text = self.source.long_key(word);
        let is_same = |before: &Later| {
            let other = words[before.number];
            before.way == Way::New && !text.is_empty() && self.source.long_key(other) == text
        };
        if later.get(*recent).is_some_and(is_same) {
            return Way::Again(*recent);
        }
        *recent = later.len();
        Way::New
    }

    /// Put in the ids of words that are not known.
    fn finish(&mut self, growth: &mut ExpansionLimit) -> Result<(), Error> {
        let mut result = Ok(());
        if !self.batch.held.is_empty() {
            self.join();
        }
        for at in 0..self.batch.held.words.len() {
            let Later { way, ids, .. } = self.batch.held.words[at];
            if result.is_ok() && way == Way::New && ids.0 == ids.1 {
                result = self.segment(at, growth);
            }
            self.remember(at, result.is_ok());
        }
        let Batch { words, asked, answered, held, .. } = &mut *self.batch;
        held.put_in(self.out);
        words.clear();
        asked.clear();
        *answered = 0;
        result
    }

    /// Segment the new words that a model joins at once, if it does.
    fn join(&mut self) {
        let Batch { asked, words, held, joining, .. } = &mut *self.batch;
        let source = self.source;
        let Some(mut joining) = Joining::new(self.model, self.vocab, self.scratch, joining, held) else {
            return;
        };
        for at in 0..joining.held.words.len() {
            let Later { number, way, .. } = joining.held.words[at];
            let word = words[number];
            if way == Way::New && source.is_plain(word) {
                match Key::of_asked(asked[number]).map(Key::bytes) {
                    Ok((bytes, len)) => joining.take(&bytes[..len], at, source),
                    Err(_) => joining.take(source.long_key(word), at, source),
                }
            }
        }
        joining.finish();
    }

    /// Segment one of the others.
    fn segment(&mut self, at: usize, growth: &mut ExpansionLimit) -> Result<(), Error> {
        let Batch { words, held: Held { words: later, ids, .. }, marked, normalized, parts, .. } =
            &mut *self.batch;
        let segmenter = PartSegmenter { model: self.model, vocab: self.vocab, scratch: self.scratch };
        let later = &mut later[at];
        let from = ids.len();
        self.source.write(words[later.number], normalized, marked)?;
        growth.take(marked.len())?;
        parts.append(marked, self.source, self.memo, ids, segmenter);
        later.ids = (from, ids.len());
        Ok(())
    }

    /// Remember a new word, if it was segmented.
    fn remember(&mut self, at: usize, is_ok: bool) {
        let Batch { asked, words, held: Held { words: later, ids, .. }, .. } = &*self.batch;
        let Later { number, way, ids: (from, to), .. } = later[at];
        let (asked, word) = (asked[number], words[number]);
        if way != Way::New || self.source.depends_on_space(word) {
            return;
        }
        let is_sure = is_ok && !self.scratch.lacks_unknown;
        let ids = &ids[from..to];
        match Key::of_asked(asked) {
            Ok(key) if is_sure => {
                self.memo.change_hashed(key, asked.hash, word_cache::packed(ids, self.long_memo));
            }
            Ok(key) => self.memo.change_hashed(key, asked.hash, word_cache::ELSEWHERE),
            Err(hash) if is_sure => self.long_memo.insert_hashed(self.source.long_key(word), hash, 0, ids),
            Err(_) => {}
        }
    }
}
