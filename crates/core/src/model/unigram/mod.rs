//! Unigram: the segmentation with the highest sum of scores, by the Viterbi algorithm in 64-bit floats.
//!
//! For each end of a character the best piece that ends there is kept. A trie enumerates the pieces that begin at each
//! character, from left to right. For long words, and models with long pieces, an Aho-Corasick automaton enumerates
//! those that end there, the longest first, in time linear in the word and in the matches. Of equal sums the longer
//! last piece wins. Kudo 2018, "Subword Regularization", section 3.1.
//!
//! SentencePiece's Unigram ([`float32`]) sums 32-bit floats from the beginning of the text, resets large
//! sums and needs decisions that do not depend on the text before. So it has its own scorers, and shares the
//! automaton, the backpointers and the streaming Viterbi with this model.
//!
//! ```text
//! float32         SentencePiece's model of whole texts
//! automaton       the pieces that end at a byte
//! backpointers    the best path to each byte
//! streaming       the best path through a text of any length
//! lattice         all segmentations, and sums over them
//! nbest           paths, and the n best
//! segmentations   sampled segmentations of words, and these of texts
//! ```

mod automaton;
mod backpointers;
mod float32;
mod lattice;
mod nbest;
#[cfg(test)]
mod segmentation_tests;
mod segmentations;
mod streaming;
#[cfg(test)]
mod tests;

use std::ops::Range;

use foldhash::HashSet;
use piecework_unicode::char_len;

use self::automaton::PieceAutomaton;
use self::backpointers::{backtrace, Backpointer, BackpointerTable, UnigramWriter};
use self::lattice::{LatticePieces, PieceLattice};
use self::nbest::BestBackpointers;
use self::segmentations::{PathSampler, WordLattices};
use self::streaming::{PathScorer, StreamingViterbi};
use super::sampling::SamplingRng;
use super::ByteTokens;
use super::{TokenSink, TokenSpan};
use crate::double_array::CompactNode;
use crate::error::{Error, ErrorKind};
use crate::spec::UnigramSpec;
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

pub(crate) use self::float32::UnigramF32Scratch;
pub use self::float32::{Margin, PathScore, UnigramF32};
pub use self::nbest::{Path, SampledPath};
pub use self::segmentations::{Segmentations, MAX_SEGMENTATIONS};

/// The score of an unknown character is so much less than the lowest score.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The compiled Unigram model.
#[derive(Clone, Debug)]
pub struct Unigram {
    pieces: PieceAutomaton,
    /// The trie of the pieces; empty if one is long, or the trie too large.
    nodes: Vec<CompactNode>,
    unknown_score: f64,
    /// The largest absolute score, including that of unknown characters.
    worst_score: f64,
    unk_id: Option<u32>,
    bytes: Option<ByteTokens>,
}

/// Longer words, in bytes, are segmented by the streaming Viterbi.
const MAX_WHOLE: usize = 1 << 14;
/// The longest piece, in bytes, with which words are read by the trie.
const MAX_PIECE_BYTES: usize = 128;
/// The start of a backpointer that is not set.
const UNSET: u32 = u32::MAX;

/// The buffers of one word.
#[derive(Clone, Debug, Default)]
pub(super) struct UnigramScratch {
    /// By byte offset; only those at ends of characters are set.
    backpointers: Vec<Backpointer<f64>>,
    /// How much better each of them is than the next best.
    leads: Vec<f64>,
    path: Vec<TokenSpan>,
    streaming: StreamingViterbi<f64>,
    sampler: PathSampler,
    /// Whether a word had an unknown character and the model has no unknown token.
    pub(super) missing_unk: bool,
}

impl Unigram {
    /// Return the id of the unknown token.
    pub(super) fn unk_id(&self) -> Option<u32> {
        self.unk_id
    }

