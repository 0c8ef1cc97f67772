//! The pieces in the order of their code points, and the pieces that begin at each position of the text.
//!
//! A position links to the longest piece that begins there. A piece links to the longest other piece that it
//! begins with. Following the links yields all pieces of a position without a search. Removing pieces takes
//! one pass over positions and pieces.

use foldhash::HashMap;

use super::segment_text::SegmentText;
use piecework_core::error::{Error, ErrorKind};

pub(super) use crate::substrings::NONE;

/// The difference between the lowest score of a piece and the score of an unknown character.
const UNKNOWN_PENALTY: f64 = 10.0;

/// A set of pieces over a text.
pub(super) struct PieceSet {
    /// By piece.
    pub(super) links: Vec<PieceLink>,
    /// By piece: a position of it in the text.
    pub(super) positions: Vec<u32>,
    /// By position: the longest piece that begins there.
    pub(super) longest: Vec<u32>,
    /// The length of the longest piece.
    pub(super) max_chars: usize,
}

/// A piece as the lattice uses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceLink {
    /// The score (a log probability), or the probability itself for sums.
    pub(super) value: f64,
    /// The longest other piece that this one begins with; its number is lower.
    pub(super) shorter: u32,
    pub(super) chars: u32,
}

impl PieceSet {
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// Return the text of a piece.
    pub(super) fn name(&self, corpus: &SegmentText, piece: usize) -> String {
        corpus.index.text.spell(self.positions[piece], self.links[piece].chars).collect()
    }

    /// Return the score of a character that is not a piece.
    pub(super) fn unknown_score(&self) -> f64 {
        self.min_score() - UNKNOWN_PENALTY
    }

    /// Return the lowest score, 0 without any piece.
    pub(super) fn min_score(&self) -> f64 {
        self.links.iter().map(|link| link.value).fold(f64::INFINITY, f64::min).min(0.0)
    }

    /// Return the pieces with their scores.
    pub(super) fn named(&self, corpus: &SegmentText) -> Vec<(String, f64)> {
        self.links.iter().enumerate().map(|(piece, link)| (self.name(corpus, piece), link.value)).collect()
    }

    /// Keep only the given pieces and set their scores; fails for a piece that is not in the set.
    pub(super) fn restore(&mut self, corpus: &SegmentText, given: &[(String, f64)]) -> Result<(), Error> {
        let scores: HashMap<&str, f64> =
            given.iter().map(|(name, score)| (name.as_str(), *score)).collect();
        let values: Vec<Option<f64>> =
            (0..self.len()).map(|piece| scores.get(self.name(corpus, piece).as_str()).copied()).collect();
        let kept: Vec<f64> = values.iter().copied().flatten().collect();
        if kept.len() != given.len() || kept.iter().any(|score| !score.is_finite()) {
            let found = format!("{} pieces, of which the counts yield {}", given.len(), kept.len());
            let expected = "pieces of a run with the same counts and settings";
            return Err(Error::new(ErrorKind::Argument, "pieces of the checkpoint", found, expected));
        }
        self.retain(|piece| values[piece].is_some());
        self.links.iter_mut().zip(kept).for_each(|(link, score)| link.value = score);
        Ok(())
    }

    /// Remove all pieces except those kept; links to a removed piece lead to the next shorter one.
    pub(super) fn retain(&mut self, kept: impl Fn(usize) -> bool) {
        let mut replacements: Vec<u32> = Vec::with_capacity(self.len());
        let mut next = 0;
        for piece in 0..self.len() {
            let link = self.links[piece];
            let shorter = replacement_of(&replacements, link.shorter);
            if kept(piece) {
                replacements.push(next as u32);
                self.links[next] = PieceLink { shorter, ..link };
                self.positions[next] = self.positions[piece];
                next += 1;
            } else {
                replacements.push(shorter);
            }
        }
        self.links.truncate(next);
        self.positions.truncate(next);
        self.longest.iter_mut().for_each(|longest| *longest = replacement_of(&replacements, *longest));
        self.max_chars = self.links.iter().map(|link| link.chars as usize).max().unwrap_or(0);
    }
}

fn replacement_of(replacements: &[u32], piece: u32) -> u32 {
    replacements.get(piece as usize).copied().unwrap_or(NONE)
}
