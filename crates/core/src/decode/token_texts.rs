//! A list of strings in one buffer, which decoders pass to each other, and why a decoder fails to write one.

use crate::error::Error;

/// Strings one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenTexts {
    text: String,
    ends: Vec<usize>,
}

impl TokenTexts {
    /// The strings in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// The length of all strings together, in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Forget all strings; their memory stays.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Append a whole string.
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.end();
    }

    /// The buffer, to write the next string at its end; [`Self::end`] closes it.
    pub(super) fn open(&mut self) -> &mut String {
        &mut self.text
    }

    /// Close the string that was written since the last one.
    pub(super) fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// All strings joined.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Why a stage fails.
pub(super) enum Fault {
    /// It writes more than `max` bytes.
    TooLong { max: usize },
    /// A regular expression gives up.
    Pattern(Box<Error>),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Pattern(Box::new(error))
    }
}
