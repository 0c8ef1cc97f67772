//! Backpointers of the Viterbi algorithm and the paths that they make.

use crate::model::ByteTokens;
use crate::model::{TokenSink, TokenSpan};
use crate::vocab::Vocab;

/// The best path to a position: its score and its last piece.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::model) struct Backpointer<S> {
    pub(in crate::model) score: S,
    pub(in crate::model) id: u32,
    pub(in crate::model) start: u32,
}

/// List the pieces of the best path between two positions, from left to right.
#[inline]
pub(in crate::model) fn backtrace<S>(
    (from, to): (usize, usize),
    best_at: impl Fn(usize) -> Backpointer<S>,
    path: &mut Vec<TokenSpan>,
) {
    path.clear();
    let mut end = to;
    while end > from {
        let Backpointer { id, start, .. } = best_at(end);
        path.push(TokenSpan { id, start, end: end as u32 });
        end = start as usize;
    }
    path.reverse();
}

/// The backpointers of consecutive byte positions; only those at ends of characters are set.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct BackpointerTable<S> {
    pub(super) base: usize,
    pub(super) backpointers: Vec<Backpointer<S>>,
}

impl<S: Copy> BackpointerTable<S> {
    #[inline]
    pub(in crate::model) fn at(&self, position: usize) -> &Backpointer<S> {
        &self.backpointers[position - self.base]
    }

    pub(super) fn end(&self) -> usize {
        self.base + self.backpointers.len() - 1
    }

    /// Replace the table by the end of another one, from a position on.
    pub(super) fn copy_from(&mut self, others: &Self, from: usize) {
        self.backpointers.clear();
        self.backpointers.extend_from_slice(&others.backpointers[from - others.base..]);
        self.base = from;
    }

    /// Return the last position up to `floor` on the best path to a position.
    pub(super) fn origin(&self, mut position: usize, floor: usize) -> usize {
        while position > floor {
            position = self.at(position).start as usize;
        }
        position
    }

    /// Return the same for several positions, each with its origin.
    pub(super) fn origins(&self, open_positions: &[usize], floor: usize) -> Vec<(usize, usize)> {
        let mut from = vec![0; self.end() - floor];
        for position in floor + 1..=self.end() {
            let start = self.at(position).start as usize;
            from[position - floor - 1] = if start > floor { from[start - floor - 1] } else { start };
        }
        let of = |position: usize| if position > floor { from[position - floor - 1] } else { position };
        open_positions.iter().map(|&position| (position, of(position))).collect()
    }

    /// Emit the best path between two positions.
    pub(super) fn emit(
        &self,
        from: usize,
        to: usize,
        path: &mut Vec<TokenSpan>,
        out: &mut impl FnMut(TokenSpan),
    ) {
        backtrace((from, to), |end| *self.at(end), path);
        path.iter().for_each(|&piece| out(piece));
    }
}

/// Writes tokens; adjacent unknown characters are one token.
pub(super) struct UnigramWriter<'w, S> {
    pub(super) word: &'w str,
    pub(super) vocab: &'w Vocab,
    pub(super) unk_id: Option<u32>,
    pub(super) bytes: Option<&'w ByteTokens>,
    /// The unknown characters since the last other piece.
    pub(super) unknown: Option<TokenSpan>,
    pub(super) out: &'w mut S,
}

impl<S: TokenSink> UnigramWriter<'_, S> {
    #[inline]
    pub(super) fn push(&mut self, piece: TokenSpan) {
        if Some(piece.id) == self.unk_id {
            let start = self.unknown.map_or(piece.start, |before| before.start);
            self.unknown = Some(TokenSpan { start, ..piece });
        } else {
            self.finish();
            self.out.push(piece);
        }
    }

    /// Write the pending unknown characters.
    #[inline]
    pub(super) fn finish(&mut self) {
        if let Some(run) = self.unknown.take() {
            self.push_unknown(run);
        }
    }

    /// Write a run of unknown characters: the token with this text, the byte tokens, or the unknown token.
    #[cold]
    fn push_unknown(&mut self, run: TokenSpan) {
        let text = &self.word[run.start as usize..run.end as usize];
        if let Some(id) = self.vocab.id_of(text) {
            self.out.push(TokenSpan { id, ..run });
        } else if let Some(bytes) = self.bytes.filter(|bytes| bytes.has_all(text)) {
            for byte in text.bytes() {
                self.out.push(TokenSpan { id: bytes.id(byte), ..run });
            }
        } else {
            self.out.push(run);
        }
    }
}
