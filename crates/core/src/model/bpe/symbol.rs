//! The symbols of a word: the tokens that it consists of while it is merged.

use crate::model::{TokenSink, TokenSpan};

/// A token of the word while it is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    pub(super) id: u32,
    /// The rank of the merge with the next symbol, `NO_RANK` without one.
    pub(super) rank: u32,
    /// The byte span in the word.
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Symbol {
    /// Become the token that this symbol and its right neighbor merge to.
    pub(super) fn merge(&mut self, right: Self, id: u32) {
        self.id = id;
        self.start = self.start.min(right.start);
        self.end = self.end.max(right.end);
    }
}

/// Append the symbols of a part that begins at byte `start` of its word.
pub(super) fn push_all(symbols: &[Symbol], start: usize, out: &mut impl TokenSink) {
    for symbol in symbols {
        let [from, to] = [symbol.start, symbol.end].map(|at| start as u32 + at);
        out.push(TokenSpan { id: symbol.id, start: from, end: to });
    }
}
