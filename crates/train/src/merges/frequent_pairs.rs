//! The pairs that occur at least a given number of times, found in memory proportional to their number.
//!
//! If there are many distinct pairs, a first pass adds the count of each to one of a fixed number of buckets. A
//! second pass counts only the pairs whose bucket reaches the least count; the others cannot reach it. So the
//! millions of rare pairs of a large corpus take no memory.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::packed_words::PackedWords;
use crate::memory::{out_of_memory, reserve};
use crate::progress::Progress;
use piecework_core::error::Error;

/// The most buckets, of 8 bytes each.
const MAX_BUCKETS: usize = 1 << 22;
/// Cells of the words for each pair that is counted without buckets.
const CELLS_PER_PAIR: usize = if cfg!(test) { 4 } else { 8 };
/// Multiplies a pair before its highest bits select a bucket (Fibonacci hashing).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The count of a pair, and the number of its positions.
#[derive(Clone, Copy, Default)]
pub(super) struct CandidatePairCount {
    pub(super) count: u64,
    pub(super) positions: usize,
}

/// Counts by pair; the left entry is the upper half of the key.
pub(super) type CountsByPair = HashMap<u64, CandidatePairCount, RandomState>;

/// Count the wanted pairs that occur at least as often as `floor` says, and perhaps others.
///
/// `floor` gets an upper bound of all counts; return its result too.
pub(super) fn count_frequent(
    words: &PackedWords,
    floor: impl FnOnce(u64) -> u64,
    wanted: impl Fn(u64) -> bool,
    progress: &mut Progress<'_>,
) -> Result<(CountsByPair, u64), Error> {
    if let Some(counts) = count_few(words, words.len() / CELLS_PER_PAIR, &wanted, progress)? {
        let largest = counts.values().map(|pair| pair.count).max().unwrap_or(0);
        return Ok((counts, floor(largest)));
    }
    let buckets = PairBuckets::new(words, progress)?;
    let least = floor(buckets.largest());
    Ok((buckets.count_pairs(words, least, wanted, progress)?, least))
}

/// Count all wanted pairs, unless there are more than `most`.
fn count_few(
    words: &PackedWords,
    most: usize,
    wanted: impl Fn(u64) -> bool,
    progress: &mut Progress<'_>,
) -> Result<Option<CountsByPair>, Error> {
    let mut counts = CountsByPair::default();
    words.visit_pairs(|left, right, _, count| {
        let pair = key(left, right);
        if counts.len() <= most && wanted(pair) {
            add_position(&mut counts, pair, count)?;
        }
        progress.advance(1)
    })?;
    Ok((counts.len() <= most).then_some(counts))
}

/// Sums of the counts of pairs.
struct PairBuckets {
    sums: Vec<u64>,
    shift: u32,
}

impl PairBuckets {
    /// Add up the counts of all pairs.
    fn new(words: &PackedWords, progress: &mut Progress<'_>) -> Result<Self, Error> {
        let buckets = (words.len() / 4).next_power_of_two().clamp(2, MAX_BUCKETS);
        let mut found = Self { sums: Vec::new(), shift: u64::BITS - buckets.ilog2() };
        reserve(&mut found.sums, buckets)?;
        found.sums.resize(buckets, 0);
        words.visit_pairs(|left, right, _, count| {
            let bucket = found.bucket(key(left, right));
            found.sums[bucket] += count;
            progress.advance(1)
        })?;
        Ok(found)
    }

    /// Return an upper bound of the counts of all pairs.
    fn largest(&self) -> u64 {
        self.sums.iter().copied().max().unwrap_or(0)
    }

    #[inline]
    fn bucket(&self, pair: u64) -> usize {
        (pair.wrapping_mul(SPREAD) >> self.shift) as usize
    }

    /// Count the wanted pairs whose bucket reaches `least`, which include all wanted pairs that do.
    fn count_pairs(
        &self,
        words: &PackedWords,
        least: u64,
        wanted: impl Fn(u64) -> bool,
        progress: &mut Progress<'_>,
    ) -> Result<CountsByPair, Error> {
        let mut counts = CountsByPair::default();
        words.visit_pairs(|left, right, _, count| {
            let pair = key(left, right);
            if self.sums[self.bucket(pair)] >= least && wanted(pair) {
                add_position(&mut counts, pair, count)?;
            }
            progress.advance(1)
        })?;
        Ok(counts)
    }
}

/// Count one more position of a pair, in a word that occurs `count` times.
#[inline]
fn add_position(counts: &mut CountsByPair, pair: u64, count: u64) -> Result<(), Error> {
    if counts.len() == counts.capacity() {
        let more = counts.len().max(1024);
        let failed = |_| out_of_memory(more.saturating_mul(size_of::<(u64, CandidatePairCount)>()));
        counts.try_reserve(more).map_err(failed)?;
    }
    let pair = counts.entry(pair).or_default();
    pair.count += count;
    pair.positions += 1;
    Ok(())
}

/// Return both entries of a pair as one number.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32) | u64::from(right)
}

/// Return the left and the right entry of a pair.
#[inline]
pub(super) fn parts(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}
