//! Lists of strings in one buffer, the input and output of decoders, and the errors of decoders.

use crate::error::Error;

/// Strings in one buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenTexts {
    text: String,
    ends: Vec<usize>,
}

impl TokenTexts {
    /// Iterate over the strings.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// Return the length of all strings in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Remove all strings and keep their memory.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Append a string.
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.end();
    }

    /// Return the buffer, to append to the next string; [`Self::end`] ends it.
    pub(super) fn open(&mut self) -> &mut String {
        &mut self.text
    }

    /// End the string that was written last.
    pub(super) fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Join all strings.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The error of one stage of a decoder.
pub(super) enum DecodeStageError {
    /// The output exceeds `max` bytes.
    TooLong { max: usize },
    /// A regular expression exceeds its step bound.
    Pattern(Box<Error>),
}

impl From<Error> for DecodeStageError {
    fn from(error: Error) -> Self {
        Self::Pattern(Box::new(error))
    }
}
