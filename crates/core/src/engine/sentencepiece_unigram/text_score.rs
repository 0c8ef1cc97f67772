//! The score of a text so far, for SentencePiece's Unigram: it decides whether a cached word is valid at its position.
//!
//! SentencePiece adds scores as 32-bit floats from the start of the text, so the score so far rounds the sums of a word
//! and may change which path wins. A cached word stores the margin by which its path wins. Its ids are valid as long as
//! the score so far is below the limit of that margin (`model/unigram/float32/margin.rs`).

use std::ops::Range;

use super::super::words::{MetaspaceText, WordSpan, WrittenIds};
use super::packed_entries::{self, Packing, MAX_IDS};
use crate::engine::word_cache::PackedIds;
use crate::error::Error;
use crate::interrupt;
use crate::model::{PathScore, UnigramF32, UnigramF32Scratch};

/// A word with unknown characters, the byte of its escaped text from which its score is missing, and the range of its ids.
///
/// Unknown characters are fused, so the ids alone do not determine the score.
pub(super) type UnscoredWord = (WordSpan, usize, Range<usize>);

/// The words with unknown characters since the last exact score, and scratch to add their scores.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct UnscoredWords {
    words: Vec<UnscoredWord>,
    char_ids: Vec<u32>,
    escaped: String,
    normalized: String,
}

/// The score of a text so far.
///
/// While words are valid by their margins, only an upper bound is updated. The exact score is computed when a part must
/// be segmented with it.
pub(super) struct TextScore<'s> {
    model: &'s UnigramF32,
    scratch: &'s mut UnigramF32Scratch,
    /// By margin: the limit of the bound, in 64ths.
    limits: [u64; 16],
    /// An upper bound of the absolute score of the text so far, in 64ths.
    bound: u64,
    /// The index of the first id of the text.
    first_id: usize,
    /// The number of ids that the exact score in `scratch` covers.
    scored_ids: usize,
    unscored: &'s mut UnscoredWords,
    packing: Packing,
}

impl<'s> TextScore<'s> {
    /// Start a text whose first id has the index `first_id`.
    pub(super) fn begin(
        model: &'s UnigramF32,
        scratch: &'s mut UnigramF32Scratch,
        unscored: &'s mut UnscoredWords,
        first_id: usize,
    ) -> Self {
        model.begin(scratch);
        unscored.words.clear();
        let (limits, packing) = (model.limits(), Packing::of(model.pieces().count()));
        Self { model, scratch, limits, bound: 0, first_id, scored_ids: first_id, unscored, packing }
    }

    /// Add a score to the bound. Return `false`, with the bound unchanged, if the sum exceeds the limit of the margin.
    #[inline]
    fn try_add(&mut self, score: PathScore) -> bool {
        let bound = self.bound + u64::from(score.cost);
        let holds = bound < self.limits[score.margin as usize & 15];
        if holds {
            self.bound = bound;
        }
        holds
    }

    /// Bring the exact score up to date with the ids in `out`.
    fn catch_up(&mut self, text: MetaspaceText<'_>, out: &[u32]) -> Result<(), Error> {
        let UnscoredWords { words, char_ids, escaped, normalized } = &mut *self.unscored;
        for (word, start, ids) in words.drain(..) {
            self.model.add_scores(&out[self.scored_ids..ids.start], self.scratch);
            self.scored_ids = ids.end;
            if start == 0 && text.push_char_ids(word, char_ids) {
                self.model.add_scores(char_ids, self.scratch);
            } else {
                escaped.clear();
                text.write_escaped(word, normalized, escaped)?;
                self.model.add_scores_of_parts(&escaped[start..], self.scratch);
            }
        }
        self.model.add_scores(&out[self.scored_ids..], self.scratch);
        Ok(())
    }

    /// Return whether the last of these ids is an unknown token of the text, with which a next one is fused.
    fn is_after_unknown(&self, ids: &[u32]) -> bool {
        ids.len() > self.first_id && self.model.pieces().ends_with_unknown(ids)
    }

