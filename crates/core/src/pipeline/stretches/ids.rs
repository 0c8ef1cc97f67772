//! From stretches to ids: looked up a group at a time, after their lines of the memo have been asked for.
//!
//! A stretch of plain ASCII is a word and its key is the word as normalized. Any other is looked up as it
//! stands in the text, whole, under a key of another kind: normalizing and splitting it is for once only.

use super::apart::{Role, Word, Written};
use super::edges::{Group, Stretch};
use super::{Chunk, Part, StretchScratch, Stretches};
use crate::error::Error;
use crate::memo::{self, Key, Memo, PackedIds, Texts, MAX_KEY_BYTES};
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
        let Scratch { memo, texts, model: scratch_of_model, split, .. } = scratch;
        let (model, vocab) = (&self.model, &self.vocab);
        let words = WordIds { model, vocab, memo, texts, scratch: scratch_of_model, out };
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
    pub(super) texts: &'s mut Texts,
    pub(super) scratch: &'s mut ModelScratch,
    pub(super) out: &'s mut Vec<u32>,
}

/// What is needed for stretches that are not in the memo.
struct Spare<'s> {
    written: &'s mut Written,
    normalized: &'s mut String,
}

/// The ids of a group, before they are appended in one go.
struct Staged {
    ids: [u32; memo::MAX_PIECES * (GROUP + 1)],
    count: usize,
}

/// What a stretch is looked up by that the memo does not hold: its key, absent where it has more bytes than one
/// holds, and its hash.
#[derive(Clone, Copy)]
struct Asked {
    key: Key,
    hash: u64,
    place: Place,
}

/// Where a stretch is that the memo does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It is new.
    Nowhere,
    /// In the other memo, if anywhere.
    Other,
}

/// The longest stretch that is remembered, in bytes: longer ones hardly ever come again.
const MAX_BYTES: usize = 31;
/// What is noted with text that is a normalized word, and with text that is still to be normalized.
const WORD: u32 = 0;
const RAW: u32 = 1;

impl StretchIds<'_> {
    /// Append the ids of a text.
    fn append(
        &mut self,
        text: &str,
        scratch: &mut StretchScratch,
        normalized: &mut String,
    ) -> Result<(), Error> {
        let StretchScratch { edges, lowered, written, .. } = scratch;
        let mut spare = Spare { written, normalized };
        self.stretches.parts(text, edges, lowered, |part| match part {
            Part::Chunk(chunk) => self.chunk(&chunk, &mut spare),
            Part::Stretch(stretch, _) => self.take_apart(stretch, &mut spare),
        })
    }

    #[inline]
    fn chunk(&mut self, chunk: &Chunk<'_>, spare: &mut Spare<'_>) -> Result<(), Error> {
        let mut staged = Staged { ids: [0; memo::MAX_PIECES * (GROUP + 1)], count: 0 };
        let mut long_hashes = [0; GROUP];
        for group in chunk.edges.groups(GROUP) {
            let mut keys = [Key::ABSENT; GROUP];
            let mut has_long = false;
            for (key, stretch) in keys.iter_mut().zip(group.stretches()) {
                *key = chunk.key(stretch);
                self.words.memo.prefetch(*key);
                has_long |= *key == Key::ABSENT;
            }
            if has_long {
                self.words.ask_of_long(chunk, group, &mut long_hashes);
            }
            for (at, (&key, stretch)) in keys.iter().zip(group.stretches()).enumerate() {
                match self.words.memo.get(key) {
                    Some(packed) if memo::are_ids(&packed) => staged.add(packed),
                    known => {
                        staged.move_to(self.words.out);
                        let asked = Asked::again(key, long_hashes[at], known.is_some());
                        self.other(chunk, stretch, asked, spare)?;
                    }
                }
            }
            staged.move_to(self.words.out);
        }
        Ok(())
    }

    /// Append the ids of a stretch that the memo does not hold.
    #[inline(never)]
    fn other(
        &mut self,
        chunk: &Chunk<'_>,
        stretch: Stretch,
        asked: Asked,
        spare: &mut Spare<'_>,
    ) -> Result<(), Error> {
        if !stretch.needs_tables {
            self.words.append_other(chunk.lowered(stretch), asked);
            return Ok(());
        }
        let raw = chunk.raw(stretch);
        if asked.place == Place::Other && self.words.repeat(raw.as_bytes(), asked.hash, RAW) {
            return Ok(());
        }
        let from = self.words.out.len();
        self.take_apart(raw, spare)?;
        // Likewise what has too few.
        if !self.words.scratch.lacks_unknown {
            self.words.remember(raw.as_bytes(), asked, RAW, from);
        }
        Ok(())
    }

    fn take_apart(&mut self, stretch: &str, spare: &mut Spare<'_>) -> Result<(), Error> {
        let Spare { written, normalized } = spare;
        let is_remembered = stretch.len() <= MAX_BYTES;
        let emit = |word: Word<'_>| match word.role {
            Role::Alone(c) => self.words.append_char(c, word.bytes),
            Role::Whole if is_remembered => self.words.segment(word.bytes),
            _ => self.words.append(word.bytes),
        };
        self.stretches.words(stretch, self.splitter, written, normalized, emit)
    }
}

