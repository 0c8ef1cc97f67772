//! From stretches to ids: all of some hundred are asked for, so that their lines of the memo are on their way, then
//! read and written by one kernel. What is new waits until there is more of it (`fresh`).
//!
//! A stretch of plain ASCII is a word and its key is the word as normalized. Any other is looked up as it
//! stands in the text but for ASCII capitals, whole, under a key of another kind: normalizing and splitting it is
//! for once only.

use piecework_kernels::prefetch::prefetch_read;

use super::apart::{Role, Word, Written};
use super::edges::{Group, Stretch};
use super::fresh::Fresh;
use super::one_by_one::{ids_elsewhere, WordIds};
use super::{Chunk, Part, StretchScratch, Stretches};
use crate::added_tokens::Segment;
use crate::encode::later::{answer, put_known, Held, Way};
use crate::encode::words::Splitter;
use crate::encode::{Input, Options, Scratch, Tokenizer};
use crate::error::Error;
use crate::word_cache::{self, Key, LongWords, Lookup, Uncopied};

/// How many stretches wait for their lines to arrive.
const ASKED: usize = 256;
/// The longest stretch that is remembered, in bytes: longer ones hardly ever come again.
pub(super) const MAX_BYTES: usize = 31;
/// What is noted with text that is a normalized word, and with text that is still to be normalized.
pub(super) const WORD: u32 = 0;
const RAW: u32 = 1;

impl Tokenizer {
    /// The fast path of words by classes of characters, where words always have the same ids.
    pub(in crate::encode) fn stretches(&self, options: Options<'_>) -> Option<&Stretches> {
        let is_fixed = options.sampling.is_none() && !self.tables.special.has_normalized();
        self.tables.splitter.stretches().filter(|_| is_fixed)
    }

    /// Append the ids of an input by that path, but for those of new stretches, which may be left out until
    /// [`Self::settle`].
    pub(in crate::encode) fn hold_stretches_into(
        &self,
        stretches: &Stretches,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Scratch { memo, texts, model: scratch_of_model, split, held, .. } = scratch;
        let (model, vocab) = (&self.tables.model, &self.tables.vocab);
        let words = WordIds { model, vocab, memo, texts, scratch: scratch_of_model, out };
        let mut ids = StretchIds { splitter: &self.tables.splitter, stretches, words };
        let mut result = Ok(());
        for text in input.texts() {
            self.tables.special.split_raw(text, options.parse_special, |segment| match segment {
                _ if result.is_err() => {}
                Segment::Token(id, ..) => ids.words.out.push(id),
                Segment::Text(start, end) => {
                    result =
                        ids.append(&text[start..end], &mut split.stretches, &mut split.normalized, held);
                }
            });
        }
        result
    }

    /// Put in the ids of all stretches that wait.
    pub(in crate::encode) fn settle_stretches(&self, scratch: &mut Scratch, out: &mut Vec<u32>) {
        let Scratch { memo, texts, model: scratch_of_model, split, held, .. } = scratch;
        let (model, vocab) = (&self.tables.model, &self.tables.vocab);
        let mut words = WordIds { model, vocab, memo, texts, scratch: scratch_of_model, out };
        split.stretches.fresh.settle(held, &mut words);
    }
}

/// Writes the ids of texts.
struct StretchIds<'s> {
    splitter: &'s Splitter,
    stretches: &'s Stretches,
    words: WordIds<'s>,
}

/// What is needed for stretches that are not in the memo.
struct Spare<'s> {
    written: &'s mut Written,
    normalized: &'s mut String,
    fresh: &'s mut Fresh,
    held: &'s mut Held,
}

/// Memory for the stretches that wait.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    asked: Box<[Lookup; ASKED]>,
    /// The hashes of those that `LongWords` may have.
    long: Vec<u64>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { asked: Box::new([Lookup::default(); ASKED]), long: Vec::new() }
    }
}

