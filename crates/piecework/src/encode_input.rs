//! What can be encoded: a text, a pair of texts, or words.

use piecework_core::engine::Input;
use piecework_core::engine::batch::MAX_TEXT_BYTES;
use piecework_core::error::{Error, ErrorKind};

/// A text or the words of a text, alone or with a second one.
///
/// Everything that is encoded converts into it:
///
/// ```
/// use piecework::{EncodeInput, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
/// assert_eq!(tokenizer.encode("to be")?.ids(), [1, 2]);
/// assert_eq!(tokenizer.encode(("to", "be be"))?.type_ids(), [0, 1, 1]);
/// let words = ["to", "be"];
/// assert_eq!(tokenizer.encode(EncodeInput::words(&words))?.word_ids(), [Some(0), Some(1)]);
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EncodeInput<'t> {
    pub(crate) text: Input<'t>,
    pub(crate) pair: Option<Input<'t>>,
}

impl<'t> EncodeInput<'t> {
    /// Make the input of words; each is normalized and split further, and its tokens have its index.
    #[must_use]
    pub fn words(words: &'t [&'t str]) -> Self {
        Self { text: Input::Words(words), pair: None }
    }

    /// Add the second sequence of a pair.
    #[must_use]
    pub fn with_pair(self, pair: impl Into<EncodeInput<'t>>) -> Self {
        Self { pair: Some(pair.into().text), ..self }
    }

    /// Return the texts: one, or two of a pair.
    pub(crate) fn texts(self) -> impl Iterator<Item = Input<'t>> {
        std::iter::once(self.text).chain(self.pair)
    }

    /// Reject texts whose offsets would not fit 32 bits.
    pub(crate) fn check(self) -> Result<(), Error> {
        match self.texts().map(Input::bytes).find(|bytes| *bytes > MAX_TEXT_BYTES) {
            Some(bytes) => {
                let found = format!("{bytes} bytes");
                Err(Error::new(ErrorKind::Argument, "text", found, "less than 4 GiB in one text"))
            }
            None => Ok(()),
        }
    }
}

impl<'t> From<&'t str> for EncodeInput<'t> {
    fn from(text: &'t str) -> Self {
        Self { text: Input::Text(text), pair: None }
    }
}

impl<'t> From<&&'t str> for EncodeInput<'t> {
    fn from(text: &&'t str) -> Self {
        Self::from(*text)
    }
}

impl<'t> From<&'t String> for EncodeInput<'t> {
    fn from(text: &'t String) -> Self {
        Self::from(text.as_str())
    }
}

impl<'t> From<(&'t str, &'t str)> for EncodeInput<'t> {
    fn from((text, pair): (&'t str, &'t str)) -> Self {
        Self::from(text).with_pair(pair)
    }
}

impl<'t> From<&(&'t str, &'t str)> for EncodeInput<'t> {
    fn from(pair: &(&'t str, &'t str)) -> Self {
        Self::from(*pair)
    }
}

impl<'t> From<&'t (String, String)> for EncodeInput<'t> {
    fn from((text, pair): &'t (String, String)) -> Self {
        Self::from(text).with_pair(pair)
    }
}
