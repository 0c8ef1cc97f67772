//! Where a run of spaces and what follows it are two words for BPE, so that a word is the same behind any number of
//! spaces.
//!
//! Behind a character that no entry has beside a mark, see [`crate::model::CharAdjacency`]. And before the last space, where it is
//! sure to join with what follows it: let `c` be the first character of the word. As long as the last mark stands
//! alone, what stands behind it is `c` or what merges make of it and of what follows, and such a merge comes only if
//! it has a lower rank than that which joins the mark with what stands there; of equals the leftmost comes first, and
//! that is the mark's. All that may come to stand there is followed up, by the next character too. If a merge joins
//! each of these with the mark, all before the first of those that make two marks one entry, the mark joins with one
//! of them before it joins with the marks before it. What it has become joins with no mark if no entry has two marks
//! and `c` behind them, so nothing ever crosses the place before it.

use rustc_hash::FxHashMap;

use super::scanner::AsciiSplits;
use super::word_rules::{METASPACE, METASPACE_STR};
use crate::model::CharAdjacency;
use crate::spec::{BpeSpec, PieceType, SentencePieceSpec};

/// Two texts that are joined, and the rank of the merge, the lowest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedMerge<'m> {
    left: &'m str,
    right: &'m str,
    rank: f64,
}

/// Where runs of spaces are words by themselves.
#[derive(Clone, Debug)]
pub(super) struct SpaceRuns {
    /// All spaces, by the character behind them.
    all_spaces: [bool; 128],
    /// All but the last, by the first two characters behind that.
    all_but_last: AsciiSplits,
}

impl SpaceRuns {
    /// For these merges, and entries.
    pub(super) fn of(merges: &[RankedMerge<'_>], pairs: &CharAdjacency) -> Self {
        let certain = certain_merges(merges);
        Self {
            all_spaces: std::array::from_fn(|c| pairs.can_split(METASPACE, char::from(c as u8))),
            all_but_last: AsciiSplits::of(|c, next| certain[usize::from(c)] >> next & 1 == 1),
        }
    }

    /// Where the word begins before which spaces stand from `start` to `end`.
    #[inline]
    pub(super) fn word_start(&self, text: &[u8], start: usize, end: usize) -> usize {
        match text.get(end) {
            _ if end - start < 2 => start,
            Some(&c) if self.all_spaces.get(usize::from(c)).is_some_and(|&is_all| is_all) => end,
            Some(_) if self.all_but_last.allow(text, end + 1) => end - 1,
            _ => start,
        }
    }
}

/// The joins of a model of SentencePiece; none where pieces are cut out of a text before. A piece that begins with a mark
/// may be joined from that and the rest.
pub(super) fn of_pieces(model: &SentencePieceSpec) -> Vec<RankedMerge<'_>> {
    if model.pieces.iter().any(|piece| piece.kind == PieceType::UserDefined) {
        return Vec::new();
    }
    let normal = model.pieces.iter().filter(|piece| piece.kind == PieceType::Normal);
    normal.map(|piece| RankedMerge::of_piece(&piece.text, -f64::from(piece.score))).collect()
}

/// The joins of merges.
pub(super) fn of_merges(model: &BpeSpec) -> Vec<RankedMerge<'_>> {
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

    /// The first two characters of several, if they are ASCII.
    fn first_two(&self) -> Option<(usize, u32)> {
        let mut bytes = self.bytes().take_while(u8::is_ascii);
        Some((bytes.next()?.into(), bytes.next()?.into()))
    }
}

/// By the first character of a word and, as bits, the second: whether the mark before it joins with it for sure.
fn certain_merges(merges: &[RankedMerge<'_>]) -> [u128; 128] {
    let with_metaspace = MetaspaceMerges::of(merges);
    let ranks: [Option<f64>; 128] =
        std::array::from_fn(|c| with_metaspace.rank(&char::from(c as u8).to_string()));
    let mut certain_merges = ranks.map(|rank| if rank.is_some() { u128::MAX } else { 0 });
    // What a text begins with comes before it.
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

/// In the order of the texts, and with their ranks, the joins whose first two characters some join has, be it another,
/// that comes before that of a mark and the first.
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

/// The joins with marks.
struct MetaspaceMerges<'m> {
    /// By what is joined with a mark.
    ranks: FxHashMap<&'m str, f64>,
    /// The lowest rank of those with two marks.
    min_double_rank: f64,
    /// By character: it stands behind two marks.
    after_double: [bool; 128],
}

impl<'m> MetaspaceMerges<'m> {
    fn of(merges: &[RankedMerge<'m>]) -> Self {
        let mut with_metaspace = Self {
            ranks: FxHashMap::default(),
            min_double_rank: f64::INFINITY,
            after_double: [false; 128],
        };
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

    /// When a mark joins with a text; never, where that may be too late.
    fn rank(&self, text: &str) -> Option<f64> {
        let is_after_double = text.bytes().next().and_then(|c| self.after_double.get(usize::from(c)));
        let rank = self.ranks.get(text).filter(|_| is_after_double == Some(&false));
        rank.copied().filter(|&rank| rank < self.min_double_rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where runs before these words end that are words by themselves, from the word on.
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
    fn a_word_is_the_same_behind_any_number_of_spaces_where_its_mark_joins_for_sure() {
        let pieces =
            [("\u{2581}", 0), ("\u{2581}a", 1), ("\u{2581}b", 5), ("bc", 3), ("\u{2581}\u{2581}", 9)];
        // Behind `bc`, which comes before the mark's join, the mark stays alone; the digit is beside no mark.
        assert_eq!(
            ends(&pieces, &["a", "ab", "b", "bd", "bc", "7"]),
            [1, 1, 1, 1, 9, 0].map(|end| (end < 9).then_some(end))
        );
        // It joins with that, too.
        let more = [&pieces[..], &[("\u{2581}bc", 8)]].concat();
        assert_eq!(ends(&more, &["bc", "bcd"]), [Some(1); 2]);
        // Not before the marks join, or where it goes on.
        let late = [&pieces[..], &[("\u{2581}bc", 9)]].concat();
        assert_eq!(ends(&late, &["bc", "b"]), [None, Some(1)]);
        let longer = [&more[..], &[("bcd", 7)]].concat();
        assert_eq!(ends(&longer, &["bc", "bd"]), [None, Some(1)]);
    }

    #[test]
    fn nothing_is_sure_of_what_stands_behind_two_marks() {
        let pieces = [("\u{2581}", 0), ("\u{2581}a", 1), ("\u{2581}b", 2), ("\u{2581}\u{2581}a", 9)];
        assert_eq!(ends(&pieces, &["a", "b"]), [None, Some(1)]);
    }
}
