//! Tokens by rank, and merges that give the same encoding.
//!
//! *Rank-BPE* (tiktoken) repeatedly merges the leftmost adjacent symbols whose concatenation has the lowest
//! rank. *Merge-BPE* merges the adjacent symbols of the first applicable merge in a list. The *canonical pair*
//! of a token is the pair of symbols that rank-BPE, run on the bytes of the token alone, reaches last. The
//! canonical pairs in the order of ranks, as merges, give the same encoding of every word:
//!
//! Let rank-BPE be about to merge X and Y to the token T in some word. No merge so far has crossed the
//! boundaries of this occurrence of T. Each merge inside was the leftmost of lowest rank in the whole word,
//! and so within T. Hence the merges inside are those that rank-BPE makes of T alone, in that order, and
//! (X, Y) is the canonical pair of T. Conversely, a canonical pair merges to its token, with the rank of that
//! token. So at every step both algorithms have the same candidates in the same order. A token without a
//! canonical pair is never formed by merges; it is found as a whole word only, as with `ignore_merges`, and
//! as encoders by rank do first.
//!
//! One run of rank-BPE a token is quadratic in the length of the token, which is bounded. So the time is
//! linear in the size of the file.

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use foldhash::{HashMap, HashMapExt};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{BpeSpec, MergeList};
use piecework_core::text::{byte_of_printable, printable_of};

use crate::bytes::{check_alphabet, printable};

/// The length of the longest token, in bytes; published tokens have up to 128.
const MAX_TOKEN_BYTES: usize = 1024;
const NO_RANK: u32 = u32::MAX;

/// The bytes after the last token, so that 16 can be read from any token.
const PADDING: usize = 16;

/// A token with its rank and its number in the file. Its bytes are in a common buffer.
#[derive(Clone, Copy)]
struct RankedToken {
    start: usize,
    len: usize,
    rank: u32,
    number: usize,
}

/// The tokens of a file, in its order.
#[derive(Default)]
pub(crate) struct RankedTokens {
    bytes: Vec<u8>,
    tokens: Vec<RankedToken>,
}

impl RankedTokens {
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
        self.tokens.push(RankedToken { start, len, rank, number });
        len
    }
}

/// Distinct tokens in the order of their ranks, with a token for every byte.
pub(crate) struct Ranks {
    /// The tokens, and `PADDING` zeros.
    bytes: Vec<u8>,
    tokens: Vec<RankedToken>,
    table: RankTable,
}

impl Ranks {
    /// Check the tokens of a file; `place_of` returns the name of a token by its number.
    pub(crate) fn new(tokens: RankedTokens, place_of: impl Fn(usize) -> String) -> Result<Self, Error> {
        let RankedTokens { mut bytes, mut tokens } = tokens;
        bytes.resize(bytes.len() + PADDING, 0);
        let table = RankTable::new(&bytes, &tokens, &place_of)?;
        tokens.sort_by_key(|token| (token.rank, token.number));
        if let Some(twice) = tokens.windows(2).find(|two| two[0].rank == two[1].rank) {
            let found = format!("rank {}, which {} has too", twice[1].rank, place_of(twice[0].number));
            let place = place_of(twice[1].number);
            return Err(Error::new(ErrorKind::Vocabulary, place, found, "each rank once"));
        }
        Ok(Self { bytes, tokens, table })
    }

