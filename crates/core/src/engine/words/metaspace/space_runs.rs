//! Splits a run of spaces from the word after it, for BPE, so that a word has the same cache key after any number of
//! spaces.
//!
//! There are two cases. If no token has `▁` next to the first character `c` of the word (see
//! [`crate::model::CharAdjacency`]), the text splits after all spaces. If the last `▁` certainly merges with the word,
//! the text splits before the last space.
//!
//! Proof of the second case. While the last `▁` is a symbol of its own, the symbol after it is `c` or a merge result that
//! begins with `c`. A merge that extends this symbol is applied first only if its rank is lower than the rank of the merge
//! of `▁` and the symbol; at equal ranks the leftmost merge, that of `▁`, is first. [`certain_merges`] follows all symbols
//! that can occur there, also by the second character of the word. If each of them merges with `▁` at a lower rank than
//! any merge of two `▁`, the last `▁` merges with the word before it merges with another `▁`. If no token has `▁▁c`, the
//! result never merges with a `▁` before it. So no token crosses the boundary before the last space.

use std::sync::Arc;

use foldhash::HashMap;

use super::scanner::AsciiSplits;
use crate::engine::stages::ModelSource;
use crate::locks::Late;
use crate::model::CharAdjacency;
use crate::spec::{BpeSpec, ModelSpec, PieceType, SentencePieceSpec};
use crate::text::{METASPACE, METASPACE_STR};

/// A merge and its rank; lower ranks are applied first.
#[derive(Clone, Copy, Debug)]
struct RankedMerge<'m> {
    left: &'m str,
    right: &'m str,
    rank: f64,
}

/// Decides where runs of spaces split from the word after them.
#[derive(Clone, Debug)]
struct SpaceRuns {
    /// By the character after the run: whether it splits after all spaces.
    all_spaces: [bool; 128],
    /// By the first two characters after the run: whether it splits before the last space.
    all_but_last: AsciiSplits,
}

impl SpaceRuns {
    /// Return the splits for these merges and the adjacent characters in tokens.
    fn of(merges: &[RankedMerge<'_>], pairs: &CharAdjacency) -> Self {
        let certain = certain_merges(merges);
        Self {
            all_spaces: std::array::from_fn(|c| pairs.can_split(METASPACE, char::from(c as u8))),
            all_but_last: AsciiSplits::of(|c, next| certain[usize::from(c)] >> next & 1 == 1),
        }
    }

    /// Return the byte at which the word after the spaces `text[start..end]` begins.
    #[inline]
    fn word_start(&self, text: &[u8], start: usize, end: usize) -> usize {
        match text.get(end) {
            _ if end - start < 2 => start,
            Some(&c) if self.all_spaces.get(usize::from(c)).is_some_and(|&is_all| is_all) => end,
            Some(_) if self.all_but_last.allow(text, end + 1) => end - 1,
            _ => start,
        }
    }
}

/// Decides where runs of spaces split, as [`SpaceRuns`], which it makes for the first run: many texts have none.
#[derive(Debug)]
pub(super) struct LateSpaceRuns {
    model: Arc<ModelSource>,
    pairs: CharAdjacency,
    runs: Late<SpaceRuns>,
}

impl LateSpaceRuns {
    /// Return the splits for a model and the adjacent characters in its tokens.
    pub(super) fn of(model: &Arc<ModelSource>, pairs: &CharAdjacency) -> Self {
        Self { model: Arc::clone(model), pairs: pairs.clone(), runs: Late::unbuilt() }
    }

    /// Return the byte at which the word after the spaces `text[start..end]` begins.
    #[inline]
    pub(super) fn word_start(&self, text: &[u8], start: usize, end: usize) -> usize {
        if end - start < 2 {
            return start;
        }
        // While another thread makes them, the word has all the spaces before it.
        self.runs.get_or_build(|| self.make()).map_or(start, |runs| runs.word_start(text, start, end))
    }

    /// Make the splits.
    pub(super) fn warm_up(&self) {
        self.runs.get_or_make(|| self.make());
    }