impl Asked {
    /// What a stretch is asked for by that the memo did not have; `is_known` says that it knows of it.
    fn again(key: Key, long_hash: u64, is_known: bool) -> Self {
        if key == Key::ABSENT {
            return Self { key, hash: long_hash, place: Place::Other };
        }
        Self { key, hash: key.hash(), place: if is_known { Place::Other } else { Place::Nowhere } }
    }

    /// The hash of text that the memo has no key for.
    fn long_hash(bytes: &[u8], note: u32) -> u64 {
        Texts::hash(bytes) ^ u64::from(note).wrapping_neg()
    }
}

impl WordIds<'_> {
    /// Say that the longer stretches of a group will be looked up soon, and find their hashes.
    fn ask_of_long(&self, chunk: &Chunk<'_>, group: Group<'_>, hashes: &mut [u64; GROUP]) {
        let sizes = MAX_KEY_BYTES + 1..=MAX_BYTES;
        let long = || group.stretches().enumerate().filter(|(_, s)| sizes.contains(&(s.end - s.start)));
        for (at, stretch) in long() {
            hashes[at] = if stretch.needs_tables {
                Asked::long_hash(chunk.raw(stretch).as_bytes(), RAW)
            } else {
                Asked::long_hash(chunk.lowered(stretch), WORD)
            };
            self.texts.prefetch_hashed(hashes[at]);
        }
        long().for_each(|(at, _)| self.texts.prefetch_found(hashes[at]));
    }

    /// What the memo holds for a key.
    #[inline]
    pub(super) fn known(&self, key: Key) -> Option<PackedIds> {
        self.memo.get(key).filter(memo::are_ids)
    }

    /// Append the id of a character that is a word.
    #[inline]
    fn append_char(&mut self, c: char, word: &[u8]) {
        match self.model.id_of_char(c) {
            Some(id) => self.out.push(id),
            None => self.append(word),
        }
    }

    /// Append the ids of a normalized word.
    pub(super) fn append(&mut self, word: &[u8]) {
        let key = Key::of(word).unwrap_or(Key::ABSENT);
        match self.memo.get(key) {
            Some(packed) if memo::are_ids(&packed) => memo::append(packed, self.out),
            known => {
                let is_long = key == Key::ABSENT && word.len() <= MAX_BYTES;
                let long_hash = if is_long { Asked::long_hash(word, WORD) } else { 0 };
                self.append_other(word, Asked::again(key, long_hash, known.is_some()));
            }
        }
    }

    /// Append the ids of a normalized word that the memo does not hold.
    fn append_other(&mut self, word: &[u8], asked: Asked) {
        if asked.place == Place::Other && self.repeat(word, asked.hash, WORD) {
            return;
        }
        let from = self.out.len();
        self.segment(word);
        self.remember(word, asked, WORD, from);
    }

    /// Append the ids of what the memo has no room for, if they are known.
    fn repeat(&mut self, bytes: &[u8], hash: u64, note: u32) -> bool {
        if bytes.len() > MAX_BYTES {
            return false;
        }
        let known = self.texts.get_hashed(bytes, hash).filter(|(noted, _)| *noted == note);
        known.inspect(|(_, ids)| self.out.extend_from_slice(ids)).is_some()
    }

    /// Remember the ids from `from` on, if there are any: what has none for want of an unknown token must be found
    /// so again.
    fn remember(&mut self, bytes: &[u8], asked: Asked, note: u32, from: usize) {
        let ids = &self.out[from..];
        if ids.is_empty() {
            return;
        }
        let packed = if asked.place == Place::Nowhere { memo::pack(ids) } else { None };
        if asked.place == Place::Nowhere {
            self.memo.insert(asked.key, packed.unwrap_or(memo::ELSEWHERE));
        }
        if packed.is_none() && bytes.len() <= MAX_BYTES {
            self.texts.insert_hashed(bytes, asked.hash, note, ids);
        }
    }

    fn segment(&mut self, word: &[u8]) {
        if let Ok(word) = std::str::from_utf8(word) {
            self.model.run(word, self.vocab, self.scratch, self.out);
        }
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
