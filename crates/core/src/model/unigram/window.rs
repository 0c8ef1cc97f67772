//! The best path through a text of any length, given out as soon as what comes cannot change it.
//!
//! A piece that has begun and not ended is a state of the automaton, so few places can still begin one. Once
//! the best ways to all of these go through one place, the path to it is settled. Where they stay apart,
//! as in "aaaa" by pieces of one and of three letters, nothing is settled before the end. Then a stretch of
//! text is forgotten but for the live places that it began with and which of them leads to which at its
//! end; it is read again when the path is known. Memory is that of two stretches, and for each that is
//! forgotten a few bytes by live place; time is that of two passes at most.

use std::collections::BTreeSet;
use std::ops::Range;

use super::pieces::Pieces;
use super::reached::{trace_back, Reached};
use crate::model::Piece;

/// How many bytes a stretch has at least.
const STRETCH: usize = 1 << 14;
/// How many times as long it is as what can still be part of a piece where it begins.
const REACHES: usize = 16;

/// How scores are summed and compared.
pub(in crate::model) trait Sums {
    type Score: Copy + Default;
    /// What goes along beside the places.
    type Memory: Clone + Default;

    fn pieces(&self) -> &Pieces;

    /// The best piece that ends where the last character does; nothing if none can.
    fn reach(
        &self,
        state: u32,
        last: Range<usize>,
        places: &Places<Self::Score>,
        memory: &mut Self::Memory,
    ) -> Option<Reached<Self::Score>>;
}

/// Places from a byte on; only ends of characters are meant.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct Places<S> {
    base: usize,
    reached: Vec<Reached<S>>,
}

impl<S: Copy> Places<S> {
    #[inline]
    pub(in crate::model) fn at(&self, place: usize) -> &Reached<S> {
        &self.reached[place - self.base]
    }

    fn end(&self) -> usize {
        self.base + self.reached.len() - 1
    }

    /// Forget all, and take those of others from one place on.
    fn take(&mut self, others: &Self, from: usize) {
        self.reached.clear();
        self.reached.extend_from_slice(&others.reached[from - others.base..]);
        self.base = from;
    }

    /// The place up to `floor` that the best way to a place comes from.
    fn crossing(&self, mut place: usize, floor: usize) -> usize {
        while place > floor {
            place = self.at(place).start as usize;
        }
        place
    }

    /// The same for each of several places.
    fn crossings(&self, live: &[usize], floor: usize) -> Vec<(usize, usize)> {
        let mut from = vec![0; self.end() - floor];
        for place in floor + 1..=self.end() {
            let start = self.at(place).start as usize;
            from[place - floor - 1] = if start > floor { from[start - floor - 1] } else { start };
        }
        let of = |place: usize| if place > floor { from[place - floor - 1] } else { place };
        live.iter().map(|&place| (place, of(place))).collect()
    }

    /// Give out the best path from one place to another.
    fn give_out(&self, from: usize, to: usize, path: &mut Vec<Piece>, out: &mut impl FnMut(Piece)) {
        trace_back((from, to), |end| *self.at(end), path);
        path.iter().for_each(|&piece| out(piece));
    }
}

/// The stretch that is being read.
#[derive(Clone, Debug)]
struct Walk<S, M> {
    /// From the first live place of its beginning on.
    places: Places<S>,
    state: u32,
    /// Where the character begins that is being read.
    start: usize,
    memory: M,
}

impl<S: Copy + Default, M: Clone> Walk<S, M> {
    /// Read on up to a byte between characters; nothing if a character can be no piece's.
    fn read(&mut self, sums: &impl Sums<Score = S, Memory = M>, text: &str, stop: usize) -> Option<()> {
        let bytes = text.as_bytes();
        for (at, &byte) in bytes.iter().enumerate().take(stop).skip(self.places.end()) {
            self.state = sums.pieces().step(self.state, byte);
            let end = at + 1;
            let mut best = Reached::default();
            if text.is_char_boundary(end) {
                best = sums.reach(self.state, self.start..end, &self.places, &mut self.memory)?;
                self.start = end;
            }
            self.places.reached.push(best);
        }
        Some(())
    }
}

/// A stretch that is forgotten.
#[derive(Clone, Debug)]
struct Forgotten<S, M> {
    begun: Walk<S, M>,
    end: usize,
    /// The live places at its end, in order, each with the one at its beginning that leads there.
    crossings: Vec<(usize, usize)>,
}

impl<S, M> Forgotten<S, M> {
    /// The live place at its beginning that leads to one at its end.
    fn crossing(&self, live: usize) -> usize {
        let found = self.crossings.binary_search_by_key(&live, |&(place, _)| place);
        found.map_or(live, |at| self.crossings[at].1)
    }
}

/// Memory for texts, one after the other.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct Window<S> {
    reached: Vec<Reached<S>>,
    settled: Vec<Reached<S>>,
    path: Vec<Piece>,
}

impl<S: Copy + Default> Window<S> {
    /// Give out the best path through a text that follows a score; gives the score with it. Nothing if a
    /// character can be no piece's; then what was given out is void.
    pub(in crate::model) fn run<F: Sums<Score = S>>(
        &mut self,
        sums: &F,
        text: &str,
        begin: (S, F::Memory),
        out: impl FnMut(Piece),
    ) -> Option<S> {
        self.run_by(STRETCH, sums, text, begin, out)
    }

