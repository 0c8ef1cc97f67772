//! An encoded text with every field.

use std::fmt;
use std::ops::Range;

use piecework_core::encoding::{Encoding as Fields, NONE, Token};
use piecework_core::engine::Input;

use crate::offsets::offsets_in_unit;
use crate::{EncodeInput, OffsetUnit, Tokenizer};

/// An encoded text: one item for each token in every field.
///
/// ```
/// use piecework::Tokenizer;
///
/// let tokenizer = Tokenizer::from_bytes("[UNK]\n[CLS]\n[SEP]\nžába\n##s\n".as_bytes())?;
/// let encoding = tokenizer.encode("Žábas")?;
/// assert!(encoding.tokens().eq(["[CLS]", "[UNK]", "[SEP]"]), "accents are stripped from lowercased text");
/// assert_eq!(encoding.offsets(), [(0, 0), (0, 7), (0, 0)]);
/// assert_eq!(encoding.special_tokens_mask(), [1, 0, 1]);
/// # Ok::<(), piecework::Error>(())
/// ```
///
/// Positions in the text are bytes, as in `&text[start..end]`; [`Self::char_offsets`] counts characters.
#[derive(Clone)]
pub struct Encoding {
    tokenizer: Tokenizer,
    columns: Columns,
    overflowing: Vec<Encoding>,
}

/// The fields, an item for each token.
#[derive(Clone, PartialEq)]
struct Columns {
    ids: Vec<u32>,
    type_ids: Vec<u32>,
    offsets: Vec<(usize, usize)>,
    char_offsets: Vec<(usize, usize)>,
    word_ids: Vec<Option<u32>>,
    sequence_ids: Vec<Option<u32>>,
    special_tokens_mask: Vec<u8>,
    attention_mask: Vec<u8>,
}

impl Columns {
    fn new(tokens: &[Token], texts: &[Input<'_>]) -> Self {
        let indices = |index: fn(&Token) -> u32| {
            tokens.iter().map(|token| Some(index(token)).filter(|&index| index != NONE)).collect()
        };
        let masks = |is_set: fn(&Token) -> bool| tokens.iter().map(|token| is_set(token).into()).collect();
        Self {
            ids: tokens.iter().map(|token| token.id).collect(),
            type_ids: tokens.iter().map(|token| token.type_id).collect(),
            offsets: offsets_in_unit(tokens, texts, OffsetUnit::Bytes),
            char_offsets: tokens.iter().map(|token| (token.start as usize, token.end as usize)).collect(),
            word_ids: indices(|token| token.word),
            sequence_ids: indices(|token| token.sequence),
            special_tokens_mask: masks(|token| token.special),
            attention_mask: masks(|token| token.attention),
        }
    }
}

/// # Fields
impl Encoding {
    /// Complete the fields of the core; `texts` are those that were encoded.
    pub(crate) fn new(tokenizer: &Tokenizer, fields: Fields, texts: &[Input<'_>]) -> Self {
        let windows = fields.overflowing.into_iter();
        Self {
            tokenizer: tokenizer.clone(),
            columns: Columns::new(&fields.tokens, texts),
            overflowing: windows.map(|window| Self::new(tokenizer, window, texts)).collect(),
        }
    }

    /// Return the number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.ids.len()
    }

    /// Return whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.ids.is_empty()
    }

