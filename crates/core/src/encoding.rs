//! An encoded text with every field; truncates, concatenates and pads encodings, and finds tokens.

use crate::error::{Error, ErrorKind};
use crate::spec::{Direction, Padding, Truncation, TruncationStrategy};

/// The word index, the sequence index and the index of spaces of tokens without one.
pub const NONE: u32 = u32::MAX;

/// The maximum number of tokens in all overlapping windows of one text.
const MAX_WINDOWED: usize = 1 << 26;

/// One token of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Vocabulary id.
    pub id: u32,
    /// Type id.
    pub type_id: u32,
    /// First character of the original text.
    pub start: u32,
    /// Character after the last.
    pub end: u32,
    /// Index of its word, or `NONE`.
    pub word: u32,
    /// 0 or 1 for the text of a pair, or `NONE`.
    pub sequence: u32,
    /// Index of the spaces of an added token among those of its row, or `NONE`.
    pub spaces: u32,
    /// Whether the template or padding inserted it.
    pub special: bool,
    /// 1, or 0 for padding.
    pub attention: bool,
}

impl Token {
    /// Return a token of a word, with its character offsets.
    #[must_use]
    pub fn of_word(id: u32, [start, end]: [u32; 2], word: u32, sequence: u32) -> Self {
        Self {
            id,
            type_id: sequence,
            start,
            end,
            word,
            sequence,
            spaces: NONE,
            special: false,
            attention: true,
        }
    }

    /// Return a token that the template or padding inserts.
    #[must_use]
    pub fn inserted(id: u32, type_id: u32, attention: bool) -> Self {
        Self {
            id,
            type_id,
            start: 0,
            end: 0,
            word: NONE,
            sequence: NONE,
            spaces: NONE,
            special: true,
            attention,
        }
    }
}

/// An encoded text, with its overflow windows if it was truncated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The tokens in order.
    pub tokens: Vec<Token>,
    /// The windows after the first, in order.
    pub overflowing: Vec<Encoding>,
}

impl Encoding {
    /// Return an encoding without overflow windows.
    #[must_use]
    pub fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, overflowing: Vec::new() }
    }

    /// Split into windows of `max` tokens that overlap by `stride` tokens. The first one stays, the others overflow.
    pub fn truncate(&mut self, max: usize, stride: usize, direction: Direction) {
        if self.tokens.len() <= max {
            return;
        }
        let tokens = std::mem::take(&mut self.tokens);
        if max == 0 {
            self.overflowing.push(Self::new(tokens));
            return;
        }
        let mut windows = windows(tokens.len(), max, stride, direction)
            .into_iter()
            .map(|(start, end)| tokens[start..end].to_vec());
        self.tokens = windows.next().unwrap_or_default();
        self.overflowing = windows.map(Self::new).collect();
    }

    /// Append another encoding as [`Self::joined`] does, without a copy if neither has overflow windows.
    #[must_use]
    pub fn followed_by(mut self, next: Self) -> Self {
        if !self.overflowing.is_empty() || !next.overflowing.is_empty() {
            return self.joined(&next);
        }
        if self.tokens.is_empty() {
            return next;
        }
        self.tokens.extend(next.tokens);
        self
    }

    /// Return this encoding followed by another; overflow windows of both are combined as in `tokenizers`.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let mut overflowing = Vec::new();
        for mine in &self.overflowing {
            overflowing.push(mine.concat(other));
            overflowing.extend(other.overflowing.iter().map(|theirs| mine.concat(theirs)));
        }
        overflowing.extend(other.overflowing.iter().map(|theirs| self.concat(theirs)));
        Self { overflowing, ..self.concat(other) }
    }

    fn concat(&self, other: &Self) -> Self {
        Self::new([self.tokens.as_slice(), other.tokens.as_slice()].concat())
    }

    /// Pad to `length` tokens, overflow windows too.
    pub fn pad(&mut self, length: usize, padding: &Padding) {
        self.overflowing.iter_mut().for_each(|window| window.pad(length, padding));
        let missing = length.saturating_sub(self.tokens.len());
        let filling = Token::inserted(padding.pad_id, padding.pad_type_id, false);
        match padding.direction {
            Direction::Right => self.tokens.resize(self.tokens.len() + missing, filling),
            Direction::Left => drop(self.tokens.splice(0..0, std::iter::repeat_n(filling, missing))),
        }
    }
}

