//! The state of training by merges: words, pairs and entries, updated by each merge.
//!
//! Only *tracked* pairs are in the table: those that occurred at least `floor` times when they were counted.
//! A large corpus has millions of pairs that occur a few times and never become the best; they take no
//! memory. Every untracked pair that may be merged occurs less than `floor` times. Trainers lower the floor
//! before an untracked pair could be the best.
//!
//! A merge changes the counts of the pairs around its positions by difference. Changes are collected by
//! neighbouring entry, so each distinct neighbour takes two table lookups, not each position. A pair of a new
//! entry has no other occurrences. If the merged entry existed before, its pairs that gain and are untracked
//! are counted by a pass over the words.
//!
//! The words of several sources follow each other, so the positions of a source do too. A pair is merged source
//! by source, and the changes of each are recorded apart, as `Sources` has the counts of each source.

use std::cmp::Reverse;

use foldhash::{fast::RandomState, HashSet};
use hashbrown::HashMap;

use super::frequent_pairs::{count_frequent, key, parts, CandidatePairCount};
use super::packed_words::PackedWords;
use super::pair_merge::{MergedPositions, NeighbourChange, NeighbourChanges, PairMerge, Side};
use super::pair_table::PairTable;
use super::settings::{EntryLimits, MergeSettings, PairScore};
use super::sources::Sources;
use crate::entries::Entries;
use crate::memory::check_available;
use crate::progress::Progress;
use crate::resume::{wrong_merge, EarlierMerges};
use crate::thread_team::ThreadTeam;
use crate::{Learned, Merge, StepLog};
use piecework_core::error::Error;

/// The ratio of the largest count to the first floor, for scores that rise with the count; low in tests.
const FIRST_SPAN: u64 = if cfg!(test) { 2 } else { 256 };
/// The same for `Likelihood`, whose best pairs are not always the most frequent.
const LIKELIHOOD_SPAN: u64 = if cfg!(test) { 4 } else { 4096 };
/// The pairs that are tracked for each remaining merge, those that are not allowed included; few in tests.
const PAIRS_PER_MERGE: usize = if cfg!(test) { 1 } else { 4 };
/// The positions in the table, as a multiple of the pairs in the words, at which outdated ones are dropped.
const MAX_OUTDATED: f64 = 1.5;

/// The merges between two checks of the available memory, and the memory that must be available, in bytes for
/// each cell of the words.
const CHECK_EVERY: usize = 64;
const HEADROOM: usize = 8;

/// The state of a trainer that merges pairs.
pub(super) struct MergeState {
    pub(super) settings: MergeSettings,
    limits: EntryLimits,
    pub(super) words: PackedWords,
    pub(super) pairs: PairTable,
    pub(super) entries: Entries,
    /// By entry: its occurrences, weighted by word counts. This and the next three are 0 if the score does not
    /// depend on the counts of entries.
    pub(super) counts: Vec<u64>,
    /// Their sum.
    pub(super) total: u64,
    /// The sum before the first merge.
    pub(super) total_chars: u64,
    /// The pairs in the words, not weighted.
    adjacent: usize,
    pub(super) merges: Vec<Merge>,
    /// Reports the merge of a pair to a log, before it is made.
    pub(super) report: fn(&mut Self, u32, &StepLog),
    /// Pairs that the last merge gave new positions.
    pub(super) gained: Vec<u32>,
    changes: NeighbourChanges,
    /// The memory of the changes that threads record.
    spare_changes: Vec<NeighbourChanges>,
    /// The counts by source and whose turn it is, if merges are chosen for sources.
    pub(super) sources: Option<Sources>,
    /// While merges of an earlier run are applied: their pairs, which alone are tracked.
    replayed: Option<HashSet<u64>>,
    /// Pairs that occur less often may be untracked.
    floor: u64,
    /// Whether `aaa` counts as two pairs (a, a), or as one because matches must not overlap.
    overlapping: bool,
}

