//! Pre-tokenizers.

use super::{ByteLevelSpec, CustomSpec, MetaspaceSpec, PatternSpec, SplitBehavior};

/// Pre-tokenizers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreTokenizerSpec {
    /// Whitespace removed, every punctuation character alone.
    Bert,
    /// Bytes as printable characters, split by GPT-2's pattern.
    ByteLevel(ByteLevelSpec),
    /// Split on a character, which is removed.
    CharDelimiterSplit {
        /// The character.
        delimiter: char,
    },
    /// Digits apart from the rest.
    Digits {
        /// Each digit alone.
        individual_digits: bool,
    },
    /// Pieces of so many characters.
    FixedLength {
        /// How many.
        length: usize,
    },
    /// Spaces as a visible mark, split before it.
    Metaspace(MetaspaceSpec),
    /// Punctuation apart from the rest.
    Punctuation {
        /// Where it goes.
        behavior: SplitBehavior,
    },
    /// Split at the matches of a pattern.
    Split {
        /// The pattern.
        pattern: PatternSpec,
        /// Where matches go.
        behavior: SplitBehavior,
        /// What the pattern does not match is treated as the match.
        invert: bool,
    },
    /// Split where the script changes.
    UnicodeScripts,
    /// Words and runs of other characters, as `\w+|[^\w\s]+` finds them.
    Whitespace,
    /// Whitespace removed.
    WhitespaceSplit,
    /// A function of somebody else's.
    Custom(CustomSpec),
    /// One after the other.
    Sequence(Vec<PreTokenizerSpec>),
}
