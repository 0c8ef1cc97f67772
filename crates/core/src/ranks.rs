//! Merges of a byte-level vocabulary whose ids are ranks.
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
//! linear in the size of the vocabulary.

use foldhash::{HashMap, HashMapExt};

use crate::spec::{BpeSpec, MergeList, ModelSpec, TokenizerSpec};
use crate::text::push_bytes_of_printable;
use crate::vocab::Vocab;

/// The length of the longest token that merges make, in bytes; published tokens have up to 128.
pub const MAX_RANKED_BYTES: usize = 1024;

/// A byte-level tokenizer given by ranks: the ids of its vocabulary.
///
/// Its merges are derived when they are needed: that takes most of the time of loading. As a [`TokenizerSpec`] it has them.
#[derive(Clone, Debug)]
pub struct RanksSpec {
    /// The other stages; the model is ignored.
    pub stages: TokenizerSpec,
    /// The tokens, as printable characters, with a token for every byte.
    pub vocab: Vocab,
}

impl From<RanksSpec> for TokenizerSpec {
    fn from(RanksSpec { stages, vocab }: RanksSpec) -> Self {
        let settings = BpeSpec { ignore_merges: true, ..BpeSpec::default() };
        Self { model: ModelSpec::Bpe(ranked_model(&settings, &vocab)), ..stages }
    }
}

/// A token of more than one byte, and the two tokens of its canonical pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanonicalPair {
    /// The id of the token.
    pub token: u32,
    /// The ids of both sides; `None` if no merges make the token.
    pub sides: Option<[u32; 2]>,
}

/// Return the canonical pairs of a byte-level vocabulary whose ids are ranks, by rank.
#[must_use]
pub fn canonical_pairs(vocab: &Vocab) -> Vec<CanonicalPair> {
    let (mut bytes, mut tokens) = (Vec::new(), Vec::with_capacity(vocab.len()));
    for (token, id) in vocab.iter() {
        let start = bytes.len();
        push_bytes_of_printable(token, &mut bytes);
        tokens.push((start, bytes.len() - start, id));
    }
    bytes.resize(bytes.len() + PADDING, 0);
    let table = ByteRanks::of(&bytes, &tokens);
    let mut merger = RankMerger::default();
    let longer = tokens.iter().filter(|(_, len, _)| *len > 1);
    let pairs = longer.map(|&(start, len, token)| {
        let text = &bytes[start..];
        let cut = last_boundary(&mut merger, text, len, &table);
        let sides = cut.map(|cut| [table.rank(text, cut), table.rank(&text[cut..], len - cut)]);
        CanonicalPair { token, sides: sides.filter(|sides| !sides.contains(&NO_RANK)) }
    });
    pairs.collect()
}

/// Return the canonical pairs as merges, by rank.
#[must_use]
pub fn canonical_merges(vocab: &Vocab) -> MergeList {
    let token = |id: u32| vocab.token_of(id).unwrap_or_default();
    let pairs = canonical_pairs(vocab);
    let mut merges = MergeList::with_capacity(pairs.len(), 0);
    for [left, right] in pairs.iter().filter_map(|pair| pair.sides) {
        merges.push(token(left), token(right));
    }
    merges
}

/// Return a model with the entries of a vocabulary and the merges of its ids as ranks.
#[must_use]
pub fn ranked_model(settings: &BpeSpec, vocab: &Vocab) -> BpeSpec {
    let entries = vocab.iter().map(|(token, id)| (token.to_owned(), id)).collect();
    BpeSpec { vocab: entries, merges: canonical_merges(vocab), ..settings.clone() }
}

/// Return the byte between the two symbols that rank-BPE, run on the first `len` bytes, reaches last; `None` if more
/// are left.
fn last_boundary(merger: &mut RankMerger, text: &[u8], len: usize, table: &ByteRanks) -> Option<usize> {
    if len <= MAX_SHORT {
        return short_boundary(len, |start, end| table.rank(&text[start..], end - start));
    }
    if len > MAX_RANKED_BYTES {
        return None;
    }
    merger.boundaries.clear();
    merger.boundaries.extend(0..=len);
    merger.merge(2, |start, end| table.rank(&text[start..], end - start));
    match merger.boundaries[..] {
        [_, boundary, _] => Some(boundary),
        _ => None,
    }
}

/// The rank of text that is no token.
pub(crate) const NO_RANK: u32 = u32::MAX;

/// The symbol boundaries of a text, and the rank of each symbol merged with its right neighbour.
#[derive(Default)]
pub(crate) struct RankMerger {
    pub(crate) boundaries: Vec<usize>,
    ranks: Vec<u32>,
}

impl RankMerger {
    /// Run rank-BPE until `symbols` symbols are left, or no two that merge; `rank` returns the rank of a span.
    pub(crate) fn merge(&mut self, symbols: usize, rank: impl Fn(usize, usize) -> u32) {
        let Self { boundaries, ranks } = self;
        ranks.clear();
        ranks.extend(boundaries.windows(3).map(|pair| rank(pair[0], pair[2])));
        while ranks.len() + 1 > symbols {
            let lowest = ranks.iter().enumerate().min_by_key(|(_, rank)| **rank);
            let Some((at, _)) = lowest.filter(|(_, rank)| **rank != NO_RANK) else { return };
            boundaries.remove(at + 1);
            ranks.remove(at);
            let rank_at = |at: usize| rank(boundaries[at], boundaries[at + 2]);
            if at < ranks.len() {
                ranks[at] = rank_at(at);
            }
            if at > 0 {
                ranks[at - 1] = rank_at(at - 1);
            }
        }
    }
}