/// Return the number of tokens in all windows over `len` tokens.
fn windowed(len: usize, max: usize, stride: usize) -> usize {
    let step = max - stride.min(max.saturating_sub(1));
    match (len.checked_sub(max), step) {
        (None | Some(0), _) | (_, 0) => len,
        (Some(rest), step) => max.saturating_mul(1 + rest.div_ceil(step)),
    }
}

/// Return the spans of windows over `len` tokens; the first is the one that stays.
fn windows(len: usize, max: usize, stride: usize, direction: Direction) -> Vec<(usize, usize)> {
    let step = max - stride.min(max - 1);
    let mut spans = Vec::new();
    let mut skipped = 0;
    loop {
        let reached = (skipped + max).min(len);
        spans.push(match direction {
            Direction::Right => (skipped, reached),
            Direction::Left => (len - reached, len - skipped),
        });
        if reached == len {
            return spans;
        }
        skipped += step;
    }
}

/// Return the number of tokens that each of two sequences keeps, `max` in total.
///
/// `None` if the strategy would remove all tokens of a sequence, or truncate an absent one.
pub(crate) fn kept_lengths(
    first: usize,
    second: Option<usize>,
    max: usize,
    strategy: TruncationStrategy,
) -> Option<(usize, usize)> {
    let other = second.unwrap_or(0);
    let excess = (first + other).saturating_sub(max);
    if excess == 0 {
        return Some((first, other));
    }
    if max == 0 {
        return Some((0, 0));
    }
    match strategy {
        TruncationStrategy::LongestFirst if second.is_none() => Some((max, 0)),
        TruncationStrategy::LongestFirst => Some(balanced(first, other, max)),
        TruncationStrategy::OnlyFirst if first > excess => Some((first - excess, other)),
        TruncationStrategy::OnlySecond if second.is_some() && other > excess => {
            Some((first, other - excess))
        }
        TruncationStrategy::OnlyFirst | TruncationStrategy::OnlySecond => None,
    }
}

/// Truncate the longer sequence to the length of the shorter, then both equally; the longer one gets the odd token.
fn balanced(first: usize, second: usize, max: usize) -> (usize, usize) {
    let shorter = first.min(second);
    let (short, long) = if shorter <= max && shorter.max(max - shorter) + shorter <= max {
        (shorter, max - shorter)
    } else {
        (max / 2, max / 2 + max % 2)
    };
    if first > second {
        (long, short)
    } else {
        (short, long)
    }
}

/// Find the first token that covers a character of a sequence.
#[must_use]
pub fn token_of_char(tokens: &[Token], sequence: u32, char: u32) -> Option<usize> {
    tokens.iter().position(|token| token.sequence == sequence && (token.start..token.end).contains(&char))
}

/// Find the first token of a word of a sequence, and the one after its last.
#[must_use]
pub fn tokens_of_word(tokens: &[Token], sequence: u32, word: u32) -> Option<(usize, usize)> {
    let is_of_word = |token: &Token| (token.sequence, token.word) == (sequence, word);
    Some((tokens.iter().position(is_of_word)?, 1 + tokens.iter().rposition(is_of_word)?))
}

/// Return the padded length of encodings, the longest of which has `longest` tokens.
pub(crate) fn padded_length(longest: usize, padding: &Padding) -> usize {
    let length = padding.length.unwrap_or(longest);
    match padding.pad_to_multiple_of {
        Some(multiple) if multiple > 0 => length.next_multiple_of(multiple),
        _ => length,
    }
}