    /// Build the automaton, with the trie of `sections` if it contains one, and without the matches of some pieces. Scores
    /// must be finite and `unk_id` a piece.
    pub(super) fn compile(
        spec: &UnigramSpec,
        vocab: &Vocab,
        sections: &TableSections,
        unmatched: &HashSet<u32>,
    ) -> Result<Self, Error> {
        check(spec)?;
        let mut scored: Vec<(&str, f64)> =
            spec.vocab.iter().map(|(token, score)| (token.as_str(), *score)).collect();
        for &id in unmatched {
            if let Some((token, _)) = scored.get_mut(id as usize) {
                // The automaton never matches an empty piece.
                *token = "";
            }
        }
        let lowest = spec.vocab.iter().fold(f64::INFINITY, |low, &(_, score)| low.min(score));
        let unknown_score = lowest - UNKNOWN_PENALTY;
        let pieces = PieceAutomaton::restore(&scored, sections)?;
        let has_long = scored.iter().any(|(token, _)| token.len() > MAX_PIECE_BYTES);
        let nodes = if has_long { None } else { pieces.trie().nodes() };
        Ok(Self {
            pieces,
            nodes: nodes.unwrap_or_default(),
            unknown_score,
            worst_score: scored
                .iter()
                .fold(unknown_score.abs(), |worst, &(_, score)| worst.max(score.abs())),
            unk_id: spec.unk_id.map(|id| id as u32),
            bytes: spec.byte_fallback.then(|| ByteTokens::collect(vocab)),
        })
    }

    /// Add the table sections of the trie.
    pub(super) fn store(&self, sections: &mut TableSections) {
        self.pieces.store(sections);
    }

    /// Return the bytes of memory of the tables derived from the trie.
    pub(super) fn derived_bytes(&self) -> usize {
        self.pieces.derived_bytes() + size_of_val(self.nodes.as_slice())
    }

    /// Build every table that is not built yet.
    pub(super) fn warm_up(&self) {
        self.pieces.warm_up();
    }

    /// Segment one non-empty word. Without `unk_id`, emit nothing for a word with an unknown character, and set
    /// `missing_unk` in the scratch.
    pub(super) fn run(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut UnigramScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        let found = match rng {
            None if word.len() > MAX_WHOLE => {
                scratch.missing_unk |= !self.run_long(word, vocab, &mut scratch.streaming, out);
                return;
            }
            None => self.find_best(word, scratch),
            Some(rng) => self.sample(word, rng, scratch),
        };
        match found {
            Some(path) => self.push_tokens(word, path, vocab, out),
            None => scratch.missing_unk = true,
        }
    }

    /// Segment a word in bounded memory. Return `false` if it has an unknown character and there is no unknown
    /// token.
    fn run_long(
        &self,
        word: &str,
        vocab: &Vocab,
        streaming: &mut StreamingViterbi<f64>,
        out: &mut impl TokenSink,
    ) -> bool {
        let checkpoint = out.checkpoint();
        let mut writer = self.writer(word, vocab, out);
        let found = streaming.run(self, word, (0.0, ()), |piece| writer.push(piece));
        writer.finish();
        if found.is_none() {
            out.rollback(checkpoint);
        }
        found.is_some()
    }

