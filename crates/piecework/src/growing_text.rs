//! A text that grows at its end, such as a conversation.

use piecework_core::engine::batch::GrowingIds;

use crate::{EncodeInput, EncodeOptions, Error, Tokenizer};

/// The ids of a text that grows at its end; its beginning is not encoded again.
///
/// ```
/// use piecework::Tokenizer;
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\nor\nno\n##t\n")?;
/// let mut text = tokenizer.growing_text("to be or no")?;
/// assert_eq!((text.ids(), text.num_stable()), (&[1, 2, 3, 4][..], 3));
/// text.append("t to be")?;
/// assert_eq!((text.ids(), text.num_stable()), (&[1, 2, 3, 4, 5, 1, 2][..], 6));
/// # Ok::<(), piecework::Error>(())
/// ```
///
/// The ids are always those that [`Tokenizer::encode_ids`] returns for the whole text without special tokens. Text before
/// the last added token is not encoded again, nor text before the last space for the models of `tokenizer.json` whose
/// pre-tokenizer splits at spaces, which are most WordPiece and BPE models, and for BPE with `▁`. So an append costs the
/// new text and the word before it. For other models, such as SentencePiece's Unigram, it costs the text since the last
/// added token.
///
/// It holds the tokenizer, so it can be moved into a task; a clone grows independently.
#[derive(Clone, Debug)]
pub struct GrowingText {
    tokenizer: Tokenizer,
    options: EncodeOptions,
    ids: Vec<u32>,
    num_stable: usize,
    /// The end of the text, which has the ids that are not stable.
    rest: String,
}

impl GrowingText {
    /// Append text. If this fails, the text stays as it was.
    ///
    /// Fails for a special token, if the tokenizer refuses them, and if 4 GiB of text would have to be encoded again.
    pub fn append(&mut self, text: &str) -> Result<(), Error> {
        let len = self.rest.len();
        self.rest.push_str(text);
        let found = self.rest_ids().inspect_err(|_| self.rest.truncate(len))?;
        self.ids.truncate(self.num_stable);
        self.ids.extend(found.ids);
        self.num_stable += found.num_stable;
        self.rest.drain(..found.rest);
        Ok(())
    }

    fn rest_ids(&self) -> Result<GrowingIds, Error> {
        let parse_special = self.tokenizer.checked(&[EncodeInput::from(&self.rest)], &self.options)?;
        Ok(self.tokenizer.encoder().growing_ids(&self.rest, &parse_special)?)
    }

    /// Return the ids of the whole text.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Return the number of ids at the beginning that no appended text can change, for caches of a model.
    #[must_use]
    pub fn num_stable(&self) -> usize {
        self.num_stable
    }
}

/// # Encode text that grows
impl Tokenizer {
    /// Return a text that grows, beginning with `text`.
    pub fn growing_text(&self, text: &str) -> Result<GrowingText, Error> {
        self.growing_text_with(text, &EncodeOptions::default())
    }

    /// Return a text that grows. Of the options, only the choice of special tokens in the text applies; nothing is inserted
    /// or truncated.
    ///
    /// ```
    /// use piecework::{EncodeOptions, ParseSpecial, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\n[SEP]\nbe\n")?;
    /// let options = EncodeOptions::new().parse_special(ParseSpecial::Nothing);
    /// let mut text = tokenizer.growing_text_with("be [S", &options)?;
    /// text.append("EP]")?;
    /// assert_eq!(text.ids(), [2, 0, 0, 0]);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    pub fn growing_text_with(&self, text: &str, options: &EncodeOptions) -> Result<GrowingText, Error> {
        let (tokenizer, options) = (self.without_lengths()?, options.clone());
        let mut growing =
            GrowingText { tokenizer, options, ids: Vec::new(), num_stable: 0, rest: String::new() };
        growing.append(text)?;
        Ok(growing)
    }
}
