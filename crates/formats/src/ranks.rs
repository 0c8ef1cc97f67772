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

use foldhash::{HashMap, HashMapExt};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::BpeSpec;

use crate::bytes::{check_alphabet, from_printable, printable};

/// The length of the longest token, in bytes; published tokens have up to 128.
const MAX_TOKEN_BYTES: usize = 1024;
const NO_RANK: u32 = u32::MAX;

/// A token with its rank and its number in the file.
pub(crate) struct RankedToken {
    pub(crate) token: Vec<u8>,
    pub(crate) rank: u32,
    pub(crate) number: usize,
}

/// Distinct tokens in the order of their ranks, with a token for every byte.
pub(crate) struct Ranks {
    tokens: Vec<(Vec<u8>, u32)>,
}

impl Ranks {
    /// Check the tokens of a file; `place_of` returns the name of a token by its number.
    pub(crate) fn new(
        mut entries: Vec<RankedToken>,
        place_of: impl Fn(usize) -> String,
    ) -> Result<Self, Error> {
        check_tokens(&entries, &place_of)?;
        entries.sort_by_key(|entry| (entry.rank, entry.number));
        if let Some(twice) = entries.windows(2).find(|two| two[0].rank == two[1].rank) {
            let found = format!("rank {}, which {} has too", twice[1].rank, place_of(twice[0].number));
            let place = place_of(twice[1].number);
            return Err(Error::new(ErrorKind::Vocabulary, place, found, "each rank once"));
        }
        Ok(Self { tokens: entries.into_iter().map(|entry| (entry.token, entry.rank)).collect() })
    }

    /// Return the tokens of a vocabulary with ids as ranks; fails for an entry that is not byte-level.
    pub(crate) fn of_vocab<'v>(vocab: impl Iterator<Item = (&'v str, u32)>) -> Result<Self, Error> {
        let entry = |(text, rank): (&str, u32)| match from_printable(text) {
            Some(token) => Ok(RankedToken { token, rank, number: rank as usize }),
            None => {
                let found = format!("{text:?}, which is not made of the characters that stand for bytes");
                Err(Error::new(ErrorKind::Vocabulary, "model.vocab", found, "byte-level entries"))
            }
        };
        Self::new(vocab.map(entry).collect::<Result<_, _>>()?, |id| format!("id {id}"))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.tokens.iter().map(|(token, rank)| (token.as_slice(), *rank))
    }

    /// Return the byte where each token of more than one byte is cut into its canonical pair.
    pub(crate) fn cuts(&self) -> impl Iterator<Item = (&[u8], Option<usize>)> {
        let table = RankTable::new(&self.tokens);
        let mut symbols = RankMerger::default();
        let longer = self.tokens.iter().map(|(token, _)| token.as_slice()).filter(|token| token.len() > 1);
        longer.map(move |token| (token, symbols.last_boundary(token, &table)))
    }

    /// Return the canonical pairs in the order of the ranks, as printable text.
    pub(crate) fn merges(&self) -> Vec<(String, String)> {
        let pair = |(token, cut): (&[u8], Option<usize>)| {
            let (left, right) = token.split_at(cut?);
            Some((printable(left), printable(right)))
        };
        self.cuts().filter_map(pair).collect()
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

fn check_tokens(entries: &[RankedToken], place_of: &impl Fn(usize) -> String) -> Result<(), Error> {
    let mut first_with: HashMap<&[u8], usize> = HashMap::with_capacity(entries.len());
    for entry in entries {
        let invalid = |found, expected| {
            Err(Error::new(ErrorKind::Vocabulary, place_of(entry.number), found, expected))
        };
        if entry.token.len() > MAX_TOKEN_BYTES {
            let found = format!("a token of {} bytes", entry.token.len());
            return invalid(found, format!("at most {MAX_TOKEN_BYTES}"));
        }
        if let Some(first) = first_with.insert(&entry.token, entry.number) {
            let token = String::from_utf8_lossy(&entry.token);
            return invalid(
                format!("the token {token:?}, which {} has too", place_of(first)),
                "each token once".into(),
            );
        }
    }
    check_alphabet("tokens", |byte| first_with.contains_key([byte].as_slice()))
}

/// Looks up ranks: pairs of bytes, the most frequent case, by index; up to 15 bytes by value; others by hash.
struct RankTable<'t> {
    of_two: Vec<u32>,
    of_short: HashMap<u128, u32>,
    of_long: HashMap<&'t [u8], u32>,
}

impl<'t> RankTable<'t> {
    fn new(tokens: &'t [(Vec<u8>, u32)]) -> Self {
        let mut table = Self {
            of_two: vec![NO_RANK; 1 << 16],
            of_short: HashMap::with_capacity(tokens.len()),
            of_long: HashMap::default(),
        };
        for (token, rank) in tokens {
            match **token {
                [first, second] => table.of_two[two(first, second)] = *rank,
                _ => drop(match short_key(token) {
                    Some(key) => table.of_short.insert(key, *rank),
                    None => table.of_long.insert(token, *rank),
                }),
            }
        }
        table
    }

    fn rank(&self, token: &[u8]) -> u32 {
        let found = match *token {
            [first, second] => return self.of_two[two(first, second)],
            _ => match short_key(token) {
                Some(key) => self.of_short.get(&key),
                None => self.of_long.get(token),
            },
        };
        found.copied().unwrap_or(NO_RANK)
    }
}

/// Return up to 15 bytes and their number as one integer.
fn short_key(token: &[u8]) -> Option<u128> {
    let mut key = [0; 16];
    key[..15].get_mut(..token.len())?.copy_from_slice(token);
    key[15] = token.len() as u8;
    Some(u128::from_le_bytes(key))
}

fn two(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

/// The symbol boundaries of a token, and the rank of each symbol merged with its right neighbour.
#[derive(Default)]
struct RankMerger {
    boundaries: Vec<usize>,
    ranks: Vec<u32>,
}

impl RankMerger {
    /// Run rank-BPE until two symbols are left; returns their boundary, or `None` if more are left.
    fn last_boundary(&mut self, token: &[u8], table: &RankTable) -> Option<usize> {
        let Self { boundaries, ranks } = self;
        boundaries.clear();
        boundaries.extend(0..=token.len());
        ranks.clear();
        ranks.extend(token.windows(2).map(|pair| table.rank(pair)));
        while ranks.len() > 1 {
            let (at, _) = ranks
                .iter()
                .enumerate()
                .min_by_key(|(_, rank)| **rank)
                .filter(|best| *best.1 != NO_RANK)?;
            boundaries.remove(at + 1);
            ranks.remove(at);
            if at < ranks.len() {
                ranks[at] = table.rank(&token[boundaries[at]..boundaries[at + 2]]);
            }
            if at > 0 {
                ranks[at - 1] = table.rank(&token[boundaries[at - 1]..boundaries[at + 1]]);
            }
        }
        boundaries.get(1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(longer: &[&str]) -> Ranks {
        let bytes = (0..=255u8).map(|byte| vec![byte]);
        let tokens = bytes.chain(longer.iter().map(|token| token.as_bytes().to_vec()));
        let entry = |(number, token)| RankedToken { token, rank: number as u32, number };
        Ranks::new(tokens.enumerate().map(entry).collect(), |number| format!("line {number}")).unwrap()
    }

    fn merges(longer: &[&str]) -> Vec<(String, String)> {
        ranks(longer).merges()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(left, right)| ((*left).into(), (*right).into())).collect()
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
