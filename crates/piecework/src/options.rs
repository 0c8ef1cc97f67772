//! The settings of tokenizers, and the options of encoding and decoding.

use piecework_core::spec::{self, Direction, TruncationStrategy};
use piecework_core::threads::processors;

/// Which special tokens are parsed where they are written in a text: a setting of a tokenizer and of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseSpecial {
    /// All special tokens, as `tokenizers` does.
    #[default]
    All,
    /// No special token: each is encoded as text, which is safe for text of users.
    Nothing,
    /// A text that contains a special token is an error, as with tiktoken.
    Refuse,
}

impl ParseSpecial {
    /// Return the setting that a file stores.
    pub(crate) fn of(stored: spec::ParseSpecial) -> Self {
        match stored {
            spec::ParseSpecial::All => Self::All,
            spec::ParseSpecial::Nothing => Self::Nothing,
            spec::ParseSpecial::Refuse => Self::Refuse,
        }
    }
}

/// How encodings are truncated; see [`Tokenizer::with_truncation`](crate::Tokenizer::with_truncation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation(pub(crate) spec::Truncation);

impl Truncation {
    /// Keep the first `max_length` tokens, special tokens included. Of a pair, the longer sequence is truncated first.
    #[must_use]
    pub fn to(max_length: usize) -> Self {
        Self(spec::Truncation::to(max_length))
    }

    /// Set the number of tokens that each window of [`Encoding::overflowing`](crate::Encoding::overflowing) repeats of
    /// the one before. It is 0 by default.
    #[must_use]
    pub fn stride(mut self, stride: usize) -> Self {
        self.0.stride = stride;
        self
    }

    /// Truncate only the first sequence of a pair.
    #[must_use]
    pub fn only_first(mut self) -> Self {
        self.0.strategy = TruncationStrategy::OnlyFirst;
        self
    }

    /// Truncate only the second sequence of a pair.
    #[must_use]
    pub fn only_second(mut self) -> Self {
        self.0.strategy = TruncationStrategy::OnlySecond;
        self
    }

    /// Truncate at the left: keep the last tokens of a text.
    #[must_use]
    pub fn left(mut self) -> Self {
        self.0.direction = Direction::Left;
        self
    }

    /// Return the most tokens of an encoding.
    #[must_use]
    pub fn max_length(&self) -> usize {
        self.0.max_length
    }
}

/// How encodings are padded; see [`Tokenizer::with_padding`](crate::Tokenizer::with_padding).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padding(pub(crate) spec::Padding);

impl Padding {
    /// Pad with this token and id at the end, to the longest row of a batch.
    #[must_use]
    pub fn with(pad_token: &str, pad_id: u32) -> Self {
        Self(spec::Padding::with(pad_token, pad_id))
    }

    /// Pad to at least this length instead.
    #[must_use]
    pub fn length(mut self, length: usize) -> Self {
        self.0.length = Some(length);
        self
    }

    /// Round the length up to a multiple of this number.
    #[must_use]
    pub fn multiple_of(mut self, multiple: usize) -> Self {
        self.0.pad_to_multiple_of = Some(multiple);
        self
    }

    /// Set the type id of padding. It is 0 by default.
    #[must_use]
    pub fn type_id(mut self, type_id: u32) -> Self {
        self.0.pad_type_id = type_id;
        self
    }

    /// Pad at the left, before the tokens.
    #[must_use]
    pub fn left(mut self) -> Self {
        self.0.direction = Direction::Left;
        self
    }

    /// Return the padding token.
    #[must_use]
    pub fn pad_token(&self) -> &str {
        &self.0.pad_token
    }

    /// Return the id of the padding token.
    #[must_use]
    pub fn pad_id(&self) -> u32 {
        self.0.pad_id
    }
}

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
