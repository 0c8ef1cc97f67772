//! What can be searched for, and settings that several stages share.

/// What is searched for in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSpec {
    /// This very text.
    Text(String),
    /// Whatever this regular expression matches.
    Regex(String),
}

/// Where the matches of a splitting pattern go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBehavior {
    /// Nowhere.
    Removed,
    /// Each is a piece of its own.
    Isolated,
    /// Each joins the piece before it.
    MergedWithPrevious,
    /// Each joins the piece after it.
    MergedWithNext,
    /// Neighbouring matches are one piece.
    Contiguous,
}

/// Which stretches of text get a word mark put before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrependScheme {
    /// Every stretch.
    Always,
    /// None.
    Never,
    /// The one at the beginning of the text.
    First,
}

/// Settings of byte-level stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLevelSpec {
    /// Put a space before text that does not begin with one.
    pub add_prefix_space: bool,
    /// Leave spaces out of offsets.
    pub trim_offsets: bool,
    /// Split by GPT-2's pattern.
    pub use_regex: bool,
}

/// Settings of Metaspace stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaspaceSpec {
    /// What stands for a space.
    pub replacement: char,
    /// Which stretches get one put before them.
    pub prepend_scheme: PrependScheme,
    /// Split before each.
    pub split: bool,
}
