//! A random sample of texts that depends on a seed and on their positions only.

/// Whether the text at a position is in a sample of `share`, from 0 to 1, of all texts.
///
/// The choice depends on the seed and the position, so it is the same for any number of threads, and for
/// shards that number their sources alike.
pub(super) fn is_sampled(share: f64, seed: u64, position: u64) -> bool {
    mixed(mixed(seed) ^ position) <= (share * u64::MAX as f64) as u64
}

/// Apply the output function of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_share_and_depends_on_the_seed() {
        let positions = || (0..100_000_u64).map(|line| line * 80);
        let drawn = |share, seed| positions().filter(|&at| is_sampled(share, seed, at)).collect::<Vec<_>>();
        assert!((drawn(0.1, 7).len() as i64 - 10_000).abs() < 500);
        assert_ne!(drawn(0.1, 7), drawn(0.1, 8));
        assert_eq!(drawn(1.0, 7).len(), 100_000);
    }
}