/// The longest text, in bytes, whose boundaries are the bits of one number.
const MAX_SHORT: usize = 62;

/// Run rank-BPE on a text of 2 to [`MAX_SHORT`] bytes until two symbols are left; return the boundary between them, or
/// `None` if more are left. `rank` returns the rank of a span.
fn short_boundary(len: usize, rank: impl Fn(usize, usize) -> u32) -> Option<usize> {
    // The starts of symbols, and the end of the text.
    let mut boundaries = (1_u64 << len << 1) - 1;
    let after = |boundaries: u64, at: usize| at + 1 + (boundaries >> at >> 1).trailing_zeros() as usize;
    // For each start, the rank of its symbol merged with the next one.
    let mut ranks = [NO_RANK; MAX_SHORT + 1];
    (0..len - 1).for_each(|at| ranks[at] = rank(at, at + 2));
    for _ in 2..len {
        let (mut lowest, mut at, mut left) = (NO_RANK, 0, boundaries);
        while left != 0 {
            let start = left.trailing_zeros() as usize;
            if ranks[start] < lowest {
                (lowest, at) = (ranks[start], start);
            }
            left &= left - 1;
        }
        if lowest == NO_RANK {
            return None;
        }
        let right = after(boundaries, at);
        boundaries &= !(1 << right);
        ranks[right] = NO_RANK;
        let end = after(boundaries, at);
        ranks[at] = if end < len { rank(at, after(boundaries, end)) } else { NO_RANK };
        let before = boundaries & ((1 << at) - 1);
        if before != 0 {
            let start = before.ilog2() as usize;
            ranks[start] = rank(start, end);
        }
    }
    Some(after(boundaries, 0))
}

/// The bytes after the last token, so that 16 can be read from any token.
const PADDING: usize = 16;

/// Looks up ranks: pairs of bytes, the most frequent case, by index; up to 15 bytes by value; others by hash.
///
/// A token is given by its length, and by bytes that begin with it and have at least `PADDING` more. Most lookups are
/// of three and four bytes; tables of their own stay in the cache.
struct ByteRanks {
    of_two: Vec<u32>,
    of_three: HashMap<u32, u32>,
    of_four: HashMap<u32, u32>,
    /// Other tokens of up to 7 bytes.
    of_short: HashMap<u64, u32>,
    /// Up to 15 bytes.
    of_medium: HashMap<u128, u32>,
    of_long: HashMap<Box<[u8]>, u32>,
}

impl ByteRanks {
    /// Build the table of tokens, each with its first byte, its length and its rank.
    fn of(bytes: &[u8], tokens: &[(usize, usize, u32)]) -> Self {
        let mut table = Self {
            of_two: vec![NO_RANK; 1 << 16],
            of_three: HashMap::with_capacity(tokens.len() / 8),
            of_four: HashMap::with_capacity(tokens.len() / 8),
            of_short: HashMap::with_capacity(tokens.len() / 2),
            of_medium: HashMap::with_capacity(tokens.len() / 4),
            of_long: HashMap::default(),
        };
        for &(start, len, rank) in tokens {
            table.insert(&bytes[start..], len, rank);
        }
        table
    }

    fn insert(&mut self, text: &[u8], len: usize, rank: u32) {
        match len {
            2 => self.of_two[two(text)] = rank,
            3 => drop(self.of_three.insert(short_key(text, 3) as u32, rank)),
            4 => drop(self.of_four.insert(short_key(text, 4) as u32, rank)),
            0..8 => drop(self.of_short.insert(short_key(text, len), rank)),
            8..16 => drop(self.of_medium.insert(medium_key(text, len), rank)),
            _ => drop(self.of_long.insert(text[..len].into(), rank)),
        }
    }

    /// Return the rank of the first `len` bytes, or `NO_RANK`.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::printable_of;

    fn ranks(longer: &[&str]) -> Vocab {
        let bytes = (0..=255u8).map(|byte| printable_of(byte).to_string());
        let tokens: Vec<(String, u32)> =
            bytes.chain(longer.iter().map(|token| (*token).to_owned())).zip(0..).collect();
        Vocab::compile(&tokens).unwrap()
    }

    fn merges(longer: &[&str]) -> MergeList {
        canonical_merges(&ranks(longer))
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
        assert_eq!(canonical_pairs(&ranks(&["abcd", "bc"]))[0], CanonicalPair { token: 256, sides: None });
    }

    proptest! {
        #[test]
        fn short_texts_are_merged_like_all_others(
            text in prop::collection::vec(0..3u8, 2..=MAX_SHORT),
            tokens in prop::collection::vec(prop::collection::vec(0..3u8, 2..12), 0..60),
        ) {
            let rank = |start: usize, end: usize| {
                let token = tokens.iter().position(|token| *token == text[start..end]);
                token.map_or(NO_RANK, |rank| rank as u32)
            };
            let mut merger = RankMerger { boundaries: (0..=text.len()).collect(), ..RankMerger::default() };
            merger.merge(2, rank);
            let expected = <[usize; 3]>::try_from(merger.boundaries).ok().map(|[_, boundary, _]| boundary);
            prop_assert_eq!(short_boundary(text.len(), rank), expected);
        }
    }
}
