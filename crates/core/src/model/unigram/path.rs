//! A path through the words of a text.

use crate::model::TokenSpan;

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
    /// The `n` best paths through all words, the best first.
    fn best(&self, words: &[W], n: usize) -> Vec<Path>;
}
