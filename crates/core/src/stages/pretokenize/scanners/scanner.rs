//! The settings of a scanner, and how the text of a pattern becomes them.
//!
//! Models copy patterns and rewrite them: possessive repetitions, line ends raw or escaped, contractions in
//! another order. A pattern is known if each of its alternatives has a listed spelling. All spellings of an
//! entry have the same matches under Oniguruma; the tests compare each with the regular expression.

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

const CONTRACTIONS: [&str; 2] = [r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|", r"'(?i:[sdmt]|ll|ve|re)|"];

/// Runs of letters, with or without marks.
const LETTERS: [(&str, Classification); 4] = [
    (r"[^\r\n\p{L}\p{N}]?\p{L}+|", Classification::Unicode),
    (r"[^\r\n\p{L}\p{N}]?+\p{L}+|", Classification::Unicode),
    (r"[^\r\n\p{L}\p{N}]?+\p{L}++|", Classification::Unicode),
    (r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|", Classification::MarksAsLetters),
];

/// Capitals, then small letters, with or without a contraction after them; whether words with a space between them are joined.
const CASED: [(&str, (Classification, bool, bool)); 4] = [
    (
        concat!(
            r"[\p{Han}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        ),
        (Classification::CasedAndHan, true, false),
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        ),
        (Classification::Cased, true, false),
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
        ),
        (Classification::Cased, false, false),
    ),
    (
        concat!(
            r"(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)",
            r"(?:[^\s\p{L}\p{M}\p{N}]? (?:[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?))*|",
        ),
        (Classification::Cased, true, true),
    ),
];

/// The most digits of a word, and whether they are grouped from the right. For Oniguruma, a plus after braces repeats the
/// group.
const NUMBERS: [(&str, (usize, bool)); 8] = [
    (r"\p{N}|", (1, false)),
    (r"\p{N}{1}|", (1, false)),
    (r"\p{N}{1,2}|", (2, false)),
    (r"\p{N}{1,3}|", (3, false)),
    (r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|", (3, true)),
    // The same matches, but only the first word of a number looks ahead.
    (r"(?<!\p{N})\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|\p{N}{3}|", (3, true)),
    (r"\p{N}{1,3}+|", (usize::MAX, false)),
    (r"\p{N}+|", (usize::MAX, false)),
];

const MARKS: [(&str, TrailingChars); 6] = [
    (r" ?[^\s\p{L}\p{N}]+[\r\n]*|", TrailingChars::LineEnds),
    (r" ?[^\s\p{L}\p{N}]++[\r\n]*|", TrailingChars::LineEnds),
    (r" ?[^\s\p{L}\p{N}]++[\r\n]*+|", TrailingChars::LineEnds),
    (r" ?[^\s\p{L}\p{N}]+[\r\n/]*|", TrailingChars::LineEndsAndSlashes),
    (r" ?[^\s\p{L}\p{N}]+|", TrailingChars::Nothing),
    (r" ?[^\s\p{L}\p{N}\r\n]+|", TrailingChars::Nothing),
];
const MARKS_BESIDE_MARKED: [(&str, TrailingChars); 1] =
    [(r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|", TrailingChars::LineEnds)];

/// Whether the whitespace at the end of a text is one word.
const SPACES: [(&str, bool); 5] = [
    (r"\s++$|\s*[\r\n]|\s+(?!\S)|\s+", true),
    (r"\s*[\r\n]+|\s+(?!\S)|\s+", false),
    (r"\s*[\r\n]|\s+(?!\S)|\s+", false),
    (r"\s*[\r\n]|\s+(?!\S)|\s", false),
    (r"\s++$|\s*[\r\n]|\s+(?!\S)|\s", true),
];

/// GPT-2's pattern in the published encoder, in `tokenizers` and in tiktoken.
const GPT2: [&str; 3] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
];

impl Scanner {
    /// Return the scanner of a pattern, if it is known.
    pub(in super::super) fn of(pattern: &str) -> Option<Self> {
        let escaped = pattern.replace('\r', r"\r").replace('\n', r"\n");
        if GPT2.contains(&escaped.as_str()) {
            return Some(Self::GPT2);
        }
        let rest = &mut escaped.as_str();
        let scanner = Self::read_o200k(rest).or_else(|| Self::read_cl100k(rest));
        // Some Han characters are numbers.
        let is_known = |scanner: &Self| {
            !scanner.digits_from_right || scanner.classification != Classification::CasedAndHan
        };
        scanner.filter(|scanner| rest.is_empty() && is_known(scanner))
    }

    /// Return the scanner for this pattern after a split at numbers, if there is one.
    pub(in super::super) fn between_numbers(self, digits: NumberSplit) -> Option<Self> {
        let (classification, max_digits) = match digits {
            NumberSplit::Numeric if self.classification != Classification::Unicode => return None,
            // Some Han characters are numbers.
            NumberSplit::Numbers(_) if self.classification == Classification::CasedAndHan => return None,
            NumberSplit::Numeric => (Classification::Numeric, 1),
            NumberSplit::Numbers(most) => (self.classification, most),
        };
        let is_word_family =
            matches!(self.family, PatternFamily::Gpt2 | PatternFamily::Cl100k | PatternFamily::O200k);
        // A pattern with fewer digits per word would split the numbers again.
        let joins = self.joins_last_spaces || self.joins_words;
        let fits = is_word_family && max_digits <= self.max_digits && !joins;
        fits.then_some(Self {
            classification,
            max_digits,
            digits_from_right: false,
            between_numbers: true,
            ..self
        })
    }

    fn read_o200k(rest: &mut &str) -> Option<Self> {
        let (classification, contractions, joins_words) = take(rest, &CASED)?;
        let (max_digits, digits_from_right) = take(rest, &NUMBERS)?;
        let trailing = take(rest, &MARKS)?;
        let joins_last_spaces = take(rest, &SPACES)?;
        let family = PatternFamily::O200k;
        Some(Self {
            family,
            classification,
            contractions,
            max_digits,
            digits_from_right,
            trailing,
            joins_last_spaces,
            joins_words,
            ..Self::GPT2
        })
    }

    fn read_cl100k(rest: &mut &str) -> Option<Self> {
        let contractions = take(rest, &CONTRACTIONS.map(|text| (text, true))).is_some();
        let classification = take(rest, &LETTERS)?;
        let (max_digits, digits_from_right) = take(rest, &NUMBERS)?;
        let trailing = match classification {
            Classification::MarksAsLetters => take(rest, &MARKS_BESIDE_MARKED)?,
            _ => take(rest, &MARKS)?,
        };
        let joins_last_spaces = take(rest, &SPACES)?;
        let family = PatternFamily::Cl100k;
        Some(Self {
            family,
            classification,
            contractions,
            max_digits,
            digits_from_right,
            trailing,
            joins_last_spaces,
            ..Self::GPT2
        })
    }
}

/// A split at numbers before a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum NumberSplit {
    /// The `Digits` pre-tokenizer: each digit alone.
    Numeric,
    /// The isolated matches of `\p{N}` or `\p{N}{1,3}`: at most this many digits.
    Numbers(usize),
}

impl NumberSplit {
    /// Return the split of a pattern, if it splits at numbers.
    pub(in super::super) fn of(pattern: &str) -> Option<Self> {
        match pattern {
            r"\p{N}" => Some(Self::Numbers(1)),
            r"\p{N}{1,3}" => Some(Self::Numbers(3)),
            _ => None,
        }
    }
}

/// Remove one of the spellings from the beginning of a pattern and return its meaning.
fn take<M: Copy>(rest: &mut &str, spellings: &[(&str, M)]) -> Option<M> {
    spellings.iter().find_map(|&(text, meaning)| {
        *rest = rest.strip_prefix(text)?;
        Some(meaning)
    })
}
