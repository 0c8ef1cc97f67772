//! Text from ids that arrive one by one.

use piecework_core::engine::DecodeStreams;

use crate::{Error, Tokenizer};

/// Decodes one id at a time: each step returns the text that an id adds, once its characters are complete.
///
/// A stream holds the tokenizer, so it can be moved into a task.
///
/// ```
/// use piecework::{LoadOptions, Tokenizer};
///
/// # let bytes: String = (0..=255u8).map(|byte| format!("{} {byte}\n", base64(byte))).collect();
/// # fn base64(byte: u8) -> String {
/// #     let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// #     let [high, low] = [byte >> 2, (byte & 3) << 4].map(|digit| digits[usize::from(digit)] as char);
/// #     format!("{high}{low}==")
/// # }
/// let options = LoadOptions::new().pattern(r"\w+|\W+");
/// let tokenizer = Tokenizer::from_bytes_with(bytes.as_bytes(), &options)?;
/// let mut stream = tokenizer.decode_stream(&[])?;
/// assert_eq!(stream.step(0xC3)?, None, "half a character");
/// assert_eq!(stream.step(0xA9)?.as_deref(), Some("é"));
/// assert_eq!(stream.finish()?, None);
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DecodeStream {
    tokenizer: Tokenizer,
    streams: DecodeStreams,
}

impl DecodeStream {
    pub(crate) fn new(tokenizer: &Tokenizer, streams: DecodeStreams) -> Self {
        Self { tokenizer: tokenizer.clone(), streams }
    }

    /// Decode the next id; return the text that it adds. An id that is not in the vocabulary adds none.
    pub fn step(&mut self, id: u32) -> Result<Option<String>, Error> {
        let texts = self.streams.step(self.tokenizer.core(), &[Some(id)])?;
        Ok(texts.into_iter().next().flatten())
    }

    /// Return the text that is still buffered: U+FFFD for an incomplete character. The stream can be used again.
    pub fn finish(&mut self) -> Result<Option<String>, Error> {
        let texts = self.streams.finish(self.tokenizer.core())?;
        Ok(texts.into_iter().next().flatten())
    }
}
