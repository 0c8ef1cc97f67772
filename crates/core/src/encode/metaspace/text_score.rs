//! Unigram models of SentencePiece segment the words of a text from left to right: their sums begin with the text.

use std::ops::Range;

use super::packed_entries::{self, Packing, MAX_IDS};
use super::single_chars::WrittenIds;
use super::word_source::{WordSource, WordSpan};
use crate::error::Error;
use crate::model::{ModelScratch, PathScore, SentencePiece};
use crate::vocab::Vocab;
use crate::word_cache::PackedIds;

/// A run, a word, or the rest of one from a byte of its marked text on, that has unknown characters, and where its ids
/// are.
pub(super) type UnscoredWord = (WordSpan, usize, Range<usize>);

/// Memory for words whose score is made up for.
#[derive(Clone, Debug, Default)]
pub(super) struct UnscoredWords {
    words: Vec<UnscoredWord>,
    char_ids: Vec<u32>,
    escaped: String,
    normalized: String,
}

/// A Unigram model of SentencePiece. Only a bound of the score is kept, as long as that is enough to say that
/// a word is segmented as it is alone; the score itself is made up for before a part of which it is not.
pub(super) struct TextScore<'s> {
    model: &'s SentencePiece,
    vocab: &'s Vocab,
    scratch: &'s mut ModelScratch,
    /// By margin, what the bound must stay below, in 64ths.
    limits: [u64; 16],
    /// The score of the text so far is no larger, by size, in 64ths.
    bound: u64,
    /// Where the ids of the text begin.
    first_id: usize,
    /// The score in `scratch` is that of the ids up to here.
    scored_ids: usize,
    unscored: &'s mut UnscoredWords,
    packing: Packing,
}

impl<'s> TextScore<'s> {
    /// Begin a text whose ids come after `begun` others.
    pub(super) fn begin(
        model: &'s SentencePiece,
        vocab: &'s Vocab,
        scratch: &'s mut ModelScratch,
        unscored: &'s mut UnscoredWords,
        first_id: usize,
    ) -> Self {
        model.begin(scratch);
        unscored.words.clear();
        let (limits, packing) = (model.limits(), Packing::of(model.piece_count()));
        Self { model, vocab, scratch, limits, bound: 0, first_id, scored_ids: first_id, unscored, packing }
    }

    /// Go on with what is worth this; false where that does not hold here.
    #[inline]
    fn try_add(&mut self, score: PathScore) -> bool {
        let bound = self.bound + u64::from(score.cost);
        let holds = bound < self.limits[score.margin as usize & 15];
        if holds {
            self.bound = bound;
        }
        holds
    }

    /// Make up for what was skipped while only a bound of the score was kept.
    fn catch_up(&mut self, source: WordSource<'_>, out: &[u32]) -> Result<(), Error> {
        let UnscoredWords { words, char_ids, escaped, normalized } = &mut *self.unscored;
        for (word, start, ids) in words.drain(..) {
            self.model.add_scores(&out[self.scored_ids..ids.start], self.scratch);
            self.scored_ids = ids.end;
            if start == 0 && source.push_char_ids(word, char_ids) {
                self.model.add_scores(char_ids, self.scratch);
            } else {
                source.write_escaped(word, normalized, escaped)?;
                self.model.add_scores_of_parts(&escaped[start..], self.scratch);
            }
        }
        self.model.add_scores(&out[self.scored_ids..], self.scratch);
        Ok(())
    }

    /// Whether what comes after these ids is one token with unknown characters before it, if it begins with such.
    fn is_after_unknown(&self, ids: &[u32]) -> bool {
        ids.len() > self.first_id && self.model.ends_with_unknown(ids)
    }

    /// Append the ids of a text as they are after the score of all before, and settle it too.
    fn append_scored(&mut self, text: &str, out: &mut Vec<u32>) {
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
        self.scored_ids = out.len();
        self.bound = self.model.score_magnitude(self.scratch);
    }

