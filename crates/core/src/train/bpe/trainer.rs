//! The most frequent pair first, in rounds.
//!
//! A round counts all pairs and follows those that occur at least a SPAN-th as often as the best: only
//! they have a place in the table, a list of positions and an entry in the heap. A merge makes new pairs,
//! all of which are known when it is done; the frequent ones are followed, the others are not, and pairs
//! only become rarer after that. When no followed pair reaches the threshold, the next round begins.
//!
//! Heap entries are upper bounds: the top is compared with the count of today and put back when it is out
//! of date.
//!
//! A merge may make an entry that is there already (`a bc` and `ab c`): then pairs that are not followed
//! gain. `slack` bounds them: a pair that is not followed occurs at most as often as the slack of one of
//! its entries says. When a gain could lift one to the threshold, a round with a lower threshold begins.

use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::neighbour_changes::{NeighbourChange, NeighbourChanges, Side};
use super::packed_words::PackedWords;
use super::pair_priority::PairPriority;
use super::tracked_pairs::{key, TrackedPairs};
use super::BpeTrainSpec;
use crate::error::Error;
use crate::train::entries::Entries;
use crate::train::progress::Progress;
use crate::train::{Learned, Merge};

/// How much rarer than the best pair a pair may be to be followed; little in tests, for many rounds.
const SPAN: u64 = if cfg!(test) { 2 } else { 16 };
/// How much the threshold falls when a gain forces a new round.
const FORCED_STEP: u64 = 4;

/// Ordered by count, then by the order of ties; the pair's number comes along.
type PairCandidate<O> = (u64, <O as PairPriority>::Key, u32);

/// The state of learning.
pub(super) struct BpeTrainer<'a, O: PairPriority> {
    spec: &'a BpeTrainSpec,
    entries: Entries,
    /// By entry: its length in characters, prefix and suffix not counted.
    lengths: Vec<usize>,
    words: PackedWords,
    pairs: TrackedPairs,
    heap: BinaryHeap<PairCandidate<O>>,
    /// Pairs that occur so often are followed.
    threshold: u64,
    slack: Vec<u64>,
    neighbours: NeighbourChanges,
    merges: Vec<Merge>,
}

/// What a merge made, and whether it was no entry before.
#[derive(Clone, Copy)]
struct MergedEntry {
    entry: u32,
    is_new: bool,
}

/// How often a pair occurs, and in how many places.
#[derive(Clone, Copy, Default)]
struct PairCount {
    count: u64,
    positions: usize,
}

impl<'a, O: PairPriority> BpeTrainer<'a, O> {
    pub(super) fn new(spec: &'a BpeTrainSpec, entries: Entries, words: PackedWords) -> Self {
        Self {
            spec,
            lengths: entries.names().iter().map(|name| first_length(name, spec)).collect(),
            slack: Vec::new(),
            entries,
            words,
            pairs: TrackedPairs::default(),
            heap: BinaryHeap::new(),
            threshold: u64::MAX,
            neighbours: NeighbourChanges::default(),
            merges: Vec::new(),
        }
    }

    /// Merge the most frequent pair until the vocabulary is full or no pair is frequent enough.
    pub(super) fn run(mut self, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        while self.entries.len() < self.spec.vocab_size {
            progress.advance(1)?;
            match self.best() {
                Some(pair) => self.merge(pair, progress)?,
                None if self.threshold <= self.min_frequency() => break,
                None => self.begin_round(u64::MAX, progress)?,
            }
        }
        Ok(self.finish())
    }

    fn finish(self) -> Learned {
        let stopped_early = (self.entries.len() < self.spec.vocab_size).then(|| {
            format!(
                "no pair occurs {} times any more: {} of {} entries learned",
                self.min_frequency(),
                self.entries.len(),
                self.spec.vocab_size
            )
        });
        Learned { vocab: self.entries.into_names(), merges: self.merges, stopped_early }
    }

