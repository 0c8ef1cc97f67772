//! The best paths of parts without context, and the lead of each decision.
//!
//! Forward from each position by the trie. Where no piece crosses a position a part ends, and its path is read back.
//! Scores are in fixed point (see [`super::margin`]), so the sums of a part do not depend on the text before it.
//!
//! O(n) and the nodes read, at most the longest piece for each character.

use piecework_unicode::char_len;

use super::margin::{cost_of, MarginLimits, PathScore, MAX_BYTES, MAX_CHARS, ONE};
use crate::double_array::{CompactNode, Trie};
use crate::model::unigram::backpointers::Backpointer;
use crate::model::TokenSpan;

/// The largest absolute score that fixed point supports.
const MAX_MAGNITUDE: f64 = 2000.0;

/// The id and the score of a piece that ends at a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoredId {
    pub(super) id: u32,
    score: i32,
}

/// The pieces of a model with fixed-point scores.
#[derive(Clone, Debug)]
pub(super) struct FixedPointScores {
    /// Empty if a score or the trie is too large.
    nodes: Vec<CompactNode>,
    /// By node.
    scored_ids: Vec<ScoredId>,
    /// An unknown character.
    unknown: ScoredId,
    pub(super) margins: MarginLimits,
}

/// The best path to a byte of a part, and its lead over the next best.
#[derive(Clone, Copy, Debug)]
struct PathCell {
    score: i64,
    lead: i64,
    id: u32,
    start: u32,
}

/// No path yet; so low that any path leads it by more than two paths differ.
const UNREACHED: PathCell = PathCell { score: -(1 << 50), lead: i64::MAX, id: 0, start: 0 };

/// The buffers of one part.
#[derive(Clone, Debug)]
pub(super) struct ViterbiScratch {
    /// From the beginning of the part; all unreached between parts.
    cells: Box<[PathCell; MAX_BYTES + 1]>,
    pub(super) sums: Vec<Backpointer<f32>>,
    pub(super) path: Vec<TokenSpan>,
}

impl Default for ViterbiScratch {
    fn default() -> Self {
        Self { cells: Box::new([UNREACHED; MAX_BYTES + 1]), sums: Vec::new(), path: Vec::new() }
    }
}

impl FixedPointScores {
    /// Return the pieces of a trie with their scores by id; the unknown piece has the score of an unknown character.
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

    /// Return whether parts can be segmented.
    pub(super) fn is_available(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice()) + size_of_val(self.scored_ids.as_slice())
    }

    /// Find the best path through the part that begins at `floor`. Return its end and its score; `None` instead of
    /// the score, and no path, for a part that is too long.
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

    /// Try every piece that begins at offset `from` of a part, where `rest` begins with a character of `char_len`
    /// bytes. Return the length of the longest; `None` if it is too long.
    #[inline]
    fn relax_pieces(
        &self,
        rest: &[u8],
        (from, char_len): (usize, usize),
        cells: &mut [PathCell; MAX_BYTES + 1],
    ) -> Option<usize> {
        let before = cells[from].score;
        self.for_each_piece(rest, char_len, |len, ScoredId { id, score }| {
            let cell = cells.get_mut(from + len)?;
            let score = before + i64::from(score);
            let lead = score - cell.score;
            if lead > 0 {
                *cell = PathCell { score, lead, id, start: from as u32 };
            } else {
                cell.lead = cell.lead.min(-lead);
            }
            Some(())
        })
    }

    /// Call `take` with the length and the data of every piece that a text begins with, the shortest first, and last
    /// with an unknown character if the first character, of `char_len` bytes, is no piece. Return the length of the
    /// longest; `None` once `take` returns `None`.
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
        path: &mut Vec<TokenSpan>,
    ) -> PathScore {
        let (mut end, mut lead, mut score, mut has_unknown) = (len, i64::MAX, 0, false);
        while end > 0 {
            let cell = cells[end];
            let start = cell.start as usize;
            lead = lead.min(cell.lead);
            score += (cell.score - cells[start].score).unsigned_abs();
            has_unknown |= cell.id == self.unknown.id;
            path.push(TokenSpan { id: cell.id, start: (floor + start) as u32, end: (floor + end) as u32 });
            end = start;
        }
        path.reverse();
        PathScore {
            margin: self.margins.margin_of(lead, char_count),
            cost: cost_of(score, path.len()),
            has_unknown,
        }
    }

    /// Return the end of a part whose pieces before the character at `at` reach `furthest`.
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

    /// Return the length of the longest piece that a text begins with.
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

/// Return a score in fixed point.
fn to_fixed_point(score: f64) -> i32 {
    (score * ONE).round() as i32
}
