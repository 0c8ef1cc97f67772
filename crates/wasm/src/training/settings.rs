//! What all learners take.

/// The candidates and pieces of a step that are shown.
pub(super) const TOP: usize = 12;

/// How to train.
pub(super) struct Settings {
    pub(super) vocab_size: usize,
    pub(super) special_tokens: Vec<String>,
    /// The characters that the pipeline makes words of their own.
    pub(super) isolated_characters: Vec<char>,
    /// The number of steps that are traced.
    pub(super) steps: usize,
    /// The word whose lattice Unigram shows.
    pub(super) word: Option<String>,
}