    /// Append the ids of a text, segmented with the exact score so far, and update the exact score.
    fn append_scored(&mut self, text: &str, out: &mut Vec<u32>) {
        let mut at = 0;
        while at < text.len() {
            interrupt::check(1);
            let (from, is_after_unknown) = (out.len(), self.is_after_unknown(out));
            at = match self.model.segment_part_f32(text, at, is_after_unknown, self.scratch, out) {
                Some(end) => end,
                None => {
                    self.model.run_next(&text[at..], self.scratch, out);
                    self.model.pieces().fuse_unknown(from, is_after_unknown, out);
                    text.len()
                }
            };
        }
        self.scored_ids = out.len();
        self.bound = self.model.score_magnitude(self.scratch);
    }

    /// Write the ids of a cached word to `ids[at..]`, which has room for [`MAX_IDS`]. Return their number, or `None` if
    /// the entry is not valid here.
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
            if self.is_after_unknown(&ids[..at]) && self.model.pieces().ends_with_unknown(&ids[..=at]) {
                ids.copy_within(at + 1..at + count, at);
                count -= 1;
            }
            self.unscored.words.push((word, 0, at..at + count));
        }
        Some(count)
    }

    /// Write the ids of a run of single characters. Return their number, or `None` if they are not valid here.
    #[inline]
    pub(super) fn accept_single_chars(
        &mut self,
        word: WordSpan,
        text: MetaspaceText<'_>,
        at: usize,
        ids: &mut [u32],
    ) -> Option<usize> {
        let is_after_unknown = self.is_after_unknown(&ids[..at]);
        let WrittenIds { count, cost, has_unknown, .. } =
            text.write_single_chars(word, is_after_unknown, &mut ids[at..]);
        if !self.try_add(PathScore { cost, has_unknown, ..PathScore::default() }) {
            return None;
        }
        if has_unknown {
            self.unscored.words.push((word, 0, at..at + count));
        }
        Some(count)
    }

    /// Append the ids of a cached long word. Return `false` if the entry is not valid here.
    pub(super) fn accept_long(
        &mut self,
        packed_score: u32,
        ids: &[u32],
        word: WordSpan,
        out: &mut Vec<u32>,
    ) -> bool {
        let score = packed_entries::unpacked_score(packed_score);
        if !self.try_add(score) {
            return false;
        }
        let from = out.len();
        out.extend_from_slice(ids);
        self.finish_word(packed_score, word, from, out);
        true
    }

    /// Append the ids of an escaped word. Return its packed score if the ids may be cached; the caller then calls
    /// [`TextScore::finish_word`].
    ///
    /// The word is segmented part by part. If a part is not valid by its margin, it and the parts since the last such one
    /// are segmented again with the exact score, and the word is not cached.
    pub(super) fn segment(
        &mut self,
        escaped: &str,
        word: WordSpan,
        text: MetaspaceText<'_>,
        out: &mut Vec<u32>,
    ) -> Result<Option<u32>, Error> {
        let (mut start, mut from, mut at, mut score) = (0, out.len(), 0, PathScore::default());
        while at < escaped.len() {
            interrupt::check(1);
            // `finish_word` fuses unknown characters with those before the word.
            let is_after_unknown = at > 0 && self.is_after_unknown(out);
            let (end, part_score) =
                self.model.segment_part(escaped, at, is_after_unknown, self.scratch, out);
            at = end;
            match part_score {
                Some(part_score) if self.try_add(part_score) => score = score.and(part_score),
                _ => {
                    out.truncate(from);
                    self.catch_up(text, out)?;
                    self.append_scored(&escaped[start..at], out);
                    (start, from, score) = (at, out.len(), PathScore::default());
                }
            }
        }
        if start > 0 && score.has_unknown {
            self.unscored.words.push((word, start, from..out.len()));
        }
        Ok(packed_entries::packed_score(score).filter(|_| start == 0))
    }

    /// Fuse the unknown characters at the start of a word, whose ids begin at `from`, with those before it.
    pub(super) fn finish_word(
        &mut self,
        packed_score: u32,
        word: WordSpan,
        from: usize,
        out: &mut Vec<u32>,
    ) {
        if packed_entries::unpacked_score(packed_score).has_unknown {
            let is_after_unknown = self.is_after_unknown(&out[..from]);
            self.model.pieces().fuse_unknown(from, is_after_unknown, out);
            self.unscored.words.push((word, 0, from..out.len()));
        }
    }

    /// Pack ids and a packed score into a cache entry; `None` if they do not fit.
    pub(super) fn pack(&self, ids: &[u32], packed_score: u32) -> Option<PackedIds> {
        self.packing.pack(ids, packed_entries::unpacked_score(packed_score))
    }
}
