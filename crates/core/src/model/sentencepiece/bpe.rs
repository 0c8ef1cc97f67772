//! BPE by scores: merges adjacent symbols whose text is a piece, the highest score first, the leftmost of equal ones;
//! splits unused pieces again. O(n log n).
//!
//! This is the definition. [`super::backtracking`] segments most models in linear time.

use rustc_hash::FxHashMap;

use super::super::sampling::SamplingRng;
use super::super::TokenSink;
use super::backtracking::{SpmBacktracking, SpmBacktrackingScratch};
use super::merge_queue::{MergeCandidate, MergeQueue};
use super::piece_trie::PieceTrie;
use super::piece_writer::PieceWriter;
use super::text_symbols::TextSymbols;
use crate::error::Error;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// The pieces as merges.
#[derive(Clone, Debug)]
pub(super) struct SpmBpe {
    /// By id: the rank of its score, the highest first.
    ranks: Vec<u32>,
    longest: usize,
    has_unused: bool,
    pieces: PieceTrie,
    backtracking: Option<SpmBacktracking>,
}

/// The buffers of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct SpmBpeScratch {
    symbols: Vec<LinkedSymbol>,
    queue: MergeQueue,
    /// The byte length of the left part of each unused piece when it was last merged.
    left_lengths: FxHashMap<u32, usize>,
    pending: Vec<(usize, usize)>,
    backtracking: SpmBacktrackingScratch,
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

impl SpmBpe {
    pub(super) fn compile(spec: &SentencePieceSpec, sections: &TableSections) -> Result<Self, Error> {
        let (ranks, pieces) = (ranks(&spec.pieces), PieceTrie::build(&spec.pieces)?);
        Ok(Self {
            longest: spec.pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0),
            has_unused: spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused),
            backtracking: SpmBacktracking::compile(&spec.pieces, &ranks, &pieces, sections),
            ranks,
            pieces,
        })
    }

    /// Add the table sections of tables that take long to build.
    pub(super) fn store(&self, sections: &mut TableSections) {
        if let Some(backtracking) = &self.backtracking {
            backtracking.store(sections);
        }
    }

    /// The bytes of memory of the other tables of backtracking.
    pub(super) fn derived_bytes(&self) -> usize {
        self.backtracking.as_ref().map_or(0, SpmBacktracking::bytes)
    }

    /// Segment a text; with `rng` each candidate is dropped for good with its probability (BPE-dropout).
    pub(super) fn run(
        &self,
        text: &str,
        text_symbols: &TextSymbols,
        vocab: &Vocab,
        scratch: &mut SpmBpeScratch,
        rng: Option<&mut SamplingRng>,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) {
        let mut done = 0;
        if rng.is_none() {
            if let Some(backtracking) = &self.backtracking {
                done = backtracking.run(text, (text_symbols, vocab), &mut scratch.backtracking, writer);
            }
        }
        if done < text.len() {
            self.merge_all((text, done), (text_symbols, vocab), scratch, rng, writer);
        }
    }

    /// Whether short words can be merged in batches.
    pub(super) fn merges_in_batches(&self) -> bool {
        self.backtracking.as_ref().is_some_and(SpmBacktracking::merges_in_batches)
    }

    /// Merge up to `MAX_WORDS` short words, given as ASCII with spaces instead of metaspaces.
    pub(super) fn merge_batch(&self, words: &[&[u8]], scratch: &mut SpmBpeScratch) {
        self.backtracking
            .iter()
            .for_each(|backtracking| backtracking.merge_batch(words, &mut scratch.backtracking));
    }

    /// Append the ids of one word of the last batch; returns `false` if the batch cannot segment it.
    pub(super) fn push_merged(&self, row: usize, scratch: &mut SpmBpeScratch, out: &mut Vec<u32>) -> bool {
        let backtracking = self.backtracking.as_ref();
        backtracking
            .is_some_and(|backtracking| backtracking.push_merged(row, &mut scratch.backtracking, out))
    }

    /// Segment a text of any length from a byte on by the queue.
    pub(super) fn merge_all(
        &self,
        (text, from): (&str, usize),
        (text_symbols, vocab): (&TextSymbols, &Vocab),
        scratch: &mut SpmBpeScratch,
        mut rng: Option<&mut SamplingRng>,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) {
        scratch.fill(text, from, text_symbols);
        let merger = Merger { bpe: self, text, text_symbols, vocab };
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

impl SpmBpeScratch {
    fn fill(&mut self, text: &str, from: usize, text_symbols: &TextSymbols) {
        self.symbols.clear();
        self.queue.clear();
        self.left_lengths.clear();
        text_symbols.for_each_symbol(text, from, |start, end, is_fixed| {
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
    bpe: &'a SpmBpe,
    text: &'a str,
    text_symbols: &'a TextSymbols,
    vocab: &'a Vocab,
}

impl Merger<'_> {
    /// The merge of two adjacent symbols, if their text is a piece.
    #[inline]
    fn candidate(&self, left: u32, right: u32, scratch: &mut SpmBpeScratch) -> Option<MergeCandidate> {
        if left == NONE || right == NONE {
            return None;
        }
        let (one, other) = (scratch.symbols[left as usize], scratch.symbols[right as usize]);
        let byte_len = other.end - one.start;
        if one.is_fixed || other.is_fixed || byte_len as usize > self.bpe.longest {
            return None;
        }
        let id = self.bpe.pieces.id_of(&self.text[one.start as usize..other.end as usize])?;
        if self.bpe.has_unused && self.text_symbols.is_unused(id) {
            scratch.left_lengths.insert(id, (one.end - one.start) as usize);
        }
        Some(MergeCandidate { rank: self.bpe.ranks[id as usize], left, byte_len })
    }

    fn push_candidate(&self, left: u32, right: u32, scratch: &mut SpmBpeScratch) {
        if let Some(candidate) = self.candidate(left, right, scratch) {
            scratch.queue.push(candidate);
        }
    }

    /// Merge two adjacent symbols.
    fn merge(&self, candidate: &MergeCandidate, scratch: &mut SpmBpeScratch) {
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
        scratch: &mut SpmBpeScratch,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) {
        scratch.pending.push((start, end));
        while let Some((start, end)) = scratch.pending.pop() {
            let id = self.text_symbols.id_of(&self.text[start..end], self.vocab);
            let left_lengths = scratch.left_lengths.get(&id).filter(|_| self.text_symbols.is_unused(id));
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
