//! The pairs that occur at least a given number of times, found in memory proportional to their number.
//!
//! If there are many distinct pairs, a first pass adds the count of each to one of a fixed number of buckets. A
//! second pass counts only the pairs whose bucket reaches the least count; the others cannot reach it. So the
//! millions of rare pairs of a large corpus take no memory.
//!
//! Pairs are counted in parts by their hash, so that several threads count together and each part fits a
//! processor's cache. A thread collects pairs and adds many of them to a part at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::packed_words::{PackedWords, PART_CELLS};
use crate::memory::{out_of_memory, reserve};
use crate::thread_team::ThreadTeam;
use piecework_core::error::Error;

/// The most buckets, of 8 bytes each.
const MAX_BUCKETS: usize = 1 << 22;
/// Cells of the words for each pair that is counted without buckets.
const CELLS_PER_PAIR: usize = if cfg!(test) { 4 } else { 8 };
/// Multiplies a pair before its highest bits select a part, and the next ones a bucket of it (Fibonacci hashing).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Parts of the pairs, as a power of two.
const PART_BITS: u32 = 6;
/// The pairs that a thread collects before it adds them to a part.
const COLLECTED: usize = if cfg!(test) { 3 } else { 256 };
/// The pairs that a thread knows without a table: their next occurrences are added up first, in 24 KB.
pub(super) const RECENT: usize = if cfg!(test) { 4 } else { 1 << 10 };

/// The count of a pair, and the number of its positions.
#[derive(Clone, Copy, Default)]
pub(super) struct CandidatePairCount {
    pub(super) count: u64,
    pub(super) positions: usize,
}

/// Counts by pair; the left entry is the upper half of the key.
pub(super) type CountsByPair = HashMap<u64, CandidatePairCount, RandomState>;

/// Count the wanted pairs that occur at least as often as `floor` says, and perhaps others, in several maps.
///
/// `floor` gets the counts of all pairs, or upper bounds of them; return its result too.
pub(super) fn count_frequent(
    words: &PackedWords,
    floor: impl FnOnce(&mut dyn Iterator<Item = u64>) -> u64,
    wanted: impl Fn(u64) -> bool + Sync,
    team: &mut ThreadTeam<'_, '_>,
) -> Result<(Vec<CountsByPair>, u64), Error> {
    if let Some(counts) = count_few(words, words.len() / CELLS_PER_PAIR, &wanted, team)? {
        let floor = floor(&mut counts.iter().flat_map(HashMap::values).map(|pair| pair.count));
        return Ok((counts, floor));
    }
    let buckets = PairBuckets::new(words, team)?;
    let least = floor(&mut buckets.parts.iter().flatten().copied());
    let wanted = |&&(pair, _): &&CountedPair| buckets.sum(pair) >= least && wanted(pair);
    let add = |counts: &mut CountsByPair, pairs: &[CountedPair]| {
        pairs.iter().filter(wanted).try_for_each(|&pair| add_positions(counts, pair))
    };
    Ok((add_by_part(words, CountsByPair::default, add, team)?, least))
}

/// Count all wanted pairs, unless there are more than `most`.
fn count_few(
    words: &PackedWords,
    most: usize,
    wanted: impl Fn(u64) -> bool + Sync,
    team: &mut ThreadTeam<'_, '_>,
) -> Result<Option<Vec<CountsByPair>>, Error> {
    let distinct = AtomicUsize::new(0);
    let wanted = |&&(pair, _): &&CountedPair| wanted(pair);
    let add = |counts: &mut CountsByPair, pairs: &[CountedPair]| {
        if distinct.load(Ordering::Relaxed) > most {
            return Ok(());
        }
        let known = counts.len();
        pairs.iter().filter(wanted).try_for_each(|&pair| add_positions(counts, pair))?;
        distinct.fetch_add(counts.len() - known, Ordering::Relaxed);
        Ok(())
    };
    let counts = add_by_part(words, CountsByPair::default, add, team)?;
    Ok((distinct.into_inner() <= most).then_some(counts))
}

