//! The Viterbi path through a text of any length, emitted as soon as it is decided.
//!
//! A piece that has begun and not ended is a state of the automaton, so few positions can still begin a piece. Once
//! the best paths to all of these open positions share a position, the path up to there is emitted. If they stay
//! apart, as in "aaaa" by pieces of one and of three letters, nothing is decided before the end. Then a chunk of text
//! is dropped except for its open positions and the origins of those at its end, and read again when the path is
//! known. Memory is that of two chunks and a few bytes for each open position of a dropped one. Time is at most that
//! of two passes.

use std::collections::BTreeSet;
use std::ops::Range;

use super::automaton::PieceAutomaton;
use super::backpointers::{Backpointer, BackpointerTable};
use crate::interrupt;
use crate::model::TokenSpan;

/// The least length of a chunk in bytes.
const MIN_CHUNK_LEN: usize = 1 << 14;
/// A chunk is at least this many times as long as the longest open piece at its start.
const MIN_CHUNK_SPANS: usize = 16;

/// Scores and compares paths.
pub(in crate::model) trait PathScorer {
    type Score: Copy + Default;
    /// State in addition to the backpointers.
    type Memory: Clone + Default;

    fn pieces(&self) -> &PieceAutomaton;

    /// Return the best piece that ends with the last character; `None` if there is none.
    fn best_backpointer(
        &self,
        state: u32,
        last: Range<usize>,
        backpointers: &BackpointerTable<Self::Score>,
        memory: &mut Self::Memory,
    ) -> Option<Backpointer<Self::Score>>;
}

/// The chunk that is being read.
#[derive(Clone, Debug)]
struct ChunkReader<S, M> {
    /// From the first open position at its start on.
    table: BackpointerTable<S>,
    state: u32,
    /// The start of the current character.
    start: usize,
    memory: M,
}

impl<S: Copy + Default, M: Clone> ChunkReader<S, M> {
    /// Read up to byte `stop` between characters; `None` if a character has no piece.
    fn read(
        &mut self,
        sums: &impl PathScorer<Score = S, Memory = M>,
        text: &str,
        stop: usize,
    ) -> Option<()> {
        let bytes = text.as_bytes();
        interrupt::check(stop.saturating_sub(self.table.end()));
        for (at, &byte) in bytes.iter().enumerate().take(stop).skip(self.table.end()) {
            self.state = sums.pieces().step(self.state, byte);
            let end = at + 1;
            let mut best = Backpointer::default();
            if text.is_char_boundary(end) {
                best = sums.best_backpointer(self.state, self.start..end, &self.table, &mut self.memory)?;
                self.start = end;
            }
            self.table.backpointers.push(best);
        }
        Some(())
    }
}

/// A chunk that is dropped.
#[derive(Clone, Debug)]
struct DroppedChunk<S, M> {
    start_state: ChunkReader<S, M>,
    end: usize,
    /// The open positions at its end, in order, each with its origin at the start.
    origins: Vec<(usize, usize)>,
}

impl<S, M> DroppedChunk<S, M> {
    /// Return the open position at its start that leads to one at its end.
    fn origin(&self, at_end: usize) -> usize {
        let found = self.origins.binary_search_by_key(&at_end, |&(position, _)| position);
        found.map_or(at_end, |at| self.origins[at].1)
    }
}

/// Buffers for several texts.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct StreamingViterbi<S> {
    backpointers: Vec<Backpointer<S>>,
    committed: Vec<Backpointer<S>>,
    path: Vec<TokenSpan>,
}

impl<S: Copy + Default> StreamingViterbi<S> {
    /// Emit the best path through a text after a score; return the score with it. `None` if a character has no
    /// piece; then the emitted pieces are invalid.
    pub(in crate::model) fn run<F: PathScorer<Score = S>>(
        &mut self,
        sums: &F,
        text: &str,
        begin: (S, F::Memory),
        out: impl FnMut(TokenSpan),
    ) -> Option<S> {
        self.run_by(MIN_CHUNK_LEN, sums, text, begin, out)
    }

    /// Return the same with another length of chunks.
    pub(in crate::model) fn run_by<F: PathScorer<Score = S>>(
        &mut self,
        chunk_len: usize,
        sums: &F,
        text: &str,
        (score, memory): (S, F::Memory),
        out: impl FnMut(TokenSpan),
    ) -> Option<S> {
        let begin = |mut backpointers: Vec<Backpointer<S>>| {
            backpointers.clear();
            backpointers.push(Backpointer { score, id: 0, start: 0 });
            BackpointerTable { base: 0, backpointers }
        };
        let (table, committed) =
            (std::mem::take(&mut self.backpointers), std::mem::take(&mut self.committed));
        let state = sums.pieces().start();
        let start_state = (state, memory.clone());
        let reader = ChunkReader { table: begin(table), state, start: 0, memory };
        let (committed, dropped, path) = (begin(committed), Vec::new(), &mut self.path);
        let mut run = StreamingRun {
            sums,
            text,
            committed,
            from: 0,
            dropped,
            floor: 0,
            start_state,
            reader,
            path,
            out,
        };
        let score = run.read_all(chunk_len);
        (self.backpointers, self.committed) = (run.reader.table.backpointers, run.committed.backpointers);
        score
    }

