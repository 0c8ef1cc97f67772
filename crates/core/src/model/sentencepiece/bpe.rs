//! BPE by scores: neighbours whose merged text is a piece are merged, the highest score first, then the
//! leftmost; an unused piece is taken apart again. O(n log n). That defines it; most models go by
//! [`super::left_to_right`].

use rustc_hash::FxHashMap;

use super::super::sampling::SamplingRng;
use super::super::PieceSink;
use super::emit::Emitter;
use super::left_to_right::{FromLeft, Memory};
use super::piece_trie::PieceTrie;
use super::queue::{Join, Queue};

use super::SentencePiece;
use crate::error::Error;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// What joining needs to know of the pieces.
#[derive(Clone, Debug)]
pub(super) struct Bpe {
    /// By id: the place of its score among all, the highest first.
    ranks: Vec<u32>,
    longest: usize,
    has_unused: bool,
    pieces: PieceTrie,
    from_left: Option<FromLeft>,
}

/// Memory for one text.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    symbols: Vec<Symbol>,
    queue: Queue,
    /// Of unused pieces: the byte length of the left part when they were last seen to be possible.
    parts: FxHashMap<u32, usize>,
    waiting: Vec<(usize, usize)>,
    from_left: Memory,
}

/// A character, a user-defined piece or what they were merged to; empty when it is part of another.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: u32,
    end: u32,
    previous: u32,
    next: u32,
    is_fixed: bool,
}

const NONE: u32 = u32::MAX;

impl Bpe {
    pub(super) fn compile(spec: &SentencePieceSpec, parts: &TableSections) -> Result<Self, Error> {
        let (ranks, pieces) = (ranks(&spec.pieces), PieceTrie::build(&spec.pieces)?);
        Ok(Self {
            longest: spec.pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0),
            has_unused: spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused),
            from_left: FromLeft::compile(&spec.pieces, &ranks, &pieces, parts),
            ranks,
            pieces,
        })
    }

    /// Take the tables apart that take long to make.
    pub(super) fn store(&self, parts: &mut TableSections) {
        if let Some(from_left) = &self.from_left {
            from_left.store(parts);
        }
    }

    /// The memory of the others of what joins from left to right.
    pub(super) fn derived_bytes(&self) -> usize {
        self.from_left.as_ref().map_or(0, FromLeft::bytes)
    }

    /// Segment a text; with `rng` every join that comes up is left out for good with their probability.
    pub(super) fn run(
        &self,
        text: &str,
        model: &SentencePiece,
        vocab: &Vocab,
        memory: &mut Symbols,
        rng: Option<&mut SamplingRng>,
        emitter: &mut Emitter<'_, impl PieceSink>,
    ) {
        let mut done = 0;
        if rng.is_none() {
            if let Some(from_left) = &self.from_left {
                done = from_left.run(text, (model, vocab), &mut memory.from_left, emitter);
            }
        }
        if done < text.len() {
            self.run_long((text, done), (model, vocab), memory, rng, emitter);
        }
    }

    /// Whether short words are merged at once.
    pub(super) fn joins(&self) -> bool {
        self.from_left.as_ref().is_some_and(FromLeft::joins)
    }

    /// Join up to `ABREAST` short words at once, given as ASCII with spaces for marks.
    pub(super) fn join(&self, words: &[&[u8]], memory: &mut Symbols) {
        self.from_left.iter().for_each(|from_left| from_left.join(words, &mut memory.from_left));
    }

    /// Append the ids of one of the words that were merged last; false where it cannot be told from them.
    pub(super) fn append_joined(&self, row: usize, memory: &mut Symbols, out: &mut Vec<u32>) -> bool {
        let from_left = self.from_left.as_ref();
        from_left.is_some_and(|from_left| from_left.append_joined(row, &mut memory.from_left, out))
    }

    /// Segment a text of any length from a byte on.
    pub(super) fn run_long(
        &self,
        (text, from): (&str, usize),
        (model, vocab): (&SentencePiece, &Vocab),
        memory: &mut Symbols,
        mut rng: Option<&mut SamplingRng>,
        emitter: &mut Emitter<'_, impl PieceSink>,
    ) {
        memory.fill(text, from, model);
        let joiner = Joiner { bpe: self, text, model, vocab };
        for right in 1..memory.symbols.len() as u32 {
            if let Some(join) = joiner.join_of(right - 1, right, memory) {
                memory.queue.push_first(join);
            }
        }
        memory.queue.begin();
        while let Some(join) = memory.queue.pop() {
            if memory.stands(&join) && !rng.as_mut().is_some_and(|rng| rng.drops()) {
                joiner.join(&join, memory);
            }
        }
        let mut at = if memory.symbols.is_empty() { NONE } else { 0 };
        while at != NONE {
            let Symbol { start, end, next, .. } = memory.symbols[at as usize];
            joiner.emit(start as usize, end as usize, memory, emitter);
            at = next;
        }
    }
}

