//! The pieces in the order of their code points, and which of them begin at each place of the text.
//!
//! A place knows the longest piece that begins there, a piece the longest other one that it begins with:
//! following these gives all pieces of a place without any search. Dropping pieces is one pass over both.

use super::segment_text::SegmentText;

/// No piece.
pub(super) const NONE: u32 = u32::MAX;
/// How much worse than the worst piece an unknown character is.
const UNKNOWN_PENALTY: f64 = 10.0;

/// A set of pieces over a text.
pub(super) struct PieceSet {
    /// By piece.
    pub(super) links: Vec<PieceLink>,
    /// A place in the text where the piece stands, by piece.
    pub(super) positions: Vec<u32>,
    /// The longest piece that begins there, by place.
    pub(super) longest: Vec<u32>,
    /// The length of the longest piece in bytes.
    pub(super) max_bytes: usize,
}

/// What following pieces from a place meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceLink {
    /// The score (a log probability), or the probability itself where sums are wanted.
    pub(super) value: f64,
    /// The longest other piece that this one begins with; its number is lower.
    pub(super) shorter: u32,
    pub(super) bytes: u32,
}

impl PieceSet {
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// The text of a piece.
    pub(super) fn name<'c>(&self, corpus: &'c SegmentText, piece: usize) -> &'c [u8] {
        let start = self.positions[piece] as usize;
        &corpus.text[start..start + self.links[piece].bytes as usize]
    }

    /// The score of a character that is no piece.
    pub(super) fn unknown_score(&self) -> f64 {
        self.min_score() - UNKNOWN_PENALTY
    }

    /// The lowest score, 0 without any piece.
    pub(super) fn min_score(&self) -> f64 {
        self.links.iter().map(|link| link.value).fold(f64::INFINITY, f64::min).min(0.0)
    }

    /// Drop all pieces but those kept; what began with a dropped piece begins with the next shorter one.
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
        self.max_bytes = self.links.iter().map(|link| link.bytes as usize).max().unwrap_or(0);
    }
}

fn replacement_of(replacements: &[u32], piece: u32) -> u32 {
    replacements.get(piece as usize).copied().unwrap_or(NONE)
}
