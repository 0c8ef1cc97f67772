//! The best path through a text of any length, given out as soon as what comes cannot change it.
//!
//! A piece that has start_state and not ended is a state of the automaton, so few places can still begin one. Once
//! the best ways to all of these go through one place, the path to it is committed. Where they stay apart,
//! as in "aaaa" by pieces of one and of three letters, nothing is committed before the end. Then a chunk_len of
//! text is dropped but for the open_positions places that it began with and which of them leads to which at its
//! end; it is read again when the path is known. Memory is that of two stretches, and for each that is
//! dropped a few bytes by open_positions place; time is that of two passes at most.

use std::collections::BTreeSet;
use std::ops::Range;

use super::automaton::PieceAutomaton;
use super::backpointers::{Backpointer, BackpointerTable};
use crate::model::Piece;

/// How many bytes a chunk_len has at least.
const MIN_CHUNK_LEN: usize = 1 << 14;
/// How many times as long it is as what can still be part of a piece where it begins.
const MIN_CHUNK_SPANS: usize = 16;

/// How scores are summed and compared.
pub(in crate::model) trait PathScorer {
    type Score: Copy + Default;
    /// What goes along beside the places.
    type Memory: Clone + Default;

    fn pieces(&self) -> &PieceAutomaton;

    /// The best piece that ends where the last character does; nothing if none can.
    fn best_backpointer(
        &self,
        state: u32,
        last: Range<usize>,
        places: &BackpointerTable<Self::Score>,
        memory: &mut Self::Memory,
    ) -> Option<Backpointer<Self::Score>>;
}

/// The chunk_len that is being read.
#[derive(Clone, Debug)]
struct ChunkReader<S, M> {
    /// From the first open_positions place of its beginning on.
    places: BackpointerTable<S>,
    state: u32,
    /// Where the character begins that is being read.
    start: usize,
    memory: M,
}

impl<S: Copy + Default, M: Clone> ChunkReader<S, M> {
    /// Read on up to a byte between characters; nothing if a character can be no piece's.
    fn read(
        &mut self,
        sums: &impl PathScorer<Score = S, Memory = M>,
        text: &str,
        stop: usize,
    ) -> Option<()> {
        let bytes = text.as_bytes();
        for (at, &byte) in bytes.iter().enumerate().take(stop).skip(self.places.end()) {
            self.state = sums.pieces().step(self.state, byte);
            let end = at + 1;
            let mut best = Backpointer::default();
            if text.is_char_boundary(end) {
                best =
                    sums.best_backpointer(self.state, self.start..end, &self.places, &mut self.memory)?;
                self.start = end;
            }
            self.places.backpointers.push(best);
        }
        Some(())
    }
}

/// A chunk_len that is dropped.
#[derive(Clone, Debug)]
struct DroppedChunk<S, M> {
    start_state: ChunkReader<S, M>,
    end: usize,
    /// The open_positions places at its end, in order, each with the one at its beginning that leads there.
    origins: Vec<(usize, usize)>,
}

impl<S, M> DroppedChunk<S, M> {
    /// The open_positions place at its beginning that leads to one at its end.
    fn origin(&self, open_positions: usize) -> usize {
        let found = self.origins.binary_search_by_key(&open_positions, |&(place, _)| place);
        found.map_or(open_positions, |at| self.origins[at].1)
    }
}

/// Memory for texts, one after the other.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct StreamingViterbi<S> {
    backpointers: Vec<Backpointer<S>>,
    committed: Vec<Backpointer<S>>,
    path: Vec<Piece>,
}

impl<S: Copy + Default> StreamingViterbi<S> {
    /// Give out the best path through a text that follows a score; gives the score with it. Nothing if a
    /// character can be no piece's; then what was given out is void.
    pub(in crate::model) fn run<F: PathScorer<Score = S>>(
        &mut self,
        sums: &F,
        text: &str,
        begin: (S, F::Memory),
        out: impl FnMut(Piece),
    ) -> Option<S> {
        self.run_by(MIN_CHUNK_LEN, sums, text, begin, out)
    }

    /// The same by stretches of another length.
    pub(in crate::model) fn run_by<F: PathScorer<Score = S>>(
        &mut self,
        chunk_len: usize,
        sums: &F,
        text: &str,
        (score, memory): (S, F::Memory),
        out: impl FnMut(Piece),
    ) -> Option<S> {
        let begin = |mut backpointers: Vec<Backpointer<S>>| {
            backpointers.clear();
            backpointers.push(Backpointer { score, id: 0, start: 0 });
            BackpointerTable { base: 0, backpointers }
        };
        let (places, committed) =
            (std::mem::take(&mut self.backpointers), std::mem::take(&mut self.committed));
        let state = sums.pieces().start();
        let start_state = (state, memory.clone());
        let reader = ChunkReader { places: begin(places), state, start: 0, memory };
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
        (self.backpointers, self.committed) = (run.reader.places.backpointers, run.committed.backpointers);
        score
    }

