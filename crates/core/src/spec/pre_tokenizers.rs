//! Pre-tokenizers, as in `tokenizer.json`.

use super::{ByteLevelSpec, CustomSpec, MetaspaceSpec, PatternSpec, SplitBehavior};

/// The `pre_tokenizer` of a tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreTokenizerSpec {
    /// `BertPreTokenizer`: removes whitespace and isolates punctuation characters.
    Bert,
    /// `ByteLevel`: splits by GPT-2's pattern and maps bytes to printable characters.
    ByteLevel(ByteLevelSpec),
    /// `CharDelimiterSplit`: splits at a character, which is removed.
    CharDelimiterSplit {
        /// The character to split at.
        delimiter: char,
    },
    /// `Digits`: splits numbers from other text.
    Digits {
        /// Each digit is a word of its own.
        individual_digits: bool,
    },
    /// `FixedLength`: splits into words of a fixed length.
    FixedLength {
        /// The length in characters; the last word may be shorter.
        length: usize,
    },
    /// `Metaspace`: replaces spaces by the metaspace and splits before it.
    Metaspace(MetaspaceSpec),
    /// `Punctuation`: splits punctuation characters from other text.
    Punctuation {
        /// What becomes of the punctuation.
        behavior: SplitBehavior,
    },
    /// `Split`: splits at the matches of a pattern.
    Split {
        /// The text or regular expression to split at.
        pattern: PatternSpec,
        /// What becomes of the matches.
        behavior: SplitBehavior,
        /// Treats the text between matches as the matches.
        invert: bool,
    },
    /// `UnicodeScripts`: splits where the script changes.
    UnicodeScripts,
    /// `Whitespace`: the matches of `\w+|[^\w\s]+`.
    Whitespace,
    /// `WhitespaceSplit`: splits at whitespace, which is removed.
    WhitespaceSplit,
    /// A function of the user.
    Custom(CustomSpec),
    /// `Sequence`: several pre-tokenizers, each on the words of the one before.
    Sequence(Vec<PreTokenizerSpec>),
}
