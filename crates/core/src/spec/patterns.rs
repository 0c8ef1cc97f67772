//! Patterns, and settings that several stages share.

/// The `pattern` of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSpec {
    /// `String`: matches this text.
    Text(String),
    /// `Regex`: matches this regular expression (Oniguruma's syntax).
    Regex(String),
}

/// The `behavior` of a split: what becomes of the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBehavior {
    /// Matches are removed.
    Removed,
    /// Each match is a word of its own.
    Isolated,
    /// Each match is appended to the word before it.
    MergedWithPrevious,
    /// Each match is prepended to the word after it.
    MergedWithNext,
    /// Adjacent matches are one word.
    Contiguous,
}

/// The `prepend_scheme` of Metaspace: which segments between added tokens get a metaspace before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrependScheme {
    /// Every segment.
    Always,
    /// No segment.
    Never,
    /// Only the segment at the beginning of the text.
    First,
}

/// Settings of the `ByteLevel` pre-tokenizer, post-processor and decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLevelSpec {
    /// Adds a space before a text that does not begin with one.
    pub add_prefix_space: bool,
    /// Excludes leading and trailing spaces from offsets (post-processor).
    pub trim_offsets: bool,
    /// Splits by GPT-2's pattern (pre-tokenizer).
    pub use_regex: bool,
}

/// Settings of the `Metaspace` pre-tokenizer and decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaspaceSpec {
    /// The character that replaces a space, usually `▁`.
    pub replacement: char,
    /// The segments that get a `replacement` before them.
    pub prepend_scheme: PrependScheme,
    /// Splits before each `replacement`.
    pub split: bool,
}
