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
