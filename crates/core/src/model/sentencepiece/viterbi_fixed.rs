//! The best paths of parts as each is alone, and by how much each of their decisions is made.
//!
//! From every place that is reached the trie is walked, and each piece on the way is a way to its end. Where no
//! piece crosses a place, every path goes through it: a part ends there, and its path is read back. Scores are
//! whole numbers (see [`super::margin`]), so the sums of a part do not depend on what stands before it.
//!
//! O(n) and the nodes walked, which are no more than the longest piece for each character.

use super::super::unigram::Backpointer;
use super::super::Piece;
use super::margin::{cost_of, MarginLimits, PathScore, MAX_CHARS, ONE};
use crate::double_array::{Node, Trie};
use crate::text::char_len;

/// The largest score by size that is weighed.
const MAX_MAGNITUDE: f64 = 2000.0;
/// How many bytes of a part, with the pieces that begin in it, are looked at.
pub(super) const MAX_BYTES: usize = 512;

/// A piece that ends at a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoredId {
    pub(super) id: u32,
    score: i32,
}

/// The pieces of a model.
#[derive(Clone, Debug)]
pub(super) struct FixedPointScores {
    /// Empty where a score is too large, or the trie.
    nodes: Vec<Node>,
    /// By node.
    scored_ids: Vec<ScoredId>,
    /// What an unknown character is.
    unknown: ScoredId,
    pub(super) margins: MarginLimits,
}

/// The best way to a byte of a part, and by how much it leads the next best.
#[derive(Clone, Copy, Debug)]
struct PathCell {
    score: i64,
    lead: i64,
    id: u32,
    start: u32,
}

/// No way leads here yet. So low that whatever comes leads it by more than any two ways differ.
const UNREACHED: PathCell = PathCell { score: -(1 << 50), lead: i64::MAX, id: 0, start: 0 };

/// Memory for one part.
#[derive(Clone, Debug)]
pub(super) struct ViterbiScratch {
    /// From the beginning of the part on; all unreached between parts.
    cells: Box<[PathCell; MAX_BYTES + 1]>,
    pub(super) sums: Vec<Backpointer<f32>>,
    pub(super) path: Vec<Piece>,
}

impl Default for ViterbiScratch {
    fn default() -> Self {
        Self { cells: Box::new([UNREACHED; MAX_BYTES + 1]), sums: Vec::new(), path: Vec::new() }
    }
}

impl FixedPointScores {
    /// The pieces of a trie with their scores by id, where the unknown one has what an unknown character adds.
    pub(super) fn of(trie: &Trie, scores: &[f64], unk_id: u32, worst: f64) -> Self {
        let scored = |id: u32| ScoredId { id, score: to_fixed_point(scores[id as usize]) };
        let nodes = if worst <= MAX_MAGNITUDE { trie.nodes() } else { None }.unwrap_or_default();
        let scored_ids =
            (0..nodes.len() as u32).map(|slot| trie.entry(slot).map(scored).unwrap_or_default());
        Self {
            scored_ids: scored_ids.collect(),
            nodes,
            unknown: ScoredId { id: unk_id, score: to_fixed_point(scores[unk_id as usize]) },
            margins: MarginLimits::of(worst),
        }
    }

    /// Whether parts can be weighed at all.
    pub(super) fn is_available(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// The memory that the nodes take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice()) + size_of_val(self.scored_ids.as_slice())
    }

    /// Find the best path through the part that begins at `floor`. Gives where it ends, and what the path is
    /// score; nothing for one that is too long, and then there is no path.
    #[inline]
    pub(super) fn find_path(
        &self,
        text: &str,
        floor: usize,
        memory: &mut ViterbiScratch,
    ) -> (usize, Option<PathScore>) {
        let ViterbiScratch { cells, path, .. } = memory;
        path.clear();
        cells[0] = PathCell { score: 0, ..UNREACHED };
        let (mut at, mut furthest, mut char_count) = (floor, floor, 0);
        while at < text.len() && (at < furthest || at == floor) {
            if char_count == MAX_CHARS || self.nodes.is_empty() {
                cells.fill(UNREACHED);
                return (self.end_of(text, at, furthest), None);
            }
            let end = at + char_len(text.as_bytes()[at]);
            let Some(reached) = self.relax_pieces(&text.as_bytes()[at..], (at - floor, end - at), cells)
            else {
                cells.fill(UNREACHED);
                return (self.end_of(text, at, furthest), None);
            };
            furthest = furthest.max(at + reached);
            char_count += 1;
            at = end;
        }
        let score = self.read_back(floor, at - floor, char_count, cells, path);
        cells[..=at - floor].fill(UNREACHED);
        (at, Some(score))
    }