    /// Return the tokens of a vocabulary with ids as ranks; fails for an entry that is not byte-level.
    pub(crate) fn of_vocab<'v>(vocab: impl Iterator<Item = (&'v str, u32)>) -> Result<Self, Error> {
        let mut tokens = RankedTokens::default();
        for (text, rank) in vocab {
            if !tokens.push_printable(text, rank) {
                let found = format!("{text:?}, which is not made of the characters that stand for bytes");
                return Err(Error::new(ErrorKind::Vocabulary, "model.vocab", found, "byte-level entries"));
            }
        }
        Self::new(tokens, |id| format!("id {id}"))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.tokens.iter().map(|token| (&self.bytes[token.start..][..token.len], token.rank))
    }

    /// Return the byte where each token of more than one byte is cut into its canonical pair.
    pub(crate) fn cuts(&self) -> impl Iterator<Item = (&[u8], Option<usize>)> {
        let mut merger = RankMerger::default();
        let longer = self.tokens.iter().filter(|token| token.len > 1);
        longer.map(move |token| {
            let cut = merger.last_boundary(&self.bytes[token.start..], token.len, &self.table);
            (&self.bytes[token.start..][..token.len], cut)
        })
    }

    /// Return the canonical pairs in the order of the ranks, as printable text.
    pub(crate) fn merges(&self) -> MergeList {
        let mut merges = MergeList::with_capacity(self.tokens.len(), 2 * self.bytes.len());
        let (mut left, mut right) = (String::new(), String::new());
        for (token, cut) in self.cuts() {
            let Some(cut) = cut else { continue };
            for (side, bytes) in [(&mut left, &token[..cut]), (&mut right, &token[cut..])] {
                side.clear();
                side.extend(bytes.iter().map(|&byte| printable_of(byte)));
            }
            merges.push(&left, &right);
        }
        merges
    }

    /// Return the model that encodes as the ranks do; each id is the rank and `shift`.
    pub(crate) fn into_model(self, shift: u32) -> BpeSpec {
        BpeSpec {
            vocab: self.iter().map(|(token, rank)| (printable(token), rank + shift)).collect(),
            merges: self.merges(),
            ignore_merges: true,
            ..BpeSpec::default()
        }
    }
}

/// Looks up ranks: pairs of bytes, the most frequent case, by index; up to 15 bytes by value; others by hash.
///
/// A token is given by its length, and by bytes that begin with it and have at least `PADDING` more. Most lookups are
/// of three and four bytes; tables of their own stay in the cache.
struct RankTable {
    of_two: Vec<u32>,
    of_three: HashMap<u32, u32>,
    of_four: HashMap<u32, u32>,
    /// Other tokens of up to 7 bytes.
    of_short: HashMap<u64, u32>,
    /// Up to 15 bytes.
    of_medium: HashMap<u128, u32>,
    of_long: HashMap<Box<[u8]>, u32>,
}

impl RankTable {
    /// Build the table of the tokens of a file, in its order; fails for a token that is too long or occurs twice, and
    /// for bytes without a token.
    fn new(
        bytes: &[u8],
        tokens: &[RankedToken],
        place_of: &impl Fn(usize) -> String,
    ) -> Result<Self, Error> {
        let mut table = Self {
            of_two: vec![NO_RANK; 1 << 16],
            of_three: HashMap::with_capacity(tokens.len() / 8),
            of_four: HashMap::with_capacity(tokens.len() / 8),
            of_short: HashMap::with_capacity(tokens.len() / 2),
            of_medium: HashMap::with_capacity(tokens.len() / 4),
            of_long: HashMap::default(),
        };
        for token in tokens {
            let invalid = |found, expected| {
                Err(Error::new(ErrorKind::Vocabulary, place_of(token.number), found, expected))
            };
            let text = &bytes[token.start..];
            if token.len > MAX_TOKEN_BYTES {
                return invalid(
                    format!("a token of {} bytes", token.len),
                    format!("at most {MAX_TOKEN_BYTES}"),
                );
            }
            if table.insert(text, token.len, token.rank) {
                let text = &text[..token.len];
                let is_equal = |other: &&RankedToken| &bytes[other.start..][..other.len] == text;
                let first = tokens.iter().find(is_equal).map_or(token.number, |first| first.number);
                let found = format!(
                    "the token {:?}, which {} has too",
                    String::from_utf8_lossy(text),
                    place_of(first)
                );
                return invalid(found, "each token once".into());
            }
        }
        check_alphabet("tokens", |byte| table.of_short.contains_key(&short_key(&[byte; 8], 1)))?;
        Ok(table)
    }

    /// Insert a token. Return whether it is in the table already.
    fn insert(&mut self, text: &[u8], len: usize, rank: u32) -> bool {
        match len {
            2 => std::mem::replace(&mut self.of_two[two(text)], rank) != NO_RANK,
            3 => self.of_three.insert(short_key(text, 3) as u32, rank).is_some(),
            4 => self.of_four.insert(short_key(text, 4) as u32, rank).is_some(),
            0..8 => self.of_short.insert(short_key(text, len), rank).is_some(),
            8..16 => self.of_medium.insert(medium_key(text, len), rank).is_some(),
            _ => self.of_long.insert(text[..len].into(), rank).is_some(),
        }
    }

