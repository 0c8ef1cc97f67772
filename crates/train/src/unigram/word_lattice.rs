//! The lattice of one word as data: the pieces that occur in it, their scores, the best paths and the probabilities.

use foldhash::{HashMap, HashMapExt};
use piecework_core::spec::{PieceType, SentencePieceSpec, UnigramSpec};

use crate::trace::{LatticeEdge, TrainingLattice, WordLattice};

const MAX_CHARS: usize = 500;
const MAX_CHARS_RANKED: usize = 100;
const RANKED: usize = 3;
const UNKNOWN_PENALTY: f64 = 10.0;

/// The scores of pieces, by piece.
#[derive(Debug)]
pub struct ScoredPieces {
    scores: HashMap<String, f64>,
    unknown: f64,
    longest: usize,
    /// Whether sums are rounded to 32 bits, as SentencePiece does.
    is_single: bool,
}

impl ScoredPieces {
    /// Collect the scores of pieces.
    #[must_use]
    pub fn new(scores: HashMap<String, f64>) -> Self {
        let lowest = scores.values().copied().reduce(f64::min).unwrap_or(0.0);
        let longest = scores.keys().map(|piece| piece.chars().count()).max().unwrap_or(1);
        Self { unknown: lowest - UNKNOWN_PENALTY, scores, longest, is_single: false }
    }

    /// Collect the pieces of a Unigram model.
    #[must_use]
    pub fn of_unigram(spec: &UnigramSpec) -> Self {
        Self::new(spec.vocab.iter().cloned().collect())
    }

    /// Collect the pieces of a SentencePiece model, with the scores that it encodes with.
    #[must_use]
    pub fn of_sentencepiece(spec: &SentencePieceSpec) -> Self {
        let mut scores = HashMap::new();
        let mut lowest = f32::MAX;
        for piece in &spec.pieces {
            match piece.kind {
                PieceType::Normal => {
                    lowest = lowest.min(piece.score);
                    scores.insert(piece.text.clone(), f64::from(piece.score));
                }
                PieceType::UserDefined => {
                    let score = (0.1 * (piece.text.len() as f64 - 1.0)) as f32;
                    scores.insert(piece.text.clone(), f64::from(score));
                }
                _ => {}
            }
        }
        let unknown = f64::from(spec.lowest_score.unwrap_or(lowest)) - UNKNOWN_PENALTY;
        Self { unknown, is_single: true, ..Self::new(scores) }
    }

    /// Return the lattice of a word; `None` for one of more than 500 characters.
    #[must_use]
    pub fn lattice(&self, word: &str) -> Option<WordLattice> {
        let chars: Vec<char> = word.chars().collect();
        if chars.is_empty() || chars.len() > MAX_CHARS {
            return None;
        }
        let mut edges = self.edges(&chars);
        let ranked = if chars.len() > MAX_CHARS_RANKED { 1 } else { RANKED };
        let paths = self.best_paths(&edges, chars.len(), ranked);
        let best = paths.first().map(|(path, _)| path.clone()).unwrap_or_default();
        best.iter().for_each(|&edge| edges[edge].is_best = true);
        let pieces =
            |path: &[usize]| path.iter().map(|&edge| edges[edge].piece.clone()).collect::<Vec<_>>();
        let score = |path: &[usize]| path.iter().map(|&edge| edges[edge].score).sum::<f64>();
        let segmentations = paths.iter().map(|(path, _)| (pieces(path), score(path))).collect();
        Some(WordLattice { best: pieces(&best), segmentations, edges })
    }

    /// Return the lattice of a word with the probabilities of its edges.
    pub(super) fn training_lattice(&self, word: &str) -> Option<TrainingLattice> {
        let lattice = self.lattice(word)?;
        let chars = word.chars().count();
        let (mut forward, mut backward) = (vec![0.0; chars + 1], vec![0.0; chars + 1]);
        (forward[0], backward[chars]) = (1.0, 1.0);
        for edge in &lattice.edges {
            forward[edge.end] += forward[edge.start] * edge.score.exp();
        }
        for edge in lattice.edges.iter().rev() {
            backward[edge.start] += backward[edge.end] * edge.score.exp();
        }
        let total = forward[chars];
        let share = |sum: f64| if total > 0.0 { sum / total } else { 0.0 };
        let probability =
            |edge: &LatticeEdge| share(forward[edge.start] * edge.score.exp() * backward[edge.end]);
        let probabilities = lattice.edges.iter().map(probability).collect();
        Some(TrainingLattice { word: word.to_owned(), lattice, probabilities })
    }

    /// Return the pieces that occur in a word by their start, the longest first.
    fn edges(&self, chars: &[char]) -> Vec<LatticeEdge> {
        let mut edges = Vec::new();
        for start in 0..chars.len() {
            for end in (start + 1..=chars.len().min(start + self.longest.max(1))).rev() {
                let piece: String = chars[start..end].iter().collect();
                let score = self.scores.get(&piece).copied();
                if score.is_none() && end > start + 1 {
                    continue;
                }
                let (is_known, score) = (score.is_some(), score.unwrap_or(self.unknown));
                edges.push(LatticeEdge { piece, start, end, score, is_known, is_best: false });
            }
        }
        edges
    }

    /// Return the best paths, as indices of edges with the sums of their scores.
    fn best_paths(&self, edges: &[LatticeEdge], end: usize, n: usize) -> Vec<(Vec<usize>, f64)> {
        let mut best: Vec<Vec<(Vec<usize>, f64)>> = vec![Vec::new(); end + 1];
        best[0].push((Vec::new(), 0.0));
        let mut ranked = 0;
        for (index, edge) in edges.iter().enumerate() {
            // All edges to this start are known, because edges are in the order of their starts.
            if edge.start >= ranked {
                rank(&mut best[edge.start], n);
                ranked = edge.start + 1;
            }
            let longer: Vec<_> = best[edge.start]
                .iter()
                .map(|(path, score)| ([path.as_slice(), &[index]].concat(), self.sum(*score, edge.score)))
                .collect();
            best[edge.end].extend(longer);
        }
        let mut found = best.pop().unwrap_or_default();
        rank(&mut found, n);
        found
    }

    fn sum(&self, before: f64, score: f64) -> f64 {
        if self.is_single {
            return f64::from((before + score) as f32);
        }
        before + score
    }
}

/// Keep the best paths; of equal ones, the first.
fn rank(paths: &mut Vec<(Vec<usize>, f64)>, n: usize) {
    paths.sort_by(|one, two| two.1.total_cmp(&one.1));
    paths.truncate(n);
}