    #[cfg(test)]
    pub(in crate::model) fn capacity(&self) -> usize {
        self.backpointers.capacity() + self.committed.capacity()
    }
}

/// A text that is being read: emitted chunks, one that is decided from some position on, dropped chunks, and the
/// current one.
struct StreamingRun<'r, F: PathScorer, O> {
    sums: &'r F,
    text: &'r str,
    committed: BackpointerTable<F::Score>,
    /// The path is emitted up to here.
    from: usize,
    dropped: Vec<DroppedChunk<F::Score, F::Memory>>,
    /// The start of the current chunk, and the state there.
    floor: usize,
    start_state: (u32, F::Memory),
    reader: ChunkReader<F::Score, F::Memory>,
    path: &'r mut Vec<TokenSpan>,
    out: O,
}

impl<F: PathScorer, O: FnMut(TokenSpan)> StreamingRun<'_, F, O> {
    fn read_all(&mut self, chunk_len: usize) -> Option<F::Score> {
        loop {
            let stop = self.stop(chunk_len);
            self.reader.read(self.sums, self.text, stop)?;
            if stop == self.text.len() {
                self.emit(stop);
                return Some(self.reader.table.at(stop).score);
            }
            let open_positions = self.open_positions();
            match self.convergence(&open_positions) {
                Some(position) => self.commit(position, open_positions[0]),
                None => self.drop_chunk(&open_positions),
            }
            self.floor = stop;
            self.start_state = (self.reader.state, self.reader.memory.clone());
        }
    }

    /// Return the end of the current chunk.
    fn stop(&self, chunk_len: usize) -> usize {
        let reach = self.floor - self.reader.table.base;
        let mut stop = self.floor + chunk_len.max(MIN_CHUNK_SPANS * reach);
        while stop < self.text.len() && !self.text.is_char_boundary(stop) {
            stop += 1;
        }
        stop.min(self.text.len())
    }

    /// Return the positions where a piece may begin that ends later, in order; the last one is the end of the chunk.
    fn open_positions(&self) -> Vec<usize> {
        let end = self.reader.table.end();
        let depths = self.sums.pieces().depths(self.reader.state);
        depths.map(|depth| end - depth as usize).chain([end]).collect()
    }

    /// Return the last position in this chunk that the best paths to all open positions share.
    fn convergence(&self, open_positions: &[usize]) -> Option<usize> {
        let mut positions: BTreeSet<usize> = open_positions.iter().copied().collect();
        while let Some(last) = positions.pop_last() {
            if positions.is_empty() {
                return Some(last);
            }
            if last <= self.floor {
                return None;
            }
            positions.insert(self.reader.table.at(last).start as usize);
        }
        None
    }

    /// Emit the path up to a position and keep the backpointers after it.
    fn commit(&mut self, position: usize, first_open: usize) {
        self.emit(position);
        self.from = position;
        std::mem::swap(&mut self.committed, &mut self.reader.table);
        self.reader.table.copy_from(&self.committed, first_open);
    }

    fn emit(&mut self, position: usize) {
        let mut origins = vec![position, self.reader.table.origin(position, self.floor)];
        for chunk in self.dropped.iter().rev() {
            origins.push(chunk.origin(origins[origins.len() - 1]));
        }
        let mut ends = origins.into_iter().rev();
        let mut from = ends.next().unwrap_or_default();
        self.committed.emit(self.from, from, self.path, &mut self.out);
        for (DroppedChunk { start_state: mut reader, end, .. }, to) in self.dropped.drain(..).zip(&mut ends)
        {
            // It was read before, so every character has a piece.
            let _ = reader.read(self.sums, self.text, end);
            reader.table.emit(from, to, self.path, &mut self.out);
            from = to;
        }
        self.reader.table.emit(from, position, self.path, &mut self.out);
    }

    /// Drop the current chunk.
    fn drop_chunk(&mut self, open_positions: &[usize]) {
        let (reader, floor) = (&mut self.reader, self.floor);
        let BackpointerTable { base, backpointers } = &reader.table;
        let table = BackpointerTable { base: *base, backpointers: backpointers[..=floor - base].to_vec() };
        let (state, memory) = self.start_state.clone();
        let start_state = ChunkReader { table, state, start: floor, memory };
        let (end, origins) = (reader.table.end(), reader.table.origins(open_positions, floor));
        self.dropped.push(DroppedChunk { start_state, end, origins });
        reader.table.backpointers.drain(..open_positions[0] - reader.table.base);
        reader.table.base = open_positions[0];
    }
}

#[cfg(test)]
mod tests;
