//! Bit masks as lists: where the set bits are, one after the other.

#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod scalar;

use crate::level::Level;

/// How many bits a mask has.
const BLOCK: usize = 64;
/// The most masks whose positions are listed.
pub const MAX_MASKS: usize = (1 << 16) / BLOCK;

/// Put the numbers of all set bits of at most `MAX_MASKS` masks, bit `i` of mask `k` being number `64 k + i`, in
/// place of what `positions` holds; those of further masks are left out.
#[inline]
pub fn list(masks: &[u64], positions: &mut Vec<u16>) {
    list_at(Level::active(), masks, positions);
}

/// `list` by the instructions of one level.
#[inline]
pub fn list_at(level: Level, masks: &[u64], positions: &mut Vec<u16>) {
    let masks = &masks[..masks.len().min(MAX_MASKS)];
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { avx512::list(masks, positions) },
        _ => scalar::list(masks, positions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for (len, of) in [0, 1, 2, 63, MAX_MASKS].into_iter().flat_map(|len| kinds.map(|of| (len, of))) {
            let masks: Vec<u64> = (0..len as u64).map(of).collect();
            let numbers = (0..len * BLOCK).filter(|i| masks[i / BLOCK] >> (i % BLOCK) & 1 == 1);
            let expected: Vec<u16> = numbers.map(|i| i as u16).collect();
            for level in Level::supported() {
                let mut positions = vec![9; 3];
                list_at(level, &masks, &mut positions);
                assert_eq!(positions, expected, "{}", level.name());
            }
        }
    }
}
