//! All segmentations of a text of several words: the best, samples, and their entropy.
//!
//! No piece crosses the end of a word, so the segmentations of the text combine those of its words: sums and
//! entropies add up, and sampling word by word samples the whole text.

use super::lattice::{entropy, sums_of, WordLattice};
use super::nbest::{BestPaths, Path, SampledPath};
use super::path_sampling::{sample_through, sample_without_replacement};
use crate::error::{Error, ErrorKind};
use crate::model::Sampling;

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
    /// ln of the sum of exp(alpha * score).
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