    /// Return all segmentations of a text; `None` if it has an unknown character and there is no unknown token.
    pub fn segmentations<'w>(&'w self, words: &[&'w str]) -> Option<impl Segmentations + 'w> {
        let mut text = WordLattices { words: Vec::new(), best: BestBackpointers(Vec::new()) };
        for &word in words {
            let mut backpointers = Vec::new();
            self.forward(word, &mut backpointers, &mut Vec::new())?;
            text.words.push(PieceLattice::new(self.scored(), word, Vec::new()));
            text.best.0.push(backpointers);
        }
        Some(text)
    }

    /// Return the score that an entry adds to a segmentation; for the unknown token that of an unknown character.
    #[must_use]
    pub fn score_of(&self, id: u32) -> Option<f64> {
        match self.unk_id == Some(id) {
            true => Some(self.unknown_score),
            false => self.pieces.score_of(id),
        }
    }

    /// Find the best path.
    fn find_best<'m>(&self, word: &str, memory: &'m mut UnigramScratch) -> Option<&'m [TokenSpan]> {
        self.forward(word, &mut memory.backpointers, &mut memory.leads)?;
        backtrace((0, word.len()), |end| memory.backpointers[end], &mut memory.path);
        Some(&memory.path)
    }

    /// Sample a path.
    fn sample<'m>(
        &self,
        word: &str,
        rng: &mut SamplingRng,
        memory: &'m mut UnigramScratch,
    ) -> Option<&'m [TokenSpan]> {
        if self.unk_id.is_none() {
            self.forward(word, &mut memory.backpointers, &mut memory.leads)?;
        }
        let lattice = |states| PieceLattice::new(self.scored(), word, states);
        Some(memory.sampler.sample(rng, lattice))
    }

    fn scored(&self) -> LatticePieces<'_> {
        let unknown = self.unk_id.map(|id| (id, self.unknown_score));
        LatticePieces { pieces: &self.pieces, rescored: &[], unknown }
    }

    /// Append the tokens of a path through a word.
    pub fn push_tokens(&self, word: &str, path: &[TokenSpan], vocab: &Vocab, out: &mut impl TokenSink) {
        let mut writer = self.writer(word, vocab, out);
        path.iter().for_each(|&piece| writer.push(piece));
        writer.finish();
    }

    fn writer<'w, S>(&'w self, word: &'w str, vocab: &'w Vocab, out: &'w mut S) -> UnigramWriter<'w, S> {
        let (unk_id, bytes) = (self.unk_id, self.bytes.as_ref());
        UnigramWriter { word, vocab, unk_id, bytes, unknown: None, out }
    }

    /// Find the best last piece for each end of a character, and its lead if all are found by the trie; `None` if an
    /// unknown character has no token.
    fn forward(
        &self,
        word: &str,
        backpointers: &mut Vec<Backpointer<f64>>,
        leads: &mut Vec<f64>,
    ) -> Option<()> {
        backpointers.clear();
        leads.clear();
        backpointers.resize(word.len() + 1, Backpointer { start: UNSET, ..Backpointer::default() });
        backpointers[0].start = 0;
        if self.nodes.is_empty() {
            return self.forward_by_automaton(word, backpointers);
        }
        leads.resize(word.len() + 1, f64::INFINITY);
        let (bytes, mut start) = (word.as_bytes(), 0);
        while start < bytes.len() {
            let (before, first) = (backpointers[start].score, start + char_len(bytes[start]));
            let mut consider = |end: usize, id: u32, score: f64| {
                let (best, lead) = (&mut backpointers[end], &mut leads[end]);
                if best.start == UNSET {
                    *best = Backpointer { score, id, start: start as u32 };
                } else if score > best.score {
                    *lead = score - best.score;
                    *best = Backpointer { score, id, start: start as u32 };
                } else {
                    *lead = lead.min(best.score - score);
                }
            };
            let (mut node, mut is_piece) = (self.nodes[0], false);
            for (end, &byte) in (start + 1..).zip(&bytes[start..]) {
                let slot = node.child(byte);
                node = self.nodes[slot];
                if !node.has_label(byte) {
                    break;
                }
                if node.is_final() {
                    let (id, score) = self.pieces.ending_in(slot as u32);
                    consider(end, id, score + before);
                    is_piece |= end == first;
                }
            }
            if !is_piece {
                consider(first, self.unk_id.unwrap_or(UNSET), self.unknown_score + before);
            }
            if self.unk_id.is_none() && backpointers[first].id == UNSET {
                return None;
            }
            start = first;
        }
        Some(())
    }

    /// Do [`Self::forward`] without leads, in time that does not depend on the length of the pieces.
    #[cold]
    fn forward_by_automaton(&self, word: &str, backpointers: &mut [Backpointer<f64>]) -> Option<()> {
        let (mut state, mut start) = (self.pieces.start(), 0);
        for (at, &byte) in word.as_bytes().iter().enumerate() {
            state = self.pieces.step(state, byte);
            if word.is_char_boundary(at + 1) {
                backpointers[at + 1] =
                    self.best_ending_at(state, start..at + 1, |position| backpointers[position].score)?;
                start = at + 1;
            }
        }
        Some(())
    }

    /// Return the best piece that ends with the last character.
    #[inline]
    fn best_ending_at(
        &self,
        state: u32,
        last: Range<usize>,
        score_at: impl Fn(usize) -> f64,
    ) -> Option<Backpointer<f64>> {
        let mut best: Option<Backpointer<f64>> = None;
        let mut shortest = last.end;
        for (id, piece) in self.pieces.ending_at(state) {
            shortest = last.end - piece.byte_len as usize;
            let score = piece.score + score_at(shortest);
            if best.is_none_or(|best| score > best.score) {
                best = Some(Backpointer { score, id, start: shortest as u32 });
            }
        }
        if shortest != last.start {
            let score = self.unknown_score + score_at(last.start);
            if best.is_none_or(|best| score > best.score) {
                best = Some(Backpointer { score, id: self.unk_id?, start: last.start as u32 });
            }
        }
        best
    }
}