    #[inline]
    fn rank(&self, text: &[u8], len: usize) -> u32 {
        let found = match len {
            2 => return self.of_two[two(text)],
            3 => self.of_three.get(&(short_key(text, 3) as u32)),
            4 => self.of_four.get(&(short_key(text, 4) as u32)),
            0..8 => self.of_short.get(&short_key(text, len)),
            8..16 => self.of_medium.get(&medium_key(text, len)),
            _ => self.of_long.get(&text[..len]),
        };
        found.copied().unwrap_or(NO_RANK)
    }
}

/// Return the first `len` bytes, up to 7, and their number as one integer.
#[inline]
fn short_key(text: &[u8], len: usize) -> u64 {
    let bytes = u64::from_le_bytes(text.first_chunk().copied().unwrap_or_default());
    bytes & ((1 << (8 * len)) - 1) | (len as u64) << 56
}

/// Return the first `len` bytes, up to 15, and their number as one integer.
#[inline]
fn medium_key(text: &[u8], len: usize) -> u128 {
    let bytes = u128::from_le_bytes(text.first_chunk().copied().unwrap_or_default());
    bytes & ((1 << (8 * len)) - 1) | (len as u128) << 120
}

#[inline]
fn two(text: &[u8]) -> usize {
    usize::from(text[0]) << 8 | usize::from(text[1])
}

/// The symbol boundaries of a token, and the rank of each symbol merged with its right neighbour.
#[derive(Default)]
struct RankMerger {
    boundaries: Vec<usize>,
    ranks: Vec<u32>,
}

impl RankMerger {
    /// Run rank-BPE on the first `len` bytes until two symbols are left. Return their boundary, or `None` if more are
    /// left.
    fn last_boundary(&mut self, text: &[u8], len: usize, table: &RankTable) -> Option<usize> {
        let Self { boundaries, ranks } = self;
        boundaries.clear();
        boundaries.extend(0..=len);
        ranks.clear();
        ranks.extend((1..len).map(|at| table.rank(&text[at - 1..], 2)));
        while ranks.len() > 1 {
            let (at, _) = ranks
                .iter()
                .enumerate()
                .min_by_key(|(_, rank)| **rank)
                .filter(|best| *best.1 != NO_RANK)?;
            boundaries.remove(at + 1);
            ranks.remove(at);
            let rank_at =
                |at: usize| table.rank(&text[boundaries[at]..], boundaries[at + 2] - boundaries[at]);
            if at < ranks.len() {
                ranks[at] = rank_at(at);
            }
            if at > 0 {
                ranks[at - 1] = rank_at(at - 1);
            }
        }
        boundaries.get(1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(longer: &[&str]) -> Ranks {
        let bytes = (0..=255u8).map(|byte| printable(&[byte]));
        let mut tokens = RankedTokens::default();
        for (token, rank) in bytes.chain(longer.iter().map(|token| (*token).to_owned())).zip(0..) {
            assert!(tokens.push_printable(&token, rank));
        }
        Ranks::new(tokens, |number| format!("line {number}")).unwrap()
    }

    fn merges(longer: &[&str]) -> MergeList {
        ranks(longer).merges()
    }

    fn pairs(pairs: &[(&str, &str)]) -> MergeList {
        pairs.iter().copied().collect()
    }

    #[test]
    fn a_token_is_cut_where_lower_ranks_stop_merging() {
        assert_eq!(merges(&["bc", "ab", "abc"]), pairs(&[("b", "c"), ("a", "b"), ("a", "bc")]));
        assert_eq!(merges(&["ab", "bc", "abc"]), pairs(&[("a", "b"), ("b", "c"), ("ab", "c")]));
    }

    #[test]
    fn parts_may_have_higher_ranks_than_the_token() {
        assert_eq!(merges(&["abc", "ab"]), pairs(&[("ab", "c"), ("a", "b")]));
    }

    #[test]
    fn the_leftmost_pair_of_equal_rank_merges_first() {
        assert_eq!(merges(&["aa", "aaa"]), pairs(&[("a", "a"), ("aa", "a")]));
    }

    #[test]
    fn a_token_that_no_merges_form_has_no_pair() {
        assert_eq!(merges(&["abcd", "bc"]), pairs(&[("b", "c")]));
        assert_eq!(ranks(&["abcd", "bc"]).cuts().next(), Some((b"abcd".as_slice(), None)));
    }
}