    fn min_frequency(&self) -> u64 {
        self.spec.min_frequency.max(1)
    }

    /// Take the best pair of this round from the heap.
    fn best(&mut self) -> Option<u32> {
        while let Some((count, order, pair)) = self.heap.pop() {
            let now = self.pairs.get(pair).count;
            if now == count {
                let tracked = self.pairs.get(pair);
                if self.duplicates_entry(tracked.left, tracked.right) {
                    continue;
                }
                return (count >= self.min_frequency()).then_some(pair);
            }
            // One that gained since has a younger entry in the heap already.
            if now < count && now >= self.threshold {
                self.heap.push((now, order, pair));
            }
        }
        None
    }

    // ---- rounds

    /// Count all pairs and follow the frequent ones, with a threshold of at most `limit`.
    fn begin_round(&mut self, limit: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.pairs = TrackedPairs::default();
        self.heap.clear();
        let pair_counts = self.pair_counts(progress)?;
        let best = pair_counts.values().map(|pair_count| pair_count.count).max().unwrap_or(0);
        self.threshold = (best / SPAN).max(self.min_frequency()).min(limit);
        self.slack.clear();
        self.slack.resize(self.entries.len(), 0);
        self.neighbours.grow(self.entries.len());
        for (pair, pair_count) in pair_counts {
            let (left, right) = ((pair >> 32) as u32, pair as u32);
            if pair_count.count >= self.threshold {
                self.track(left, right, pair_count.count, pair_count.positions);
            } else {
                for entry in [left, right] {
                    let slack = &mut self.slack[entry as usize];
                    *slack = pair_count.count.max(*slack);
                }
            }
        }
        self.record_positions(progress)
    }

    /// Count the pairs that may be merged.
    fn pair_counts(
        &self,
        progress: &mut Progress<'_>,
    ) -> Result<HashMap<u64, PairCount, FxBuildHasher>, Error> {
        let mut pair_counts: HashMap<u64, PairCount, FxBuildHasher> = HashMap::default();
        self.words.visit_pairs(|left, right, _, count| {
            let pair_count = pair_counts.entry(key(left, right)).or_default();
            pair_count.count += count;
            pair_count.positions += 1;
            progress.advance(1)
        })?;
        pair_counts.retain(|&pair, _| {
            let (left, right) = ((pair >> 32) as u32, pair as u32);
            self.fits(left, right) && !self.duplicates_entry(left, right)
        });
        Ok(pair_counts)
    }

    fn record_positions(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let Self { words, pairs, .. } = self;
        words.visit_pairs(|left, right, position, _| {
            if let Some(pair) = pairs.find(left, right) {
                pairs.get_mut(pair).add_position(position);
            }
            progress.advance(1)
        })
    }

    fn track(&mut self, left: u32, right: u32, count: u64, positions: usize) -> u32 {
        let pair = self.pairs.track(left, right, count, positions);
        self.heap.push((count, O::key(&self.entries, left, right), pair));
        pair
    }

    /// Whether a pair makes an entry that is allowed.
    fn fits(&self, left: u32, right: u32) -> bool {
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let Some(piece_rules) = &self.spec.piece_rules else {
            return self.spec.max_token_length.is_none_or(|limit| length <= limit);
        };
        length <= piece_rules.max_chars && piece_rules.allows(&self.entries.merged_string(left, right))
    }

    /// Whether a pair spells an entry that another pair has made, and must not be merged.
    fn duplicates_entry(&self, left: u32, right: u32) -> bool {
        self.spec.distinct && self.entries.find_merged(left, right).is_some()
    }

    // ---- merges

