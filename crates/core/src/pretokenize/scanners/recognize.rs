//! The texts that a pattern is known by: one of some spellings for each of its alternatives, in their order.
//!
//! Patterns are copied from model to model and rewritten on the way: possessive repetitions, line ends as they are
//! or escaped, contractions in another order. Only spellings are listed that mean the same to Oniguruma on every
//! text, or for which a scanner has a field; the tests hold each to the regular expression itself.

use super::bloom::BLOOM;
use super::scanner::{Classification, PatternFamily, Scanner, TrailingChars};

const CONTRACTIONS: [&str; 2] = [r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|", r"'(?i:[sdmt]|ll|ve|re)|"];

/// Runs of letters; with marks among them or not.
const LETTERS: [(&str, Classification); 4] = [
    (r"[^\r\n\p{L}\p{N}]?\p{L}+|", Classification::Unicode),
    (r"[^\r\n\p{L}\p{N}]?+\p{L}+|", Classification::Unicode),
    (r"[^\r\n\p{L}\p{N}]?+\p{L}++|", Classification::Unicode),
    (r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|", Classification::MarksAsLetters),
];

/// Capitals, then small letters, with a contraction after them or without.
const CASED: [(&str, (Classification, bool)); 3] = [
    (
        concat!(
            r"[\p{Han}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        ),
        (Classification::CasedAndHan, true),
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        ),
        (Classification::Cased, true),
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
        ),
        (Classification::Cased, false),
    ),
];

/// The most digits of a word. A plus after braces repeats, as Oniguruma reads it here.
const NUMBERS: [(&str, usize); 6] = [
    (r"\p{N}|", 1),
    (r"\p{N}{1}|", 1),
    (r"\p{N}{1,2}|", 2),
    (r"\p{N}{1,3}|", 3),
    (r"\p{N}{1,3}+|", usize::MAX),
    (r"\p{N}+|", usize::MAX),
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

/// Whether the last spaces of a text are one word.
const SPACES: [(&str, bool); 5] = [
    (r"\s++$|\s*[\r\n]|\s+(?!\S)|\s+", true),
    (r"\s*[\r\n]+|\s+(?!\S)|\s+", false),
    (r"\s*[\r\n]|\s+(?!\S)|\s+", false),
    (r"\s*[\r\n]|\s+(?!\S)|\s", false),
    (r"\s++$|\s*[\r\n]|\s+(?!\S)|\s", true),
];

/// The published encoder's, that of `tokenizers` and that of tiktoken.
const GPT2: [&str; 3] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
];

impl Scanner {
    /// The scanner of a pattern, if it is a known one.
    pub(in super::super) fn of(pattern: &str) -> Option<Self> {
        let escaped = pattern.replace('\r', r"\r").replace('\n', r"\n");
        if GPT2.contains(&escaped.as_str()) {
            return Some(Self::GPT2);
        }
        if escaped == BLOOM {
            return Some(Self::BLOOM);
        }
        let rest = &mut escaped.as_str();
        let scanner = Self::read_o200k(rest).or_else(|| Self::read_cl100k(rest));
        scanner.filter(|_| rest.is_empty())
    }

    /// This pattern on what a cut at every number leaves, if there is a scanner for that.
    pub(in super::super) fn between_numbers(self, digits: NumberSplit) -> Option<Self> {
        let (classification, max_digits) = match digits {
            NumberSplit::Numeric if self.classification != Classification::Unicode => return None,
            NumberSplit::Numeric => (Classification::Numeric, 1),
            NumberSplit::Numbers(most) => (self.classification, most),
        };
        let is_word_family =
            matches!(self.family, PatternFamily::Gpt2 | PatternFamily::Cl100k | PatternFamily::O200k);
        // Fewer digits than the cut leaves together would cut them again.
        let fits = is_word_family && max_digits <= self.max_digits && !self.joins_last_spaces;
        fits.then_some(Self { classification, max_digits, between_numbers: true, ..self })
    }

    fn read_o200k(rest: &mut &str) -> Option<Self> {
        let (classification, contractions) = take(rest, &CASED)?;
        let max_digits = take(rest, &NUMBERS)?;
        let trailing = take(rest, &MARKS)?;
        let joins_last_spaces = take(rest, &SPACES)?;
        let family = PatternFamily::O200k;
        Some(Self {
            family,
            classification,
            contractions,
            max_digits,
            trailing,
            joins_last_spaces,
            ..Self::GPT2
        })
    }

    fn read_cl100k(rest: &mut &str) -> Option<Self> {
        let contractions = take(rest, &CONTRACTIONS.map(|text| (text, true))).is_some();
        let classification = take(rest, &LETTERS)?;
        let max_digits = take(rest, &NUMBERS)?;
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
            trailing,
            joins_last_spaces,
            ..Self::GPT2
        })
    }
}

/// How numbers are cut out before a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum NumberSplit {
    /// Every digit alone, by the pre-tokenizer for digits.
    Numeric,
    /// At most so many together, by the isolated matches of `\p{N}` or `\p{N}{1,3}`.
    Numbers(usize),
}

impl NumberSplit {
    /// The cut that a pattern makes, if it is such a one.
    pub(in super::super) fn of(pattern: &str) -> Option<Self> {
        match pattern {
            r"\p{N}" => Some(Self::Numbers(1)),
            r"\p{N}{1,3}" => Some(Self::Numbers(3)),
            _ => None,
        }
    }
}

/// Take one of some spellings off the beginning of a pattern; what it means.
fn take<M: Copy>(rest: &mut &str, spellings: &[(&str, M)]) -> Option<M> {
    spellings.iter().find_map(|&(text, meaning)| {
        *rest = rest.strip_prefix(text)?;
        Some(meaning)
    })
}
