//! The settings of a scanner: which pattern of a published model it implements.

/// A scanner for one known split pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stages::pretokenize) struct Scanner {
    pub(super) family: PatternFamily,
    pub(super) classification: Classification,
    /// Contractions such as `'s` are words of their own; for o200k they end a word.
    pub(super) contractions: bool,
    /// The most digits of a word.
    pub(super) max_digits: usize,
    /// The first word of a number has fewer digits, not the last.
    pub(super) digits_from_right: bool,
    /// The line ends and slashes that a run of symbols includes.
    pub(super) trailing: TrailingChars,
    /// Numbers are split off first; the pattern sees only the text between them.
    pub(super) between_numbers: bool,
    /// The whitespace at the end of a text is one word, line ends included.
    pub(super) joins_last_spaces: bool,
    /// Words of letters are one word if one ASCII space is between them, or one other character and a space.
    pub(super) joins_words: bool,
}

/// Patterns that one rule for word boundaries covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternFamily {
    /// GPT-2: words are runs of one class, with a space before.
    Gpt2,
    /// cl100k: words are runs of letters, with any one character before.
    Cl100k,
    /// o200k: as cl100k, and a capital after a small letter begins a word.
    O200k,
    /// DeepSeek-V3: words stay within zones (numbers, Han and kana, the rest).
    DeepSeek,
    /// CLIP: words are runs of one class, without spaces.
    Clip,
}

/// How a pattern classifies characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Classification {
    /// Letters, numbers, whitespace and others by Unicode category.
    Unicode,
    /// As `Unicode`, with marks as letters.
    MarksAsLetters,
    /// As `Unicode`, with the numbers of the `Digits` pre-tokenizer.
    Numeric,
    /// As `Unicode`, with capitals, small letters and marks apart.
    Cased,
    /// As `Cased`, with Chinese characters apart.
    CasedAndHan,
    /// The classes of DeepSeek-V3's patterns.
    DeepSeek,
}

/// The characters that a run of symbols includes at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrailingChars {
    Nothing,
    LineEnds,
    LineEndsAndSlashes,
}

impl Scanner {
    /// The scanner of the byte-level pre-tokenizer.
    pub(in crate::stages::pretokenize) const GPT2: Self = Self {
        family: PatternFamily::Gpt2,
        classification: Classification::Unicode,
        contractions: true,
        max_digits: usize::MAX,
        digits_from_right: false,
        trailing: TrailingChars::Nothing,
        between_numbers: false,
        joins_last_spaces: false,
        joins_words: false,
    };

    /// The scanner of `DEEPSEEK`.
    pub(in crate::stages::pretokenize) const DEEPSEEK: Self = Self {
        family: PatternFamily::DeepSeek,
        classification: Classification::DeepSeek,
        contractions: false,
        max_digits: 3,
        trailing: TrailingChars::LineEnds,
        ..Self::GPT2
    };

    /// The scanner of `CLIP` followed by the byte-level pattern.
    pub(in crate::stages::pretokenize) const CLIP: Self =
        Self { family: PatternFamily::Clip, max_digits: 1, ..Self::GPT2 };

    /// Return whether a word begins or ends before every space that follows a letter or digit, and the words on each side
    /// do not depend on the other one.
    pub(in crate::stages::pretokenize) fn divides_at_spaces(self) -> bool {
        !self.joins_words
    }
}
