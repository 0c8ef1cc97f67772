//! The scalar definition: bit by bit, from the lowest.

use super::position::{Position, BLOCK};

/// Positions that are written at once, needed or not, with one branch.
const GROUP: usize = 8;

/// See [`super::list`].
pub fn list<P: Position>(masks: &[u64], positions: &mut Vec<P>) {
    let count: usize = masks.iter().map(|mask| mask.count_ones() as usize).sum();
    if positions.len() < count + BLOCK {
        positions.resize(count + BLOCK, P::default());
    }
    let mut listed = 0;
    for (&mask, base) in masks.iter().zip((0..).step_by(BLOCK)) {
        let (mut left, count) = (mask, mask.count_ones() as usize);
        let (groups, _) = positions[listed..listed + BLOCK].as_chunks_mut::<GROUP>();
        for group in &mut groups[..count.div_ceil(GROUP)] {
            for position in group {
                *position = P::at(base, left.trailing_zeros());
                left &= left.wrapping_sub(1);
            }
        }
        listed += count;
    }
    positions.truncate(listed);
}
