//! What can be encoded: a text, a pair of texts, or words.

use std::borrow::Cow;

use piecework_core::engine::Input;
use piecework_core::engine::batch::MAX_TEXT_BYTES;
use piecework_core::error::{Error as CoreError, ErrorKind as CoreKind};

/// A text or the words of a text, alone or with a second one.
///
/// Texts and pairs convert into it, borrowed or owned:
///
/// ```
/// use piecework::{EncodeInput, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
/// assert_eq!(tokenizer.encode("to be")?.ids(), [1, 2]);
/// assert_eq!(tokenizer.encode(format!("to {}", "be"))?.ids(), [1, 2]);
/// assert_eq!(tokenizer.encode(("to", "be be"))?.type_ids(), [0, 1, 1]);
/// let words = vec!["to".to_string(), "be".to_string()];
/// assert_eq!(tokenizer.encode(EncodeInput::words(&words))?.word_ids(), [Some(0), Some(1)]);
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncodeInput<'t> {
    text: Sequence<'t>,
    pair: Option<Sequence<'t>>,
}

/// One of the sequences of an input.
#[derive(Clone, Debug)]
enum Sequence<'t> {
    Text(Cow<'t, str>),
    Words(Vec<&'t str>),
}

impl Sequence<'_> {
    fn borrowed(&self) -> Input<'_> {
        match self {
            Self::Text(text) => Input::Text(text),
            Self::Words(words) => Input::Words(words),
        }
    }
}

impl<'t> EncodeInput<'t> {
    /// Make the input of words; each is normalized and split further, and its tokens have its index.
    #[must_use]
    pub fn words<S: AsRef<str>>(words: &'t [S]) -> Self {
        Self { text: Sequence::Words(words.iter().map(AsRef::as_ref).collect()), pair: None }
    }

    /// Add the second sequence of a pair; if `pair` is a pair itself, its first sequence.
    #[must_use]
    pub fn with_pair(self, pair: impl Into<EncodeInput<'t>>) -> Self {
        Self { pair: Some(pair.into().text), ..self }
    }

    /// Return the first sequence.
    pub(crate) fn text(&self) -> Input<'_> {
        self.text.borrowed()
    }

    /// Return the second sequence of a pair.
    pub(crate) fn pair(&self) -> Option<Input<'_>> {
        self.pair.as_ref().map(Sequence::borrowed)
    }

    /// Return the sequences: one, or two of a pair.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Input<'_>> {
        std::iter::once(self.text()).chain(self.pair())
    }

    /// Reject texts whose offsets would not fit 32 bits.
    pub(crate) fn check(&self) -> Result<(), CoreError> {
        match self.texts().map(Input::bytes).find(|bytes| *bytes > MAX_TEXT_BYTES) {
            Some(bytes) => {
                let found = format!("{bytes} bytes");
                Err(CoreError::new(CoreKind::Argument, "text", found, "less than 4 GiB in one text"))
            }
            None => Ok(()),
        }
    }
}

impl<'t> From<Cow<'t, str>> for EncodeInput<'t> {
    fn from(text: Cow<'t, str>) -> Self {
        Self { text: Sequence::Text(text), pair: None }
    }
}

impl<'t> From<&'t str> for EncodeInput<'t> {
    fn from(text: &'t str) -> Self {
        Self::from(Cow::Borrowed(text))
    }
}

impl From<String> for EncodeInput<'_> {
    fn from(text: String) -> Self {
        Self::from(Cow::Owned(text))
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

impl<'t> From<&'t Cow<'_, str>> for EncodeInput<'t> {
    fn from(text: &'t Cow<'_, str>) -> Self {
        Self::from(&**text)
    }
}

impl<'t, A: Into<Cow<'t, str>>, B: Into<Cow<'t, str>>> From<(A, B)> for EncodeInput<'t> {
    fn from((text, pair): (A, B)) -> Self {
        Self::from(text.into()).with_pair(pair.into())
    }
}

impl<'t, A: AsRef<str>, B: AsRef<str>> From<&'t (A, B)> for EncodeInput<'t> {
    fn from((text, pair): &'t (A, B)) -> Self {
        Self::from(text.as_ref()).with_pair(pair.as_ref())
    }
}
