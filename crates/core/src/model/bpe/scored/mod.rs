//! BPE by scores, as in SentencePiece: merges adjacent symbols whose text is a piece, the highest score first, the
//! leftmost of equal ones; splits unused pieces again. O(n log n).
//!
//! This is the definition. [`backtracking`] segments most models in linear time.
//!
//! ```text
//! backtracking  the merges in linear time, from left to right
//! equal_scores  the last merges, if several pieces have the lowest score
//! ascii_merges  batches of short words
//! piece_trie    pieces by their text
//! merge_queue   candidates by rank
//! ```

mod ascii_merges;
mod backtracking;
mod equal_scores;
mod merge_queue;
mod piece_trie;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use self::backtracking::{ScoredBacktracking, ScoredBacktrackingScratch};
use self::merge_queue::{MergeCandidate, MergeQueue};
use self::piece_trie::PieceTrie;
use crate::error::Error;
use crate::model::pieces::{PieceWriter, Pieces};
use crate::model::sampling::SamplingRng;
use crate::model::TokenSink;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// The compiled BPE model of SentencePiece.
#[derive(Clone, Debug)]
pub struct ScoredBpe {
    pieces: Pieces,
    /// By id: the rank of its score, the highest first.
    ranks: Vec<u32>,
    longest: usize,
    has_unused: bool,
    trie: PieceTrie,
    backtracking: Option<ScoredBacktracking>,
}

/// The buffers of one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScoredBpeScratch {
    symbols: Vec<LinkedSymbol>,
    queue: MergeQueue,
    /// The byte length of the left part of each unused piece when it was last merged.
    left_lengths: FxHashMap<u32, usize>,
    pending: Vec<(usize, usize)>,
    backtracking: ScoredBacktrackingScratch,
}

/// A character, a user-defined piece or the result of merges; empty after it was merged into its left neighbor.
#[derive(Clone, Copy, Debug)]
struct LinkedSymbol {
    start: u32,
    end: u32,
    previous: u32,
    next: u32,
    is_fixed: bool,
}

const NONE: u32 = u32::MAX;

impl ScoredBpe {
    /// Check the pieces and build the tables; reads those that `sections` contains.
    pub(in crate::model) fn restore(
        spec: &SentencePieceSpec,
        vocab: &Vocab,
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let pieces = Pieces::compile(spec, vocab)?;
        let (ranks, trie) = (ranks(&spec.pieces), PieceTrie::build(&spec.pieces)?);
        Ok(Self {
            pieces,
            longest: spec.pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0),
            has_unused: spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused),
            backtracking: ScoredBacktracking::compile(&spec.pieces, &ranks, &trie, sections),
            ranks,
            trie,
        })
    }

    /// The pieces of the model.
    #[must_use]
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Add the table sections of tables that take long to build.
    pub(in crate::model) fn store(&self, sections: &mut TableSections) {
        if let Some(backtracking) = &self.backtracking {
            backtracking.store(sections);
        }
    }

    /// The bytes of memory of the other tables of backtracking.
    pub(in crate::model) fn derived_bytes(&self) -> usize {
        self.backtracking.as_ref().map_or(0, ScoredBacktracking::bytes)
    }

    /// Segment a text; with `rng` each candidate is dropped for good with its probability (BPE-dropout).
    pub(in crate::model) fn run(
        &self,
        text: &str,
        vocab: &Vocab,
        scratch: &mut ScoredBpeScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        let (mut done, mut writer) = (0, self.pieces.writer(text, out));
        if rng.is_none() {
            if let Some(backtracking) = &self.backtracking {
                let symbols = (&self.pieces, vocab);
                done = backtracking.run(text, symbols, &mut scratch.backtracking, &mut writer);
            }
        }
        if done < text.len() {
            self.merge_all((text, done), vocab, scratch, rng, &mut writer);
        }
        writer.finish();
    }

    /// Whether short words can be merged in batches.
    #[must_use]
    pub fn merges_in_batches(&self) -> bool {
        self.backtracking.as_ref().is_some_and(ScoredBacktracking::merges_in_batches)
    }

    /// Merge up to `MAX_WORDS` words, given as ASCII with spaces instead of metaspaces, of at most
    /// `ShortWordBatch::MAX_BYTES`.
    pub(crate) fn merge_batch(&self, words: &[&[u8]], scratch: &mut ScoredBpeScratch) {
        if let Some(backtracking) = &self.backtracking {
            backtracking.merge_batch(words, &mut scratch.backtracking);
        }
    }

    /// Append the ids of one word of the last batch; returns `false` if the batch cannot segment it.
    pub(crate) fn push_merged(
        &self,
        row: usize,
        scratch: &mut ScoredBpeScratch,
        out: &mut Vec<u32>,
    ) -> bool {
        let backtracking = self.backtracking.as_ref();
        backtracking
            .is_some_and(|backtracking| backtracking.push_merged(row, &mut scratch.backtracking, out))
    }

    /// Segment a text of any length from a byte on by the queue.
    fn merge_all(
        &self,
        (text, from): (&str, usize),
        vocab: &Vocab,
        scratch: &mut ScoredBpeScratch,
        mut rng: Option<&mut SamplingRng>,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) {
        scratch.fill(text, from, &self.pieces);
        let merger = Merger { bpe: self, text, vocab };
        for right in 1..scratch.symbols.len() as u32 {
            if let Some(candidate) = merger.candidate(right - 1, right, scratch) {
                scratch.queue.push_first(candidate);
            }
        }
        scratch.queue.begin();
        while let Some(candidate) = scratch.queue.pop() {
            if scratch.is_current(&candidate) && !rng.as_mut().is_some_and(|rng| rng.drops()) {
                merger.merge(&candidate, scratch);
            }
        }
        let mut at = if scratch.symbols.is_empty() { NONE } else { 0 };
        while at != NONE {
            let LinkedSymbol { start, end, next, .. } = scratch.symbols[at as usize];
            merger.emit(start as usize, end as usize, scratch, writer);
            at = next;
        }
    }
}

