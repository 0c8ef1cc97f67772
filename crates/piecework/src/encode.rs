//! Encode and count.

use piecework_core::engine::batch::{ExtraColumns, Source};
use piecework_core::engine::{self, Input};
use piecework_core::error::{Error as CoreError, ErrorKind as CoreKind, shortened};
use piecework_core::stages::added_tokens::Selector;

use crate::{Batch, EncodeInput, EncodeOptions, Encoding, Error, ParseSpecial, Tokenizer};

/// # Encode
impl Tokenizer {
    /// Encode a text, a pair of texts or words with every field.
    ///
    /// Fails for a text of 4 GiB or more; for a special token in the text, if the tokenizer refuses them; and if the
    /// normalizer would make the text too long.
    pub fn encode<'t>(&self, input: impl Into<EncodeInput<'t>>) -> Result<Encoding, Error> {
        self.encode_with(input, &EncodeOptions::default())
    }

    /// Encode with other options than the default.
    ///
    /// Also fails for an unknown token in [`EncodeOptions::parse_special_only`].
    pub fn encode_with<'t>(
        &self,
        input: impl Into<EncodeInput<'t>>,
        options: &EncodeOptions,
    ) -> Result<Encoding, Error> {
        let input = input.into();
        let selector = self.checked(std::slice::from_ref(&input), options)?;
        let options = engine_options(options, &selector);
        let fields = self
            .encoder()
            .with_scratch(|scratch| self.core().encode(input.text(), input.pair(), options, scratch))?;
        Ok(Encoding::new(self, fields, &input.texts().collect::<Vec<_>>()))
    }

    /// Encode one text into ids alone, which is faster. They are truncated and not padded.
    pub fn encode_ids(&self, text: &str) -> Result<Vec<u32>, Error> {
        self.encode_ids_with(text, &EncodeOptions::default())
    }

    /// Encode one text into ids with other options than the default.
    pub fn encode_ids_with(&self, text: &str, options: &EncodeOptions) -> Result<Vec<u32>, Error> {
        self.with_ids(text, options, <[u32]>::to_vec)
    }

    /// Count the tokens of a text: the length of its encoding before padding.
    pub fn count(&self, text: &str) -> Result<usize, Error> {
        self.count_with(text, &EncodeOptions::default())
    }

    /// Count the tokens of a text with other options than the default.
    pub fn count_with(&self, text: &str, options: &EncodeOptions) -> Result<usize, Error> {
        self.with_ids(text, options, <[u32]>::len)
    }

    /// Encode one text, pass its ids to `look` and return its result. No ids are copied.
    ///
    /// ```
    /// use piecework::{EncodeOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
    /// let mut ids = Vec::new();
    /// tokenizer.with_ids("to be", &EncodeOptions::new(), |found| ids.extend_from_slice(found))?;
    /// assert_eq!(ids, [1, 2]);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    pub fn with_ids<R>(
        &self,
        text: &str,
        options: &EncodeOptions,
        look: impl FnOnce(&[u32]) -> R,
    ) -> Result<R, Error> {
        let selector = self.checked(&[text.into()], options)?;
        let source = Source::from(Input::Text(text));
        Ok(self.encoder().ids(source, engine_options(options, &selector), look)?)
    }

    /// Encode many texts, or many pairs, on as many threads as there are CPUs.
    ///
    /// An error contains the index of its text.
    pub fn encode_batch<'t, I>(&self, inputs: I) -> Result<Batch, Error>
    where
        I: IntoIterator<Item: Into<EncodeInput<'t>>>,
    {
        self.encode_batch_with(inputs, &EncodeOptions::default())
    }

    /// Encode many texts with other options than the default.
    ///
    /// ```
    /// use piecework::{EncodeOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
    /// let options = EncodeOptions::new().offsets(true).num_threads(2);
    /// let batch = tokenizer.encode_batch_with(["to be", "b\u{E9}"], &options)?;
    /// assert_eq!(batch.offsets().unwrap(), [(0, 2), (3, 5), (0, 3)]);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    pub fn encode_batch_with<'t, I>(&self, inputs: I, options: &EncodeOptions) -> Result<Batch, Error>
    where
        I: IntoIterator<Item: Into<EncodeInput<'t>>>,
    {
        let inputs: Vec<EncodeInput<'t>> = inputs.into_iter().map(Into::into).collect();
        let selector = self.checked(&inputs, options)?;
        let sources: Vec<_> = inputs.iter().map(|input| Source::from(input.text())).collect();
        let pairs = pairs_of(&inputs)?;
        let extra = ExtraColumns { spans: options.offsets, overflow: options.overflow };
        let columns = self.encoder().encode(
            &sources,
            pairs.as_deref(),
            engine_options(options, &selector),
            extra,
            options.threads(),
        )?;
        Ok(Batch::new(columns, &inputs))
    }

    /// Count the tokens of each text without keeping ids.
    pub fn count_batch<'t, I>(&self, texts: I) -> Result<Vec<usize>, Error>
    where
        I: IntoIterator<Item: Into<EncodeInput<'t>>>,
    {
        self.count_batch_with(texts, &EncodeOptions::default())
    }

    /// Count the tokens of each text with other options than the default.
    ///
    /// ```
    /// use piecework::{EncodeOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\n[CLS]\n[SEP]\nbe\n")?;
    /// let options = EncodeOptions::new().add_special_tokens(false).num_threads(1);
    /// assert_eq!(tokenizer.count_batch_with(["be", "be be"], &options)?, [1, 2]);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    pub fn count_batch_with<'t, I>(&self, texts: I, options: &EncodeOptions) -> Result<Vec<usize>, Error>
    where
        I: IntoIterator<Item: Into<EncodeInput<'t>>>,
    {
        let inputs: Vec<EncodeInput<'t>> = texts.into_iter().map(Into::into).collect();
        let selector = self.checked(&inputs, options)?;
        if pairs_of(&inputs)?.is_some() {
            let error = CoreError::new(CoreKind::Argument, "texts", "pairs", "texts");
            return Err(error.with_hint("encode_batch takes pairs").into());
        }
        let sources: Vec<_> = inputs.iter().map(|input| Source::from(input.text())).collect();
        let counts =
            self.encoder().count(&sources, engine_options(options, &selector), options.threads())?;
        Ok(counts.into_iter().map(|count| count as usize).collect())
    }

    /// Check the inputs; return the special tokens to recognize in them.
    pub(crate) fn checked(
        &self,
        inputs: &[EncodeInput<'_>],
        options: &EncodeOptions,
    ) -> Result<Selector, CoreError> {
        inputs.iter().try_for_each(EncodeInput::check)?;
        if let Some(tokens) = &options.parsed_tokens {
            return self.only(tokens);
        }
        match options.parse_special.unwrap_or(self.parse_special()) {
            ParseSpecial::All => Ok(Selector::All),
            ParseSpecial::Nothing => Ok(Selector::only(Vec::new())),
            ParseSpecial::Refuse => {
                let mut texts = inputs.iter().flat_map(EncodeInput::texts).flat_map(Input::texts);
                texts.try_for_each(|text| self.refuse_special(text))?;
                Ok(Selector::All)
            }
        }
    }

    /// Return the selector of some special tokens.
    fn only(&self, tokens: &[String]) -> Result<Selector, CoreError> {
        let id = |token: &String| {
            let mut special = self.core().special_tokens();
            special.find(|(content, _)| content == token).map(|(_, id)| id).ok_or_else(|| {
                let found =
                    format!("{:?}, which is not a special token of the tokenizer", shortened(token));
                CoreError::new(CoreKind::Argument, "parse_special_only", found, "special tokens")
            })
        };
        Ok(Selector::only(tokens.iter().map(id).collect::<Result<_, _>>()?))
    }

    /// Return an error if a text contains a special token.
    fn refuse_special(&self, text: &str) -> Result<(), CoreError> {
        let Some(id) = self.core().find_special(text, &Selector::All)? else { return Ok(()) };
        let token = self.id_to_token(id).unwrap_or_default();
        let error =
            CoreError::new(CoreKind::SpecialToken, "text", format!("the special token {token:?}"), "");
        Err(error.with_hint("ParseSpecial::All parses it, ParseSpecial::Nothing encodes it as text"))
    }
}

/// Return the options of the core, which never draws at random here.
pub(crate) fn engine_options<'o>(
    options: &EncodeOptions,
    parse_special: &'o Selector,
) -> engine::Options<'o> {
    engine::Options { add_special_tokens: options.add_special_tokens, parse_special, sampling: None }
}

/// Return the second sequences; `None` if no input has one.
fn pairs_of<'i>(inputs: &'i [EncodeInput<'_>]) -> Result<Option<Vec<Input<'i>>>, CoreError> {
    let Some(first) = inputs.iter().find_map(EncodeInput::pair) else { return Ok(None) };
    match inputs.iter().position(|input| input.pair().is_none()) {
        Some(row) => {
            let place = format!("texts[{row}]");
            Err(CoreError::new(CoreKind::Argument, place, "a text alone", "a pair, as other inputs are"))
        }
        None => Ok(Some(inputs.iter().map(|input| input.pair().unwrap_or(first)).collect())),
    }
}
