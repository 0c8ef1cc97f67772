//! The seeds: the substrings with the largest count times length.
//!
//! The threads visit groups of positions with the same first character, each keeping its heaviest substrings.

use std::cmp::Reverse;
use std::ops::Range;

use super::sorted_starts::SortedStarts;
use super::word_text::WordText;
use crate::progress::Progress;
use crate::thread_team::ThreadTeam;
use piecework_core::error::Error;

/// A substring of words, with the range of sorted starts where it occurs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Substring {
    pub(super) first: u32,
    pub(super) end: u32,
    /// In characters, without the continuation prefix.
    pub(super) chars: u32,
    /// The number of occurrences, weighted by word counts.
    pub(super) count: u64,
}

/// What a seed must be.
pub(super) struct SeedRules {
    /// The number of seeds.
    pub(super) limit: usize,
    pub(super) min_count: u64,
    pub(super) max_chars: u32,
}

impl Substring {
    /// Sort key of the seeds: the heaviest first, then word starts, then by code points.
    fn rank(&self) -> (Reverse<u128>, u32, u32) {
        (Reverse(u128::from(self.count) * u128::from(self.chars)), self.first, self.chars)
    }
}

/// Return the single characters and the seeds, both without order.
pub(super) fn select(
    text: &WordText,
    starts: &SortedStarts,
    rules: &SeedRules,
    threads: usize,
    progress: &mut Progress<'_>,
) -> Result<(Vec<Substring>, Vec<Substring>), Error> {
    let none = || Chosen { text, starts, rules, single: Vec::new(), seeds: Vec::new() };
    let chosen = ThreadTeam::new(threads, progress).run_parts(
        starts.groups.len(),
        1,
        none,
        |chosen, group, _| {
            let indices = starts.groups[group].clone();
            visit_substrings(text, starts, indices, |substring, min_chars| {
                chosen.add(substring, min_chars);
            });
        },
    )?;
    let mut all = none();
    for chosen in chosen {
        all.single.extend(chosen.single);
        all.seeds.extend(chosen.seeds);
    }
    all.cut();
    Ok((all.single, all.seeds))
}

/// The substrings chosen so far.
struct Chosen<'a> {
    text: &'a WordText,
    starts: &'a SortedStarts,
    rules: &'a SeedRules,
    single: Vec<Substring>,
    seeds: Vec<Substring>,
}

impl Chosen<'_> {
    /// Add a substring and its prefixes of at least `min_chars`, which occur at the same positions.
    fn add(&mut self, longest: Substring, min_chars: u32) {
        if min_chars == 1 {
            self.single.push(Substring { chars: 1, ..longest });
        }
        if longest.count < self.rules.min_count {
            return;
        }
        for chars in min_chars.max(2)..=longest.chars.min(self.rules.max_chars) {
            let seed = Substring { chars, ..longest };
            if !self.is_prefix(&seed) {
                self.seeds.push(seed);
            }
        }
        if self.seeds.len() > 2 * self.rules.limit + 1024 {
            self.cut();
        }
    }

    /// Whether the substring is the continuation prefix at the start of words, which has no characters of its
    /// own.
    fn is_prefix(&self, seed: &Substring) -> bool {
        seed.chars == self.text.prefix_chars
            && self.starts.is_initial(seed.first)
            && self
                .text
                .spell(self.starts.positions[seed.first as usize], seed.chars)
                .eq(self.text.prefix.chars())
    }

    /// Keep the heaviest seeds.
    fn cut(&mut self) {
        let limit = self.rules.limit;
        if self.seeds.len() > limit {
            if limit > 0 {
                self.seeds.select_nth_unstable_by_key(limit - 1, Substring::rank);
            }
            self.seeds.truncate(limit);
        }
    }
}

/// A substring whose occurrences are still being counted.
struct Open {
    chars: u32,
    first: u32,
    count: u64,
}

/// Visit each set of positions that some substring has, in a range of indices with the same first character:
/// its longest substring, and the fewest characters of a prefix with the same positions.
fn visit_substrings(
    text: &WordText,
    starts: &SortedStarts,
    indices: Range<usize>,
    mut visit: impl FnMut(Substring, u32),
) {
    let mut open: Vec<Open> = Vec::new();
    for index in indices.start..=indices.end {
        let is_end = index == indices.end;
        let common = if is_end { 0 } else { u32::from(starts.common[index]) };
        let (mut first, mut count) = (index as u32, 0_u64);
        while open.last().is_some_and(|last| last.chars > common) {
            let Some(last) = open.pop() else { break };
            let shorter = open.last().map_or(0, |last| last.chars).max(common);
            count = last.count.saturating_add(count);
            first = last.first;
            let found = Substring { first, end: index as u32, chars: last.chars, count };
            visit(found, shorter + 1);
        }
        match open.last_mut() {
            Some(last) if last.chars == common => last.count = last.count.saturating_add(count),
            _ if common > 0 => open.push(Open { chars: common, first, count }),
            _ => {}
        }
        if !is_end {
            add_start(text, starts, index, &mut open);
        }
    }
}

/// Open the substring that reaches the end of the word at a start.
fn add_start(text: &WordText, starts: &SortedStarts, index: usize, open: &mut Vec<Open>) {
    let count = text.count_at(starts.positions[index]);
    let chars = starts.chars_at(text, index) as u32;
    match open.last_mut() {
        Some(last) if last.chars == chars => last.count = last.count.saturating_add(count),
        _ => open.push(Open { chars, first: index as u32, count }),
    }
}
