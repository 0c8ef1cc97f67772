//! Tokens by rank, of files and of vocabularies.

use std::collections::{HashMap, HashSet};

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::ranks::MAX_RANKED_BYTES;
use piecework_core::text::{byte_of_printable, printable_of};
use piecework_core::vocab::Vocab;

use crate::bytes::check_alphabet;

/// A token with its rank and its number in the file. Its bytes are in a common buffer.
#[derive(Clone, Copy)]
struct RankedToken {
    start: usize,
    len: u32,
    rank: u32,
    number: u32,
}

/// The tokens of a file, in its order.
#[derive(Default)]
pub(crate) struct RankedTokens {
    bytes: Vec<u8>,
    tokens: Vec<RankedToken>,
}

impl RankedTokens {
    /// Return no tokens, with capacity for those of a file of `file_bytes`.
    pub(crate) fn with_capacity(file_bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(file_bytes / 2), tokens: Vec::with_capacity(file_bytes / 16) }
    }

    /// Append a token in base64. Return its length, or `None` if it is not base64.
    pub(crate) fn push_base64(&mut self, token: &[u8], rank: u32, number: usize) -> Option<usize> {
        let start = self.bytes.len();
        STANDARD.decode_vec(token, &mut self.bytes).ok()?;
        Some(self.end_token(start, rank, number))
    }

    /// Append a token in printable characters. Return `false` for other characters.
    fn push_printable(&mut self, token: &str, rank: u32) -> bool {
        let start = self.bytes.len();
        self.bytes.extend(token.chars().map_while(byte_of_printable));
        let len = self.end_token(start, rank, rank as usize);
        token.chars().nth(len).is_none()
    }

    /// End a token whose bytes are appended. Return its length.
    fn end_token(&mut self, start: usize, rank: u32, number: usize) -> usize {
        let len = self.bytes.len() - start;
        self.tokens.push(RankedToken { start, len: len as u32, rank, number: number as u32 });
        len
    }

    /// Return the number and the rank of an empty token that does not have the highest rank.
    pub(crate) fn empty_before_last(&self) -> Option<(usize, u32)> {
        let last = self.tokens.iter().map(|token| token.rank).max()?;
        let empty = self.tokens.iter().find(|token| token.len == 0 && token.rank < last)?;
        Some((empty.number as usize, empty.rank))
    }

    fn bytes_of(&self, token: &RankedToken) -> &[u8] {
        &self.bytes[token.start..][..token.len as usize]
    }

    /// Return the vocabulary of these tokens, with their ranks and `shift` as ids; `place_of` returns the name of a token
    /// by its number.
    ///
    /// Fails for a token that is too long or occurs twice, for a rank that occurs twice, and for bytes without a token.
    pub(crate) fn into_vocab(
        mut self,
        shift: u32,
        place_of: impl Fn(usize) -> String,
    ) -> Result<Vocab, Error> {
        self.check_lens(&place_of)?;
        self.sort();
        let (text, ends) = self.printable();
        let entries = (0..ends.len()).map(|at| {
            let start = at.checked_sub(1).map_or(0, |before| ends[before]);
            (&text[start..ends[at]], self.tokens[at].rank.saturating_add(shift))
        });
        match Vocab::of_tokens(&entries) {
            Ok(vocab) => {
                let has = |byte| vocab.id_of(printable_of(byte).encode_utf8(&mut [0; 4])).is_some();
                check_alphabet("tokens", has).map(|()| vocab)
            }
            Err(error) => Err(self.first_fault(&place_of).err().unwrap_or(error)),
        }
    }

    /// Sort the tokens by rank; most files are in this order.
    fn sort(&mut self) {
        if !self.tokens.is_sorted_by_key(|token| token.rank) {
            self.tokens.sort_by_key(|token| (token.rank, token.number));
        }
    }

    /// Return the printable characters of all tokens, and where those of each end.
    fn printable(&self) -> (String, Vec<usize>) {
        let mut text = String::with_capacity(2 * self.bytes.len());
        let push = |token| {
            text.extend(self.bytes_of(token).iter().map(|&byte| printable_of(byte)));
            text.len()
        };
        let ends = self.tokens.iter().map(push).collect();
        (text, ends)
    }

    fn check_lens(&self, place_of: &impl Fn(usize) -> String) -> Result<(), Error> {
        match self.tokens.iter().find(|token| token.len as usize > MAX_RANKED_BYTES) {
            None => Ok(()),
            Some(token) => {
                let found = format!("a token of {} bytes", token.len);
                let expected = format!("at most {MAX_RANKED_BYTES}");
                Err(Error::new(ErrorKind::Vocabulary, place_of(token.number as usize), found, expected))
            }
        }
    }

    /// Return the error for the first token that occurs twice, a byte without a token, or the first rank that occurs
    /// twice. The tokens are sorted.
    fn first_fault(&self, place_of: &impl Fn(usize) -> String) -> Result<(), Error> {
        let twice = |token: &RankedToken, found: String, expected: &str| {
            Err(Error::new(ErrorKind::Vocabulary, place_of(token.number as usize), found, expected))
        };
        let place = |token: &RankedToken| place_of(token.number as usize);
        let mut in_order: Vec<&RankedToken> = self.tokens.iter().collect();
        in_order.sort_by_key(|token| token.number);
        let mut first = HashMap::new();
        for token in in_order {
            let bytes = self.bytes_of(token);
            if let Some(first) = first.insert(bytes, token) {
                let text = String::from_utf8_lossy(bytes);
                let found = format!("the token {text:?}, which {} has too", place(first));
                return twice(token, found, "each token once");
            }
        }
        let alphabet: HashSet<&[u8]> = first.into_keys().filter(|bytes| bytes.len() == 1).collect();
        check_alphabet("tokens", |byte| alphabet.contains([byte].as_slice()))?;
        let mut pairs = self.tokens.windows(2);
        match pairs.find(|two| two[0].rank == two[1].rank) {
            None => Ok(()),
            Some(two) => {
                let found = format!("rank {}, which {} has too", two[1].rank, place(&two[0]));
                twice(&two[1], found, "each rank once")
            }
        }
    }
}

/// Return the vocabulary of byte-level entries, whose ids are ranks; fails for an entry that is not byte-level.
pub(crate) fn vocab_of_entries<'v>(entries: impl Iterator<Item = (&'v str, u32)>) -> Result<Vocab, Error> {
    let mut tokens = RankedTokens::default();
    for (text, rank) in entries {
        if !tokens.push_printable(text, rank) {
            let found = format!("{text:?}, which is not made of the characters that stand for bytes");
            return Err(Error::new(ErrorKind::Vocabulary, "model.vocab", found, "byte-level entries"));
        }
    }
    tokens.into_vocab(0, |id| format!("id {id}"))
}