    /// Merge a pair everywhere.
    fn merge(&mut self, pair: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        let tracked = self.pairs.get_mut(pair);
        let (left, right) = (tracked.left, tracked.right);
        let (positions, count) = tracked.take();
        let (merged, is_new) = self.entries.add(&self.entries.merged_string(left, right));
        if is_new {
            self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
            self.slack.push(0);
            self.neighbours.grow(self.entries.len());
            progress.reach(self.entries.len());
        }
        self.merges.push(Merge { left, right, merged, count, score: count as f64 });
        for position in positions {
            progress.advance(2)?;
            if self.words.starts_pair(position, left, right) {
                self.merge_at(position, (left, right), merged);
            }
        }
        let forced = self.apply_changes((left, right), MergedEntry { entry: merged, is_new });
        self.neighbours.clear();
        if forced {
            self.begin_round((self.threshold / FORCED_STEP).max(1), progress)?;
        }
        Ok(())
    }

    /// Merge a pair in one place and note what that changes.
    #[inline]
    fn merge_at(&mut self, position: u32, (left, right): (u32, u32), merged: u32) {
        let count = self.words.count_at(position);
        if let Some((before, start)) = self.words.before(position) {
            if before == merged {
                self.neighbours.remerge(left, count);
            } else {
                self.neighbours.lose(Side::Left, before, count);
            }
            self.neighbours.gain(Side::Left, before, count, start);
        }
        if let Some(after) = self.words.merge(position, merged) {
            // A run of twins loses the pair that is being merged, which is counted no more.
            if (right, after) != (left, right) {
                self.neighbours.lose(Side::Right, after, count);
            }
            self.neighbours.gain(Side::Right, after, count, position);
        }
    }

    /// Carry the changes of a merge into the table; says whether a new round must begin.
    fn apply_changes(&mut self, (left, right): (u32, u32), merged: MergedEntry) -> bool {
        let mut forced = false;
        let mut gaining: Vec<Option<u32>> = Vec::with_capacity(self.neighbours.len());
        for number in 0..self.neighbours.len() {
            let change = self.neighbours.change(number);
            let (old, new) = match change.side {
                Side::Left => ((change.neighbour, left), (change.neighbour, merged.entry)),
                Side::Right => ((right, change.neighbour), (merged.entry, change.neighbour)),
            };
            if let Some(pair) = self.pairs.find(old.0, old.1).filter(|_| change.lost > 0) {
                self.pairs.get_mut(pair).count -= change.lost;
            }
            gaining.push(self.gained_pair(new, &change, merged, &mut forced));
        }
        for &(number, position) in self.neighbours.gains() {
            if let Some(pair) = gaining[number as usize] {
                self.pairs.get_mut(pair).add_position(position);
            }
        }
        forced
    }

    /// Find or begin to follow a pair that gained, if it is frequent.
    fn gained_pair(
        &mut self,
        (left, right): (u32, u32),
        change: &NeighbourChange,
        merged: MergedEntry,
        forced: &mut bool,
    ) -> Option<u32> {
        if let Some(pair) = self.pairs.find(left, right) {
            let tracked = self.pairs.get_mut(pair);
            tracked.count = tracked.count + change.gained - change.remerged;
            let count = tracked.count;
            if change.gained > 0 && count >= self.threshold {
                self.heap.push((count, O::key(&self.entries, left, right), pair));
            }
            return Some(pair);
        }
        let gained = change.gained.saturating_sub(change.remerged);
        if gained == 0 || !self.fits(left, right) {
            return None;
        }
        // Pairs of a new entry are all known; one of an old entry may stand elsewhere too.
        let elsewhere = match merged.is_new {
            true => 0,
            false => self.slack[left as usize].max(self.slack[right as usize]),
        };
        if gained + elsewhere < self.threshold {
            let slack = &mut self.slack[merged.entry as usize];
            *slack = (gained + elsewhere).max(*slack);
            return None;
        }
        *forced |= !merged.is_new;
        merged.is_new.then(|| self.track(left, right, gained, change.positions))
    }
}

/// The length of a special token or, as one, of a character in any form.
fn first_length(name: &str, spec: &BpeTrainSpec) -> usize {
    if spec.special_tokens.iter().any(|token| token == name) {
        name.chars().count()
    } else {
        1
    }
}
