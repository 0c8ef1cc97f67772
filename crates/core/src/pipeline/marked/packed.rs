//! Ids with what they are worth, in the memo's sixteen bytes: each id takes 24 bits, and above the first
//! stand their number, whether one is unknown, and the grade; above the others, the cost.

use crate::memo::{PackedIds, MAX_PIECES};
use crate::model::Worth;

const ID_BITS: u32 = 24;
const ID: u32 = (1 << ID_BITS) - 1;
const UNKNOWN: u32 = 1 << (ID_BITS + 2);
const GRADE_SHIFT: u32 = ID_BITS + 3;

/// Pack 1 to 4 ids, each below 2^24, that cost less than 2^24.
#[inline]
pub(super) fn pack(ids: &[u32], worth: Worth) -> Option<PackedIds> {
    let fits = !ids.is_empty() && ids.len() <= MAX_PIECES && ids.iter().all(|&id| id <= ID);
    if !fits || worth.cost > ID {
        return None;
    }
    let mut packed = [0; MAX_PIECES];
    packed[..ids.len()].copy_from_slice(ids);
    packed[0] |= (ids.len() as u32 - 1) << ID_BITS | worth.grade << GRADE_SHIFT;
    if worth.has_unknown {
        packed[0] |= UNKNOWN;
    }
    for (at, word) in packed[1..].iter_mut().enumerate() {
        *word |= (worth.cost >> (8 * at) & 0xFF) << ID_BITS;
    }
    Some(packed)
}

/// What packed ids are worth.
#[inline]
pub(super) fn worth(packed: PackedIds) -> Worth {
    let [first, one, two, three] = packed.map(|word| word >> ID_BITS);
    Worth {
        grade: first >> 3 & 0xF,
        cost: one | two << 8 | three << 16,
        has_unknown: packed[0] & UNKNOWN != 0,
    }
}

/// A worth as the note of a longer word.
#[inline]
pub(super) fn note(worth: Worth) -> Option<u32> {
    (worth.cost <= ID).then_some(worth.cost | worth.grade << ID_BITS | u32::from(worth.has_unknown) << 31)
}

/// The worth that a note is of.
#[inline]
pub(super) fn worth_of(note: u32) -> Worth {
    Worth { grade: note >> ID_BITS & 0xF, cost: note & ID, has_unknown: note >> 31 == 1 }
}

/// Put packed ids where there is room for the most; how many they are.
#[inline]
pub(super) fn put(packed: PackedIds, room: &mut [u32]) -> usize {
    room.copy_from_slice(&packed.map(|word| word & ID));
    (packed[0] >> ID_BITS & 3) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out() {
        for count in 0..6u32 {
            for (grade, cost, has_unknown) in [(0, 0, false), (8, ID, true), (3, 0x12_3456, false)] {
                let ids: Vec<u32> = (0..count).map(|at| ID - at * 77).collect();
                let given = Worth { grade, cost, has_unknown };
                assert_eq!(note(given).map(worth_of), Some(given));
                let Some(packed) = pack(&ids, given) else {
                    assert!(!(1..=4).contains(&count));
                    continue;
                };
                let mut room = [0; MAX_PIECES];
                let put = put(packed, &mut room);
                assert_eq!((worth(packed), &room[..put]), (given, ids.as_slice()));
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_not_packed() {
        let worth = Worth { grade: 1, cost: 1, has_unknown: false };
        assert_eq!(pack(&[1 << 24], worth), None);
        assert_eq!(pack(&[1], Worth { cost: 1 << 24, ..worth }), None);
    }
}