impl Symbols {
    fn fill(&mut self, text: &str, from: usize, model: &SentencePiece) {
        self.symbols.clear();
        self.queue.clear();
        self.parts.clear();
        model.each_symbol(text, from, |start, end, is_fixed| {
            let at = self.symbols.len() as u32;
            let (start, end, previous) = (start as u32, end as u32, at.wrapping_sub(1));
            self.symbols.push(Symbol { start, end, previous, next: at + 1, is_fixed });
        });
        if let Some(last) = self.symbols.last_mut() {
            last.next = NONE;
        }
    }

    /// Whether neither of two neighbours has been merged since: then the left one would be gone, or both longer.
    fn stands(&self, join: &Join) -> bool {
        let one = self.symbols[join.left as usize];
        if one.start == one.end || one.next == NONE {
            return false;
        }
        self.symbols[one.next as usize].end - one.start == join.byte_len
    }
}

/// What a text is merged by.
struct Joiner<'a> {
    bpe: &'a Bpe,
    text: &'a str,
    model: &'a SentencePiece,
    vocab: &'a Vocab,
}

impl Joiner<'_> {
    /// How two neighbours are merged, if their text is a piece.
    #[inline]
    fn join_of(&self, left: u32, right: u32, memory: &mut Symbols) -> Option<Join> {
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
            memory.parts.insert(id, (one.end - one.start) as usize);
        }
        Some(Join { rank: self.bpe.ranks[id as usize], left, byte_len })
    }

    fn consider(&self, left: u32, right: u32, memory: &mut Symbols) {
        if let Some(join) = self.join_of(left, right, memory) {
            memory.queue.push(join);
        }
    }

    /// Join two neighbours.
    fn join(&self, join: &Join, memory: &mut Symbols) {
        let left = join.left as usize;
        let one = memory.symbols[left];
        let other = memory.symbols[one.next as usize];
        memory.symbols[left].end = other.end;
        memory.symbols[left].next = other.next;
        memory.symbols[one.next as usize].end = other.start;
        if other.next != NONE {
            memory.symbols[other.next as usize].previous = join.left;
        }
        self.consider(one.previous, join.left, memory);
        self.consider(join.left, other.next, memory);
    }

    /// Give out a symbol; of an unused piece its parts, again and again.
    fn emit(
        &self,
        start: usize,
        end: usize,
        memory: &mut Symbols,
        emitter: &mut Emitter<'_, impl PieceSink>,
    ) {
        memory.waiting.push((start, end));
        while let Some((start, end)) = memory.waiting.pop() {
            let id = self.model.id_of(&self.text[start..end], self.vocab);
            let parts = memory.parts.get(&id).filter(|_| self.model.is_unused(id));
            match parts {
                Some(left) => memory.waiting.extend([(start + left, end), (start, start + left)]),
                None => emitter.push(id, start, end),
            }
        }
    }
}

/// The places of scores among all, the highest first; equal ones share theirs.
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
