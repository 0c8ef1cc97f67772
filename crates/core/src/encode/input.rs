//! What a pipeline is given.

use crate::added_tokens::Selector;
use crate::model::Sampling;

/// What is encoded: a text, or words that somebody else has made of one.
#[derive(Clone, Copy, Debug)]
pub enum Input<'t> {
    /// A text.
    Text(&'t str),
    /// Words; each is normalized and split further, but keeps its number.
    Words(&'t [&'t str]),
}

impl<'t> Input<'t> {
    /// Its texts.
    pub fn texts(self) -> impl Iterator<Item = &'t str> {
        let (one, many): (Option<&str>, &[&str]) = match self {
            Self::Text(text) => (Some(text), &[]),
            Self::Words(words) => (None, words),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// Its size.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.texts().map(str::len).sum()
    }
}

/// How many tokens to make room for, where a text of so many bytes is encoded: about as many as English has.
#[must_use]
pub fn room_for(bytes: usize) -> usize {
    bytes / 4 + 16
}

/// How an input is encoded.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Frame the ids as the post-processor says.
    pub add_special_tokens: bool,
    /// Which special tokens are recognised in the text.
    pub parse_special: &'o Selector,
    /// Draw segmentations at random.
    pub sampling: Option<Sampling>,
}

impl Options<'_> {
    /// The same for a text of a batch.
    #[must_use]
    pub fn at_row(self, row: usize) -> Self {
        Self { sampling: self.sampling.map(|sampling| sampling.at_row(row)), ..self }
    }
}
