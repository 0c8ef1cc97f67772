//! Hash tables without a bad case: bounds on the runs of full slots, and seeds from the content.
//!
//! A lookup of an absent key by linear probing reads the rest of a run of full slots. Whoever writes a file knows the hash
//! function, and can choose keys that fill slot after slot: no key is far from its own slot, but lookups at the
//! beginning of the run read all of it. So a table that is built from a file has no run that is much longer than the
//! longest one of random keys. If the hash without a seed makes a longer one, the table is built again by a seed. Seeds
//! are hashes of the whole content, so equal files make equal tables, and keys that were chosen for a seed change it.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of seeds that are tried. One suffices, except for a few in a hundred contents of regular pairs.
const SEEDS: u64 = 16;

/// Return the seeds for a table of these keys: they differ from 0, and each is a SipHash of all keys.
pub(crate) fn seeds_of<T: Hash>(keys: impl Iterator<Item = T> + Clone) -> impl Iterator<Item = u64> {
    (1..=SEEDS).map(move |number| {
        let mut hasher = DefaultHasher::new();
        number.hash(&mut hasher);
        keys.clone().for_each(|key| key.hash(&mut hasher));
        hasher.finish() | 1
    })
}

/// Return the longest permitted run of a table with `slots` slots, at most half of them full: about twice the longest
/// run of random keys, of which one table in a thousand has a longer one.
///
/// The probability that a run of random keys has k slots decreases like exp(-k(load - 1 - ln load)).
pub(crate) fn max_run(slots: usize, full: usize) -> usize {
    let load = full.max(1) as f64 / slots.max(2) as f64;
    4 + (1.1 * (slots.max(2) as f64).ln() / (load - 1.0 - load.ln())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_depend_on_every_key() {
        let seeds = |keys: &[&str]| seeds_of(keys.iter()).collect::<Vec<_>>();
        let all = seeds(&["a", "b"]);
        assert_eq!((all.len(), &all), (16, &seeds(&["a", "b"])));
        for other in [&["b", "a"][..], &["a"], &["ab"], &["a", "b", "c"]] {
            assert!(seeds(other).iter().all(|seed| !all.contains(seed)));
        }
    }
}