    /// Write what was remembered of a word at `at`, where there is room for the most ids; how many they are, or nothing
    /// where that does not hold here.
    #[inline]
    pub(super) fn accept(
        &mut self,
        entry: &PackedIds,
        word: WordSpan,
        at: usize,
        ids: &mut [u32],
    ) -> Option<usize> {
        let score = self.packing.score(entry);
        if !self.try_add(score) {
            return None;
        }
        let mut count = self.packing.unpack(entry, &mut ids[at..at + MAX_IDS]);
        if score.has_unknown {
            if self.is_after_unknown(&ids[..at]) && self.model.ends_with_unknown(&ids[..=at]) {
                ids.copy_within(at + 1..at + count, at);
                count -= 1;
            }
            self.unscored.words.push((word, 0, at..at + count));
        }
        Some(count)
    }

    /// The same for a run of characters that are told one by one.
    #[inline]
    pub(super) fn accept_single_chars(
        &mut self,
        word: WordSpan,
        source: WordSource<'_>,
        at: usize,
        ids: &mut [u32],
    ) -> Option<usize> {
        let is_after_unknown = self.is_after_unknown(&ids[..at]);
        let WrittenIds { count, cost, has_unknown, .. } =
            source.write_single_chars(word, is_after_unknown, &mut ids[at..]);
        if !self.try_add(PathScore { cost, has_unknown, ..PathScore::default() }) {
            return None;
        }
        if has_unknown {
            self.unscored.words.push((word, 0, at..at + count));
        }
        Some(count)
    }

    /// Append what was remembered of a longer word; false where that does not hold here.
    pub(super) fn accept_long(
        &mut self,
        note: u32,
        ids: &[u32],
        word: WordSpan,
        out: &mut Vec<u32>,
    ) -> bool {
        let score = packed_entries::score_of_note(note);
        if !self.try_add(score) {
            return false;
        }
        let from = out.len();
        out.extend_from_slice(ids);
        self.finish_word(note, word, from, out);
        true
    }

    /// Append the ids of a word that has been marked. If they may be remembered, it gives what must be so with them, and
    /// [`TextScore::place`] comes next.
    ///
    /// WordPart by part, each as it is alone where that holds. Where it does not, all is segmented up to its end that
    /// comes after the part before of which it did not, by the score.
    pub(super) fn segment(
        &mut self,
        escaped: &str,
        word: WordSpan,
        source: WordSource<'_>,
        out: &mut Vec<u32>,
    ) -> Result<Option<u32>, Error> {
        let (mut start, mut from, mut at, mut score) = (0, out.len(), 0, PathScore::default());
        while at < escaped.len() {
            // What stands before the word does not count until it is placed.
            let is_after_unknown = at > 0 && self.is_after_unknown(out);
            let (end, part_score) =
                self.model.segment_part(escaped, at, is_after_unknown, self.scratch, out);
            at = end;
            match part_score {
                Some(part_score) if self.try_add(part_score) => score = score.and(part_score),
                _ => {
                    out.truncate(from);
                    self.catch_up(source, out)?;
                    self.append_scored(&escaped[start..at], out);
                    (start, from, score) = (at, out.len(), PathScore::default());
                }
            }
        }
        if start > 0 && score.has_unknown {
            self.unscored.words.push((word, start, from..out.len()));
        }
        Ok(packed_entries::note(score).filter(|_| start == 0))
    }

    /// Go on after a word whose ids begin at `from`, as they are alone.
    pub(super) fn finish_word(&mut self, note: u32, word: WordSpan, from: usize, out: &mut Vec<u32>) {
        if packed_entries::score_of_note(note).has_unknown {
            // Unknown characters at its beginning are one token with those before.
            let is_after_unknown = self.is_after_unknown(&out[..from]);
            self.model.fuse_unknown(from, is_after_unknown, out);
            self.unscored.words.push((word, 0, from..out.len()));
        }
    }

    /// Pack few ids with the note.
    pub(super) fn pack(&self, ids: &[u32], note: u32) -> Option<PackedIds> {
        self.packing.pack(ids, packed_entries::score_of_note(note))
    }
}
