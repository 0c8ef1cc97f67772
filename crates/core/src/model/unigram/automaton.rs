//! The pieces that end at each byte of a text: an Aho-Corasick automaton over the double-array trie (Aho and Corasick
//! 1975, "Efficient String Matching").
//!
//! Its failure links are computed at their first use: most words are segmented by the trie alone.

use crate::double_array::{ChildLists, Trie};
use crate::error::Error;
use crate::interrupt;
use crate::locks::Late;
use crate::table_sections::TableSections;

const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

/// The automaton of all pieces.
#[derive(Clone, Debug)]
pub(in crate::model) struct PieceAutomaton {
    trie: Trie,
    /// By id.
    pieces: Vec<AutomatonPiece>,
    links: Late<FailureLinks>,
}

/// What the automaton has besides its trie.
#[derive(Clone, Debug)]
struct FailureLinks {
    /// By state.
    links: Vec<FailureLink>,
    /// By id: the longest other piece that is a suffix of the piece.
    shorter: Vec<u32>,
}

/// The data of a state.
#[derive(Clone, Copy, Debug)]
struct FailureLink {
    /// The state of its longest proper suffix that is a state.
    failure: u32,
    /// The longest piece that is a suffix of the state.
    longest: u32,
    /// The number of bytes that lead to the state.
    depth: u32,
}

/// A piece in the automaton.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct AutomatonPiece {
    pub(in crate::model) score: f64,
    pub(in crate::model) byte_len: u32,
}

impl PieceAutomaton {
    /// Build from pieces by id; empty pieces never match.
    #[cfg(test)]
    pub(in crate::model) fn build(vocab: &[(&str, f64)]) -> Result<Self, Error> {
        Self::restore(vocab, &TableSections::default())
    }

    /// Build from pieces by id, with the trie of `sections` if it contains one; empty pieces never match.
    pub(in crate::model) fn restore(
        vocab: &[(&str, f64)],
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let keys = (0..).zip(vocab).map(|(id, (token, _))| (token.as_bytes(), id)).collect();
        let (trie, _) = Trie::restore_or_build(sections, [keys])?;
        let scored =
            |(token, score): &(&str, f64)| AutomatonPiece { score: *score, byte_len: token.len() as u32 };
        Ok(Self { trie, pieces: vocab.iter().map(scored).collect(), links: Late::unbuilt() })
    }

    #[inline]
    fn links(&self) -> &FailureLinks {
        self.links.get_or_make(|| self.build_links())
    }

    /// Build the failure links.
    pub(in crate::model) fn warm_up(&self) {
        self.links();
    }

    fn build_links(&self) -> FailureLinks {
        FailureLinks::of(&self.trie, self.pieces.len())
    }

    /// Return the trie of all pieces.
    pub(in crate::model) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// Add the table sections of the trie.
    pub(in crate::model) fn store(&self, sections: &mut TableSections) {
        self.trie.store(sections);
    }

    /// Return the bytes of memory without the trie.
    pub(in crate::model) fn derived_bytes(&self) -> usize {
        size_of_val(self.pieces.as_slice()) + self.links.get().map_or(0, FailureLinks::bytes)
    }

    /// Return the id and the score of the piece that ends in a state of the trie.
    #[inline(always)]
    pub(super) fn ending_in(&self, state: u32) -> (u32, f64) {
        let id = self.trie.entry(state).unwrap_or_default();
        (id, self.pieces[id as usize].score)
    }

    /// Return the state before any byte.
    pub(in crate::model) fn start(&self) -> u32 {
        ROOT
    }

    /// Return the state after one more byte; amortized constant time.
    #[inline]
    pub(in crate::model) fn step(&self, mut state: u32, byte: u8) -> u32 {
        loop {
            if let Some(next) = self.trie.child(state, byte) {
                return next;
            }
            if state == ROOT {
                return ROOT;
            }
            state = self.links().links[state as usize].failure;
        }
    }

    /// Return the lengths of the piece prefixes that end here, the longest first.
    pub(super) fn depths(&self, state: u32) -> impl Iterator<Item = u32> + '_ {
        let links = &self.links().links;
        let states = std::iter::successors(Some(state), |&state| Some(links[state as usize].failure));
        states.take_while(|&state| state != ROOT).map(|state| links[state as usize].depth)
    }

    /// Return the score of a piece.
    pub(super) fn score_of(&self, id: u32) -> Option<f64> {
        self.pieces.get(id as usize).map(|piece| piece.score)
    }

    /// Return the pieces that end here with their ids, the longest first.
    #[inline]
    pub(in crate::model) fn ending_at(&self, state: u32) -> impl Iterator<Item = (u32, &AutomatonPiece)> {
        let FailureLinks { links, shorter } = self.links();
        let mut next = links[state as usize].longest;
        std::iter::from_fn(move || {
            let id = next;
            let piece = self.pieces.get(id as usize)?;
            next = shorter[id as usize];
            Some((id, piece))
        })
    }
}

impl FailureLinks {
    /// Compute the links of a trie of pieces with ids below `count`, breadth first: those of a state's children after
    /// those of all states that are not deeper than it.
    fn of(trie: &Trie, count: usize) -> Self {
        let mut shorter = vec![NONE; count];
        let mut links = vec![FailureLink { failure: ROOT, longest: NONE, depth: 0 }; trie.slots()];
        // The states in breadth-first order are the lists of children, each linked to the one before.
        let ChildLists { first, mut next, .. } = trie.children();
        let (mut parent, mut last) = (ROOT, ROOT);
        while parent != ChildLists::END {
            interrupt::check(1);
            let FailureLink { failure: suffix, depth, .. } = links[parent as usize];
            let mut state = first[parent as usize];
            next[last as usize] = state;
            while state != ChildLists::END {
                let byte = trie.byte_between(parent, state);
                let failure = if parent == ROOT { ROOT } else { step(trie, &links, suffix, byte) };
                let mut longest = links[failure as usize].longest;
                if let Some(id) = trie.entry(state) {
                    shorter[id as usize] = longest;
                    longest = id;
                }
                links[state as usize] = FailureLink { failure, longest, depth: depth + 1 };
                last = state;
                state = next[state as usize];
            }
            parent = next[parent as usize];
        }
        Self { links, shorter }
    }

    /// Return the bytes of memory.
    fn bytes(&self) -> usize {
        size_of_val(self.links.as_slice()) + size_of_val(self.shorter.as_slice())
    }
}

/// Return the state after one more byte, with the links of all states that are less deep than the next.
fn step(trie: &Trie, links: &[FailureLink], mut state: u32, byte: u8) -> u32 {
    loop {
        match trie.child(state, byte) {
            Some(next) => return next,
            None if state == ROOT => return ROOT,
            None => state = links[state as usize].failure,
        }
    }
}
