//! The best paths through the lattices of adjacent words, by A* search from the right (Nagata 1994, "A stochastic
//! Japanese morphological analyzer using a forward-DP backward-A* n-best search algorithm").
//!
//! The forward pass gives the best score of every unfinished path, so each path that the agenda returns is part of
//! one of the n best. Every unfinished path leads to a complete one of its rank, so an agenda of more than n paths
//! can be pruned. Time is n log n in the length of the paths and linear in the arcs on the way; memory is n times the
//! length.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::lattice::{Arc, WordLattice};
use super::Backpointer;
use crate::model::TokenSpan;

const NONE: u32 = u32::MAX;

/// The agenda is pruned at twice the number of wanted paths plus this number.
const SLACK: usize = 64;

/// One path through the words of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// Pieces and unknown characters from left to right, with byte spans in their word. A word ends with the piece
    /// that reaches its end.
    pub tokens: Vec<TokenSpan>,
    /// The sum of their scores.
    pub score: f64,
}

/// A path that was sampled without replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledPath {
    /// The path.
    pub path: Path,
    /// ln of its inclusion probability, given the other samples.
    pub log_inclusion: f64,
}

/// Finds the best paths by the float and tie rules of a model.
pub(in crate::model) trait BestPaths<W> {
    /// Return the `n` best paths through all words, the best first.
    fn best(&self, words: &[W], n: usize) -> Vec<Path>;
}

/// A search over paths from right to left, in the order of their ranks.
pub(super) struct NbestSearch<'l, W> {
    words: &'l [W],
    agenda: BinaryHeap<Hypothesis>,
    links: Vec<PathLink>,
    children: Vec<PathExtension>,
    wanted: usize,
    pushed: u64,
}

/// An unfinished path.
#[derive(Clone, Copy, Debug)]
struct Hypothesis {
    rank: f64,
    weight: f64,
    /// Among equal ranks, the newest is expanded first, since it is nearest to completion.
    number: u64,
    /// The word and the byte offset where the path continues to the left.
    word: u32,
    end: u32,
    /// The first arc and the rest of the path.
    link: PathLink,
}

/// An arc of a path and the link of the arc after it.
#[derive(Clone, Copy, Debug)]
struct PathLink {
    piece: TokenSpan,
    score: f64,
    next: u32,
}

/// An unfinished path that is expanded.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathParent {
    /// The word where it continues.
    pub(super) word: usize,
    /// The byte offset in the word where its next arc ends.
    pub(super) end: u32,
    /// Its rank, as set by its parent.
    pub(super) rank: f64,
    /// Its weight, as set by its parent.
    pub(super) weight: f64,
}

/// An extension of a path by one arc.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathExtension {
    pub(super) arc: Arc,
    /// The rank of the best complete path with this end; at most the rank of the parent.
    pub(super) rank: f64,
    /// A value for the caller.
    pub(super) weight: f64,
}

/// A complete path.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompletePath {
    link: u32,
    pub(super) rank: f64,
    pub(super) weight: f64,
}

impl<'l, W: WordLattice> NbestSearch<'l, W> {
    /// Start after the last word; the caller needs at most `wanted` paths.
    pub(super) fn new(words: &'l [W], rank: f64, wanted: usize) -> Self {
        let nothing = PathLink { piece: TokenSpan { id: 0, start: 0, end: 0 }, score: 0.0, next: NONE };
        let (word, end) = before_word(words, words.len());
        let first = Hypothesis { rank, weight: 0.0, number: 0, word, end, link: nothing };
        let agenda = BinaryHeap::from([first]);
        Self { words, agenda, links: Vec::new(), children: Vec::new(), wanted, pushed: 0 }
    }

    /// Return the path with the next lower rank; `expand` lists the extensions of a path.
    pub(super) fn next(
        &mut self,
        mut expand: impl FnMut(PathParent, &mut Vec<PathExtension>),
    ) -> Option<CompletePath> {
        while let Some(Hypothesis { rank, weight, word, end, link, .. }) = self.agenda.pop() {
            let link = self.push_link(link);
            if end == 0 {
                return Some(CompletePath { link, rank, weight });
            }
            let mut children = std::mem::take(&mut self.children);
            expand(PathParent { word: word as usize, end, rank, weight }, &mut children);
            for child in children.drain(..) {
                self.push(child, word, end, link);
            }
            self.children = children;
            self.prune();
        }
        None
    }

