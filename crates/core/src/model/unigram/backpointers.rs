//! The best edge into each position, and the path that these edges make.

use crate::model::Piece;

/// The best path to a byte: its score and its last piece.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::model) struct Backpointer<S> {
    pub(in crate::model) score: S,
    pub(in crate::model) id: u32,
    pub(in crate::model) start: u32,
}

/// List the pieces of the best path from one byte to another, from left to right.
#[inline]
pub(in crate::model) fn backtrace<S>(
    (from, to): (usize, usize),
    best_at: impl Fn(usize) -> Backpointer<S>,
    path: &mut Vec<Piece>,
) {
    path.clear();
    let mut end = to;
    while end > from {
        let Backpointer { id, start, .. } = best_at(end);
        path.push(Piece { id, start, end: end as u32 });
        end = start as usize;
    }
    path.reverse();
}

/// BackpointerTable from a byte on; only ends of characters are meant.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct BackpointerTable<S> {
    pub(super) base: usize,
    pub(super) backpointers: Vec<Backpointer<S>>,
}

impl<S: Copy> BackpointerTable<S> {
    #[inline]
    pub(in crate::model) fn at(&self, place: usize) -> &Backpointer<S> {
        &self.backpointers[place - self.base]
    }

    pub(super) fn end(&self) -> usize {
        self.base + self.backpointers.len() - 1
    }

    /// Forget all, and take those of others from one place on.
    pub(super) fn take(&mut self, others: &Self, from: usize) {
        self.backpointers.clear();
        self.backpointers.extend_from_slice(&others.backpointers[from - others.base..]);
        self.base = from;
    }

    /// The place up to `floor` that the best way to a place comes from.
    pub(super) fn origin(&self, mut place: usize, floor: usize) -> usize {
        while place > floor {
            place = self.at(place).start as usize;
        }
        place
    }

    /// The same for each of several places.
    pub(super) fn origins(&self, open_positions: &[usize], floor: usize) -> Vec<(usize, usize)> {
        let mut from = vec![0; self.end() - floor];
        for place in floor + 1..=self.end() {
            let start = self.at(place).start as usize;
            from[place - floor - 1] = if start > floor { from[start - floor - 1] } else { start };
        }
        let of = |place: usize| if place > floor { from[place - floor - 1] } else { place };
        open_positions.iter().map(|&place| (place, of(place))).collect()
    }

    /// Give out the best path from one place to another.
    pub(super) fn emit(&self, from: usize, to: usize, path: &mut Vec<Piece>, out: &mut impl FnMut(Piece)) {
        backtrace((from, to), |end| *self.at(end), path);
        path.iter().for_each(|&piece| out(piece));
    }
}
