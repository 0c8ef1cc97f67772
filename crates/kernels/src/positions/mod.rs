//! Bit masks to lists of the positions of set bits.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod position;
pub mod scalar;

use crate::level::Level;

pub use position::Position;

/// Replace `positions` by the positions of all set bits of at most `MAX_MASKS` masks; further masks are ignored.
///
/// Bit `i` of mask `k` has position `64 k + i`.
#[inline]
pub fn list<P: Position>(masks: &[u64], positions: &mut Vec<P>) {
    list_at(Level::active(), masks, positions);
}

/// `list` with the instructions of a level.
#[inline]
pub fn list_at<P: Position>(level: Level, masks: &[u64], positions: &mut Vec<P>) {
    let masks = &masks[..masks.len().min(P::MAX_MASKS)];
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { avx512::list(masks, positions) },
        _ => scalar::list(masks, positions),
    }
}

#[cfg(test)]
mod tests {
    use super::position::BLOCK;
    use super::*;
    use crate::cases;

    fn random(i: u64) -> u64 {
        (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32)
    }

    fn sparse(i: u64) -> u64 {
        random(i) & random(i + 99) & random(i + 7)
    }

    #[test]
    fn every_level_lists_every_bit() {
        let kinds: [fn(u64) -> u64; 6] =
            [random, sparse, |_| 0, |_| u64::MAX, |i| 1 << (i % 64), |i| !sparse(i)];
        for (len, of) in
            [0, 1, 2, 63, cases(1024, 65)].into_iter().flat_map(|len| kinds.map(|of| (len, of)))
        {
            let masks: Vec<u64> = (0..len as u64).map(of).collect();
            check(&masks, |number| number as u16);
            check(&masks, |number| number as u32);
        }
    }

    fn check<P: Position + PartialEq + std::fmt::Debug>(masks: &[u64], number: fn(usize) -> P) {
        let numbers = (0..masks.len() * BLOCK).filter(|i| masks[i / BLOCK] >> (i % BLOCK) & 1 == 1);
        let expected: Vec<P> = numbers.map(number).collect();
        for level in Level::supported() {
            let mut positions = vec![number(9); 3];
            list_at(level, masks, &mut positions);
            assert_eq!(positions, expected, "{}", level.name());
        }
    }

    #[test]
    fn ignores_masks_beyond_the_last_number() {
        let masks = vec![1; u16::MAX_MASKS + 2];
        for level in Level::supported() {
            let mut positions: Vec<u16> = Vec::new();
            list_at(level, &masks, &mut positions);
            assert_eq!(positions.len(), u16::MAX_MASKS, "{}", level.name());
        }
    }
}
