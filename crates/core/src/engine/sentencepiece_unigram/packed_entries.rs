//! Packs ids and their score into the sixteen bytes of a cache entry.
//!
//! If the vocabulary has at most 2^16 ids, an entry has up to six ids of 16 bits and a 32-bit score: margin, cost, an
//! unknown flag and the number of ids. Otherwise it has up to four ids of 24 bits. The top byte of the first word then
//! has the number of ids, the unknown flag and the margin; those of the other three have the cost.

use crate::engine::word_cache::{PackedIds, MAX_IDS as MAX_LONG_IDS};
use crate::model::PathScore;

/// The maximum number of ids in an entry.
pub(super) const MAX_IDS: usize = 6;

const ID_BITS: u32 = 24;
const ID: u32 = (1 << ID_BITS) - 1;
const UNKNOWN: u32 = 1 << (ID_BITS + 2);
const MARGIN_SHIFT: u32 = ID_BITS + 3;
/// The position of the number of short ids in their score.
const COUNT_SHIFT: u32 = ID_BITS + 4;

/// How the ids of a vocabulary are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// 16 bits each.
    Short,
    /// 24 bits each.
    Long,
}

impl Packing {
    /// Return the packing for a vocabulary with `count` ids.
    pub(super) fn of(count: usize) -> Self {
        if count <= 1 << 16 {
            Self::Short
        } else {
            Self::Long
        }
    }

    /// Pack ids with their score; `None` if there are too many ids or the cost is 2^24 or more.
    #[inline]
    pub(super) fn pack(self, ids: &[u32], score: PathScore) -> Option<PackedIds> {
        match self {
            Self::Short => pack_short(ids, score),
            Self::Long => pack_long(ids, score),
        }
    }

    /// Return the score of an entry.
    #[inline]
    pub(super) fn score(self, packed: &PackedIds) -> PathScore {
        match self {
            Self::Short => unpacked_score(packed[3]),
            Self::Long => score_of_long(packed),
        }
    }

    /// Write the ids of an entry to `out`, which has room for [`MAX_IDS`]. Return their number.
    #[inline]
    pub(super) fn unpack(self, packed: &PackedIds, out: &mut [u32]) -> usize {
        match self {
            Self::Short => {
                let [one, two, three, score] = *packed;
                let halves = [one, one >> 16, two, two >> 16, three, three >> 16];
                out.copy_from_slice(&halves.map(|half| half & 0xFFFF));
                (score >> COUNT_SHIFT & 7) as usize + 1
            }
            Self::Long => {
                out[..MAX_LONG_IDS].copy_from_slice(&packed.map(|word| word & ID));
                (packed[0] >> ID_BITS & 3) as usize + 1
            }
        }
    }
}

fn pack_short(ids: &[u32], score: PathScore) -> Option<PackedIds> {
    if ids.is_empty() || ids.len() > MAX_IDS || ids.iter().any(|&id| id > 0xFFFF) {
        return None;
    }
    let id = |at: usize| ids.get(at).copied().unwrap_or(0);
    let pair = |at: usize| id(2 * at) | id(2 * at + 1) << 16;
    Some([pair(0), pair(1), pair(2), packed_score(score)? | (ids.len() as u32 - 1) << COUNT_SHIFT])
}

fn pack_long(ids: &[u32], score: PathScore) -> Option<PackedIds> {
    let fits = !ids.is_empty() && ids.len() <= MAX_LONG_IDS && ids.iter().all(|&id| id <= ID);
    if !fits || score.cost > ID {
        return None;
    }
    let mut packed = [0; MAX_LONG_IDS];
    packed[..ids.len()].copy_from_slice(ids);
    packed[0] |= (ids.len() as u32 - 1) << ID_BITS | score.margin << MARGIN_SHIFT;
    if score.has_unknown {
        packed[0] |= UNKNOWN;
    }
    for (at, word) in packed[1..].iter_mut().enumerate() {
        *word |= (score.cost >> (8 * at) & 0xFF) << ID_BITS;
    }
    Some(packed)
}

#[inline]
fn score_of_long(packed: &PackedIds) -> PathScore {
    let [first, one, two, three] = packed.map(|word| word >> ID_BITS);
    PathScore {
        margin: first >> 3 & 0xF,
        cost: one | two << 8 | three << 16,
        has_unknown: packed[0] & UNKNOWN != 0,
    }
}

/// Pack a score into the payload of a long word; `None` if the cost is 2^24 or more.
#[inline]
pub(super) fn packed_score(score: PathScore) -> Option<u32> {
    (score.cost <= ID).then_some(score.cost | score.margin << ID_BITS | u32::from(score.has_unknown) << 31)
}

/// Return the score of the payload of a long word.
#[inline]
pub(super) fn unpacked_score(packed: u32) -> PathScore {
    PathScore { margin: packed >> ID_BITS & 0xF, cost: packed & ID, has_unknown: packed >> 31 == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::word_cache::NO_IDS;

    #[test]
    fn unpacking_restores_ids_and_score() {
        for (count_of_all, most) in [(1 << 16, MAX_IDS), (1 << 24, MAX_LONG_IDS)] {
            let packing = Packing::of(count_of_all);
            for count in 0..9 {
                let ids: Vec<u32> = (0..count).map(|at| (count_of_all - 1 - at * 77) as u32).collect();
                for (margin, cost, has_unknown) in [(0, 0, false), (8, ID, true), (3, 0x12_3456, false)] {
                    let score = PathScore { margin, cost, has_unknown };
                    assert_eq!(packed_score(score).map(unpacked_score), Some(score));
                    let Some(packed) = packing.pack(&ids, score) else {
                        assert!(!(1..=most).contains(&count));
                        continue;
                    };
                    let mut out = [0; MAX_IDS];
                    let unpacked = packing.unpack(&packed, &mut out);
                    assert_eq!((packing.score(&packed), &out[..unpacked]), (score, ids.as_slice()));
                    assert_ne!(packed, NO_IDS);
                }
            }
        }
    }

    #[test]
    fn entries_that_do_not_fit_are_rejected() {
        let score = PathScore { margin: 1, cost: 1, has_unknown: false };
        assert_eq!(Packing::Long.pack(&[1 << 24], score), None);
        assert_eq!(Packing::Short.pack(&[1 << 16], score), None);
        for packing in [Packing::Short, Packing::Long] {
            assert_eq!(packing.pack(&[1], PathScore { cost: 1 << 24, ..score }), None);
        }
    }
}