    fn make(&self) -> SpaceRuns {
        SpaceRuns::of(&merges_of(self.model.whole()), &self.pairs)
    }
}

/// Return the merges of a model that segments each word independently.
fn merges_of(model: &ModelSpec) -> Vec<RankedMerge<'_>> {
    match model {
        ModelSpec::SentencePiece(model) => of_pieces(model),
        ModelSpec::Bpe(model) => of_merges(model),
        _ => Vec::new(),
    }
}

/// Return the merges of a SentencePiece model, or none if user-defined symbols split the text first.
///
/// Only the split of a piece after a leading `▁` matters here.
fn of_pieces(model: &SentencePieceSpec) -> Vec<RankedMerge<'_>> {
    if model.pieces.iter().any(|piece| piece.kind == PieceType::UserDefined) {
        return Vec::new();
    }
    let normal = model.pieces.iter().filter(|piece| piece.kind == PieceType::Normal);
    normal.map(|piece| RankedMerge::of_piece(&piece.text, -f64::from(piece.score))).collect()
}

/// Return the merges of a BPE model.
fn of_merges(model: &BpeSpec) -> Vec<RankedMerge<'_>> {
    let merges = model.merges.iter().zip(0u32..);
    merges.map(|((left, right), rank)| RankedMerge { left, right, rank: rank.into() }).collect()
}

impl<'m> RankedMerge<'m> {
    fn of_piece(text: &'m str, rank: f64) -> Self {
        let (left, right) =
            text.split_at(if text.starts_with(METASPACE) { METASPACE.len_utf8() } else { 0 });
        Self { left, right, rank }
    }

    fn bytes(&self) -> impl Iterator<Item = u8> + 'm {
        self.left.bytes().chain(self.right.bytes())
    }

    /// Return the first two characters of the result, if both are ASCII.
    fn first_two(&self) -> Option<(usize, u32)> {
        let mut bytes = self.bytes().take_while(u8::is_ascii);
        Some((bytes.next()?.into(), bytes.next()?.into()))
    }
}