/// Truncate one or two encodings to `max` tokens together.
///
/// Fails if the strategy would remove a whole sequence, or if the overlapping windows have too many tokens.
pub fn truncate(
    first: &mut Encoding,
    second: Option<&mut Encoding>,
    max: usize,
    truncation: &Truncation,
) -> Result<(), Error> {
    let second_len = second.as_ref().map(|encoding| encoding.tokens.len());
    let kept = kept_lengths(first.tokens.len(), second_len, max, truncation.strategy)
        .ok_or_else(|| too_short(truncation))?;
    check_windows(first.tokens.len(), kept.0, truncation.stride)?;
    check_windows(second_len.unwrap_or(0), kept.1, truncation.stride)?;
    first.truncate(kept.0, truncation.stride, truncation.direction);
    if let Some(second) = second {
        second.truncate(kept.1, truncation.stride, truncation.direction);
    }
    Ok(())
}

/// Return the error for a sequence that the strategy cannot truncate enough.
pub(crate) fn too_short(truncation: &Truncation) -> Error {
    let sequence = match truncation.strategy {
        TruncationStrategy::LongestFirst => "longest_first, and sequences",
        TruncationStrategy::OnlyFirst => "only_first, and a first sequence",
        TruncationStrategy::OnlySecond => "only_second, and a second sequence",
    };
    let found = format!("{sequence} too short to be truncated that far");
    Error::new(ErrorKind::Argument, "truncation.strategy", found, "longest_first, or a longer sequence")
}

fn check_windows(len: usize, max: usize, stride: usize) -> Result<(), Error> {
    let held = windowed(len, max, stride);
    if held <= MAX_WINDOWED.max(len) {
        return Ok(());
    }
    let found = format!("{stride}, by which {len} tokens become windows of {held}");
    let expected = format!("a stride whose windows hold at most {MAX_WINDOWED} tokens");
    Err(Error::new(ErrorKind::Argument, "truncation.stride", found, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_overlap_by_the_stride() {
        assert_eq!(windows(7, 3, 1, Direction::Right), [(0, 3), (2, 5), (4, 7)]);
        assert_eq!(windows(7, 3, 1, Direction::Left), [(4, 7), (2, 5), (0, 3)]);
        assert_eq!(windows(4, 3, 0, Direction::Left), [(1, 4), (0, 1)]);
    }

    #[test]
    fn finds_tokens_by_character_and_by_word() {
        // A template token, two tokens of word 0, one that covers no character, and a token of a pair.
        let of_word = |span, word, sequence| Token::of_word(7, span, word, sequence);
        let tokens = [
            Token::inserted(1, 0, true),
            of_word([0, 3], 0, 0),
            of_word([2, 4], 0, 0),
            of_word([4, 4], 1, 0),
            of_word([0, 4], 0, 1),
        ];
        let found = [0, 2, 3, 4].map(|char| token_of_char(&tokens, 0, char));
        assert_eq!(found, [Some(1), Some(1), Some(2), None]);
        assert_eq!([token_of_char(&tokens, 1, 3), token_of_char(&tokens, 2, 0)], [Some(4), None]);
        let found = [0, 1, 2].map(|word| tokens_of_word(&tokens, 0, word));
        assert_eq!(found, [Some((1, 3)), Some((3, 4)), None]);
        assert_eq!(tokens_of_word(&tokens, 1, 0), Some((4, 5)));
    }

    #[test]
    fn counts_the_tokens_of_all_windows() {
        assert_eq!(windowed(7, 3, 1), 9);
        assert_eq!(windowed(3, 3, 1), 3);
        assert_eq!(windowed(5, 0, 0), 5);
        assert_eq!(windowed(1_000_000, 512, 511), 512 * (1 + 1_000_000 - 512));
    }

    #[test]
    fn truncation_strategies_divide_the_maximum_length() {
        use TruncationStrategy::{LongestFirst, OnlyFirst, OnlySecond};
        assert_eq!(kept_lengths(3, Some(9), 8, LongestFirst), Some((3, 5)));
        assert_eq!(kept_lengths(9, Some(8), 7, LongestFirst), Some((4, 3)));
        assert_eq!(kept_lengths(9, Some(3), 8, OnlyFirst), Some((5, 3)));
        assert_eq!(kept_lengths(9, Some(1), 8, OnlySecond), None);
        assert_eq!(kept_lengths(9, None, 8, LongestFirst), Some((8, 0)));
    }
}
