//! The texts that a pattern is known by: one of some spellings for each of its alternatives, in their order.
//!
//! Patterns are copied from model to model and rewritten on the way: possessive repetitions, line ends as they are
//! or escaped, contractions in another order. Only spellings are listed that mean the same to Oniguruma on every
//! text, or for which a scanner has a field; the tests hold each to the regular expression itself.

use super::bloom::BLOOM;
use super::scanner::{Alphabet, Family, Scanner, Trail};

const CONTRACTIONS: [&str; 2] = [r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|", r"'(?i:[sdmt]|ll|ve|re)|"];

/// Runs of letters; with marks among them or not.
const LETTERS: [(&str, Alphabet); 4] = [
    (r"[^\r\n\p{L}\p{N}]?\p{L}+|", Alphabet::Plain),
    (r"[^\r\n\p{L}\p{N}]?+\p{L}+|", Alphabet::Plain),
    (r"[^\r\n\p{L}\p{N}]?+\p{L}++|", Alphabet::Plain),
    (r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|", Alphabet::Marked),
];

/// Capitals, then small letters, with a contraction after them or without.
const CASED: [(&str, (Alphabet, bool)); 3] = [
    (
        concat!(
            r"[\p{Han}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        ),
        (Alphabet::Han, true),
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        ),
        (Alphabet::Cased, true),
    ),
    (
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
        ),
        (Alphabet::Cased, false),
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

const MARKS: [(&str, Trail); 6] = [
    (r" ?[^\s\p{L}\p{N}]+[\r\n]*|", Trail::LineEnds),
    (r" ?[^\s\p{L}\p{N}]++[\r\n]*|", Trail::LineEnds),
    (r" ?[^\s\p{L}\p{N}]++[\r\n]*+|", Trail::LineEnds),
    (r" ?[^\s\p{L}\p{N}]+[\r\n/]*|", Trail::LineEndsAndSlashes),
    (r" ?[^\s\p{L}\p{N}]+|", Trail::Nothing),
    (r" ?[^\s\p{L}\p{N}\r\n]+|", Trail::Nothing),
];
const MARKS_BESIDE_MARKED: [(&str, Trail); 1] = [(r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|", Trail::LineEnds)];

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
        let scanner = Self::read_cased(rest).or_else(|| Self::read_plain(rest));
        scanner.filter(|_| rest.is_empty())
    }

    /// This pattern on what a cut at every number leaves, if there is a scanner for that.
    pub(in super::super) fn between_numbers(self, digits: Digits) -> Option<Self> {
        let (alphabet, max_digits) = match digits {
            Digits::Numeric if self.alphabet != Alphabet::Plain => return None,
            Digits::Numeric => (Alphabet::Numeric, 1),
            Digits::Numbers(most) => (self.alphabet, most),
        };
        let is_word_family = matches!(self.family, Family::Gpt2 | Family::Plain | Family::Cased);
        // Fewer digits than the cut leaves together would cut them again.
        let fits = is_word_family && max_digits <= self.max_digits && !self.joins_last_spaces;
        fits.then_some(Self { alphabet, max_digits, between_numbers: true, ..self })
    }

    fn read_cased(rest: &mut &str) -> Option<Self> {
        let (alphabet, contractions) = take(rest, &CASED)?;
        let max_digits = take(rest, &NUMBERS)?;
        let trail = take(rest, &MARKS)?;
        let joins_last_spaces = take(rest, &SPACES)?;
        let family = Family::Cased;
        Some(Self { family, alphabet, contractions, max_digits, trail, joins_last_spaces, ..Self::GPT2 })
    }

    fn read_plain(rest: &mut &str) -> Option<Self> {
        let contractions = take(rest, &CONTRACTIONS.map(|text| (text, true))).is_some();
        let alphabet = take(rest, &LETTERS)?;
        let max_digits = take(rest, &NUMBERS)?;
        let trail = match alphabet {
            Alphabet::Marked => take(rest, &MARKS_BESIDE_MARKED)?,
            _ => take(rest, &MARKS)?,
        };
        let joins_last_spaces = take(rest, &SPACES)?;
        let family = Family::Plain;
        Some(Self { family, alphabet, contractions, max_digits, trail, joins_last_spaces, ..Self::GPT2 })
    }
}

/// How numbers are cut out before a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Digits {
    /// Every digit alone, by the pre-tokenizer for digits.
    Numeric,
    /// At most so many together, by the isolated matches of `\p{N}` or `\p{N}{1,3}`.
    Numbers(usize),
}

impl Digits {
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
