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
//!
//! ```text
//! merger      rank-BPE
//! byte_ranks  the ranks of tokens by their bytes
//! ```

mod byte_ranks;
mod merger;

use self::byte_ranks::{ByteRanks, PADDING};
pub(crate) use self::merger::{RankMerger, NO_RANK};
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
    if len <= merger::MAX_SHORT {
        return merger::last_boundary(len, |start, end| table.rank(&text[start..], end - start));
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

#[cfg(test)]
mod tests {
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
}