    #[cfg(test)]
    pub(in crate::model) fn capacity(&self) -> usize {
        self.backpointers.capacity() + self.committed.capacity()
    }
}

/// A text that is being read. Its stretches are those that are given out, one that is committed from some
/// place on, those that are dropped, and the one that is being read.
struct StreamingRun<'r, F: PathScorer, O> {
    sums: &'r F,
    text: &'r str,
    committed: BackpointerTable<F::Score>,
    /// Up to where the path has been given out.
    from: usize,
    dropped: Vec<DroppedChunk<F::Score, F::Memory>>,
    /// Where the chunk_len begins that is being read, and how it began.
    floor: usize,
    start_state: (u32, F::Memory),
    reader: ChunkReader<F::Score, F::Memory>,
    path: &'r mut Vec<Piece>,
    out: O,
}

impl<F: PathScorer, O: FnMut(Piece)> StreamingRun<'_, F, O> {
    fn read_all(&mut self, chunk_len: usize) -> Option<F::Score> {
        loop {
            let stop = self.stop(chunk_len);
            self.reader.read(self.sums, self.text, stop)?;
            if stop == self.text.len() {
                self.emit(stop);
                return Some(self.reader.places.at(stop).score);
            }
            let open_positions = self.open_positions();
            match self.convergence(&open_positions) {
                Some(place) => self.commit(place, open_positions[0]),
                None => self.drop_chunk(&open_positions),
            }
            self.floor = stop;
            self.start_state = (self.reader.state, self.reader.memory.clone());
        }
    }

    /// Where the chunk_len that begins is to end.
    fn stop(&self, chunk_len: usize) -> usize {
        let reach = self.floor - self.reader.places.base;
        let mut stop = self.floor + chunk_len.max(MIN_CHUNK_SPANS * reach);
        while stop < self.text.len() && !self.text.is_char_boundary(stop) {
            stop += 1;
        }
        stop.min(self.text.len())
    }

    /// Where a piece can begin that ends later, in order; the last is where reading has stopped.
    fn open_positions(&self) -> Vec<usize> {
        let end = self.reader.places.end();
        let depths = self.sums.pieces().depths(self.reader.state);
        depths.map(|depth| end - depth as usize).chain([end]).collect()
    }

    /// The last place that the best ways to all open_positions places go through, if they meet in this chunk_len.
    fn convergence(&self, open_positions: &[usize]) -> Option<usize> {
        let mut places: BTreeSet<usize> = open_positions.iter().copied().collect();
        while let Some(last) = places.pop_last() {
            if places.is_empty() {
                return Some(last);
            }
            if last <= self.floor {
                return None;
            }
            places.insert(self.reader.places.at(last).start as usize);
        }
        None
    }

    /// Give out the path to a place, and keep what is known after it.
    fn commit(&mut self, place: usize, first_live: usize) {
        self.emit(place);
        self.from = place;
        std::mem::swap(&mut self.committed, &mut self.reader.places);
        self.reader.places.take(&self.committed, first_live);
    }

    fn emit(&mut self, place: usize) {
        let mut origins = vec![place, self.reader.places.origin(place, self.floor)];
        for chunk_len in self.dropped.iter().rev() {
            origins.push(chunk_len.origin(origins[origins.len() - 1]));
        }
        let mut ends = origins.into_iter().rev();
        let mut from = ends.next().unwrap_or_default();
        self.committed.emit(self.from, from, self.path, &mut self.out);
        for (DroppedChunk { start_state: mut reader, end, .. }, to) in self.dropped.drain(..).zip(&mut ends)
        {
            // It has been read before, so it can be.
            let _ = reader.read(self.sums, self.text, end);
            reader.places.emit(from, to, self.path, &mut self.out);
            from = to;
        }
        self.reader.places.emit(from, place, self.path, &mut self.out);
    }

    /// Forget the chunk_len that has been read.
    fn drop_chunk(&mut self, open_positions: &[usize]) {
        let (reader, floor) = (&mut self.reader, self.floor);
        let BackpointerTable { base, backpointers } = &reader.places;
        let places = BackpointerTable { base: *base, backpointers: backpointers[..=floor - base].to_vec() };
        let (state, memory) = self.start_state.clone();
        let start_state = ChunkReader { places, state, start: floor, memory };
        let (end, origins) = (reader.places.end(), reader.places.origins(open_positions, floor));
        self.dropped.push(DroppedChunk { start_state, end, origins });
        reader.places.backpointers.drain(..open_positions[0] - reader.places.base);
        reader.places.base = open_positions[0];
    }
}

#[cfg(test)]
mod tests;
