//! BPE by scores: neighbours whose joined text is a piece are joined, the highest score first, then the
//! leftmost; an unused piece is taken apart again. O(n log n). Short texts go by a table: see [`super::short`].

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::super::sampling::Draws;
use super::super::PieceSink;
use super::emit::Emitter;
use super::short::{Found, Table};
use super::SentencePiece;
use crate::error::Error;
use crate::spec::{PieceType, SentencePieceSpec};
use crate::vocab::Vocab;

/// What joining needs to know of the pieces.
#[derive(Clone, Debug)]
pub(super) struct Bpe {
    /// By id.
    scores: Vec<f32>,
    longest: usize,
    has_unused: bool,
    found: Found,
}

/// Memory for one text.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    symbols: Vec<Symbol>,
    queue: BinaryHeap<Join>,
    /// Of unused pieces: the byte length of the left part when they were last seen to be possible.
    parts: FxHashMap<u32, usize>,
    waiting: Vec<(usize, usize)>,
    table: Table,
}

/// A character, a user-defined piece or what they were joined to; empty when it is part of another.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: usize,
    end: usize,
    previous: usize,
    next: usize,
    is_fixed: bool,
}

const NONE: usize = usize::MAX;

/// Two neighbours that may be joined.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Join {
    score: f32,
    left: usize,
    right: usize,
    byte_len: usize,
}

impl Eq for Join {}

impl Ord for Join {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.partial_cmp(&other.score).unwrap_or(Ordering::Equal);
        by_score.then(other.left.cmp(&self.left))
    }
}

impl PartialOrd for Join {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Bpe {
    pub(super) fn compile(spec: &SentencePieceSpec) -> Result<Self, Error> {
        Ok(Self {
            scores: spec.pieces.iter().map(|piece| piece.score).collect(),
            longest: spec.pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0),
            has_unused: spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused),
            found: Found::build(&spec.pieces)?,
        })
    }

    /// Segment a text; with `draws` every join that comes up is left out for good with their probability.
    pub(super) fn run(
        &self,
        text: &str,
        model: &SentencePiece,
        vocab: &Vocab,
        memory: &mut Symbols,
        draws: Option<&mut Draws>,
        emitter: &mut Emitter<'_, impl PieceSink>,
    ) {
        if draws.is_none() && !self.has_unused && memory.table.takes(text, model) {
            return memory.table.join(text, (&self.found, &self.scores), (model, vocab), emitter);
        }
        self.run_long(text, model, vocab, memory, draws, emitter);
    }

    /// Segment a text of any length.
    pub(super) fn run_long(
        &self,
        text: &str,
        model: &SentencePiece,
        vocab: &Vocab,
        memory: &mut Symbols,
        mut draws: Option<&mut Draws>,
        emitter: &mut Emitter<'_, impl PieceSink>,
    ) {
        memory.fill(text, model);
        let mut joiner = Joiner { bpe: self, text, model, vocab };
        for right in 1..memory.symbols.len() {
            joiner.consider(right - 1, right, memory);
        }
        while let Some(join) = memory.queue.pop() {
            if memory.stands(&join) && !draws.as_mut().is_some_and(|draws| draws.drops()) {
                joiner.join(&join, memory);
            }
        }
        let mut at = if memory.symbols.is_empty() { NONE } else { 0 };
        while at != NONE {
            let Symbol { start, end, next, .. } = memory.symbols[at];
            joiner.emit(start, end, memory, emitter);
            at = next;
        }
    }
}

impl Symbols {
    fn fill(&mut self, text: &str, model: &SentencePiece) {
        self.symbols.clear();
        self.queue.clear();
        self.parts.clear();
        model.each_symbol(text, |start, end, is_fixed| {
            let at = self.symbols.len();
            let previous = at.checked_sub(1).unwrap_or(NONE);
            self.symbols.push(Symbol { start, end, previous, next: at + 1, is_fixed });
        });
        if let Some(last) = self.symbols.last_mut() {
            last.next = NONE;
        }
    }

    /// Whether neither of two neighbours has been joined since.
    fn stands(&self, join: &Join) -> bool {
        let (one, other) = (self.symbols[join.left], self.symbols[join.right]);
        let is_gone = one.start == one.end || other.start == other.end;
        !is_gone && (one.end - one.start) + (other.end - other.start) == join.byte_len
    }
}

/// What a text is joined by.
struct Joiner<'a> {
    bpe: &'a Bpe,
    text: &'a str,
    model: &'a SentencePiece,
    vocab: &'a Vocab,
}

impl Joiner<'_> {
    /// Queue two neighbours if their text is a piece.
    fn consider(&mut self, left: usize, right: usize, memory: &mut Symbols) {
        if left == NONE || right == NONE {
            return;
        }
        let (one, other) = (memory.symbols[left], memory.symbols[right]);
        let byte_len = other.end - one.start;
        if one.is_fixed || other.is_fixed || byte_len > self.bpe.longest {
            return;
        }
        let Some(id) = self.model.joined(&self.text[one.start..other.end], self.vocab) else { return };
        memory.queue.push(Join { score: self.bpe.scores[id as usize], left, right, byte_len });
        if self.bpe.has_unused && self.model.is_unused(id) {
            memory.parts.insert(id, one.end - one.start);
        }
    }

    /// Join two neighbours.
    fn join(&mut self, join: &Join, memory: &mut Symbols) {
        let (one, other) = (memory.symbols[join.left], memory.symbols[join.right]);
        memory.symbols[join.left].end = other.end;
        memory.symbols[join.left].next = other.next;
        memory.symbols[join.right].end = other.start;
        if other.next != NONE {
            memory.symbols[other.next].previous = join.left;
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
