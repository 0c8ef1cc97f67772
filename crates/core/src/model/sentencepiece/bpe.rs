//! BPE by scores: neighbours whose merged text is a piece are merged, the highest score first, then the
//! leftmost; an unused piece is taken apart again. O(n log n). That defines it; most models go by
//! [`super::backtracking`].

use rustc_hash::FxHashMap;

use super::super::sampling::SamplingRng;
use super::super::PieceSink;
use super::backtracking::{SpmBacktracking, SpmBacktrackingScratch};
use super::merge_queue::{MergeCandidate, MergeQueue};
use super::piece_trie::PieceTrie;
use super::piece_writer::PieceWriter;

use super::SentencePiece;
use crate::error::Error;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// What joining needs to know of the pieces.
#[derive(Clone, Debug)]
pub(super) struct SpmBpe {
    /// By id: the place of its score among all, the highest first.
    ranks: Vec<u32>,
    longest: usize,
    has_unused: bool,
    pieces: PieceTrie,
    backtracking: Option<SpmBacktracking>,
}

/// SpmBacktrackingScratch for one text.
#[derive(Clone, Debug, Default)]
pub(super) struct SpmBpeScratch {
    symbols: Vec<LinkedSymbol>,
    queue: MergeQueue,
    /// Of unused pieces: the byte length of the left part when they were last seen to be possible.
    left_lengths: FxHashMap<u32, usize>,
    pending: Vec<(usize, usize)>,
    backtracking: SpmBacktrackingScratch,
}

/// A character, a user-defined piece or what they were merged to; empty when it is part of another.
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
    pub(super) fn compile(spec: &SentencePieceSpec, parts: &TableSections) -> Result<Self, Error> {
        let (ranks, pieces) = (ranks(&spec.pieces), PieceTrie::build(&spec.pieces)?);
        Ok(Self {
            longest: spec.pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0),
            has_unused: spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused),
            backtracking: SpmBacktracking::compile(&spec.pieces, &ranks, &pieces, parts),
            ranks,
            pieces,
        })
    }

    /// Take the tables apart that take long to make.
    pub(super) fn store(&self, parts: &mut TableSections) {
        if let Some(backtracking) = &self.backtracking {
            backtracking.store(parts);
        }
    }

    /// The memory of the others of what merges_in_batches from left to right.
    pub(super) fn derived_bytes(&self) -> usize {
        self.backtracking.as_ref().map_or(0, SpmBacktracking::bytes)
    }

    /// Segment a text; with `rng` every join that comes up is left out for good with their probability.
    pub(super) fn run(
        &self,
        text: &str,
        model: &SentencePiece,
        vocab: &Vocab,
        memory: &mut SpmBpeScratch,
        rng: Option<&mut SamplingRng>,
        writer: &mut PieceWriter<'_, impl PieceSink>,
    ) {
        let mut done = 0;
        if rng.is_none() {
            if let Some(backtracking) = &self.backtracking {
                done = backtracking.run(text, (model, vocab), &mut memory.backtracking, writer);
            }
        }
        if done < text.len() {
            self.merge_all((text, done), (model, vocab), memory, rng, writer);
        }
    }

    /// Whether short words are merged at once.
    pub(super) fn merges_in_batches(&self) -> bool {
        self.backtracking.as_ref().is_some_and(SpmBacktracking::merges_in_batches)
    }

    /// MergeCandidate up to `MAX_WORDS` short words at once, given as ASCII with spaces for marks.
    pub(super) fn merge_batch(&self, words: &[&[u8]], memory: &mut SpmBpeScratch) {
        self.backtracking
            .iter()
            .for_each(|backtracking| backtracking.merge_batch(words, &mut memory.backtracking));
    }

    /// Append the ids of one of the words that were merged last; false where it cannot be told from them.
    pub(super) fn push_merged(&self, row: usize, memory: &mut SpmBpeScratch, out: &mut Vec<u32>) -> bool {
        let backtracking = self.backtracking.as_ref();
        backtracking
            .is_some_and(|backtracking| backtracking.push_merged(row, &mut memory.backtracking, out))
    }

    /// Segment a text of any length from a byte on.
    pub(super) fn merge_all(
        &self,
        (text, from): (&str, usize),
        (model, vocab): (&SentencePiece, &Vocab),
        memory: &mut SpmBpeScratch,
        mut rng: Option<&mut SamplingRng>,
        writer: &mut PieceWriter<'_, impl PieceSink>,
    ) {
        memory.fill(text, from, model);
        let merger = Merger { bpe: self, text, model, vocab };
        for right in 1..memory.symbols.len() as u32 {
            if let Some(join) = merger.candidate(right - 1, right, memory) {
                memory.queue.push_first(join);
            }
        }
        memory.queue.begin();
        while let Some(join) = memory.queue.pop() {
            if memory.is_current(&join) && !rng.as_mut().is_some_and(|rng| rng.drops()) {
                merger.merge_batch(&join, memory);
            }
        }
        let mut at = if memory.symbols.is_empty() { NONE } else { 0 };
        while at != NONE {
            let LinkedSymbol { start, end, next, .. } = memory.symbols[at as usize];
            merger.emit(start as usize, end as usize, memory, writer);
            at = next;
        }
    }
}

