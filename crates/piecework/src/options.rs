//! The options of encoding and decoding.

use piecework_core::spec::ParseSpecial;
use piecework_core::threads::processors;

/// The options of encoding.
///
/// ```
/// use piecework::{EncodeOptions, ParseSpecial, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\n[CLS]\n[SEP]\nbe\n")?;
/// let options = EncodeOptions::new().add_special_tokens(false).parse_special(ParseSpecial::Nothing);
/// assert_eq!(tokenizer.encode("be [SEP]")?.ids(), [1, 3, 2, 2]);
/// assert_eq!(tokenizer.encode_with("be [SEP]", &options)?.ids(), [3, 0, 0, 0]);
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeOptions {
    pub(crate) add_special_tokens: bool,
    pub(crate) parse_special: Option<ParseSpecial>,
    pub(crate) parsed_tokens: Option<Vec<String>>,
    pub(crate) offsets: bool,
    pub(crate) overflow: bool,
    pub(crate) num_threads: Option<usize>,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            add_special_tokens: true,
            parse_special: None,
            parsed_tokens: None,
            offsets: false,
            overflow: false,
            num_threads: None,
        }
    }
}

impl EncodeOptions {
    /// Return the options that [`Tokenizer::encode`](crate::Tokenizer::encode) uses.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Set whether the post-processor inserts special tokens, such as `[CLS]` and `[SEP]`. It does by default.
    #[must_use]
    pub fn add_special_tokens(mut self, add_special_tokens: bool) -> Self {
        self.add_special_tokens = add_special_tokens;
        self
    }

    /// Set which special tokens are parsed where they are written in the text. By default the tokenizer decides: see
    /// [`Tokenizer::with_parse_special`](crate::Tokenizer::with_parse_special).
    #[must_use]
    pub fn parse_special(mut self, parse_special: ParseSpecial) -> Self {
        (self.parse_special, self.parsed_tokens) = (Some(parse_special), None);
        self
    }

    /// Parse only these special tokens where they are written in the text; the others are encoded as text.
    ///
    /// Encoding fails if one of them is not a special token of the tokenizer.
    #[must_use]
    pub fn parse_special_only<I>(mut self, tokens: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.parsed_tokens = Some(tokens.into_iter().map(Into::into).collect());
        self
    }

    /// Set whether a [`Batch`](crate::Batch) has offsets, word ids and sequence ids. An
    /// [`Encoding`](crate::Encoding) always has them.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.offsets = offsets;
        self
    }

    /// Set whether a batch has a row for each window of a truncated text. By default it has the first window only.
    #[must_use]
    pub fn overflow(mut self, overflow: bool) -> Self {
        self.overflow = overflow;
        self
    }

    /// Set the most threads of a batch. By default it is the number of CPUs that were available to the process at the
    /// first such call; a thread is started for every 64 KiB of text at most, so small batches run in the calling thread.
    /// If the system refuses a thread, the others do its work.
    #[must_use]
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = Some(num_threads);
        self
    }

    /// Return the number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.num_threads.unwrap_or_else(processors).max(1)
    }
}

/// The options of decoding.
///
/// ```
/// use piecework::{DecodeOptions, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\n[CLS]\n[SEP]\nbe\n")?;
/// assert_eq!(tokenizer.decode(&[1, 3, 2])?, "be");
/// let options = DecodeOptions::new().skip_special_tokens(false);
/// assert_eq!(tokenizer.decode_with(&[1, 3, 2], &options)?, "[CLS] be [SEP]");
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    pub(crate) skip_special_tokens: bool,
    pub(crate) clean_up: Option<bool>,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { skip_special_tokens: true, clean_up: None }
    }
}

impl DecodeOptions {
    /// Return the options that [`Tokenizer::decode`](crate::Tokenizer::decode) uses.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Set whether special tokens are left out of the text. They are by default.
    #[must_use]
    pub fn skip_special_tokens(mut self, skip_special_tokens: bool) -> Self {
        self.skip_special_tokens = skip_special_tokens;
        self
    }

    /// Set whether spaces before punctuation and in contractions are removed. By default the decoder decides.
    #[must_use]
    pub fn clean_up(mut self, clean_up: bool) -> Self {
        self.clean_up = Some(clean_up);
        self
    }
}
