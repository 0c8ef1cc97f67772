//! Parts of a text that each fit a budget of tokens.

use std::ops::Range;

use piecework_core::engine::batch::{self, Place};

use crate::encode::engine_options;
use crate::{EncodeOptions, Error, OffsetUnit, Tokenizer};

/// Where the chunks of a text end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkUnit {
    /// After blank lines.
    Paragraph,
    /// After `.`, `!`, `?` and their East Asian forms, before whitespace, and after lines.
    #[default]
    Sentence,
    /// After whitespace.
    Word,
    /// After any character.
    Character,
}

/// How a text is divided; see [`Tokenizer::chunk_text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    max_tokens: usize,
    overlap: usize,
    unit: ChunkUnit,
    encode: EncodeOptions,
}

impl ChunkOptions {
    /// Divide a text into chunks of at most this many tokens, at the ends of sentences.
    #[must_use]
    pub fn new(max_tokens: usize) -> Self {
        Self { max_tokens, overlap: 0, unit: ChunkUnit::default(), encode: EncodeOptions::default() }
    }

    /// Repeat whole units at the end of a chunk, of together at most this many tokens, at the beginning of the next one;
    /// fewer where the next unit would not fit. It is 0 by default.
    #[must_use]
    pub fn overlap(mut self, overlap: usize) -> Self {
        self.overlap = overlap;
        self
    }

    /// Set where chunks end.
    #[must_use]
    pub fn at(mut self, unit: ChunkUnit) -> Self {
        self.unit = unit;
        self
    }

    /// Set whether special tokens are inserted, and count, and which are parsed in the text.
    #[must_use]
    pub fn encoded_with(mut self, options: EncodeOptions) -> Self {
        self.encode = options;
        self
    }
}

/// A part of a text that fits a budget of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChunk(batch::Chunk);

impl TextChunk {
    /// Return its bytes in the text, as in `&text[chunk.range()]`.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range_in(OffsetUnit::Bytes)
    }

    /// Return its position in the text in another unit.
    #[must_use]
    pub fn range_in(&self, unit: OffsetUnit) -> Range<usize> {
        let of = |place: Place| match unit {
            OffsetUnit::Bytes => place.bytes,
            OffsetUnit::Chars => place.chars,
            OffsetUnit::Utf16 => place.utf16,
        };
        of(self.0.start)..of(self.0.end)
    }

    /// Return the number of its tokens, encoded alone.
    #[must_use]
    pub fn num_tokens(&self) -> usize {
        self.0.num_tokens
    }
}

/// # Fit a budget of tokens
impl Tokenizer {
    /// Divide a text into chunks that each encode to at most `max_tokens` tokens.
    ///
    /// ```
    /// use piecework::{ChunkOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\n[CLS]\n[SEP]\na\n.\n")?;
    /// let text = "a a. a a a. a. a.";
    /// let chunks = tokenizer.chunk_text(text, &ChunkOptions::new(7))?;
    /// let texts: Vec<&str> = chunks.iter().map(|chunk| &text[chunk.range()]).collect();
    /// assert_eq!(texts, ["a a. ", "a a a. ", "a. a."]);
    /// assert_eq!(chunks[2].num_tokens(), 6);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    ///
    /// The length of a chunk is the length of its text encoded alone, with its special tokens. Chunks end where a paragraph,
    /// a sentence or a word ends; [`ChunkOptions::at`] selects which. A paragraph that is too long is divided at sentences, a
    /// sentence at words, and a word at characters. Whitespace belongs to the unit before it: without overlap, the chunks
    /// concatenate to the text. `chunk_text` in Python returns the same chunks.
    ///
    /// The whole text is encoded once and each chunk counted, so the time is linear. Truncation and padding do not apply.
    /// Fails if one character takes more than `max_tokens`, unless the overlap is less than `max_tokens`, and where
    /// [`Tokenizer::encode_with`] fails.
    pub fn chunk_text(&self, text: &str, options: &ChunkOptions) -> Result<Vec<TextChunk>, Error> {
        let selector = self.checked(&[text.into()], &options.encode)?;
        let settings = batch::ChunkOptions {
            max_tokens: options.max_tokens,
            overlap: options.overlap,
            unit: match options.unit {
                ChunkUnit::Paragraph => batch::ChunkUnit::Paragraph,
                ChunkUnit::Sentence => batch::ChunkUnit::Sentence,
                ChunkUnit::Word => batch::ChunkUnit::Word,
                ChunkUnit::Character => batch::ChunkUnit::Character,
            },
        };
        let tokenizer = self.without_lengths()?;
        let chunks =
            tokenizer.encoder().chunks(text, settings, engine_options(&options.encode, &selector))?;
        Ok(chunks.into_iter().map(TextChunk).collect())
    }
}
