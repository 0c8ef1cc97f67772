//! Words of SentencePiece's Unigram, whose rounding depends on the score so far: a cached word is accepted only if
//! [`TextScore`] finds it valid at its position. A miss is segmented at once, because the score after it is needed.
//!
//! SentencePiece adds scores as 32-bit floats from the start of the text, so the score so far rounds the sums of a word
//! and may change which path wins. A cached word stores the margin by which its path wins. Its ids are valid as long as
//! the score so far is below the limit of that margin; `model/unigram/float32/margin.rs` has the whole argument.

use std::ops::Range;

use super::word_cache::{Lookup, Lookups, PackedIds, WordCache, MAX_IDS as MAX_LONG_IDS};
use super::words::{MetaspaceText, MetaspaceWords, WordSpan, WrittenIds};
use crate::error::Error;
use crate::interrupt;
use crate::model::{PathScore, UnigramF32, UnigramF32Scratch};
use crate::word_key::WordKey;

/// The words that are looked up together. A miss clears the output after it, so fewer are better than
/// [`super::word_cache::WINDOW`].
const SMALL_WINDOW: usize = 64;

/// What the words of a text are scored with.
pub(super) struct Scoring<'s> {
    pub(super) model: &'s UnigramF32,
    pub(super) scratch: &'s mut UnigramF32Scratch,
    pub(super) unscored: &'s mut UnscoredWords,
}

/// Append the ids of all words of a text.
pub(super) fn append_scored_words(
    mut words: MetaspaceWords<'_>,
    cache: &mut WordCache,
    lookups: &mut Lookups,
    Scoring { model, scratch, unscored }: Scoring<'_>,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let mut score = TextScore::begin(model, scratch, unscored, out.len());
    loop {
        let count = words.find(SMALL_WINDOW, lookups, cache);
        if count == 0 {
            return Ok(());
        }
        interrupt::check(count);
        let mut number = 0;
        loop {
            let rest = lookups.range(number, count);
            number += append_hits(&words, number, rest, cache, &mut score, out);
            if number == count {
                break;
            }
            let lookup = lookups.range(number, count)[0];
            append_miss(&mut words, number, lookup, cache, &mut score, out)?;
            number += 1;
        }
    }
}

/// Append the ids of the words from `number` on, up to the first that is no hit or not valid here. Return their number.
#[inline(always)]
fn append_hits(
    words: &MetaspaceWords<'_>,
    number: usize,
    lookups: &[Lookup],
    cache: &WordCache,
    score: &mut TextScore<'_>,
    out: &mut Vec<u32>,
) -> usize {
    let rest = &words.window()[number..];
    let mut at = out.len();
    out.resize(at + max_ids(rest), 0);
    let mut hits = 0;
    for (&word, &lookup) in rest.iter().zip(lookups) {
        let written = if word.is_single_chars() {
            score.accept_single_chars(word, words.text, at, out)
        } else {
            cache.packed(lookup).and_then(|entry| score.accept(entry, word, at, out))
        };
        let Some(written) = written else { break };
        at += written;
        hits += 1;
    }
    out.truncate(at);
    hits
}

/// Return the most ids of adjacent words that are hits: of a run of single characters one for each, which has at least two
/// bytes, and one for the `▁`.
#[inline]
fn max_ids(words: &[WordSpan]) -> usize {
    let bytes = words.first().zip(words.last()).map_or(0, |(first, last)| last.end - first.start);
    words.len() * MAX_IDS + bytes / 2
}

/// Append the ids of a word that is not in the table of short words, or is not valid here.
#[cold]
#[inline(never)]
fn append_miss(
    words: &mut MetaspaceWords<'_>,
    number: usize,
    lookup: Lookup,
    cache: &mut WordCache,
    score: &mut TextScore<'_>,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let (word, text) = (words.window()[number], words.text);
    if !word.is_single_chars() {
        let stored = cache.scored(lookup, || text.long_key(word));
        if stored.is_some_and(|(packed, ids)| score.accept_long(packed, ids, word, out)) {
            return Ok(());
        }
    }
    let from = out.len();
    words.escape(word)?;
    let Some(packed_score) = score.segment(&words.scratch.escaped, word, text, out)? else { return Ok(()) };
    if !word.is_single_chars() && !text.depends_on_space(word) {
        let ids = &out[from..];
        let packed = score.pack(ids, packed_score);
        cache.insert_scored(
            WordKey::of_lookup(lookup).ok(),
            packed,
            || text.long_key(word),
            packed_score,
            ids,
        );
    }
    score.finish_word(packed_score, word, from, out);
    Ok(())
}

