//! The tokenizer: its settings, its tokens, what it shares.

use std::fmt;
use std::sync::{Arc, OnceLock};

use piecework_core::engine::batch::{Encoder, Prompts};
use piecework_core::engine::{self, Origin};
use piecework_core::error::Error as CoreError;
use piecework_core::spec;

use crate::{Error, Padding, ParseSpecial, Truncation};

/// A tokenizer: compiled, immutable, `Send` and `Sync`. A clone is a handle of the same tokenizer.
///
/// ```
/// use piecework::Tokenizer;
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\nor\nnot\n")?;
/// let in_thread = tokenizer.clone();
/// let ids = std::thread::spawn(move || in_thread.encode_ids("to be or not to be")).join().unwrap()?;
/// assert_eq!(ids, [1, 2, 3, 4, 1, 2]);
/// assert_eq!(tokenizer.decode(&ids)?, "to be or not to be");
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone)]
pub struct Tokenizer {
    shared: Arc<Shared>,
}

struct Shared {
    encoder: Encoder,
    parse_special: ParseSpecial,
    /// The format of the file, for warnings.
    origin: Option<Origin>,
    /// What encodes prompts, made at first use.
    prompts: OnceLock<Prompts>,
}

/// # Change settings
impl Tokenizer {
    pub(crate) fn new(
        tokenizer: engine::Tokenizer,
        parse_special: ParseSpecial,
        origin: Option<Origin>,
    ) -> Self {
        let (encoder, prompts) = (Encoder::new(tokenizer), OnceLock::new());
        Self { shared: Arc::new(Shared { encoder, parse_special, origin, prompts }) }
    }

    /// Return a tokenizer with the same settings around another compiled tokenizer.
    fn around(&self, tokenizer: engine::Tokenizer) -> Self {
        Self::new(tokenizer, self.shared.parse_special, self.shared.origin)
    }

    /// Return a tokenizer that parses other special tokens in text by default; it shares the tables.
    ///
    /// ```
    /// use piecework::{ErrorKind, ParseSpecial, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\n[SEP]\nbe\n")?;
    /// assert_eq!(tokenizer.encode_ids("be [SEP]")?, [2, 1]);
    /// let tokenizer = tokenizer.with_parse_special(ParseSpecial::Refuse);
    /// assert_eq!(tokenizer.encode_ids("be [SEP]").unwrap_err().kind(), ErrorKind::SpecialToken);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    #[must_use]
    pub fn with_parse_special(&self, parse_special: ParseSpecial) -> Self {
        Self::new(self.core().clone(), parse_special, self.shared.origin)
    }

    /// Return a tokenizer that truncates encodings; it shares the tables.
    ///
    /// ```
    /// use piecework::{Tokenizer, Truncation};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?.with_truncation(Truncation::to(3))?;
    /// let encoding = tokenizer.encode("to be to be")?;
    /// assert_eq!(encoding.ids(), [1, 2, 1]);
    /// assert_eq!(encoding.overflowing()[0].ids(), [2]);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    ///
    /// Fails if the stride, or the special tokens that the post-processor inserts, do not fit the length.
    pub fn with_truncation(&self, truncation: Truncation) -> Result<Self, Error> {
        self.with_lengths(Some(truncation.0), self.core().padding().cloned())
    }

    /// Return a tokenizer that does not truncate; it shares the tables.
    pub fn without_truncation(&self) -> Result<Self, Error> {
        self.with_lengths(None, self.core().padding().cloned())
    }

    /// Return a tokenizer that pads the rows of a batch, and encodings, to one length; it shares the tables.
    ///
    /// ```
    /// use piecework::{Padding, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[PAD]\n[UNK]\nto\nbe\n")?.with_padding(Padding::with("[PAD]", 0))?;
    /// let batch = tokenizer.encode_batch(["to be", "be"])?;
    /// assert_eq!(batch.ids(), [2, 3, 3, 0]);
    /// assert_eq!(batch.attention_mask(), Some(&[1, 1, 1, 0][..]));
    /// # Ok::<(), piecework::Error>(())
    /// ```
    pub fn with_padding(&self, padding: Padding) -> Result<Self, Error> {
        self.with_lengths(self.core().truncation().cloned(), Some(padding.0))
    }

    /// Return a tokenizer that does not pad; it shares the tables.
    pub fn without_padding(&self) -> Result<Self, Error> {
        self.with_lengths(self.core().truncation().cloned(), None)
    }

