//! The definition: bit after bit, from the lowest.

use super::BLOCK;

/// How many are listed at once, needed or not: one branch for as many.
const GROUP: usize = 8;

/// See [`super::list`].
pub fn list(masks: &[u64], positions: &mut Vec<u16>) {
    let count: usize = masks.iter().map(|mask| mask.count_ones() as usize).sum();
    if positions.len() < count + BLOCK {
        positions.resize(count + BLOCK, 0);
    }
    let mut listed = 0;
    for (&mask, base) in masks.iter().zip((0..=u16::MAX).step_by(BLOCK)) {
        let (mut left, count) = (mask, mask.count_ones() as usize);
        let (groups, _) = positions[listed..listed + BLOCK].as_chunks_mut::<GROUP>();
        for group in &mut groups[..count.div_ceil(GROUP)] {
            for position in group {
                *position = base.wrapping_add(left.trailing_zeros() as u16);
                left &= left.wrapping_sub(1);
            }
        }
        listed += count;
    }
    positions.truncate(listed);
}