/// Add the occurrences of all pairs to parts, many at once, and return the parts.
fn add_by_part<S: Send>(
    words: &PackedWords,
    part: impl Fn() -> S,
    add: impl Fn(&mut S, &[CountedPair]) -> Result<(), Error> + Sync,
    team: &mut ThreadTeam<'_, '_>,
) -> Result<Vec<S>, Error> {
    let parts: Vec<Mutex<S>> = (0..1 << PART_BITS).map(|_| Mutex::new(part())).collect();
    let add_all = |part: usize, pairs: &mut Vec<CountedPair>| {
        let added = add(&mut parts[part].lock().unwrap_or_else(PoisonError::into_inner), pairs);
        pairs.clear();
        added
    };
    let collectors =
        team.run_parts(words.len(), PART_CELLS, PairCollector::new, |collector, _, cells| {
            words.visit_pairs(cells, |left, right, _, count| {
                if let Some((part, pairs)) = collector.add(key(left, right), count) {
                    let added = add_all(part, pairs);
                    collector.outcome = std::mem::replace(&mut collector.outcome, Ok(())).and(added);
                }
            });
        })?;
    for mut collector in collectors {
        std::mem::replace(&mut collector.outcome, Ok(()))?;
        for pair in std::mem::take(&mut collector.recent) {
            collector.collect(pair);
        }
        collector.collected.iter_mut().enumerate().try_for_each(|(part, pairs)| add_all(part, pairs))?;
    }
    Ok(parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

type CountedPair = (u64, CandidatePairCount);

/// The pairs that a thread found and has not added to their parts.
struct PairCollector {
    /// By some bits of the hash: the last pair, with its occurrences since it came.
    recent: Vec<CountedPair>,
    /// By part.
    collected: Vec<Vec<CountedPair>>,
    outcome: Result<(), Error>,
}

impl PairCollector {
    fn new() -> Self {
        let recent = vec![(0, CandidatePairCount::default()); RECENT];
        let collected = (0..1 << PART_BITS).map(|_| Vec::with_capacity(COLLECTED + 1)).collect();
        Self { recent, collected, outcome: Ok(()) }
    }

    /// Collect a pair of a word that occurs `count` times; return a part whose pairs are enough to be added.
    #[inline]
    fn add(&mut self, pair: u64, count: u64) -> Option<(usize, &mut Vec<CountedPair>)> {
        let recent = &mut self.recent[recent_slot(pair)];
        if recent.0 == pair {
            recent.1.count += count;
            recent.1.positions += 1;
            return None;
        }
        let before = std::mem::replace(recent, (pair, CandidatePairCount { count, positions: 1 }));
        self.collect(before)
    }

    /// Collect what was found of a pair, if anything; return a part whose pairs are enough to be added.
    #[inline]
    fn collect(&mut self, (pair, found): CountedPair) -> Option<(usize, &mut Vec<CountedPair>)> {
        if found.positions == 0 {
            return None;
        }
        let part = part_of(pair);
        self.collected[part].push((pair, found));
        (self.collected[part].len() >= COLLECTED).then(|| (part, &mut self.collected[part]))
    }
}

/// Sums of the counts of pairs, in parts.
struct PairBuckets {
    parts: Vec<Vec<u64>>,
    shift: u32,
}

impl PairBuckets {
    /// Add up the counts of all pairs.
    fn new(words: &PackedWords, team: &mut ThreadTeam<'_, '_>) -> Result<Self, Error> {
        let buckets = (words.len() / 4).next_power_of_two().clamp(2 << PART_BITS, MAX_BUCKETS) >> PART_BITS;
        let shift = u64::BITS - buckets.ilog2();
        let add = |sums: &mut Vec<u64>, pairs: &[CountedPair]| {
            if sums.is_empty() {
                reserve(sums, buckets)?;
                sums.resize(buckets, 0);
            }
            pairs.iter().for_each(|&(pair, found)| sums[bucket(pair, shift)] += found.count);
            Ok(())
        };
        Ok(Self { parts: add_by_part(words, Vec::new, add, team)?, shift })
    }

    /// Return an upper bound of the count of a pair that occurs.
    #[inline]
    fn sum(&self, pair: u64) -> u64 {
        self.parts[part_of(pair)][bucket(pair, self.shift)]
    }
}

#[inline]
fn spread(pair: u64) -> u64 {
    pair.wrapping_mul(SPREAD)
}

/// Return the place of a pair among the recent ones.
#[inline]
pub(super) fn recent_slot(pair: u64) -> usize {
    (spread(pair) >> 32) as usize % RECENT
}

#[inline]
fn part_of(pair: u64) -> usize {
    (spread(pair) >> (u64::BITS - PART_BITS)) as usize
}

/// Return the bucket of a pair within its part.
#[inline]
fn bucket(pair: u64, shift: u32) -> usize {
    (spread(pair) << PART_BITS >> shift) as usize
}

/// Add occurrences of a pair.
#[inline]
fn add_positions(counts: &mut CountsByPair, (pair, found): CountedPair) -> Result<(), Error> {
    if counts.len() == counts.capacity() {
        let more = counts.len().max(64);
        let failed = |_| out_of_memory(more.saturating_mul(size_of::<CountedPair>()));
        counts.try_reserve(more).map_err(failed)?;
    }
    let known = counts.entry(pair).or_default();
    known.count += found.count;
    known.positions += found.positions;
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