/// A word with unknown characters, the byte of its escaped text from which its score is missing, and the range of its ids.
///
/// Unknown characters are fused, so the ids alone do not determine the score.
type UnscoredWord = (WordSpan, usize, Range<usize>);

/// The words with unknown characters since the last exact score, and scratch to add their scores.
#[derive(Clone, Debug, Default)]
pub(super) struct UnscoredWords {
    words: Vec<UnscoredWord>,
    char_ids: Vec<u32>,
    escaped: String,
    normalized: String,
}

/// The score of a text so far.
///
/// While words are valid by their margins, only an upper bound is updated. The exact score is computed when a part must
/// be segmented with it.
struct TextScore<'s> {
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
    fn begin(
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
    fn accept(&mut self, entry: &PackedIds, word: WordSpan, at: usize, ids: &mut [u32]) -> Option<usize> {
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
    fn accept_single_chars(
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
    fn accept_long(&mut self, packed_score: u32, ids: &[u32], word: WordSpan, out: &mut Vec<u32>) -> bool {
        let score = unpacked_score(packed_score);
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
    fn segment(
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
        Ok(packed_score(score).filter(|_| start == 0))
    }

    /// Fuse the unknown characters at the start of a word, whose ids begin at `from`, with those before it.
    fn finish_word(&mut self, packed_score: u32, word: WordSpan, from: usize, out: &mut Vec<u32>) {
        if unpacked_score(packed_score).has_unknown {
            let is_after_unknown = self.is_after_unknown(&out[..from]);
            self.model.pieces().fuse_unknown(from, is_after_unknown, out);
            self.unscored.words.push((word, 0, from..out.len()));
        }
    }

    /// Pack ids and a packed score into a cache entry; `None` if they do not fit.
    fn pack(&self, ids: &[u32], packed_score: u32) -> Option<PackedIds> {
        self.packing.pack(ids, unpacked_score(packed_score))
    }
}

/// The maximum number of ids in an entry.
const MAX_IDS: usize = 6;

const ID_BITS: u32 = 24;
const ID: u32 = (1 << ID_BITS) - 1;
const UNKNOWN: u32 = 1 << (ID_BITS + 2);
const MARGIN_SHIFT: u32 = ID_BITS + 3;
/// The position of the number of short ids in their score.
const COUNT_SHIFT: u32 = ID_BITS + 4;

/// How the ids and the score of a word are packed into the sixteen bytes of a cache entry.
///
/// If the vocabulary has at most 2^16 ids, an entry has up to six ids of 16 bits and a 32-bit score: margin, cost, an
/// unknown flag and the number of ids. Otherwise it has up to four ids of 24 bits. The top byte of the first word then
/// has the number of ids, the unknown flag and the margin; the other three top bytes have the cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// 16 bits each.
    Short,
    /// 24 bits each.
    Long,
}

impl Packing {
    /// Return the packing for a vocabulary with `count` ids.
    fn of(count: usize) -> Self {
        if count <= 1 << 16 {
            Self::Short
        } else {
            Self::Long
        }
    }

    /// Pack ids with their score; `None` if there are too many ids or the cost is 2^24 or more.
    #[inline]
    fn pack(self, ids: &[u32], score: PathScore) -> Option<PackedIds> {
        match self {
            Self::Short => pack_short(ids, score),
            Self::Long => pack_long(ids, score),
        }
    }

    /// Return the score of an entry.
    #[inline]
    fn score(self, packed: &PackedIds) -> PathScore {
        match self {
            Self::Short => unpacked_score(packed[3]),
            Self::Long => score_of_long(packed),
        }
    }

    /// Write the ids of an entry to `out`, which has room for [`MAX_IDS`]. Return their number.
    #[inline]
    fn unpack(self, packed: &PackedIds, out: &mut [u32]) -> usize {
        match self {
            Self::Short => {
                let [one, two, three, score] = *packed;
                let halves = [one, one >> 16, two, two >> 16, three, three >> 16];
                out.copy_from_slice(&halves.map(|half| half & 0xFFFF));
                (score >> COUNT_SHIFT & 7) as usize + 1
            }
            Self::Long => {
                out[..MAX_LONG_IDS].copy_from_slice(&packed.map(|word| word & ID));
                (packed[0] >> ID_BITS & 3) as usize + 1
            }
        }
    }
}

fn pack_short(ids: &[u32], score: PathScore) -> Option<PackedIds> {
    if ids.is_empty() || ids.len() > MAX_IDS || ids.iter().any(|&id| id > 0xFFFF) {
        return None;
    }
    let id = |at: usize| ids.get(at).copied().unwrap_or(0);
    let pair = |at: usize| id(2 * at) | id(2 * at + 1) << 16;
    Some([pair(0), pair(1), pair(2), packed_score(score)? | (ids.len() as u32 - 1) << COUNT_SHIFT])
}

fn pack_long(ids: &[u32], score: PathScore) -> Option<PackedIds> {
    let fits = !ids.is_empty() && ids.len() <= MAX_LONG_IDS && ids.iter().all(|&id| id <= ID);
    if !fits || score.cost > ID {
        return None;
    }
    let mut packed = [0; MAX_LONG_IDS];
    packed[..ids.len()].copy_from_slice(ids);
    packed[0] |= (ids.len() as u32 - 1) << ID_BITS | score.margin << MARGIN_SHIFT;
    if score.has_unknown {
        packed[0] |= UNKNOWN;
    }
    for (at, word) in packed[1..].iter_mut().enumerate() {
        *word |= (score.cost >> (8 * at) & 0xFF) << ID_BITS;
    }
    Some(packed)
}

#[inline]
fn score_of_long(packed: &PackedIds) -> PathScore {
    let [first, one, two, three] = packed.map(|word| word >> ID_BITS);
    PathScore {
        margin: first >> 3 & 0xF,
        cost: one | two << 8 | three << 16,
        has_unknown: packed[0] & UNKNOWN != 0,
    }
}

/// Pack a score into the payload of a long word; `None` if the cost is 2^24 or more.
#[inline]
fn packed_score(score: PathScore) -> Option<u32> {
    (score.cost <= ID).then_some(score.cost | score.margin << ID_BITS | u32::from(score.has_unknown) << 31)
}

/// Return the score of the payload of a long word.
#[inline]
fn unpacked_score(packed: u32) -> PathScore {
    PathScore { margin: packed >> ID_BITS & 0xF, cost: packed & ID, has_unknown: packed >> 31 == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::word_cache::NO_IDS;

    #[test]
    fn unpacking_restores_ids_and_score() {
        for (count_of_all, most) in [(1 << 16, MAX_IDS), (1 << 24, MAX_LONG_IDS)] {
            let packing = Packing::of(count_of_all);
            for count in 0..9 {
                let ids: Vec<u32> = (0..count).map(|at| (count_of_all - 1 - at * 77) as u32).collect();
                for (margin, cost, has_unknown) in [(0, 0, false), (8, ID, true), (3, 0x12_3456, false)] {
                    let score = PathScore { margin, cost, has_unknown };
                    assert_eq!(packed_score(score).map(unpacked_score), Some(score));
                    let Some(packed) = packing.pack(&ids, score) else {
                        assert!(!(1..=most).contains(&count));
                        continue;
                    };
                    let mut out = [0; MAX_IDS];
                    let unpacked = packing.unpack(&packed, &mut out);
                    assert_eq!((packing.score(&packed), &out[..unpacked]), (score, ids.as_slice()));
                    assert_ne!(packed, NO_IDS);
                }
            }
        }
    }

    #[test]
    fn entries_that_do_not_fit_are_rejected() {
        let score = PathScore { margin: 1, cost: 1, has_unknown: false };
        assert_eq!(Packing::Long.pack(&[1 << 24], score), None);
        assert_eq!(Packing::Short.pack(&[1 << 16], score), None);
        for packing in [Packing::Short, Packing::Long] {
            assert_eq!(packing.pack(&[1], PathScore { cost: 1 << 24, ..score }), None);
        }
    }
}