/// Return, by the first character of a word and the second as a bit, whether the `▁` before it certainly merges with it.
fn certain_merges(merges: &[RankedMerge<'_>]) -> [u128; 128] {
    let with_metaspace = MetaspaceMerges::of(merges);
    let ranks: [Option<f64>; 128] =
        std::array::from_fn(|c| with_metaspace.rank(&char::from(c as u8).to_string()));
    let mut certain_merges = ranks.map(|rank| if rank.is_some() { u128::MAX } else { 0 });
    // The prefixes of the current text that can follow the `▁`, with the ranks of their merges with `▁`.
    let mut before: Vec<(&str, f64)> = Vec::new();
    let competing_merges = competing_merges(merges, &ranks);
    for (text, rank) in &competing_merges {
        while before.last().is_some_and(|(shorter, _)| !text.starts_with(shorter)) {
            before.pop();
        }
        let (c, next) = (usize::from(text.as_bytes()[0]), text.as_bytes()[1]);
        let comes_first = |metaspace_rank: f64| *rank < metaspace_rank;
        if ranks[c].is_some_and(comes_first)
            || before.iter().any(|&(_, metaspace_rank)| comes_first(metaspace_rank))
        {
            match with_metaspace.rank(text) {
                Some(metaspace_rank) => before.push((text, metaspace_rank)),
                None => certain_merges[c] &= !(1 << next),
            }
        }
    }
    certain_merges
}

/// Return the results of merges, sorted by text, with their ranks: those whose first two characters `c` and `d` are also
/// those of some merge with a lower rank than the merge of `▁` and `c`.
fn competing_merges(merges: &[RankedMerge<'_>], ranks: &[Option<f64>; 128]) -> Vec<(String, f64)> {
    let ascii_merges = || merges.iter().filter_map(|merge| Some((merge, merge.first_two()?)));
    let mut competes = [0u128; 128];
    for (merge, (c, next)) in ascii_merges() {
        competes[c] |= u128::from(ranks[c].is_some_and(|rank| merge.rank < rank)) << next;
    }
    let competing_merges = ascii_merges().filter(|(_, (c, next))| competes[*c] >> next & 1 == 1);
    let mut competing_merges: Vec<_> =
        competing_merges.map(|(merge, _)| ([merge.left, merge.right].concat(), merge.rank)).collect();
    competing_merges.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    competing_merges
}

/// The merges that begin with `▁`.
struct MetaspaceMerges<'m> {
    /// By the text after the `▁`: the highest rank of its merges with `▁`.
    ranks: HashMap<&'m str, f64>,
    /// The lowest rank of merges whose result begins with `▁▁`.
    min_double_rank: f64,
    /// By character: whether a result has it after `▁▁`.
    after_double: [bool; 128],
}

impl<'m> MetaspaceMerges<'m> {
    fn of(merges: &[RankedMerge<'m>]) -> Self {
        let mut with_metaspace =
            Self { ranks: HashMap::default(), min_double_rank: f64::INFINITY, after_double: [false; 128] };
        for merge in merges.iter().filter(|merge| merge.left.starts_with(METASPACE)) {
            let mut rest = merge.left.chars().chain(merge.right.chars()).skip(1);
            if rest.next() == Some(METASPACE) {
                with_metaspace.min_double_rank = with_metaspace.min_double_rank.min(merge.rank);
                let after = rest
                    .find(|&c| c != METASPACE)
                    .and_then(|c| with_metaspace.after_double.get_mut(c as usize));
                after.into_iter().for_each(|is_after| *is_after = true);
            } else if merge.left == METASPACE_STR {
                let rank = with_metaspace.ranks.entry(merge.right).or_insert(merge.rank);
                *rank = rank.max(merge.rank);
            }
        }
        with_metaspace
    }

    /// Return the rank at which a `▁` merges with a text; `None` if the `▁` may merge with another `▁` first.
    fn rank(&self, text: &str) -> Option<f64> {
        let is_after_double = text.bytes().next().and_then(|c| self.after_double.get(usize::from(c)));
        let rank = self.ranks.get(text).filter(|_| is_after_double == Some(&false));
        rank.copied().filter(|&rank| rank < self.min_double_rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return for each word how many spaces before it belong to it, of three; `None` if all.
    fn ends(pieces: &[(&str, i32)], words: &[&str]) -> Vec<Option<usize>> {
        let merges: Vec<RankedMerge<'_>> =
            pieces.iter().map(|&(text, rank)| RankedMerge::of_piece(text, rank.into())).collect();
        let spaces = SpaceRuns::of(&merges, &CharAdjacency::of(pieces.iter().map(|&(text, _)| text)));
        let end = |word: &&str| {
            let text = format!("x   {word} ");
            let start = spaces.word_start(text.as_bytes(), 1, 4);
            assert_eq!(spaces.word_start(text.as_bytes(), 3, 4), 3);
            (start > 1).then(|| 4 - start)
        };
        words.iter().map(end).collect()
    }

    #[test]
    fn spaces_split_before_the_last_where_it_certainly_merges() {
        let pieces =
            [("\u{2581}", 0), ("\u{2581}a", 1), ("\u{2581}b", 5), ("bc", 3), ("\u{2581}\u{2581}", 9)];
        // `bc` has a lower rank than `▁b` and does not merge with `▁`. No piece has a digit next to `▁`.
        assert_eq!(
            ends(&pieces, &["a", "ab", "b", "bd", "bc", "7"]),
            [1, 1, 1, 1, 9, 0].map(|end| (end < 9).then_some(end))
        );
        // `▁` also merges with `bc`.
        let more = [&pieces[..], &[("\u{2581}bc", 8)]].concat();
        assert_eq!(ends(&more, &["bc", "bcd"]), [Some(1); 2]);
        // Not if `▁▁` has the same rank, and not if `bc` merges further.
        let late = [&pieces[..], &[("\u{2581}bc", 9)]].concat();
        assert_eq!(ends(&late, &["bc", "b"]), [None, Some(1)]);
        let longer = [&more[..], &[("bcd", 7)]].concat();
        assert_eq!(ends(&longer, &["bc", "bd"]), [None, Some(1)]);
    }

    #[test]
    fn a_character_after_two_metaspaces_never_certainly_merges() {
        let pieces = [("\u{2581}", 0), ("\u{2581}a", 1), ("\u{2581}b", 2), ("\u{2581}\u{2581}a", 9)];
        assert_eq!(ends(&pieces, &["a", "b"]), [None, Some(1)]);
    }
}