impl SpmBpeScratch {
    fn fill(&mut self, text: &str, from: usize, model: &SentencePiece) {
        self.symbols.clear();
        self.queue.clear();
        self.left_lengths.clear();
        model.for_each_symbol(text, from, |start, end, is_fixed| {
            let at = self.symbols.len() as u32;
            let (start, end, previous) = (start as u32, end as u32, at.wrapping_sub(1));
            self.symbols.push(LinkedSymbol { start, end, previous, next: at + 1, is_fixed });
        });
        if let Some(last) = self.symbols.last_mut() {
            last.next = NONE;
        }
    }

    /// Whether neither of two neighbours has been merged since: then the left one would be gone, or both longer.
    fn is_current(&self, join: &MergeCandidate) -> bool {
        let one = self.symbols[join.left as usize];
        if one.start == one.end || one.next == NONE {
            return false;
        }
        self.symbols[one.next as usize].end - one.start == join.byte_len
    }
}

/// What a text is merged by.
struct Merger<'a> {
    bpe: &'a SpmBpe,
    text: &'a str,
    model: &'a SentencePiece,
    vocab: &'a Vocab,
}

impl Merger<'_> {
    /// How two neighbours are merged, if their text is a piece.
    #[inline]
    fn candidate(&self, left: u32, right: u32, memory: &mut SpmBpeScratch) -> Option<MergeCandidate> {
        if left == NONE || right == NONE {
            return None;
        }
        let (one, other) = (memory.symbols[left as usize], memory.symbols[right as usize]);
        let byte_len = other.end - one.start;
        if one.is_fixed || other.is_fixed || byte_len as usize > self.bpe.longest {
            return None;
        }
        let id = self.bpe.pieces.id_of(&self.text[one.start as usize..other.end as usize])?;
        if self.bpe.has_unused && self.model.is_unused(id) {
            memory.left_lengths.insert(id, (one.end - one.start) as usize);
        }
        Some(MergeCandidate { rank: self.bpe.ranks[id as usize], left, byte_len })
    }

    fn push_candidate(&self, left: u32, right: u32, memory: &mut SpmBpeScratch) {
        if let Some(join) = self.candidate(left, right, memory) {
            memory.queue.push(join);
        }
    }

    /// MergeCandidate two neighbours.
    fn merge_batch(&self, join: &MergeCandidate, memory: &mut SpmBpeScratch) {
        let left = join.left as usize;
        let one = memory.symbols[left];
        let other = memory.symbols[one.next as usize];
        memory.symbols[left].end = other.end;
        memory.symbols[left].next = other.next;
        memory.symbols[one.next as usize].end = other.start;
        if other.next != NONE {
            memory.symbols[other.next as usize].previous = join.left;
        }
        self.push_candidate(one.previous, join.left, memory);
        self.push_candidate(join.left, other.next, memory);
    }

    /// Give out a symbol; of an unused piece its left_lengths, again and again.
    fn emit(
        &self,
        start: usize,
        end: usize,
        memory: &mut SpmBpeScratch,
        writer: &mut PieceWriter<'_, impl PieceSink>,
    ) {
        memory.pending.push((start, end));
        while let Some((start, end)) = memory.pending.pop() {
            let id = self.model.id_of(&self.text[start..end], self.vocab);
            let left_lengths = memory.left_lengths.get(&id).filter(|_| self.model.is_unused(id));
            match left_lengths {
                Some(left) => memory.pending.extend([(start + left, end), (start, start + left)]),
                None => writer.push(id, start, end),
            }
        }
    }
}

/// The cells of scores among all, the highest first; equal ones share theirs.
fn ranks(pieces: &[ScoredPiece]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    let score = |&at: &usize| pieces[at].score;
    // Scores are finite; adding 0 makes one of both zeros.
    order.sort_by(|one, other| (score(other) + 0.0).total_cmp(&(score(one) + 0.0)));
    let mut ranks = vec![0; pieces.len()];
    for (rank, equals) in (0..).zip(order.chunk_by(|one, other| score(one) == score(other))) {
        equals.iter().for_each(|&at| ranks[at] = rank);
    }
    ranks
}
