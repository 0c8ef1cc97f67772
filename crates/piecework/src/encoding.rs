//! An encoded text with every field.

use std::fmt;

use piecework_core::encoding::{Encoding as Fields, NONE, Token};
use piecework_core::engine::Input;

use crate::Tokenizer;
use crate::offsets::byte_offsets;

/// An encoded text: one item for each token in every field.
///
/// ```
/// use piecework::{ParseSpecial, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes("[UNK]\n[CLS]\n[SEP]\nžába\n##s\n".as_bytes())?;
/// let encoding = tokenizer.with_parse_special(ParseSpecial::Nothing).encode("Žábas")?;
/// assert_eq!(encoding.tokens(), ["[CLS]", "[UNK]", "[SEP]"], "accents are stripped from lowercased text");
/// assert_eq!(encoding.offsets(), [(0, 0), (0, 7), (0, 0)]);
/// assert_eq!(encoding.special_tokens_mask(), [1, 0, 1]);
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone)]
pub struct Encoding {
    tokenizer: Tokenizer,
    ids: Vec<u32>,
    tokens: Vec<Token>,
    offsets: Vec<(usize, usize)>,
    overflowing: Vec<Encoding>,
}

impl Encoding {
    /// Add what the core leaves out to its fields; `texts` are those that were encoded.
    pub(crate) fn new(tokenizer: &Tokenizer, fields: Fields, texts: &[Input<'_>]) -> Self {
        let Fields { tokens, overflowing } = fields;
        Self {
            tokenizer: tokenizer.clone(),
            ids: tokens.iter().map(|token| token.id).collect(),
            offsets: byte_offsets(&tokens, texts),
            tokens,
            overflowing: overflowing
                .into_iter()
                .map(|window| Self::new(tokenizer, window, texts))
                .collect(),
        }
    }

    /// Return the number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Return whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Return the ids.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Return the tokens as strings.
    #[must_use]
    pub fn tokens(&self) -> Vec<&str> {
        self.tokens.iter().map(|token| self.tokenizer.string_of(token)).collect()
    }

    /// Return the byte span of each token in its text; (0, 0) for tokens that the post-processor inserts. With words,
    /// spans start at 0 in each word.
    ///
    /// `&text[start..end]` is the text of a token: spans end at characters.
    #[must_use]
    pub fn offsets(&self) -> &[(usize, usize)] {
        &self.offsets
    }

    /// Return the same spans in characters, as the Python package counts.
    #[must_use]
    pub fn char_offsets(&self) -> Vec<(usize, usize)> {
        self.tokens.iter().map(|token| (token.start as usize, token.end as usize)).collect()
    }

    /// Return the type ids: usually 0 for the first sequence and 1 for the second.
    #[must_use]
    pub fn type_ids(&self) -> Vec<u32> {
        self.tokens.iter().map(|token| token.type_id).collect()
    }

    /// Return the index of each token's word in its text; `None` for tokens that the post-processor inserts.
    #[must_use]
    pub fn word_ids(&self) -> Vec<Option<u32>> {
        self.tokens.iter().map(|token| Some(token.word).filter(|word| *word != NONE)).collect()
    }

    /// Return the sequence of each token, 0 or 1; `None` for tokens that the post-processor inserts.
    #[must_use]
    pub fn sequence_ids(&self) -> Vec<Option<u32>> {
        self.tokens.iter().map(|token| Some(token.sequence).filter(|sequence| *sequence != NONE)).collect()
    }

    /// Return 1 for tokens that the post-processor or padding inserts, and 0 for tokens of the text.
    #[must_use]
    pub fn special_tokens_mask(&self) -> Vec<u8> {
        self.tokens.iter().map(|token| u8::from(token.special)).collect()
    }

    /// Return 1 for tokens, and 0 for padding.
    #[must_use]
    pub fn attention_mask(&self) -> Vec<u8> {
        self.tokens.iter().map(|token| u8::from(token.attention)).collect()
    }

    /// Return the windows that truncation cut off, in order.
    #[must_use]
    pub fn overflowing(&self) -> &[Encoding] {
        &self.overflowing
    }
}

impl PartialEq for Encoding {
    fn eq(&self, other: &Self) -> bool {
        self.tokens == other.tokens
            && self.offsets == other.offsets
            && self.overflowing == other.overflowing
            && self.tokens() == other.tokens()
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoding")
            .field("ids", &self.ids)
            .field("tokens", &self.tokens())
            .field("offsets", &self.offsets)
            .finish_non_exhaustive()
    }
}