    /// Take every piece that begins at place `from` of a part, where `rest` begins with a character of
    /// `char_len` bytes. How far the longest max_deviations, or `None` where that is too far.
    #[inline]
    fn relax_pieces(
        &self,
        rest: &[u8],
        (from, char_len): (usize, usize),
        cells: &mut [PathCell; MAX_BYTES + 1],
    ) -> Option<usize> {
        let before = cells[from].score;
        self.for_each_piece(rest, char_len, |len, ScoredId { id, score }| {
            let place = cells.get_mut(from + len)?;
            let score = before + i64::from(score);
            let lead = score - place.score;
            if lead > 0 {
                *place = PathCell { score, lead, id, start: from as u32 };
            } else {
                place.lead = place.lead.min(-lead);
            }
            Some(())
        })
    }

    /// Give the length of every piece that a text begins with, the shortest first, and what it is; where its first
    /// character, of `char_len` bytes, is none, the unknown one comes last. The length of the longest, or `None`
    /// where one is not taken.
    #[inline(always)]
    pub(super) fn for_each_piece(
        &self,
        text: &[u8],
        char_len: usize,
        mut take: impl FnMut(usize, ScoredId) -> Option<()>,
    ) -> Option<usize> {
        let (mut node, mut longest, mut has_single) = (self.nodes[0], char_len, false);
        for (len, &byte) in (1..).zip(text) {
            let next = node.child(byte);
            node = self.nodes[next];
            if !node.has_label(byte) {
                break;
            }
            if node.is_final() {
                take(len, self.scored_ids[next])?;
                has_single |= len == char_len;
                longest = longest.max(len);
            }
        }
        if !has_single {
            take(char_len, self.unknown)?;
        }
        Some(longest)
    }

    /// Read back the best path through a part of `len` bytes.
    #[inline]
    fn read_back(
        &self,
        floor: usize,
        len: usize,
        char_count: usize,
        cells: &[PathCell; MAX_BYTES + 1],
        path: &mut Vec<Piece>,
    ) -> PathScore {
        let (mut end, mut lead, mut score, mut has_unknown) = (len, i64::MAX, 0, false);
        while end > 0 {
            let place = cells[end];
            let start = place.start as usize;
            lead = lead.min(place.lead);
            score += (place.score - cells[start].score).unsigned_abs();
            has_unknown |= place.id == self.unknown.id;
            path.push(Piece { id: place.id, start: (floor + start) as u32, end: (floor + end) as u32 });
            end = start;
        }
        path.reverse();
        PathScore {
            margin: self.margins.margin_of(lead, char_count),
            cost: cost_of(score, path.len()),
            has_unknown,
        }
    }

    /// Where a part ends that pieces go on to `furthest` from before the character at `at`.
    #[cold]
    fn end_of(&self, text: &str, mut at: usize, mut furthest: usize) -> usize {
        while !self.nodes.is_empty() {
            let rest = &text.as_bytes()[at..];
            furthest = furthest.max(at + self.longest(rest));
            at += char_len(rest[0]);
            if at >= furthest {
                return at;
            }
        }
        text.len()
    }

    /// The length of the longest piece that a text begins with.
    fn longest(&self, text: &[u8]) -> usize {
        let (mut node, mut longest) = (self.nodes[0], 0);
        for (len, &byte) in (1..).zip(text) {
            node = self.nodes[node.child(byte)];
            if !node.has_label(byte) {
                break;
            }
            if node.is_final() {
                longest = len;
            }
        }
        longest
    }
}

/// A score as a whole number.
fn to_fixed_point(score: f64) -> i32 {
    (score * ONE).round() as i32
}