impl MergeState {
    /// Count the entries of segmented words, apply the merges of an earlier run and track the first pairs.
    pub(super) fn start(
        words: PackedWords,
        entries: Entries,
        settings: MergeSettings,
        limits: EntryLimits,
        sources: Option<Sources>,
        earlier: EarlierMerges<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut state = Self {
            settings,
            limits,
            pairs: PairTable::default(),
            counts: vec![0; entries.len()],
            words,
            entries,
            total: 0,
            total_chars: 0,
            merges: Vec::new(),
            report: |_, _, _| {},
            gained: Vec::new(),
            changes: NeighbourChanges::default(),
            spare_changes: Vec::new(),
            sources,
            replayed: None,
            floor: 0,
            adjacent: 0,
            overlapping: settings.score != PairScore::Likelihood,
        };
        if settings.score.needs_entry_counts() {
            state.count_entries(progress)?;
        }
        if !earlier.merges.is_empty() {
            state.replay(earlier, progress)?;
        }
        let least = state.min_frequency();
        // A log ranks all pairs.
        let has_log = progress.steps().is_some();
        let share =
            |counts: &mut dyn Iterator<Item = u64>, span| least.max(counts.max().unwrap_or(0) / span);
        state.track_pairs(progress, |counts| match settings.score {
            _ if has_log => least,
            PairScore::Frequency => share(counts, FIRST_SPAN),
            PairScore::Likelihood => share(counts, LIKELIHOOD_SPAN),
            // The best pairs of other scores can be the rarest.
            _ => least,
        })?;
        Ok(state)
    }

    fn count_entries(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let Self { words, counts, total, total_chars, adjacent, .. } = self;
        words.visit_entries(|entry, chars, count| {
            *adjacent += 1;
            counts[entry as usize] += count;
            *total += count;
            *total_chars += u64::from(chars) * count;
            progress.advance(1)
        })?;
        *adjacent -= words.number();
        Ok(())
    }

    /// Apply the merges of an earlier run; fails if a merge does not occur as often as in that run, or stops there.
    fn replay(&mut self, earlier: EarlierMerges<'_>, progress: &mut Progress<'_>) -> Result<(), Error> {
        let EarlierMerges { merges, may_end } = earlier;
        self.replayed = Some(merges.iter().map(|merge| key(merge.left, merge.right)).collect());
        self.track_pairs(progress, |_| 1)?;
        for (number, merge) in (1..).zip(merges) {
            let pair = self.pairs.find(merge.left, merge.right);
            let pair = pair.filter(|&pair| self.pairs.count(pair) == merge.count);
            let Some(pair) = pair else {
                if may_end {
                    break;
                }
                return Err(wrong_merge(
                    number,
                    format!("a pair that does not occur {} times", merge.count),
                ));
            };
            if self.merge(pair, merge.score, progress)? != merge.merged {
                return Err(wrong_merge(number, format!("the id {} for the merged entry", merge.merged)));
            }
        }
        self.replayed = None;
        Ok(())
    }

    /// Count all pairs again and track those that occur at least `floor` times; renumber the pairs.
    pub(super) fn lower_floor(&mut self, floor: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.track_pairs(progress, |_| floor)
    }

    /// Count all pairs again and track as many as the remaining merges may need, or those that occur at least
    /// `floor / span` times if there are fewer; renumber the pairs.
    pub(super) fn track_needed(&mut self, span: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        let needed = (self.settings.vocab_size - self.entries.len()).saturating_mul(PAIRS_PER_MERGE);
        let (most, least) = (self.floor / 2, self.min_frequency().max(self.floor / span));
        self.track_pairs(progress, |counts| {
            let mut counts: Vec<u64> = counts.filter(|&count| count > least).collect();
            if counts.len() <= needed {
                return least;
            }
            let (_, needed, _) = counts.select_nth_unstable_by_key(needed, |&count| Reverse(count));
            most.min(*needed).max(least)
        })
    }

