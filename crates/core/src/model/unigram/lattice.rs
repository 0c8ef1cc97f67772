//! The lattice of a word: all segmentations as paths of arcs from its first byte to its last, and sums over them.
//!
//! An arc is a piece or an unknown character. Sums weight a path by exp(alpha * score), by the forward pass of Baum
//! and Petrie 1966, in time and memory linear in the word and in the arcs. Arcs are enumerated from the automaton and
//! not stored.

use super::automaton::PieceAutomaton;
use crate::interrupt;

/// An arc, identified with the position where it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) struct Arc {
    /// Vocabulary id.
    pub(in crate::model) id: u32,
    /// First byte.
    pub(in crate::model) start: u32,
    /// The score that it adds to a path.
    pub(in crate::model) score: f64,
}

/// The lattice of one word. Every end of a character is the end of an arc.
pub(in crate::model) trait WordLattice {
    /// Return the byte length of the word.
    fn end(&self) -> u32;
    /// Return the arcs that end at a byte offset; none unless a character ends there.
    fn ending_at(&self, end: u32) -> impl Iterator<Item = Arc>;
}

/// The lattice of a word over scored pieces and unknown characters.
#[derive(Clone, Debug)]
pub(in crate::model) struct PieceLattice<'w> {
    scored: LatticePieces<'w>,
    word: &'w str,
    /// The automaton's state after each byte.
    states: Vec<u32>,
}

/// The pieces of a lattice and their scores.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct LatticePieces<'w> {
    pub(in crate::model) pieces: &'w PieceAutomaton,
    /// Scores by id that replace those of the pieces; empty if none do.
    pub(in crate::model) rescored: &'w [f64],
    /// The id and the score of an unknown character.
    pub(in crate::model) unknown: Option<(u32, f64)>,
}

impl<'w> PieceLattice<'w> {
    /// Build the lattice of a word; reuse the memory of `states`.
    pub(in crate::model) fn new(scored: LatticePieces<'w>, word: &'w str, mut states: Vec<u32>) -> Self {
        let mut state = scored.pieces.start();
        states.clear();
        states.push(state);
        states.extend(word.bytes().map(|byte| {
            state = scored.pieces.step(state, byte);
            state
        }));
        Self { scored, word, states }
    }

    /// Return the memory of the lattice, for reuse.
    pub(super) fn into_states(self) -> Vec<u32> {
        self.states
    }

    /// Return the character that ends at a byte offset, as an unknown character.
    fn unknown_at(&self, end: u32) -> Option<Arc> {
        let (id, score) = self.scored.unknown?;
        let before = self.word.get(..end as usize)?;
        let c = before.chars().next_back()?;
        Some(Arc { id, start: end - c.len_utf8() as u32, score })
    }
}

impl WordLattice for PieceLattice<'_> {
    fn end(&self) -> u32 {
        self.word.len() as u32
    }

    #[inline]
    fn ending_at(&self, end: u32) -> impl Iterator<Item = Arc> {
        let mut unknown = self.unknown_at(end);
        let LatticePieces { pieces, rescored, .. } = self.scored;
        let mut found = pieces.ending_at(self.states[end as usize]);
        std::iter::from_fn(move || {
            let Some((id, piece)) = found.next() else { return unknown.take() };
            let start = end - piece.byte_len;
            // A character that is a piece is not unknown.
            unknown = unknown.filter(|arc| arc.start != start);
            Some(Arc { id, start, score: rescored.get(id as usize).copied().unwrap_or(piece.score) })
        })
    }
}

/// Compute, for each byte offset, the logarithm of the sum of exp(alpha * score) over all paths that end there.
pub(super) fn log_sums(word: &impl WordLattice, alpha: f64, sums: &mut Vec<f64>) {
    sums.clear();
    sums.push(0.0);
    for end in 1..=word.end() {
        interrupt::check(1);
        let terms = word.ending_at(end).map(|arc| sums[arc.start as usize] + alpha * arc.score);
        let sum = log_sum(terms);
        sums.push(sum);
    }
}

/// Return the same in new memory.
pub(super) fn sums_of(word: &impl WordLattice, alpha: f64) -> Vec<f64> {
    let mut sums = Vec::new();
    log_sums(word, alpha, &mut sums);
    sums
}

/// Return the logarithm of an arc's probability among the paths that end where it ends.
#[inline]
pub(super) fn log_share(arc: &Arc, end: u32, alpha: f64, sums: &[f64]) -> f64 {
    sums[arc.start as usize] + alpha * arc.score - sums[end as usize]
}

/// Return the entropy of the paths in nats: that of the last arc plus those of the paths before it.
pub(super) fn entropy(word: &impl WordLattice, alpha: f64) -> f64 {
    let sums = sums_of(word, alpha);
    let mut entropies = vec![0.0; sums.len()];
    for end in 1..=word.end() {
        let of_arc = |arc: Arc| {
            let log_share = log_share(&arc, end, alpha, &sums);
            match log_share.exp() {
                share if share > 0.0 => share * (entropies[arc.start as usize] - log_share),
                _ => 0.0,
            }
        };
        entropies[end as usize] = word.ending_at(end).map(of_arc).sum();
    }
    entropies[word.end() as usize]
}

/// Return ln of a sum of exp, relative to the greatest term so far so that nothing overflows.
fn log_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut greatest, mut sum) = (f64::NEG_INFINITY, 0.0);
    for term in terms.filter(|&term| term > f64::NEG_INFINITY) {
        if term <= greatest {
            sum += (term - greatest).exp();
        } else {
            sum = sum * (greatest - term).exp() + 1.0;
            greatest = term;
        }
    }
    greatest + f64::ln(sum)
}