    /// The same by stretches of another length.
    pub(in crate::model) fn run_by<F: Sums<Score = S>>(
        &mut self,
        stretch: usize,
        sums: &F,
        text: &str,
        (score, memory): (S, F::Memory),
        out: impl FnMut(Piece),
    ) -> Option<S> {
        let begin = |mut reached: Vec<Reached<S>>| {
            reached.clear();
            reached.push(Reached { score, id: 0, start: 0 });
            Places { base: 0, reached }
        };
        let (places, settled) = (std::mem::take(&mut self.reached), std::mem::take(&mut self.settled));
        let state = sums.pieces().start();
        let begun = (state, memory.clone());
        let walk = Walk { places: begin(places), state, start: 0, memory };
        let (settled, forgotten, path) = (begin(settled), Vec::new(), &mut self.path);
        let mut run = Run { sums, text, settled, from: 0, forgotten, floor: 0, begun, walk, path, out };
        let score = run.read_all(stretch);
        (self.reached, self.settled) = (run.walk.places.reached, run.settled.reached);
        score
    }

    #[cfg(test)]
    pub(in crate::model) fn capacity(&self) -> usize {
        self.reached.capacity() + self.settled.capacity()
    }
}

/// A text that is being read. Its stretches are those that are given out, one that is settled from some
/// place on, those that are forgotten, and the one that is being read.
struct Run<'r, F: Sums, O> {
    sums: &'r F,
    text: &'r str,
    settled: Places<F::Score>,
    /// Up to where the path has been given out.
    from: usize,
    forgotten: Vec<Forgotten<F::Score, F::Memory>>,
    /// Where the stretch begins that is being read, and how it began.
    floor: usize,
    begun: (u32, F::Memory),
    walk: Walk<F::Score, F::Memory>,
    path: &'r mut Vec<Piece>,
    out: O,
}

impl<F: Sums, O: FnMut(Piece)> Run<'_, F, O> {
    fn read_all(&mut self, stretch: usize) -> Option<F::Score> {
        loop {
            let stop = self.stop(stretch);
            self.walk.read(self.sums, self.text, stop)?;
            if stop == self.text.len() {
                self.give_out(stop);
                return Some(self.walk.places.at(stop).score);
            }
            let live = self.live();
            match self.meeting(&live) {
                Some(place) => self.settle(place, live[0]),
                None => self.forget(&live),
            }
            self.floor = stop;
            self.begun = (self.walk.state, self.walk.memory.clone());
        }
    }

    /// Where the stretch that begins is to end.
    fn stop(&self, stretch: usize) -> usize {
        let reach = self.floor - self.walk.places.base;
        let mut stop = self.floor + stretch.max(REACHES * reach);
        while stop < self.text.len() && !self.text.is_char_boundary(stop) {
            stop += 1;
        }
        stop.min(self.text.len())
    }

    /// Where a piece can begin that ends later, in order; the last is where reading has stopped.
    fn live(&self) -> Vec<usize> {
        let end = self.walk.places.end();
        let depths = self.sums.pieces().depths(self.walk.state);
        depths.map(|depth| end - depth as usize).chain([end]).collect()
    }

    /// The last place that the best ways to all live places go through, if they meet in this stretch.
    fn meeting(&self, live: &[usize]) -> Option<usize> {
        let mut places: BTreeSet<usize> = live.iter().copied().collect();
        while let Some(last) = places.pop_last() {
            if places.is_empty() {
                return Some(last);
            }
            if last <= self.floor {
                return None;
            }
            places.insert(self.walk.places.at(last).start as usize);
        }
        None
    }

    /// Give out the path to a place, and keep what is known after it.
    fn settle(&mut self, place: usize, first_live: usize) {
        self.give_out(place);
        self.from = place;
        std::mem::swap(&mut self.settled, &mut self.walk.places);
        self.walk.places.take(&self.settled, first_live);
    }

    fn give_out(&mut self, place: usize) {
        let mut crossings = vec![place, self.walk.places.crossing(place, self.floor)];
        for stretch in self.forgotten.iter().rev() {
            crossings.push(stretch.crossing(crossings[crossings.len() - 1]));
        }
        let mut ends = crossings.into_iter().rev();
        let mut from = ends.next().unwrap_or_default();
        self.settled.give_out(self.from, from, self.path, &mut self.out);
        for (Forgotten { begun: mut walk, end, .. }, to) in self.forgotten.drain(..).zip(&mut ends) {
            // It has been read before, so it can be.
            let _ = walk.read(self.sums, self.text, end);
            walk.places.give_out(from, to, self.path, &mut self.out);
            from = to;
        }
        self.walk.places.give_out(from, place, self.path, &mut self.out);
    }

    /// Forget the stretch that has been read.
    fn forget(&mut self, live: &[usize]) {
        let (walk, floor) = (&mut self.walk, self.floor);
        let Places { base, reached } = &walk.places;
        let places = Places { base: *base, reached: reached[..=floor - base].to_vec() };
        let (state, memory) = self.begun.clone();
        let begun = Walk { places, state, start: floor, memory };
        let (end, crossings) = (walk.places.end(), walk.places.crossings(live, floor));
        self.forgotten.push(Forgotten { begun, end, crossings });
        walk.places.reached.drain(..live[0] - walk.places.base);
        walk.places.base = live[0];
    }
}

#[cfg(test)]
mod tests;