/// Check that there are pieces of text, that scores are finite, and that `unk_id` is a piece.
fn check(spec: &UnigramSpec) -> Result<(), Error> {
    let bad = |place: String, found: String, expected: &str| {
        Err(Error::new(ErrorKind::Vocabulary, place, found, expected))
    };
    if spec.vocab.is_empty() {
        return bad("model.vocab".into(), "no entries".into(), "at least the unknown one");
    }
    if let Some(id) = spec.unk_id.filter(|&id| id >= spec.vocab.len()) {
        let found = format!("{id}, in a vocabulary of {}", spec.vocab.len());
        return bad("model.unk_id".into(), found, "the position of an entry");
    }
    if let Some(at) = spec.vocab.iter().position(|(token, _)| token.is_empty()) {
        return bad(format!("model.vocab[{at}]"), "an empty piece".into(), "a piece of text");
    }
    match spec.vocab.iter().position(|(_, score)| !score.is_finite()) {
        Some(at) => {
            bad(format!("model.vocab[{at}]"), format!("score {}", spec.vocab[at].1), "a finite score")
        }
        None => Ok(()),
    }
}

impl PathScorer for Unigram {
    type Score = f64;
    type Memory = ();

    fn pieces(&self) -> &PieceAutomaton {
        &self.pieces
    }

    #[inline]
    fn best_backpointer(
        &self,
        state: u32,
        last: Range<usize>,
        backpointers: &BackpointerTable<f64>,
        (): &mut (),
    ) -> Option<Backpointer<f64>> {
        self.best_ending_at(state, last, |position| backpointers.at(position).score)
    }
}

// Whether a part of a word has the same best path after any text that precedes it in the word.
//
// No piece crosses the boundaries of a part, so exact sums would give a part the same path in every word. Scores are
// 64-bit floats, added from left to right from the beginning of the word. The preceding score takes part in the
// rounding, and segmentations with equal exact sums differ by rounding alone.
//
// Let a part have `n` bytes, and so at most `n` pieces; let `worst` be the largest absolute score, and let the word
// have at most `2^24` bytes. Then every sum stays below `2^24 * worst`, an addition is rounded by at most `2^-53` of
// that, and the sums of two paths through the part differ from their exact difference by at most `2n * 2^-29 *
// worst`. The leads are computed with the part alone, which is rounded by less. So where each decision on the best
// path leads by more than `n * 2^-26 * worst`, the same path wins by a true lead in every such word, and no tie rule
// decides.

/// Longer words, in bytes, are not segmented part by part.
const MAX_WORD_BYTES: usize = 1 << 24;
/// Longer parts, in bytes, are not segmented alone.
const MAX_PART_BYTES: usize = 1 << 12;
/// The lead that rounding can remove, for each byte of a part, as a share of the largest absolute score: `2^-26`.
const ROUNDING: f64 = 1.0 / (1 << 26) as f64;

impl Unigram {
    /// Return whether a word of this many bytes can be segmented part by part. Without an unknown token only the whole
    /// word shows whether it has a segmentation.
    pub fn supports_parts(&self, word_bytes: usize) -> bool {
        self.unk_id.is_some() && !self.nodes.is_empty() && word_bytes <= MAX_WORD_BYTES
    }

    /// Segment a part that does not begin its word. Return whether the ids are the same in every word; if they are
    /// not, the word must be segmented as a whole.
    pub(in crate::model) fn run_part(
        &self,
        part: &str,
        vocab: &Vocab,
        scratch: &mut UnigramScratch,
        out: &mut impl TokenSink,
    ) -> bool {
        if part.len() > MAX_PART_BYTES || self.nodes.is_empty() {
            return false;
        }
        let Some(path) = self.find_best(part, scratch) else { return false };
        self.push_tokens(part, path, vocab, out);
        let least_lead = self.worst_score * part.len() as f64 * ROUNDING;
        let leads = scratch.path.iter().all(|piece| scratch.leads[piece.end as usize] > least_lead);
        leads && scratch.backpointers[part.len()].score.is_finite()
    }
}
