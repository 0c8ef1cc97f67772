//! The input of a tokenizer and the options of one call.

use crate::model::Sampling;
use crate::stages::added_tokens::Selector;

/// An input to encode: a text, or the words of a pre-tokenized text.
#[derive(Clone, Copy, Debug)]
pub enum Input<'t> {
    /// A text.
    Text(&'t str),
    /// Words. Each is normalized and may be split further; its tokens have its word index.
    Words(&'t [&'t str]),
}

impl<'t> Input<'t> {
    /// Return the text, or every word.
    pub fn texts(self) -> impl Iterator<Item = &'t str> {
        let (one, many): (Option<&str>, &[&str]) = match self {
            Self::Text(text) => (Some(text), &[]),
            Self::Words(words) => (None, words),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// Return the size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.texts().map(str::len).sum()
    }
}

/// Return the number of tokens to reserve for a text of `bytes` bytes, estimated for English.
#[must_use]
pub fn estimated_tokens(bytes: usize) -> usize {
    bytes / 4 + 16
}

/// The options of one call.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Whether the post-processor inserts special tokens.
    pub add_special_tokens: bool,
    /// The special tokens that are recognized in the text.
    pub parse_special: &'o Selector,
    /// Draws segmentations at random, if set.
    pub sampling: Option<Sampling>,
}

impl Options<'_> {
    /// Return the options for one row of a batch, with random numbers of its own.
    #[must_use]
    pub fn at_row(self, row: usize) -> Self {
        Self { sampling: self.sampling.map(|sampling| sampling.at_row(row)), ..self }
    }
}

/// The number of a word: the next one, or that of a word that the caller gave.
#[derive(Clone, Copy)]
pub(super) enum WordNumber {
    Next(u32),
    Fixed(u32),
}

impl WordNumber {
    /// Return the number of the first word of a text, which has a number among those of its input.
    pub(super) fn of(input: Input<'_>, number: usize) -> Self {
        match input {
            Input::Text(_) => Self::Next(0),
            Input::Words(_) => Self::Fixed(number as u32),
        }
    }

    /// Return the number and goes to the next word.
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        match self {
            Self::Fixed(number) => *number,
            Self::Next(number) => {
                *number += 1;
                *number - 1
            }
        }
    }
}
