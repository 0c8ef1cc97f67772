//! Unigram models of SentencePiece segment the words of a text from left to right: their sums begin with the text.

use std::ops::Range;

use super::packed_entries::{self, Packing, MAX_IDS};
use super::single_chars::Put;
use super::source::{Source, Word};
use crate::error::Error;
use crate::model::{ModelScratch, PathScore, SentencePiece};
use crate::vocab::Vocab;
use crate::word_cache::PackedIds;

/// A run, a word, or the rest of one from a byte of its marked text on, that has unknown characters, and where its ids
/// are.
pub(super) type Unknown = (Word, usize, Range<usize>);

/// Memory for words whose score is made up for.
#[derive(Clone, Debug, Default)]
pub(super) struct UnscoredWords {
    unknown: Vec<Unknown>,
    spelled: Vec<u32>,
    marked: String,
    normalized: String,
}

/// A Unigram model of SentencePiece. Only a bound of the score is kept, as long as that is enough to say that
/// a word is segmented as it is alone; the score itself is made up for before a part of which it is not.
pub(super) struct Scored<'s> {
    model: &'s SentencePiece,
    vocab: &'s Vocab,
    scratch: &'s mut ModelScratch,
    /// By margin, what the bound must stay below, in 64ths.
    limits: [u64; 16],
    /// The score of the text so far is no larger, by size, in 64ths.
    bound: u64,
    /// Where the ids of the text begin.
    begun: usize,
    /// The score in `scratch` is that of the ids up to here.
    settled: usize,
    unscored: &'s mut UnscoredWords,
    packing: Packing,
}

impl<'s> Scored<'s> {
    /// Begin a text whose ids come after `begun` others.
    pub(super) fn begin(
        model: &'s SentencePiece,
        vocab: &'s Vocab,
        scratch: &'s mut ModelScratch,
        unscored: &'s mut UnscoredWords,
        begun: usize,
    ) -> Self {
        model.begin(scratch);
        unscored.unknown.clear();
        let (limits, packing) = (model.limits(), Packing::of(model.piece_count()));
        Self { model, vocab, scratch, limits, bound: 0, begun, settled: begun, unscored, packing }
    }

    /// Go on with what is worth this; false where that does not hold here.
    #[inline]
    fn takes(&mut self, worth: PathScore) -> bool {
        let bound = self.bound + u64::from(worth.cost);
        let holds = bound < self.limits[worth.margin as usize & 15];
        if holds {
            self.bound = bound;
        }
        holds
    }

    /// Make up for what was skipped while only a bound of the score was kept.
    fn settle(&mut self, source: Source<'_>, out: &[u32]) -> Result<(), Error> {
        let UnscoredWords { unknown, spelled, marked, normalized } = &mut *self.unscored;
        for (word, start, ids) in unknown.drain(..) {
            self.model.add_scores(&out[self.settled..ids.start], self.scratch);
            self.settled = ids.end;
            if start == 0 && source.spell(word, spelled) {
                self.model.add_scores(spelled, self.scratch);
            } else {
                source.write(word, normalized, marked)?;
                self.model.add_scores_of_parts(&marked[start..], self.scratch);
            }
        }
        self.model.add_scores(&out[self.settled..], self.scratch);
        Ok(())
    }

    /// Whether what comes after these ids is one token with unknown characters before it, if it begins with such.
    fn is_after_unknown(&self, ids: &[u32]) -> bool {
        ids.len() > self.begun && self.model.ends_with_unknown(ids)
    }

    /// Append the ids of a text as they are after the score of all before, and settle it too.
    fn append_settled(&mut self, text: &str, out: &mut Vec<u32>) {
        let mut at = 0;
        while at < text.len() {
            let (from, is_after_unknown) = (out.len(), self.is_after_unknown(out));
            at = match self.model.segment_part_f32(text, at, is_after_unknown, self.scratch, out) {
                Some(end) => end,
                None => {
                    self.model.run_next(&text[at..], self.vocab, self.scratch, out);
                    self.model.fuse_unknown(from, is_after_unknown, out);
                    text.len()
                }
            };
        }
        self.settled = out.len();
        self.bound = self.model.score_magnitude(self.scratch);
    }

