//! The seeds: the substrings with the largest count times length.
//!
//! A sweep over the index counts all substrings in time linear in the text (Kasai et al. 2001, "Linear-Time
//! Longest-Common-Prefix Computation in Suffix Arrays and Its Applications"). The threads visit groups of positions
//! with the same first character, each keeping its heaviest substrings.

use std::cmp::Reverse;
use std::ops::Range;

use super::index::{Substring, SubstringIndex};
use crate::memory::reserve;
use crate::progress::Progress;
use crate::thread_team::ThreadTeam;
use piecework_core::error::Error;

/// No substring.
pub(crate) const NONE: u32 = u32::MAX;

/// The limits of seeds.
pub(crate) struct SeedLimits {
    /// The number of seeds.
    pub(crate) number: usize,
    pub(crate) min_count: u64,
}

/// Return the single characters and the seeds, both without order.
///
/// `lengths` returns which prefixes of a substring of two characters and more are seeds, by their lengths, which are
/// in a given range: these prefixes occur at the same positions.
pub(crate) fn select<L: IntoIterator<Item = u32>>(
    index: &SubstringIndex,
    limits: &SeedLimits,
    lengths: impl Fn(&Substring, Range<u32>) -> L + Sync,
    threads: usize,
    progress: &mut Progress<'_>,
) -> Result<(Vec<Substring>, Vec<Substring>), Error> {
    let none = || (Vec::new(), Vec::new());
    let chosen = ThreadTeam::new(threads, progress).run_parts(
        index.groups.len(),
        1,
        none,
        |(single, seeds), group, _| {
            visit_substrings(index, index.groups[group].clone(), |longest, min_chars| {
                if min_chars == 1 {
                    single.push(Substring { chars: 1, ..longest });
                }
                if longest.count >= limits.min_count {
                    let chosen = lengths(&longest, min_chars.max(2)..longest.chars + 1);
                    seeds.extend(chosen.into_iter().map(|chars| Substring { chars, ..longest }));
                    if seeds.len() > limits.number.saturating_mul(2).saturating_add(1024) {
                        keep_heaviest(seeds, limits.number);
                    }
                }
            });
        },
    )?;
    let (mut single, mut seeds) = none();
    for (more_single, more_seeds) in chosen {
        single.extend(more_single);
        seeds.extend(more_seeds);
    }
    keep_heaviest(&mut seeds, limits.number);
    Ok((single, seeds))
}

/// Keep the substrings of most weight; of equal ones, word starts, then the first by code points.
pub(crate) fn keep_heaviest(substrings: &mut Vec<Substring>, number: usize) {
    if substrings.len() > number {
        if number > 0 {
            substrings.select_nth_unstable_by_key(number - 1, |one| (Reverse(one.weight()), one.order()));
        }
        substrings.truncate(number);
    }
}

/// A substring whose occurrences are still being counted.
struct OpenSubstring {
    chars: u32,
    first: u32,
    count: u64,
}

/// Visit each set of positions that some substring has, in a range of ranks with the same first character:
/// its longest substring, and the fewest characters of a prefix with the same positions.
fn visit_substrings(index: &SubstringIndex, ranks: Range<usize>, mut visit: impl FnMut(Substring, u32)) {
    let mut open: Vec<OpenSubstring> = Vec::new();
    for rank in ranks.start..=ranks.end {
        let is_end = rank == ranks.end;
        let common = if is_end { 0 } else { u32::from(index.common[rank]) };
        let (mut first, mut count) = (rank as u32, 0_u64);
        while open.last().is_some_and(|last| last.chars > common) {
            let Some(last) = open.pop() else { break };
            let shorter = open.last().map_or(0, |last| last.chars).max(common);
            count = last.count.saturating_add(count);
            first = last.first;
            visit(Substring { first, end: rank as u32, chars: last.chars, count }, shorter + 1);
        }
        if common > 0 {
            add(&mut open, common, first, count);
        }
        if !is_end {
            // The substring that reaches the end of the word.
            let chars = index.chars_at(rank) as u32;
            add(&mut open, chars, rank as u32, index.text.count_at(index.positions[rank]));
        }
    }
}

/// Add occurrences to the open substring of a length, which is that of the longest open one or greater.
fn add(open: &mut Vec<OpenSubstring>, chars: u32, first: u32, count: u64) {
    match open.last_mut().filter(|last| last.chars == chars) {
        Some(last) => last.count = last.count.saturating_add(count),
        None => open.push(OpenSubstring { chars, first, count }),
    }
}

/// Return the longest proper prefix of each substring among them, and the longest one at each position of the
/// text; [`NONE`] for none.
///
/// The substrings are in the order of [`Substring::order`].
pub(crate) fn connect(
    index: &SubstringIndex,
    substrings: &[Substring],
    progress: &mut Progress<'_>,
) -> Result<(Vec<u32>, Vec<u32>), Error> {
    let (mut parent, mut longest) = (Vec::new(), Vec::new());
    reserve(&mut parent, substrings.len())?;
    reserve(&mut longest, index.text.positions())?;
    longest.resize(index.text.positions(), NONE);
    let mut open: Vec<u32> = Vec::new();
    for (rank, (&position, &common)) in index.positions.iter().zip(&index.common).enumerate() {
        progress.advance(1)?;
        while open.last().is_some_and(|&top| substrings[top as usize].chars > u32::from(common)) {
            open.pop();
        }
        while substrings.get(parent.len()).is_some_and(|substring| substring.first as usize == rank) {
            let next = parent.len() as u32;
            parent.push(open.last().copied().unwrap_or(NONE));
            open.push(next);
        }
        longest[position as usize] = open.last().copied().unwrap_or(NONE);
    }
    Ok((parent, longest))
}