impl ScoredBpeScratch {
    fn fill(&mut self, text: &str, from: usize, pieces: &Pieces) {
        self.symbols.clear();
        self.queue.clear();
        self.left_lengths.clear();
        pieces.for_each_symbol(text, from, |start, end, is_fixed| {
            let at = self.symbols.len() as u32;
            let (start, end, previous) = (start as u32, end as u32, at.wrapping_sub(1));
            self.symbols.push(LinkedSymbol { start, end, previous, next: at + 1, is_fixed });
        });
        if let Some(last) = self.symbols.last_mut() {
            last.next = NONE;
        }
    }

    /// Whether both symbols of a candidate are unchanged: otherwise the left one is gone or the pair is longer.
    fn is_current(&self, candidate: &MergeCandidate) -> bool {
        let one = self.symbols[candidate.left as usize];
        if one.start == one.end || one.next == NONE {
            return false;
        }
        self.symbols[one.next as usize].end - one.start == candidate.byte_len
    }
}

/// Merges the symbols of a text.
struct Merger<'a> {
    bpe: &'a ScoredBpe,
    text: &'a str,
    vocab: &'a Vocab,
}

impl Merger<'_> {
    /// The merge of two adjacent symbols, if their text is a piece.
    #[inline]
    fn candidate(&self, left: u32, right: u32, scratch: &mut ScoredBpeScratch) -> Option<MergeCandidate> {
        if left == NONE || right == NONE {
            return None;
        }
        let (one, other) = (scratch.symbols[left as usize], scratch.symbols[right as usize]);
        let byte_len = other.end - one.start;
        if one.is_fixed || other.is_fixed || byte_len as usize > self.bpe.longest {
            return None;
        }
        let id = self.bpe.trie.id_of(&self.text[one.start as usize..other.end as usize])?;
        if self.bpe.has_unused && self.bpe.pieces.is_unused(id) {
            scratch.left_lengths.insert(id, (one.end - one.start) as usize);
        }
        Some(MergeCandidate { rank: self.bpe.ranks[id as usize], left, byte_len })
    }

    fn push_candidate(&self, left: u32, right: u32, scratch: &mut ScoredBpeScratch) {
        if let Some(candidate) = self.candidate(left, right, scratch) {
            scratch.queue.push(candidate);
        }
    }

    /// Merge two adjacent symbols.
    fn merge(&self, candidate: &MergeCandidate, scratch: &mut ScoredBpeScratch) {
        let left = candidate.left as usize;
        let one = scratch.symbols[left];
        let other = scratch.symbols[one.next as usize];
        scratch.symbols[left].end = other.end;
        scratch.symbols[left].next = other.next;
        scratch.symbols[one.next as usize].end = other.start;
        if other.next != NONE {
            scratch.symbols[other.next as usize].previous = candidate.left;
        }
        self.push_candidate(one.previous, candidate.left, scratch);
        self.push_candidate(candidate.left, other.next, scratch);
    }

    /// Write a symbol; replaces unused pieces by their parts until none is left.
    fn emit(
        &self,
        start: usize,
        end: usize,
        scratch: &mut ScoredBpeScratch,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) {
        scratch.pending.push((start, end));
        while let Some((start, end)) = scratch.pending.pop() {
            let id = self.bpe.pieces.id_of(&self.text[start..end], self.vocab);
            let left_lengths = scratch.left_lengths.get(&id).filter(|_| self.bpe.pieces.is_unused(id));
            match left_lengths {
                Some(left) => scratch.pending.extend([(start + left, end), (start, start + left)]),
                None => writer.push(id, start, end),
            }
        }
    }
}

/// The ranks of scores, the highest first; equal scores have the same rank.
fn ranks(pieces: &[ScoredPiece]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    let score = |&at: &usize| pieces[at].score;
    // Scores are finite; adding 0 turns -0 into 0.
    order.sort_by(|one, other| (score(other) + 0.0).total_cmp(&(score(one) + 0.0)));
    let mut ranks = vec![0; pieces.len()];
    for (rank, equals) in (0..).zip(order.chunk_by(|one, other| score(one) == score(other))) {
        equals.iter().for_each(|&at| ranks[at] = rank);
    }
    ranks
}