    /// Put what was remembered of a word at `at`, where there is room for the most ids; how many they are, or nothing
    /// where that does not hold here.
    #[inline]
    pub(super) fn accept(
        &mut self,
        remembered: &PackedIds,
        word: Word,
        at: usize,
        ids: &mut [u32],
    ) -> Option<usize> {
        let worth = self.packing.worth(remembered);
        if !self.takes(worth) {
            return None;
        }
        let mut count = self.packing.put(remembered, &mut ids[at..at + MAX_IDS]);
        if worth.has_unknown {
            if self.is_after_unknown(&ids[..at]) && self.model.ends_with_unknown(&ids[..=at]) {
                ids.copy_within(at + 1..at + count, at);
                count -= 1;
            }
            self.unscored.unknown.push((word, 0, at..at + count));
        }
        Some(count)
    }

    /// The same for a run of characters that are told one by one.
    #[inline]
    pub(super) fn put_lone(
        &mut self,
        word: Word,
        source: Source<'_>,
        at: usize,
        ids: &mut [u32],
    ) -> Option<usize> {
        let is_after_unknown = self.is_after_unknown(&ids[..at]);
        let Put { count, cost, has_unknown, .. } = source.put_lone(word, is_after_unknown, &mut ids[at..]);
        if !self.takes(PathScore { cost, has_unknown, ..PathScore::default() }) {
            return None;
        }
        if has_unknown {
            self.unscored.unknown.push((word, 0, at..at + count));
        }
        Some(count)
    }

    /// Append what was remembered of a longer word; false where that does not hold here.
    pub(super) fn accept_long(&mut self, note: u32, ids: &[u32], word: Word, out: &mut Vec<u32>) -> bool {
        let worth = packed_entries::worth_of(note);
        if !self.takes(worth) {
            return false;
        }
        let from = out.len();
        out.extend_from_slice(ids);
        self.place(note, word, from, out);
        true
    }

    /// Append the ids of a word that has been marked. If they may be remembered, it gives what must be so with them, and
    /// [`Scored::place`] comes next.
    ///
    /// Part by part, each as it is alone where that holds. Where it does not, all is segmented up to its end that
    /// comes after the part before of which it did not, by the score.
    pub(super) fn segment(
        &mut self,
        marked: &str,
        word: Word,
        source: Source<'_>,
        out: &mut Vec<u32>,
    ) -> Result<Option<u32>, Error> {
        let (mut start, mut from, mut at, mut worth) = (0, out.len(), 0, PathScore::default());
        while at < marked.len() {
            // What stands before the word does not count until it is placed.
            let is_after_unknown = at > 0 && self.is_after_unknown(out);
            let (end, of_part) = self.model.segment_part(marked, at, is_after_unknown, self.scratch, out);
            at = end;
            match of_part {
                Some(of_part) if self.takes(of_part) => worth = worth.and(of_part),
                _ => {
                    out.truncate(from);
                    self.settle(source, out)?;
                    self.append_settled(&marked[start..at], out);
                    (start, from, worth) = (at, out.len(), PathScore::default());
                }
            }
        }
        if start > 0 && worth.has_unknown {
            self.unscored.unknown.push((word, start, from..out.len()));
        }
        Ok(packed_entries::note(worth).filter(|_| start == 0))
    }

    /// Go on after a word whose ids begin at `from`, as they are alone.
    pub(super) fn place(&mut self, note: u32, word: Word, from: usize, out: &mut Vec<u32>) {
        if packed_entries::worth_of(note).has_unknown {
            // Unknown characters at its beginning are one token with those before.
            let is_after_unknown = self.is_after_unknown(&out[..from]);
            self.model.fuse_unknown(from, is_after_unknown, out);
            self.unscored.unknown.push((word, 0, from..out.len()));
        }
    }

    /// Pack few ids with the note.
    pub(super) fn pack(&self, ids: &[u32], note: u32) -> Option<PackedIds> {
        self.packing.pack(ids, packed_entries::worth_of(note))
    }
}