impl StretchIds<'_> {
    /// Append the ids of a text.
    fn append(
        &mut self,
        text: &str,
        scratch: &mut StretchScratch,
        normalized: &mut String,
        held: &mut Held,
    ) -> Result<(), Error> {
        let StretchScratch { edges, lowered, written, waiting, fresh, .. } = scratch;
        let mut spare = Spare { written, normalized, fresh, held };
        self.stretches.parts(text, edges, lowered, |part| match part {
            Part::Chunk(chunk) => self.chunk(&chunk, waiting, &mut spare),
            Part::Stretch(stretch, _) => {
                // Its words may make `LongWords` forget what waits there.
                spare.fresh.settle(spare.held, &mut self.words);
                self.long_stretch(stretch, &mut spare)
            }
        })
    }

    #[inline]
    fn chunk(
        &mut self,
        chunk: &Chunk<'_>,
        waiting: &mut Waiting,
        spare: &mut Spare<'_>,
    ) -> Result<(), Error> {
        chunk.edges.groups(ASKED).try_for_each(|group| {
            waiting.ask(chunk, group, &self.words);
            self.answer(chunk, group, waiting, spare)?;
            if spare.held.is_full() {
                spare.fresh.settle(spare.held, &mut self.words);
            }
            Ok(())
        })
    }

    /// Append the ids of stretches that have been asked for.
    fn answer(
        &mut self,
        chunk: &Chunk<'_>,
        group: Group<'_>,
        waiting: &Waiting,
        spare: &mut Spare<'_>,
    ) -> Result<(), Error> {
        waiting.long.iter().for_each(|&hash| self.words.texts.prefetch_found(hash));
        let (count, mut out) = (group.len(), std::mem::take(self.words.out));
        let known = |all: &Self, from: usize, room: &mut [u32]| {
            all.words.memo.copy_hits(&waiting.asked[from..count], room)
        };
        let result = answer(self, count, &mut out, known, |all, number, at, out| {
            all.other(chunk, group.stretch(number), waiting.asked[number], (at, out), spare)
        });
        *self.words.out = out;
        result
    }

    /// Put the ids of a stretch that the memo does not have at `at`, if they are known, and more room behind; returns
    /// where they end. Others come later.
    #[cold]
    #[inline(never)]
    fn other(
        &mut self,
        chunk: &Chunk<'_>,
        stretch: Stretch,
        asked: Lookup,
        (at, out): (usize, &mut Vec<u32>),
        spare: &mut Spare<'_>,
    ) -> Result<usize, Error> {
        let known = self.words.memo.marked(asked);
        if let Some((kept, ids)) = self.words.kept(known) {
            ids.first().inspect(|first| prefetch_read(*first));
            spare.held.push(spare.fresh.kept(kept), at, Way::Kept);
            return Ok(at);
        }
        let text = chunk.lowered(stretch);
        if let Some(ids) = ids_elsewhere(self.words.texts, known, asked, (text, note(stretch))) {
            return Ok(put_known(ids, at, out));
        }
        if let Some(Uncopied::Awaited(number)) = known {
            spare.held.push_again(number as usize, at);
            return Ok(at);
        }
        let new = self.begin(chunk, stretch, asked, spare)?;
        let number = spare.held.push(new, at, Way::New);
        if let (None, Ok(key)) = (known, Key::of_asked(asked)) {
            self.words.memo.insert_hashed(key, asked.hash, word_cache::awaited(number as u32));
        }
        Ok(at)
    }

    /// Take a stretch apart that is new; gives its number.
    fn begin(
        &self,
        chunk: &Chunk<'_>,
        stretch: Stretch,
        asked: Lookup,
        spare: &mut Spare<'_>,
    ) -> Result<usize, Error> {
        let mark = spare.fresh.mark();
        if stretch.needs_tables {
            self.take_apart(chunk.raw(stretch), spare)?;
        } else {
            spare.fresh.walk(chunk.lowered(stretch));
        }
        Ok(spare.fresh.stretch((chunk.lowered(stretch), note(stretch)), asked, mark))
    }

    /// Find the words of a stretch.
    fn take_apart(&self, stretch: &str, spare: &mut Spare<'_>) -> Result<(), Error> {
        let Spare { written, normalized, fresh, .. } = spare;
        let is_remembered = stretch.len() <= MAX_BYTES;
        let emit = |word: Word<'_>| match word.role {
            Role::Alone(c) => match self.words.model.id_of_char(c) {
                Some(id) => fresh.push(id),
                None => fresh.word(word.bytes, &self.words),
            },
            Role::Whole if is_remembered => fresh.walk(word.bytes),
            _ => fresh.word(word.bytes, &self.words),
        };
        self.stretches.words(stretch, self.splitter, written, normalized, emit)
    }

    /// Append the ids of a stretch that is longer than a chunk.
    fn long_stretch(&mut self, stretch: &str, spare: &mut Spare<'_>) -> Result<(), Error> {
        let Spare { written, normalized, .. } = spare;
        self.stretches.words(stretch, self.splitter, written, normalized, |word| match word.role {
            Role::Alone(c) => self.words.append_char(c, word.bytes),
            _ => self.words.append(word.bytes),
        })
    }
}

impl Waiting {
    /// Hash stretches and ask for their lines.
    fn ask(&mut self, chunk: &Chunk<'_>, group: Group<'_>, words: &WordIds<'_>) {
        let Self { asked, long } = self;
        long.clear();
        for (asked, stretch) in asked.iter_mut().zip(group.stretches()) {
            if let Some(key) = chunk.key(stretch) {
                *asked = key.asked();
                words.memo.prefetch_hashed(asked.hash);
                continue;
            }
            let text = chunk.lowered(stretch);
            *asked = Key::asked_in_vain(0);
            if text.len() <= MAX_BYTES {
                let hash = long_hash(text, note(stretch));
                *asked = Key::asked_in_vain(hash);
                words.texts.prefetch_hashed(hash);
                long.push(hash);
            }
        }
    }
}

/// What is noted with a stretch.
#[inline]
pub(super) fn note(stretch: Stretch) -> u32 {
    if stretch.needs_tables {
        RAW
    } else {
        WORD
    }
}

/// The hash of text that the memo has no key for.
pub(super) fn long_hash(bytes: &[u8], note: u32) -> u64 {
    LongWords::hash(bytes) ^ u64::from(note).wrapping_neg()
}
