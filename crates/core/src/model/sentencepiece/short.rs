//! The joins of a short text: the pieces between any two of its places are looked up once, in a trie; then the
//! best pair of neighbours is sought again and again. `Bpe::run` defines it.
//!
//! O(n^2) for n characters, and pieces of the trie.

use super::super::PieceSink;
use super::emit::Emitter;
use super::SentencePiece;
use crate::double_array::Trie;
use crate::error::Error;
use crate::spec::{PieceType, ScoredPiece};
use crate::vocab::Vocab;

/// The longest text, in characters, that is joined like this.
pub(super) const MAX_CHARS: usize = 24;
const NONE: u32 = u32::MAX;

/// The pieces that neighbours are joined to.
#[derive(Clone, Debug)]
pub(super) struct Found {
    trie: Trie,
}

/// Memory for one text.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Where characters begin, and the end.
    places: Vec<usize>,
    /// By place and later place: the piece between them.
    pieces: Vec<u32>,
    /// The places between symbols, by number.
    bounds: Vec<usize>,
}

impl Found {
    pub(super) fn build(pieces: &[ScoredPiece]) -> Result<Self, Error> {
        let is_found =
            |kind| matches!(kind, PieceType::Normal | PieceType::UserDefined | PieceType::Unused);
        let found = (0..).zip(pieces).filter(|(_, piece)| is_found(piece.kind));
        let keys = found.map(|(id, piece)| (piece.text.as_bytes(), id)).collect();
        Ok(Self { trie: Trie::build([keys])?.0 })
    }

    /// The piece that a text is.
    #[inline]
    pub(super) fn id_of(&self, text: &str) -> Option<u32> {
        let state = text.bytes().try_fold(0, |state, byte| self.trie.child(state, byte))?;
        self.trie.entry(state)
    }

    /// Give the pieces that a text begins with, the shortest first, and where each ends.
    pub(super) fn each_prefix(&self, text: &str, mut visit: impl FnMut(u32, usize)) {
        let mut state = 0;
        for (end, byte) in (1..).zip(text.bytes()) {
            let Some(next) = self.trie.child(state, byte) else { return };
            state = next;
            if let Some(id) = self.trie.entry(state) {
                visit(id, end);
            }
        }
    }

    /// Look up what stands between any two places of a text.
    fn look_up(&self, text: &str, table: &mut Table) {
        let Table { places, pieces, .. } = table;
        let width = places.len();
        pieces.clear();
        pieces.resize(width * width, NONE);
        for from in 0..width - 1 {
            let mut state = Some(0);
            for to in from + 1..width {
                let c = &text.as_bytes()[places[to - 1]..places[to]];
                state = c.iter().try_fold(state.unwrap_or(0), |state, &byte| self.trie.child(state, byte));
                let Some(reached) = state else { break };
                pieces[from * width + to] = self.trie.entry(reached).unwrap_or(NONE);
            }
        }
    }
}

impl Table {
    /// Take a text, if it is short and has no piece that is never joined.
    pub(super) fn takes(&mut self, text: &str, model: &SentencePiece) -> bool {
        self.places.clear();
        if text.len() > 4 * MAX_CHARS {
            return false;
        }
        let mut is_plain = true;
        model.each_symbol(text, 0, |start, _, is_fixed| {
            is_plain &= !is_fixed;
            self.places.push(start);
        });
        let count = self.places.len();
        self.places.push(text.len());
        is_plain && (1..=MAX_CHARS).contains(&count)
    }

    /// Give out what the text that was taken is joined to.
    pub(super) fn join(
        &mut self,
        text: &str,
        (found, ranks): (&Found, &[u32]),
        (model, vocab): (&SentencePiece, &Vocab),
        emitter: &mut Emitter<'_, impl PieceSink>,
    ) {
        found.look_up(text, self);
        self.bounds.clear();
        self.bounds.extend(0..self.places.len());
        while let Some(at) = self.best(ranks) {
            self.bounds.remove(at);
        }
        let width = self.places.len();
        for pair in self.bounds.windows(2) {
            let (start, end) = (self.places[pair[0]], self.places[pair[1]]);
            let id = match self.pieces[pair[0] * width + pair[1]] {
                NONE => model.id_of(&text[start..end], vocab),
                id => id,
            };
            emitter.push(id, start, end);
        }
    }

    /// The bound between the two neighbours that are joined next: those of the highest score, the leftmost of
    /// equals.
    fn best(&self, ranks: &[u32]) -> Option<usize> {
        let width = self.places.len();
        let mut best: Option<(u32, usize)> = None;
        for (at, three) in self.bounds.windows(3).enumerate() {
            let id = self.pieces[three[0] * width + three[2]];
            let Some(&rank) = ranks.get(id as usize) else { continue };
            if best.is_none_or(|(first, _)| rank < first) {
                best = Some((rank, at + 1));
            }
        }
        best.map(|(_, at)| at)
    }
}
