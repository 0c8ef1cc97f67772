//! From stretches to ids: looked up a group at a time, after their lines of the memo have been asked for.
//!
//! A stretch of plain ASCII is a word and its key is the word as normalized. Any other is looked up as it
//! stands in the text, whole, under a key of another kind: normalizing and splitting it is for once only.

use super::apart::{Role, Word, Written};
use super::edges::Stretch;
use super::{Chunk, Part, StretchScratch, Stretches};
use crate::error::Error;
use crate::memo::{self, Key, Memo, PackedIds, Texts};
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

/// What a stretch is looked up by: its key, absent where it has more bytes than one holds, and its hash.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    key: Key,
    hash: u64,
}

/// Where a stretch is that the memo does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
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
/// What the memo holds of words of more pieces than it has room for: the other memo has them.
const ELSEWHERE: PackedIds = [u32::MAX; memo::MAX_PIECES];

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
        let mut asked = [Asked::NOTHING; GROUP];
        for group in chunk.edges.groups(GROUP) {
            let mut has_long = false;
            for (asked, stretch) in asked.iter_mut().zip(group.stretches()) {
                *asked = self.words.ask(chunk, stretch);
                has_long |= asked.key == Key::ABSENT;
            }
            if has_long {
                self.words.ask_again(&asked);
            }
            for (&asked, stretch) in asked.iter().zip(group.stretches()) {
                match self.words.known(asked) {
                    Ok(packed) => staged.add(packed),
                    Err(place) => {
                        staged.move_to(self.words.out);
                        self.other(chunk, stretch, (asked, place), spare)?;
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
        (asked, place): (Asked, Place),
        spare: &mut Spare<'_>,
    ) -> Result<(), Error> {
        if !stretch.needs_tables {
            self.words.append_other(chunk.lowered(stretch), (asked, place));
            return Ok(());
        }
        let raw = chunk.raw(stretch);
        if place == Place::Other && self.words.repeat(raw.as_bytes(), asked.hash, RAW) {
            return Ok(());
        }
        let from = self.words.out.len();
        self.take_apart(raw, spare)?;
        // What has too few ids for want of an unknown token must be found so again.
        if !self.words.scratch.lacks_unknown {
            self.words.remember(raw.as_bytes(), (asked, place), RAW, from);
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
    pub(super) const NOTHING: Self = Self { key: Key::ABSENT, hash: 0 };

    /// What a normalized word is asked for by.
    fn word(word: &[u8]) -> Self {
        match Key::of(word) {
            Some(key) => Self { key, hash: key.hash() },
            None if word.len() > MAX_BYTES => Self::NOTHING,
            None => Self { key: Key::ABSENT, hash: Texts::hash(word) },
        }
    }
}

impl WordIds<'_> {
    /// Say that a stretch will be looked up soon.
    #[inline]
    pub(super) fn ask(&self, chunk: &Chunk<'_>, stretch: Stretch) -> Asked {
        let key = chunk.key(stretch);
        if key != Key::ABSENT {
            let hash = key.hash();
            self.memo.prefetch_hashed(hash);
            return Asked { key, hash };
        }
        if stretch.end - stretch.start > MAX_BYTES {
            return Asked::NOTHING;
        }
        let hash = if stretch.needs_tables {
            !Texts::hash(chunk.raw(stretch).as_bytes())
        } else {
            Texts::hash(chunk.lowered(stretch))
        };
        self.texts.prefetch_hashed(hash);
        Asked { key, hash }
    }

    /// Say it once more of the longer stretches of a group, whose bytes lie elsewhere.
    fn ask_again(&self, asked: &[Asked; GROUP]) {
        let long = asked.iter().filter(|asked| asked.key == Key::ABSENT);
        long.for_each(|asked| self.texts.prefetch_found(asked.hash));
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
        let asked = Asked::word(word);
        match self.known(asked) {
            Ok(packed) => memo::append(packed, self.out),
            Err(place) => self.append_other(word, (asked, place)),
        }
    }

    /// What the memo holds; or where else it may be.
    #[inline]
    pub(super) fn known(&self, asked: Asked) -> Result<PackedIds, Place> {
        if asked.key == Key::ABSENT {
            return Err(Place::Other);
        }
        match self.memo.get_hashed(asked.key, asked.hash) {
            Some(packed) if packed[0] == ELSEWHERE[0] => Err(Place::Other),
            Some(packed) => Ok(*packed),
            None => Err(Place::Nowhere),
        }
    }

    /// Append the ids of a normalized word that the memo does not hold.
    fn append_other(&mut self, word: &[u8], (asked, place): (Asked, Place)) {
        if place == Place::Other && self.repeat(word, asked.hash, WORD) {
            return;
        }
        let from = self.out.len();
        self.segment(word);
        self.remember(word, (asked, place), WORD, from);
    }

    /// Append the ids of what the memo has no room for, if they are known.
    fn repeat(&mut self, bytes: &[u8], hash: u64, note: u32) -> bool {
        if bytes.len() > MAX_BYTES {
            return false;
        }
        let known = self.texts.get_hashed(bytes, hash).filter(|(noted, _)| *noted == note);
        known.inspect(|(_, ids)| self.out.extend_from_slice(ids)).is_some()
    }

    /// Remember the ids from `from` on.
    fn remember(&mut self, bytes: &[u8], (asked, place): (Asked, Place), note: u32, from: usize) {
        let ids = &self.out[from..];
        let packed = if place == Place::Nowhere { memo::pack(ids) } else { None };
        if place == Place::Nowhere {
            self.memo.insert(asked.key, packed.unwrap_or(ELSEWHERE));
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
