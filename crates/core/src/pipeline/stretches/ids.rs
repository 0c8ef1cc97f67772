//! From stretches to ids: looked up a group at a time, after their lines of the memo have been asked for.
//!
//! A stretch of plain ASCII is a word and its key is the word as normalized. Any other is looked up as it
//! stands in the text, whole, under a key of another kind: normalizing and splitting it is for once only.

use super::apart::Written;
use super::edges::Stretch;
use super::long_memo::{LongKey, LongMemo};
use super::{Chunk, Part, StretchScratch, Stretches};
use crate::error::Error;
use crate::memo::{self, Key, Memo};
use crate::model::{Model, ModelScratch};
use crate::pipeline::words::Splitter;
use crate::pipeline::{Input, Options, Pipeline, Scratch};
use crate::special::Segment;
use crate::vocab::Vocab;

/// How many stretches are asked for before the first is looked up.
pub(super) const GROUP: usize = 32;

impl Pipeline {
    /// The fast path of words by classes of characters, where words always have the same ids.
    pub(in crate::pipeline) fn stretches(&self, options: Options<'_>) -> Option<&Stretches> {
        let is_fixed = options.sampling.is_none() && !self.special.has_normalized();
        self.splitter.stretches().filter(|_| is_fixed)
    }

    /// Append the ids of an input by that path.
    pub(in crate::pipeline) fn stretch_ids_into(
        &self,
        stretches: &Stretches,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Scratch { memo, model: scratch_of_model, split, .. } = scratch;
        let words =
            WordIds { model: &self.model, vocab: &self.vocab, memo, scratch: scratch_of_model, out };
        let mut ids = StretchIds { splitter: &self.splitter, stretches, words };
        let mut result = Ok(());
        for text in input.texts() {
            self.special.split_raw(text, options.parse_special, |segment| match segment {
                _ if result.is_err() => {}
                Segment::Token(id, ..) => ids.words.out.push(id),
                Segment::Text(start, end) => {
                    result = ids.append(&text[start..end], &mut split.stretches, &mut split.normalized);
                }
            });
        }
        result.and_then(|()| scratch.model.check())
    }
}

/// Writes the ids of texts.
struct StretchIds<'s> {
    splitter: &'s Splitter,
    stretches: &'s Stretches,
    words: WordIds<'s>,
}

/// Writes the ids of words.
pub(super) struct WordIds<'s> {
    pub(super) model: &'s Model,
    pub(super) vocab: &'s Vocab,
    pub(super) memo: &'s mut Memo,
    pub(super) scratch: &'s mut ModelScratch,
    pub(super) out: &'s mut Vec<u32>,
}

/// The ids of a group, before they are appended in one go.
struct Staged {
    ids: [u32; memo::MAX_PIECES * (GROUP + 1)],
    count: usize,
}

impl StretchIds<'_> {
    /// Append the ids of a text.
    fn append(
        &mut self,
        text: &str,
        scratch: &mut StretchScratch,
        normalized: &mut String,
    ) -> Result<(), Error> {
        let StretchScratch { edges, lowered, written, long_memo, .. } = scratch;
        let mut spare = Spare { written, long_memo, normalized };
        self.stretches.parts(text, edges, lowered, |part| match part {
            Part::Chunk(chunk) => self.chunk(&chunk, &mut spare),
            Part::Stretch(stretch, _) => self.take_apart(stretch, &mut spare),
        })
    }

    #[inline]
    fn chunk(&mut self, chunk: &Chunk<'_>, spare: &mut Spare<'_>) -> Result<(), Error> {
        let mut staged = Staged { ids: [0; memo::MAX_PIECES * (GROUP + 1)], count: 0 };
        for group in chunk.edges.groups(GROUP) {
            let mut keys = [Key::ABSENT; GROUP];
            for (key, stretch) in keys.iter_mut().zip(group.stretches()) {
                *key = chunk.key(stretch);
                self.words.memo.prefetch(*key);
            }
            for (&key, stretch) in keys.iter().zip(group.stretches()) {
                if let Some(packed) = self.words.memo.get(key) {
                    staged.add(packed);
                } else {
                    staged.move_to(self.words.out);
                    self.missed(chunk, stretch, spare)?;
                }
            }
            staged.move_to(self.words.out);
        }
        Ok(())
    }

    /// Append the ids of a stretch that the memo does not hold.
    #[inline(never)]
    fn missed(&mut self, chunk: &Chunk<'_>, stretch: Stretch, spare: &mut Spare<'_>) -> Result<(), Error> {
        if !stretch.needs_tables {
            self.words.append(chunk.lowered(stretch), spare.long_memo);
            return Ok(());
        }
        let raw = chunk.raw(stretch);
        let from = self.words.out.len();
        let long_key = LongKey::of(raw.as_bytes(), true);
        if long_key.is_some_and(|key| spare.long_memo.append(key, self.words.out)) {
            return Ok(());
        }
        self.take_apart(raw, spare)?;
        // What has too few ids for want of an unknown token must be found so again.
        if !self.words.scratch.lacks_unknown {
            let keys = (Key::of(raw.as_bytes()).map(Key::as_raw), long_key);
            remember(keys, &self.words.out[from..], self.words.memo, spare.long_memo);
        }
        Ok(())
    }

    fn take_apart(&mut self, stretch: &str, spare: &mut Spare<'_>) -> Result<(), Error> {
        let Spare { written, long_memo, normalized } = spare;
        let emit = |word: &[u8], _| self.words.append(word, long_memo);
        self.stretches.words(stretch, self.splitter, written, normalized, emit)
    }
}

/// What is needed for stretches that are not in the memo.
struct Spare<'s> {
    written: &'s mut Written,
    long_memo: &'s mut LongMemo,
    normalized: &'s mut String,
}

impl WordIds<'_> {
    /// Append the ids of a normalized word.
    pub(super) fn append(&mut self, word: &[u8], long_memo: &mut LongMemo) {
        let key = Key::of(word);
        if let Some(packed) = key.and_then(|key| self.memo.get(key)) {
            return memo::append(packed, self.out);
        }
        let long_key = LongKey::of(word, false);
        if !long_key.is_some_and(|key| long_memo.append(key, self.out)) {
            let from = self.out.len();
            self.segment(word);
            remember((key, long_key), &self.out[from..], self.memo, long_memo);
        }
    }

    fn segment(&mut self, word: &[u8]) {
        if let Ok(word) = std::str::from_utf8(word) {
            self.model.run(word, self.vocab, self.scratch, self.out);
        }
    }
}

/// Remember ids in the memo, or in the other if they are too many or their stretch is too long.
fn remember(keys: (Option<Key>, Option<LongKey>), ids: &[u32], memo: &mut Memo, long_memo: &mut LongMemo) {
    match (keys, memo::pack(ids)) {
        ((Some(key), _), Some(packed)) => memo.insert(key, packed),
        ((_, Some(key)), _) => long_memo.insert(key, ids),
        _ => {}
    }
}

impl Staged {
    #[inline]
    fn add(&mut self, packed: memo::PackedIds) {
        let (ids, count) = memo::unpacked(packed);
        if let Some(room) = self.ids[self.count..].first_chunk_mut() {
            *room = ids;
        }
        self.count += count;
    }

    #[inline]
    fn move_to(&mut self, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.ids[..self.count]);
        self.count = 0;
    }
}