    /// Return the pieces of a path from left to right, and the sum of their scores.
    pub(super) fn path(&self, end: &CompletePath) -> Path {
        let mut path = Path::default();
        let mut at = end.link;
        while let Some(link) = self.links.get(at as usize) {
            path.tokens.push(link.piece);
            path.score += link.score;
            at = link.next;
        }
        path
    }

    /// Store the first arc of a path; the empty path has none.
    fn push_link(&mut self, link: PathLink) -> u32 {
        if link.piece.end == 0 {
            return NONE;
        }
        self.links.push(link);
        self.links.len() as u32 - 1
    }

    fn push(&mut self, child: PathExtension, word: u32, end: u32, next: u32) {
        let PathExtension { arc, rank, weight } = child;
        let piece = TokenSpan { id: arc.id, start: arc.start, end };
        let link = PathLink { piece, score: arc.score, next };
        let (word, end) = match arc.start {
            0 => before_word(self.words, word as usize),
            start => (word, start),
        };
        self.pushed += 1;
        self.agenda.push(Hypothesis { rank, weight, number: self.pushed, word, end, link });
    }

    fn prune(&mut self) {
        if self.agenda.len() > 2 * self.wanted + SLACK {
            let mut all = std::mem::take(&mut self.agenda).into_vec();
            all.select_nth_unstable_by(self.wanted, |a, b| b.cmp(a));
            all.truncate(self.wanted);
            self.agenda = all.into();
        }
    }
}

/// Return the position where a path continues that has all words from `word` on: the end of the previous word; (0, 0)
/// at the beginning.
fn before_word(words: &[impl WordLattice], word: usize) -> (u32, u32) {
    match word.checked_sub(1) {
        Some(before) => (before as u32, words[before].end()),
        None => (0, 0),
    }
}

/// The backpointers of each word, which make the first path the model's own segmentation.
pub(in crate::model) struct BestBackpointers(pub(super) Vec<Vec<Backpointer<f64>>>);

impl BestBackpointers {
    /// Compute them from lattices; of equal sums the first arc wins.
    pub(in crate::model) fn of<W: WordLattice>(words: &[W]) -> Self {
        let of_word = |word: &W| {
            let mut backpointers = vec![Backpointer::default()];
            for end in 1..=word.end() {
                let mut best = Backpointer { score: f64::NEG_INFINITY, ..Backpointer::default() };
                for Arc { id, start, score } in word.ending_at(end) {
                    let score = score + backpointers[start as usize].score;
                    if score > best.score {
                        best = Backpointer { score, id, start };
                    }
                }
                backpointers.push(best);
            }
            backpointers
        };
        Self(words.iter().map(of_word).collect())
    }
}

impl<W: WordLattice> BestPaths<W> for BestBackpointers {
    /// Return the paths with the highest scores; fewer if there are no more.
    fn best(&self, words: &[W], n: usize) -> Vec<Path> {
        let mut search = NbestSearch::new(words, 0.0, n);
        let mut paths = Vec::new();
        while paths.len() < n {
            let Some(end) = search.next(|parent, children| expand(parent, words, &self.0, children)) else {
                break;
            };
            paths.push(search.path(&end));
        }
        // Ranks are rounded in another order than these sums.
        if let Some((_, others)) = paths.split_first_mut() {
            others.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        paths
    }
}

/// List the arcs before a path. A rank is the difference between the best completion of the path and the best path.
fn expand<W: WordLattice>(
    PathParent { word, end, rank, .. }: PathParent,
    words: &[W],
    backpointers: &[Vec<Backpointer<f64>>],
    children: &mut Vec<PathExtension>,
) {
    let backpointers = &backpointers[word];
    let best = backpointers[end as usize];
    let mut chosen = None;
    for arc in words[word].ending_at(end) {
        let lacks = best.score - (backpointers[arc.start as usize].score + arc.score);
        if (arc.id, arc.start) == (best.id, best.start) {
            chosen = Some(PathExtension { arc, rank, weight: 0.0 });
        } else {
            children.push(PathExtension { arc, rank: rank - lacks.max(0.0), weight: 0.0 });
        }
    }
    // The newest is expanded first among equal ranks.
    children.extend(chosen);
}

impl Ord for Hypothesis {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Hypothesis {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Hypothesis {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Hypothesis {}
