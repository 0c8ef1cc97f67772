//! The known patterns as settings of their scanners.

/// A known pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pretokenize) struct Scanner {
    pub(super) family: Family,
    pub(super) alphabet: Alphabet,
    /// `'s` and the like: words of their own, or with `Cased` the end of one.
    pub(super) contractions: bool,
    pub(super) max_digits: usize,
    /// What words of others take after them.
    pub(super) trail: Trail,
    /// Numbers are cut out first: the pattern sees only what is between them.
    pub(super) between_numbers: bool,
    /// The spaces that a text ends with are one word, line ends or not.
    pub(super) joins_last_spaces: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Words are runs of one class, with a space before.
    Gpt2,
    /// Words are runs of letters, with any one character before.
    Plain,
    /// Capitals begin a word.
    Cased,
    /// Words stay within zones: numbers, Han and kana, the rest.
    Zoned,
    /// Words are runs of one class, spaces none.
    Clip,
    /// Words are runs of all but spaces and some punctuation, with a space before.
    Bloom,
    /// Words are runs of letters or punctuation, with a space of any kind before.
    Coder,
}

/// What characters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Letters, numbers, spaces and others as Unicode has them.
    Plain,
    /// Marks are letters.
    Marked,
    /// Numbers are those of the pre-tokenizer for digits.
    Numeric,
    /// Capitals, small letters and marks are told apart.
    Cased,
    /// The same, and Chinese characters.
    Han,
    /// As DeepSeek-V3's patterns see them.
    Zoned,
    /// What BLOOM's words are made of, or spaces.
    Bloom,
    /// As DeepSeek Coder's patterns see them.
    Coder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trail {
    Nothing,
    LineEnds,
    LineEndsAndSlashes,
}

impl Scanner {
    /// That of the byte level.
    pub(in crate::pretokenize) const GPT2: Self = Self {
        family: Family::Gpt2,
        alphabet: Alphabet::Plain,
        contractions: true,
        max_digits: usize::MAX,
        trail: Trail::Nothing,
        between_numbers: false,
        joins_last_spaces: false,
    };

    /// That of `DEEPSEEK`.
    pub(in crate::pretokenize) const DEEPSEEK: Self = Self {
        family: Family::Zoned,
        alphabet: Alphabet::Zoned,
        contractions: false,
        max_digits: 3,
        trail: Trail::LineEnds,
        ..Self::GPT2
    };

    /// That of `BLOOM`.
    pub(super) const BLOOM: Self = Self { family: Family::Bloom, alphabet: Alphabet::Bloom, ..Self::GPT2 };

    /// That of `DEEPSEEK_CODER` and a cut at every digit.
    pub(in crate::pretokenize) const DEEPSEEK_CODER: Self =
        Self { family: Family::Coder, alphabet: Alphabet::Coder, max_digits: 1, ..Self::GPT2 };

    /// That of `CLIP` and the byte level's own after it.
    pub(in crate::pretokenize) const CLIP: Self =
        Self { family: Family::Clip, max_digits: 1, ..Self::GPT2 };
}
