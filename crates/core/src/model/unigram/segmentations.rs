//! All segmentations of a text of several words: the best, samples, and their entropy.
//!
//! No piece crosses the end of a word, so the segmentations of the text combine those of its words: sums and
//! entropies add up, and sampling word by word samples the whole text.

use super::lattice::{entropy, log_share, log_sums, sums_of, Arc, PieceLattice, WordLattice};
use super::nbest::{BestPaths, NbestSearch, Path, PathExtension, PathParent, SampledPath};
use crate::error::{Error, ErrorKind};
use crate::model::sampling::SamplingRng;
use crate::model::{Sampling, TokenSpan};

/// The most segmentations that a call lists, as in SentencePiece.
pub const MAX_SEGMENTATIONS: usize = 1024;

/// The most bytes of text that all listed segmentations may cover together.
const MAX_BYTES: usize = 1 << 23;

/// The segmentations of a text.
pub trait Segmentations {
    /// Return the `n` segmentations with the highest scores, the best first.
    fn best(&self, n: usize) -> Result<Vec<Path>, Error>;
    /// Sample one for each of `n` texts, from the row of `sampling` on.
    fn sample(&self, n: usize, sampling: Sampling) -> Result<Vec<Path>, Error>;
    /// Sample up to `n` different ones without replacement; with `include_best` the best is always the first.
    fn sample_without_replacement(
        &self,
        n: usize,
        sampling: Sampling,
        include_best: bool,
    ) -> Result<Vec<SampledPath>, Error>;
    /// Return ln of the sum of exp(alpha * score).
    fn log_sum(&self, alpha: f64) -> f64;
    /// Return the entropy in nats, with probabilities proportional to exp(alpha * score).
    fn entropy(&self, alpha: f64) -> f64;
}

/// The lattices of the words of a text.
pub(in crate::model) struct WordLattices<W, B> {
    pub(in crate::model) words: Vec<W>,
    pub(in crate::model) best: B,
}

impl<W: WordLattice, B: BestPaths<W>> Segmentations for WordLattices<W, B> {
    fn best(&self, n: usize) -> Result<Vec<Path>, Error> {
        self.check_size(n)?;
        Ok(self.best.best(&self.words, n))
    }

    fn sample(&self, n: usize, sampling: Sampling) -> Result<Vec<Path>, Error> {
        self.check_size(n)?;
        let sums: Vec<Vec<f64>> = self.words.iter().map(|word| sums_of(word, sampling.alpha)).collect();
        let draws_of = |row: u64| Sampling { row: sampling.row + row, ..sampling }.rng(0);
        Ok((0..n as u64).map(|row| sample_through(&self.words, &sums, &mut draws_of(row))).collect())
    }

    fn sample_without_replacement(
        &self,
        n: usize,
        sampling: Sampling,
        include_best: bool,
    ) -> Result<Vec<SampledPath>, Error> {
        self.check_size(n)?;
        let best = if include_best { self.best.best(&self.words, 1).pop() } else { None };
        Ok(sample_without_replacement(&self.words, n, best, &mut sampling.rng(0)))
    }

    fn log_sum(&self, alpha: f64) -> f64 {
        self.words.iter().map(|word| sums_of(word, alpha)[word.end() as usize]).sum()
    }

    fn entropy(&self, alpha: f64) -> f64 {
        self.words.iter().map(|word| entropy(word, alpha)).sum()
    }
}

impl<W: WordLattice, B> WordLattices<W, B> {
    /// Return an error for more segmentations than fit in memory.
    fn check_size(&self, n: usize) -> Result<(), Error> {
        let bytes: usize = self.words.iter().map(|word| word.end() as usize).sum();
        if n > MAX_SEGMENTATIONS {
            return Err(too_many(n.to_string(), format!("at most {MAX_SEGMENTATIONS}")));
        }
        if n > 1 && n.saturating_mul(bytes) > MAX_BYTES {
            let expected = format!("at most {} for this text", (MAX_BYTES / bytes).max(1));
            return Err(too_many(format!("{n}, of a text of {bytes} bytes"), expected));
        }
        Ok(())
    }
}

fn too_many(found: String, expected: String) -> Error {
    Error::new(ErrorKind::Argument, "n", found, expected)
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

/// Return ln of the probability that the noise of a path with this log-probability exceeds the threshold.
fn log_inclusion(log_probability: f64, threshold: f64) -> f64 {
    let expected = (log_probability - threshold).exp();
    if expected > 0.0 {
        (-(-expected).exp_m1()).ln()
    } else {
        log_probability - threshold
    }
}
