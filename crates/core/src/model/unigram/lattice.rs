//! The lattice of a word: all segmentations as paths of arcs from its first byte to its last, and sums over them.
//!
//! An arc is a piece or an unknown character. Sums weight a path by exp(alpha * score), by the forward pass of Baum
//! and Petrie 1966, in time and memory linear in the word and in the arcs. Arcs are enumerated from the automaton and
//! not stored.

use super::automaton::PieceAutomaton;
use super::nbest::{NbestSearch, Path, PathExtension, PathParent, SampledPath};
use crate::interrupt;
use crate::model::sampling::SamplingRng;
use crate::model::TokenSpan;

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

/// ln of a sum of exp, relative to the greatest term so far so that nothing overflows.
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

// Sample segmentations with their probabilities.
//
// Forward filtering, backward sampling (Scott 2002, "Bayesian Methods for Hidden Markov Models"): sample the last
// arc by its share of all paths, then the one before it, as Kudo 2018, "Subword Regularization", section 3.1.
//
// Without replacement by the Gumbel-top-k of Kool, van Hoof and Welling 2019, "Stochastic Beams and Where to Find
// Them": add Gumbel noise to the log-probability of every path and take the greatest. Only those paths are built: an
// unfinished path has the greatest value of all its completions, which is sampled as one number.

/// The buffers of a sampled path.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct PathSampler {
    /// By byte offset, like the sums.
    states: Vec<u32>,
    sums: Vec<f64>,
    path: Vec<TokenSpan>,
}

impl PathSampler {
    /// Sample a path through a word; `lattice` builds the lattice of the word in the memory it is given.
    pub(in crate::model) fn sample<'w>(
        &mut self,
        rng: &mut SamplingRng,
        lattice: impl FnOnce(Vec<u32>) -> PieceLattice<'w>,
    ) -> &[TokenSpan] {
        let Self { states, sums, path } = self;
        let lattice = lattice(std::mem::take(states));
        log_sums(&lattice, rng.alpha(), sums);
        path.clear();
        sample(&lattice, sums, rng, |Arc { id, start, .. }, end| path.push(TokenSpan { id, start, end }));
        path.reverse();
        *states = lattice.into_states();
        path
    }
}

/// Sample one path; call `take` with its arcs from right to left and where each ends.
fn sample(word: &impl WordLattice, sums: &[f64], rng: &mut SamplingRng, mut take: impl FnMut(Arc, u32)) {
    let mut end = word.end();
    while end > 0 {
        let Some(arc) = sample_arc(word, end, sums, rng) else { return };
        take(arc, end);
        end = arc.start;
    }
}

/// Sample one path through all words.
pub(super) fn sample_through<W: WordLattice>(
    words: &[W],
    sums: &[Vec<f64>],
    rng: &mut SamplingRng,
) -> Path {
    let mut path = Path::default();
    let mut of_word = Vec::new();
    for (word, sums) in words.iter().zip(sums) {
        sample(word, sums, rng, |arc, end| of_word.push((arc, end)));
        for (Arc { id, start, score }, end) in of_word.drain(..).rev() {
            path.tokens.push(TokenSpan { id, start, end });
            path.score += score;
        }
    }
    path
}

fn sample_arc(word: &impl WordLattice, end: u32, sums: &[f64], rng: &mut SamplingRng) -> Option<Arc> {
    let (alpha, mut left) = (rng.alpha(), rng.unit());
    let mut likeliest: Option<(f64, Arc)> = None;
    for arc in word.ending_at(end) {
        let share = log_share(&arc, end, alpha, sums).exp();
        left -= share;
        if left <= 0.0 {
            return Some(arc);
        }
        if likeliest.is_none_or(|(most, _)| share > most) {
            likeliest = Some((share, arc));
        }
    }
    // The shares are rounded and may add up to less than one.
    likeliest.map(|(_, arc)| arc)
}

/// Sample up to `n` different paths through all words, in the order in which sampling one by one without replacement
/// would return them. Each has the logarithm of its inclusion probability, given the other samples. With `best`, that
/// path is always the first.
pub(super) fn sample_without_replacement<W: WordLattice>(
    words: &[W],
    n: usize,
    best: Option<Path>,
    rng: &mut SamplingRng,
) -> Vec<SampledPath> {
    let sums: Vec<Vec<f64>> = words.iter().map(|word| sums_of(word, rng.alpha())).collect();
    // The noise of the first path that is not returned is the threshold of the inclusion probabilities.
    let mut search = NbestSearch::new(words, gumbel(0.0, rng), n + 1);
    let mut sampled: Vec<(Path, f64, f64)> = Vec::new();
    while let Some(end) = search.next(|parent, children| expand(parent, words, &sums, rng, children)) {
        let path = search.path(&end);
        if best.as_ref().is_none_or(|best| best.tokens != path.tokens) {
            sampled.push((path, end.weight, end.rank));
        }
        if sampled.len() + usize::from(best.is_some()) > n {
            break;
        }
    }
    let wanted = n - usize::from(best.is_some());
    let threshold = sampled.get(wanted).map_or(f64::NEG_INFINITY, |&(.., rank)| rank);
    sampled.truncate(wanted);
    let sure = best.map(|path| SampledPath { path, log_inclusion: 0.0 });
    let rest = sampled.into_iter().map(|(path, log_probability, _)| SampledPath {
        path,
        log_inclusion: log_inclusion(log_probability, threshold),
    });
    sure.into_iter().chain(rest).collect()
}

/// List the arcs before a path with their noise, on the condition that the greatest equals the parent's.
fn expand<W: WordLattice>(
    parent: PathParent,
    words: &[W],
    sums: &[Vec<f64>],
    rng: &mut SamplingRng,
    children: &mut Vec<PathExtension>,
) {
    let PathParent { word, end, rank, weight } = parent;
    let mut greatest = f64::NEG_INFINITY;
    for arc in words[word].ending_at(end) {
        let weight = weight + log_share(&arc, end, rng.alpha(), &sums[word]);
        let rank = gumbel(weight, rng);
        if rank > f64::NEG_INFINITY {
            greatest = rank.max(greatest);
            children.push(PathExtension { arc, rank, weight });
        }
    }
    for child in children {
        child.rank = conditioned(child.rank, greatest, rank);
    }
}

/// Shift noise whose greatest value is `greatest` so that it becomes `wanted` (Kool et al., appendix B.3).
fn conditioned(rank: f64, greatest: f64, wanted: f64) -> f64 {
    let moved = wanted - rank + (-(rank - greatest).exp()).ln_1p();
    wanted - moved.max(0.0) - (-moved.abs()).exp().ln_1p()
}

/// Sample the Gumbel distribution around `location`.
fn gumbel(location: f64, rng: &mut SamplingRng) -> f64 {
    location - (-rng.open_unit().ln()).ln()
}

/// ln of the probability that the noise of a path with this log-probability exceeds the threshold.
fn log_inclusion(log_probability: f64, threshold: f64) -> f64 {
    let expected = (log_probability - threshold).exp();
    if expected > 0.0 {
        (-(-expected).exp_m1()).ln()
    } else {
        log_probability - threshold
    }
}