    fn track_pairs(
        &mut self,
        progress: &mut Progress<'_>,
        floor: impl FnOnce(&mut dyn Iterator<Item = u64>) -> u64,
    ) -> Result<(), Error> {
        self.pairs = PairTable::default();
        self.gained = Vec::new();
        self.check_memory()?;
        let replayed = self.replayed.as_ref();
        let is_replayed = |pair: u64| replayed.is_none_or(|pairs| pairs.contains(&pair));
        let floor = |counts: &mut dyn Iterator<Item = u64>| floor(counts).max(1);
        let mut team = ThreadTeam::new(self.settings.num_threads, progress);
        let (mut frequent, floor) = count_frequent(&self.words, floor, is_replayed, &mut team)?;
        self.floor = floor;
        let is_tracked = |&pair: &u64, found: &mut CandidatePairCount| {
            let (left, right) = parts(pair);
            found.count >= self.floor
                && self.is_allowed(left, right)
                && !self.limits.exclude(&self.entries, left, right)
        };
        frequent.iter_mut().for_each(|part| part.retain(is_tracked));
        self.pairs = PairTable::of(frequent, &self.words, &mut team)?;
        (0..self.pairs.len() as u32).for_each(|pair| self.recount_doubled(pair));
        match &mut self.sources {
            Some(sources) => sources.counts.recount(&self.words, &self.pairs, progress),
            None => Ok(()),
        }
    }

    /// Return the count of a pair in a source, or in the corpus.
    #[inline]
    pub(super) fn count_in(&self, source: Option<u32>, pair: u32) -> u64 {
        match (source, &self.sources) {
            (Some(source), Some(sources)) => sources.counts.count(pair, source),
            _ => self.pairs.count(pair),
        }
    }

    /// Return the floor: every untracked pair that may be merged occurs less often.
    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    /// Return whether there may be untracked pairs that are frequent enough to be merged.
    pub(super) fn has_untracked(&self) -> bool {
        self.floor > self.min_frequency()
    }

    /// Return whether most positions in the table are outdated.
    pub(super) fn is_outdated(&self) -> bool {
        let most = MAX_OUTDATED * self.adjacent as f64 + self.words.len() as f64 / 16.0;
        self.pairs.stored_positions() as f64 > most
    }