    fn with_lengths(
        &self,
        truncation: Option<spec::Truncation>,
        padding: Option<spec::Padding>,
    ) -> Result<Self, Error> {
        Ok(self.around(self.core().with_lengths(truncation, padding)?))
    }

    /// Return a tokenizer that neither truncates nor pads: this one, if it does neither.
    pub(crate) fn without_lengths(&self) -> Result<Self, Error> {
        match (self.core().truncation(), self.core().padding()) {
            (None, None) => Ok(self.clone()),
            _ => self.with_lengths(None, None),
        }
    }

    /// Return a tokenizer whose cache of words takes at most this much memory in each thread. It shares the tables.
    #[must_use]
    pub fn with_word_cache_budget(&self, bytes_per_thread: usize) -> Self {
        self.around(self.core().clone().with_cache_budget(bytes_per_thread))
    }
}

/// # Serve
impl Tokenizer {
    /// Build every table that calls would build late, so that no request waits for one.
    ///
    /// ```
    /// use piecework::Tokenizer;
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
    /// tokenizer.warm_up();
    /// assert_eq!(tokenizer.encode_ids("to be")?, [1, 2]);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    ///
    /// A server calls it once, after loading. Loading builds only the tables of the first texts; without this call one
    /// thread builds the others during a request, while other threads encode without them, more slowly. The ids are the
    /// same. Clones and the tokenizers of `with_...` share the tables. [`Tokenizer::encode_segments`] compiles what it
    /// needs at its first call.
    pub fn warm_up(&self) {
        self.core().warm_up();
    }
}

/// # Look up
impl Tokenizer {
    /// Return the id of a token, added tokens first.
    #[must_use]
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.core().id_of(token)
    }

    /// Return the token of an id, added tokens first.
    #[must_use]
    pub fn id_to_token(&self, id: u32) -> Option<&str> {
        self.core().token_of(id)
    }

    /// Return the bytes of the token of an id: those that it stands for in a byte-level model, otherwise UTF-8.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.core().token_bytes_into(id, &mut bytes).then_some(bytes)
    }

    /// Return the number of tokens: entries of the model and added tokens.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        self.core().entry_count(true)
    }

    /// Return every token with its id: the entries of the model, then added tokens.
    pub fn vocab(&self) -> impl Iterator<Item = (&str, u32)> {
        self.core().entries(true)
    }

    /// Return the settings of truncation, if encodings are truncated.
    #[must_use]
    pub fn truncation(&self) -> Option<Truncation> {
        self.core().truncation().cloned().map(Truncation)
    }

    /// Return the settings of padding, if encodings are padded.
    #[must_use]
    pub fn padding(&self) -> Option<Padding> {
        self.core().padding().cloned().map(Padding)
    }

    /// Return which special tokens it parses in text by default.
    #[must_use]
    pub fn parse_special(&self) -> ParseSpecial {
        self.shared.parse_special
    }

    /// Return a warning for each setting of its file that is probably a mistake.
    #[must_use]
    pub fn warnings(&self) -> Vec<Error> {
        let warnings = self.shared.origin.map_or_else(Vec::new, |origin| self.core().warnings(origin));
        warnings.into_iter().map(Error::from).collect()
    }

    /// Return the compiled tokenizer.
    pub(crate) fn core(&self) -> &engine::Tokenizer {
        self.shared.encoder.tokenizer()
    }

    pub(crate) fn encoder(&self) -> &Encoder {
        &self.shared.encoder
    }

    /// Return what encodes prompts.
    pub(crate) fn prompts(&self) -> Result<&Prompts, CoreError> {
        let place = &self.shared.prompts;
        if let Some(prompts) = place.get() {
            return Ok(prompts);
        }
        let made = Prompts::new(self.core(), &[], None)?;
        Ok(place.get_or_init(|| made))
    }

    /// Return the string of an id of an encoding; padding has the string of the padding settings.
    pub(crate) fn string_of(&self, id: u32, is_token: bool) -> &str {
        if is_token {
            return self.id_to_token(id).unwrap_or_default();
        }
        self.core().padding().map_or("", |padding| padding.pad_token.as_str())
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer")
            .field("vocab_size", &self.vocab_size())
            .field("route", &self.core().route_name())
            .field("parse_special", &self.shared.parse_special)
            .finish_non_exhaustive()
    }
}