    /// Return the ids.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.columns.ids
    }

    /// Return the tokens as strings.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.token(index).unwrap_or_default())
    }

    /// Return one token as a string; `None` past the last one.
    #[must_use]
    pub fn token(&self, index: usize) -> Option<&str> {
        let (&id, &mask) = self.columns.ids.get(index).zip(self.columns.attention_mask.get(index))?;
        Some(self.tokenizer.string_of(id, mask != 0))
    }

    /// Return the byte span of each token in its text; (0, 0) for tokens that the post-processor inserts. With words,
    /// spans start at 0 in each word.
    ///
    /// `&text[start..end]` is the text of a token: spans end at characters.
    #[must_use]
    pub fn offsets(&self) -> &[(usize, usize)] {
        &self.columns.offsets
    }

    /// Return the same spans in characters, as the Python package counts.
    #[must_use]
    pub fn char_offsets(&self) -> &[(usize, usize)] {
        &self.columns.char_offsets
    }

    /// Return the spans in another unit; `input` is what was encoded.
    ///
    /// ```
    /// use piecework::{OffsetUnit, Tokenizer};
    ///
    /// let (tokenizer, text) = (Tokenizer::from_bytes(b"[UNK]\nhug\n")?, "\u{1F917} hug");
    /// let encoding = tokenizer.encode(text)?;
    /// assert_eq!(encoding.offsets()[1], (5, 8));
    /// assert_eq!(encoding.offsets_in(OffsetUnit::Utf16, text)[1], (3, 6));
    /// # Ok::<(), piecework::Error>(())
    /// ```
    #[must_use]
    pub fn offsets_in<'t>(
        &self,
        unit: OffsetUnit,
        input: impl Into<EncodeInput<'t>>,
    ) -> Vec<(usize, usize)> {
        let (input, columns) = (input.into(), &self.columns);
        let token = |at: usize| {
            let (start, end) = columns.char_offsets[at];
            let [word, sequence] =
                [columns.word_ids[at], columns.sequence_ids[at]].map(|index| index.unwrap_or(NONE));
            Token { sequence, ..Token::of_word(0, [start as u32, end as u32], word, 0) }
        };
        let tokens: Vec<Token> = (0..self.len()).map(token).collect();
        offsets_in_unit(&tokens, &input.texts().collect::<Vec<_>>(), unit)
    }

    /// Return the type ids: usually 0 for the first sequence and 1 for the second.
    #[must_use]
    pub fn type_ids(&self) -> &[u32] {
        &self.columns.type_ids
    }

    /// Return the index of each token's word in its text; `None` for tokens that the post-processor inserts.
    #[must_use]
    pub fn word_ids(&self) -> &[Option<u32>] {
        &self.columns.word_ids
    }

    /// Return the sequence of each token, 0 or 1; `None` for tokens that the post-processor inserts.
    #[must_use]
    pub fn sequence_ids(&self) -> &[Option<u32>] {
        &self.columns.sequence_ids
    }

    /// Return 1 for tokens that the post-processor or padding inserts, and 0 for tokens of the text.
    #[must_use]
    pub fn special_tokens_mask(&self) -> &[u8] {
        &self.columns.special_tokens_mask
    }

    /// Return 1 for tokens, and 0 for padding.
    #[must_use]
    pub fn attention_mask(&self) -> &[u8] {
        &self.columns.attention_mask
    }

    /// Return the windows that truncation cut off, in order.
    #[must_use]
    pub fn overflowing(&self) -> &[Encoding] {
        &self.overflowing
    }
}

/// # Find tokens
///
/// A sequence is 0 for the text, or the first of a pair, and 1 for the second.
impl Encoding {
    /// Return the first token that covers a byte of a sequence; `None` if no token covers it.
    ///
    /// ```
    /// use piecework::Tokenizer;
    ///
    /// let encoding = Tokenizer::from_bytes(b"[UNK]\nhug\n##s\n")?.encode("hug hugs")?;
    /// assert_eq!([encoding.char_to_token(5, 0), encoding.char_to_token(3, 0)], [Some(1), None]);
    /// assert_eq!(encoding.char_to_word(7, 0), Some(1));
    /// assert_eq!(encoding.word_to_tokens(1, 0), Some(1..3));
    /// assert_eq!(encoding.word_to_chars(1, 0), Some((4, 8)));
    /// # Ok::<(), piecework::Error>(())
    /// ```
    #[must_use]
    pub fn char_to_token(&self, byte: usize, sequence: u32) -> Option<usize> {
        let mut spans = self.columns.sequence_ids.iter().zip(&self.columns.offsets);
        spans.position(|(&id, &(start, end))| id == Some(sequence) && (start..end).contains(&byte))
    }

    /// Return the index of the word that covers a byte of a sequence; `None` if no token covers it.
    #[must_use]
    pub fn char_to_word(&self, byte: usize, sequence: u32) -> Option<u32> {
        self.columns.word_ids[self.char_to_token(byte, sequence)?]
    }

    /// Return the tokens of a word of a sequence; `None` for a word without tokens.
    #[must_use]
    pub fn word_to_tokens(&self, word: u32, sequence: u32) -> Option<Range<usize>> {
        let mut places = self.columns.sequence_ids.iter().zip(&self.columns.word_ids);
        let is_of_word = |ids| ids == (&Some(sequence), &Some(word));
        let first = places.clone().position(is_of_word)?;
        Some(first..places.rposition(is_of_word)? + 1)
    }

    /// Return the byte span of a word of a sequence; `None` for a word without tokens.
    #[must_use]
    pub fn word_to_chars(&self, word: u32, sequence: u32) -> Option<(usize, usize)> {
        let tokens = self.word_to_tokens(word, sequence)?;
        Some((self.columns.offsets[tokens.start].0, self.columns.offsets[tokens.end - 1].1))
    }
}

impl PartialEq for Encoding {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns
            && self.overflowing == other.overflowing
            && self.tokens().eq(other.tokens())
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoding")
            .field("ids", &self.columns.ids)
            .field("tokens", &self.tokens().collect::<Vec<_>>())
            .field("offsets", &self.columns.offsets)
            .finish_non_exhaustive()
    }
}