    /// Return whether the vocabulary has `vocab_size` entries.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.settings.vocab_size
    }

    /// Return whether a pair occurs often enough to be merged.
    pub(super) fn is_frequent(&self, pair: u32) -> bool {
        self.pairs.count(pair) >= self.min_frequency()
    }

    /// Return the least count of a pair that may be merged.
    pub(super) fn min_frequency(&self) -> u64 {
        self.settings.min_frequency.max(1)
    }

    /// Return whether the merged entry of a pair is allowed.
    fn is_allowed(&self, left: u32, right: u32) -> bool {
        self.limits.allow(self.settings.max_token_length, &self.entries, left, right)
    }

    /// Return whether a pair must not be merged because its merged string is already an entry.
    pub(super) fn is_excluded(&self, pair: u32) -> bool {
        let (left, right) = self.pairs.parts(pair);
        self.limits.exclude(&self.entries, left, right)
    }

    /// Fail unless the system provides memory for what may grow before the next check.
    pub(super) fn check_memory(&self) -> Result<(), Error> {
        check_available(HEADROOM * self.words.len())
    }

    /// Merge a pair at all of its positions; return the merged entry.
    pub(super) fn merge(
        &mut self,
        pair: u32,
        score: f64,
        progress: &mut Progress<'_>,
    ) -> Result<u32, Error> {
        if self.merges.len().is_multiple_of(CHECK_EVERY) {
            self.check_memory()?;
        }
        if let Some(log) = progress.steps() {
            (self.report)(self, pair, log);
        }
        let (left, right) = self.pairs.parts(pair);
        let least = self.min_frequency();
        if let Some(sources) = &mut self.sources {
            sources.take_turn(pair, self.merges.len(), least);
        }
        let count = std::mem::take(self.pairs.count_mut(pair));
        let name = self.entries.merged_string(left, right);
        let (merged, is_new) = self.entries.add(&name);
        if is_new {
            self.counts.push(0);
            self.limits.add(left, right);
            progress.reach(self.entries.len());
        }
        let made = Merge { left, right, merged, count, score };
        self.merges.push(made);
        progress.log_merge(made);
        self.changes.grow(self.entries.len());
        let positions = self.pairs.take_positions(pair);
        let pair = PairMerge { left, right, merged, overlapping: self.overlapping };
        let positions = self.apply(pair, &positions, progress)?;
        if self.settings.score.needs_entry_counts() {
            self.count_merged((left, right), merged, positions);
        }
        self.apply_changes((left, right), merged, is_new)?;
        Ok(merged)
    }

    /// Return the result; `reason` says why training stopped early and is called only if it did.
    pub(super) fn finish(self, reason: impl FnOnce(&Self) -> String) -> Learned {
        let stopped_early = (!self.is_full()).then(|| {
            format!(
                "{}: {} of {} entries learned",
                reason(&self),
                self.entries.len(),
                self.settings.vocab_size
            )
        });
        Learned {
            vocab: self.entries.into_names(),
            merges: self.merges,
            stopped_early,
            ..Learned::default()
        }
    }

    // ---- changes of a merge

    /// Merge a pair at its positions, source by source, and record the changes around them.
    fn apply(
        &mut self,
        pair: PairMerge,
        positions: &[u32],
        progress: &mut Progress<'_>,
    ) -> Result<MergedPositions, Error> {
        let mut team = ThreadTeam::new(self.settings.num_threads, progress);
        let (mut start, mut all) = (0, MergedPositions::default());
        for source in 0..self.words.sources() {
            let end = self.words.before_end_of(source, positions);
            if start == end {
                continue;
            }
            let Self { words, changes, spare_changes, .. } = self;
            let merged = pair.apply(words, &positions[start..end], changes, spare_changes, &mut team)?;
            let counts = self.sources.as_mut().is_none_or(|sources| sources.shorten(source, merged.count));
            self.changes.end_source(source as u32, counts);
            all += merged;
            start = end;
        }
        self.changes.add_up();
        Ok(all)
    }

    /// Apply a merge to the counts of entries.
    fn count_merged(&mut self, (left, right): (u32, u32), merged: u32, positions: MergedPositions) {
        let MergedPositions { number, count } = positions;
        self.adjacent -= number;
        self.counts[left as usize] -= count;
        self.counts[right as usize] -= count;
        self.counts[merged as usize] += count;
        self.total -= count;
    }

    /// Apply the changes of a merge to the table.
    fn apply_changes(&mut self, (left, right): (u32, u32), merged: u32, is_new: bool) -> Result<(), Error> {
        self.gained.clear();
        if let Some(sources) = &mut self.sources {
            sources.gained.clear();
        }
        let (mut gaining, mut has_unknown) = (Vec::with_capacity(self.changes.len()), false);
        for number in 0..self.changes.len() {
            let change = self.changes.change(number);
            let (old, new) = match change.side {
                Side::Left => ((change.neighbour, left), (change.neighbour, merged)),
                Side::Right => ((right, change.neighbour), (merged, change.neighbour)),
            };
            if let Some(pair) = self.pairs.find(old.0, old.1).filter(|_| change.lost > 0) {
                *self.pairs.count_mut(pair) -= change.lost;
                if let Some(sources) = &mut self.sources {
                    sources.counts.lose(pair, change.source, change.lost);
                }
            }
            let pair = self.gain(new, number, is_new, &mut has_unknown)?;
            gaining.push(pair);
            if let Some(pair) = pair.filter(|_| change.positions > 0) {
                // A doubled pair gains on both sides.
                if new.0 != new.1 || !self.gained.contains(&pair) {
                    self.gained.push(pair);
                }
                if let Some(sources) = &mut self.sources {
                    sources.gained.push((pair, change.source));
                }
            }
        }
        for &(number, position) in self.changes.gains() {
            if let Some(pair) = gaining[number as usize] {
                self.pairs.add_position(pair, position);
            }
        }
        self.changes.clear();
        if has_unknown {
            self.track_pairs_of(merged)?;
        }
        for at in 0..self.gained.len() {
            self.recount_doubled(self.gained[at]);
        }
        Ok(())
    }

    /// Add the occurrences that a pair gained in the source of a change; return the pair if it is tracked.
    ///
    /// Set `has_unknown` if the pair is untracked and may have reached the floor.
    fn gain(
        &mut self,
        (left, right): (u32, u32),
        number: usize,
        is_new: bool,
        has_unknown: &mut bool,
    ) -> Result<Option<u32>, Error> {
        if let Some(pair) = self.pairs.find(left, right) {
            if left != right || self.overlapping {
                self.add_gain(pair, &self.changes.change(number));
            }
            return Ok(Some(pair));
        }
        let total = self.changes.total(number);
        let gained = total.gained.saturating_sub(total.remerged);
        // A pair of a new entry has no other occurrences. With a floor of 1, an untracked pair has none but in parallel
        // texts, whose pairs do not count.
        let may_have_more = !is_new && (self.floor > 1 || self.words.has_uncounted());
        let is_rare = gained == 0 || (gained < self.floor && !may_have_more);
        if is_rare || !self.is_allowed(left, right) {
            return Ok(None);
        }
        if self.replayed.as_ref().is_some_and(|pairs| !pairs.contains(&key(left, right))) {
            return Ok(None);
        }
        if may_have_more {
            *has_unknown = true;
            return Ok(None);
        }
        let pair = self.pairs.insert((left, right), 0, total.positions)?;
        self.add_gain(pair, &self.changes.change(number));
        Ok(Some(pair))
    }

    /// Add the occurrences that a tracked pair gained in the source of a change.
    fn add_gain(&mut self, pair: u32, change: &NeighbourChange) {
        let count = self.pairs.count_mut(pair);
        *count = *count + change.gained - change.remerged;
        if let Some(sources) = &mut self.sources {
            sources.counts.gain(pair, change.source, change.gained, change.remerged);
        }
    }

    /// Count the untracked pairs of an entry and track the frequent ones.
    fn track_pairs_of(&mut self, entry: u32) -> Result<(), Error> {
        let mut found: HashMap<u64, (u64, Vec<u32>), RandomState> = HashMap::default();
        let Self { words, pairs, .. } = self;
        let mut add = |left: u32, right: u32, position: u32| {
            if pairs.find(left, right).is_none() {
                let (count, positions) = found.entry(key(left, right)).or_default();
                *count += words.count_at(position);
                positions.push(position);
            }
        };
        words.visit_positions(entry, |position| {
            if let Some((before, start)) = words.before(position) {
                add(before, entry, start);
            }
            // The next occurrence of the entry adds a doubled pair.
            if let Some(after) = words.after(position).filter(|&after| after != entry) {
                add(entry, after, position);
            }
        });
        for (pair, (count, positions)) in found {
            let (left, right) = parts(pair);
            if count >= self.floor && self.is_allowed(left, right) {
                let pair = self.pairs.insert((left, right), count, positions.len())?;
                if let Some(sources) = &mut self.sources {
                    sources.track(pair, &positions, &self.words);
                }
                positions.into_iter().for_each(|position| self.pairs.add_position(pair, position));
                self.gained.push(pair);
            }
        }
        Ok(())
    }

    /// Recount a doubled pair if matches must not overlap, as its count cannot be updated by difference.
    fn recount_doubled(&mut self, pair: u32) {
        let (left, right) = self.pairs.parts(pair);
        if left == right && !self.overlapping {
            *self.pairs.count_mut(pair) = self.pairs.count_non_overlapping(pair, &self.words);
        }
    }
}
