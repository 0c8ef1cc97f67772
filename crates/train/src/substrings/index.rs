//! All positions where an entry can begin, sorted by the text that follows them in their word.
//!
//! The positions where a substring occurs are adjacent in this order. Word starts come first, because a
//! substring has another entry there than inside words. The positions are distributed by their first character,
//! and the threads sort these groups.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use piecework_core::error::Error;

use super::word_text::{DistinctWord, WordText, END};
use crate::memory::reserve;
use crate::progress::Progress;
use crate::thread_team::ThreadTeam;

/// Positions in the order of the text that follows them.
pub(crate) struct SubstringIndex {
    pub(crate) text: WordText,
    /// Positions; a position is listed twice if two entries can begin there.
    pub(super) positions: Vec<u32>,
    /// By rank: the number of characters that the text has in common with the previous one.
    pub(super) common: Vec<u16>,
    /// The ranges of ranks with the same first character and the same side of `initial`, in order.
    pub(super) groups: Vec<Range<usize>>,
    /// The number of word starts, or of all positions if there is no prefix.
    pub(super) initial: u32,
    /// The number of characters by which the text is sorted.
    depth: usize,
}

/// A substring of words, with the range of ranks in the index where it occurs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substring {
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// In characters, without the continuation prefix.
    pub(crate) chars: u32,
    /// The number of occurrences, weighted by word counts.
    pub(crate) count: u64,
}

/// The positions of a group, and the lengths that they have in common with the previous one.
type StartGroup<'a> = Mutex<(&'a mut [u32], &'a mut [u16])>;

impl SubstringIndex {
    /// Sort by at most `depth` characters, which are less than 2^16.
    pub(crate) fn new(
        text: WordText,
        depth: usize,
        threads: usize,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut index = Self::distributed(text, depth)?;
        progress.check()?;
        let Self { text, positions, common, groups: ranges, .. } = &mut index;
        let mut groups: Vec<StartGroup<'_>> = Vec::with_capacity(ranges.len());
        let (mut positions, mut common) = (&mut **positions, &mut **common);
        for group in &*ranges {
            let (positions_of, common_of);
            (positions_of, positions) = positions.split_at_mut(group.len());
            (common_of, common) = common.split_at_mut(group.len());
            groups.push(Mutex::new((positions_of, common_of)));
        }
        // The largest groups first, so that the threads end at about the same time.
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&group| Reverse(ranges[group].len()));
        ThreadTeam::new(threads, progress).run_parts(
            groups.len(),
            1,
            || (),
            |(), group, _| {
                let mut group = groups[order[group]].lock().unwrap_or_else(PoisonError::into_inner);
                let (positions, common) = &mut *group;
                sort(text, positions, depth);
                for rank in 1..positions.len() {
                    common[rank] = common_chars(text, positions[rank - 1], positions[rank], depth) as u16;
                }
            },
        )?;
        drop(groups);
        Ok(index)
    }

    /// Collect the positions by side and first character, not sorted further.
    fn distributed(text: WordText, depth: usize) -> Result<Self, Error> {
        let codes = text.codes.iter().max().map_or(1, |&code| code as usize + 1);
        let of = |is_initial: bool, position: u32| {
            let side = if is_initial || text.prefix.is_empty() { 0 } else { codes };
            side + text.codes[position as usize] as usize
        };
        let mut sizes = vec![0; 2 * codes];
        visit_starts(&text, |is_initial, position| sizes[of(is_initial, position)] += 1);
        let mut ends = Vec::with_capacity(sizes.len());
        let mut groups = Vec::new();
        let mut total = 0;
        for size in sizes {
            if size > 0 {
                groups.push(total..total + size);
            }
            ends.push(total);
            total += size;
        }
        let initial = ends[codes] as u32;
        let (mut positions, mut common) = (Vec::new(), Vec::new());
        reserve(&mut positions, total)?;
        reserve(&mut common, total)?;
        positions.resize(total, 0);
        common.resize(total, 0);
        visit_starts(&text, |is_initial, position| {
            let end = &mut ends[of(is_initial, position)];
            positions[*end] = position;
            *end += 1;
        });
        Ok(Self { text, positions, common, groups, initial, depth })
    }

    /// Return the number of characters that follow the position at a rank, up to the sorted ones.
    pub(super) fn chars_at(&self, rank: usize) -> usize {
        let rest = &self.text.codes[self.positions[rank] as usize..];
        rest.iter().take(self.depth).take_while(|&&code| code != END).count()
    }

    /// Return the substring with these codes, at the start of words or inside; `None` if it does not occur.
    pub(crate) fn find(&self, is_initial: bool, codes: &[u32]) -> Option<Substring> {
        let (word_starts, inside) = self.positions.split_at(self.initial as usize);
        let (base, side) = if is_initial { (0, word_starts) } else { (self.initial, inside) };
        let compare = |position: u32| {
            let rest = self.text.codes[position as usize..].iter().take_while(|&&code| code != END);
            rest.take(codes.len()).cmp(codes.iter())
        };
        let first = side.partition_point(|&position| compare(position) == Ordering::Less);
        let end = side.partition_point(|&position| compare(position) != Ordering::Greater);
        let counts = side[first..end].iter().map(|&position| self.text.count_at(position));
        let count = counts.fold(0, u64::saturating_add);
        let (first, end) = (base + first as u32, base + end as u32);
        (first < end).then_some(Substring { first, end, chars: codes.len() as u32, count })
    }

    /// Return whether the positions of a substring are the starts of words.
    #[inline]
    pub(crate) fn is_initial(&self, substring: &Substring) -> bool {
        substring.first < self.initial
    }

    /// Return the positions of a substring.
    pub(crate) fn positions_of(&self, substring: &Substring) -> &[u32] {
        &self.positions[substring.first as usize..substring.end as usize]
    }

    /// Drop the characters: substrings can no longer be spelled or found.
    pub(crate) fn drop_codes(&mut self) {
        self.text.codes = Vec::new();
    }

    /// Drop the lengths in common: substrings can no longer be selected or connected.
    pub(crate) fn drop_common(&mut self) {
        self.common = Vec::new();
    }

    /// Drop the order of the positions.
    pub(crate) fn drop_positions(&mut self) {
        (self.positions, self.common) = (Vec::new(), Vec::new());
    }

    /// Iterate over the characters of a substring.
    pub(crate) fn spell(&self, substring: &Substring) -> impl Iterator<Item = char> + '_ {
        self.text.spell(self.positions[substring.first as usize], substring.chars)
    }
}

impl Substring {
    /// Return the number of characters of the corpus that it covers.
    pub(crate) fn weight(&self) -> u128 {
        u128::from(self.count) * u128::from(self.chars)
    }

    /// Return a key for the order of word starts, then of code points.
    pub(crate) fn order(&self) -> (u32, u32) {
        (self.first, self.chars)
    }
}

/// Visit all positions where an entry can begin, and whether a word begins there.
fn visit_starts(text: &WordText, mut visit: impl FnMut(bool, u32)) {
    text.words().for_each(|word| {
        visit(!word.continues, word.head);
        inner_starts(text, &word).for_each(|position| visit(false, position));
    });
}

/// Iterate over the positions inside a word where an entry can begin.
///
/// With heads, one is listed twice if the entry can also begin at the start of the word, which begins with the
/// prefix.
pub(crate) fn inner_starts(text: &WordText, word: &DistinctWord) -> impl Iterator<Item = u32> {
    let at_start = (word.head != word.start).then_some(word.start + text.prefix_chars);
    at_start.into_iter().chain(word.start + 1..word.end)
}

/// Sort positions with the same first character by the text that follows, then by position.
fn sort(text: &WordText, positions: &mut [u32], depth: usize) {
    let bits = text.code_bits().max(1);
    let packed = ((u64::BITS / bits) as usize).min(depth);
    let key = |position: u32| {
        let mut rest = text.codes[position as usize..].iter().take_while(|&&code| code != END);
        (0..packed).fold(0, |key, _| (key << bits) | u64::from(*rest.next().unwrap_or(&END)))
    };
    let mut keyed: Vec<(u64, u32)> = positions.iter().map(|&position| (key(position), position)).collect();
    keyed.sort_unstable();
    for run in keyed.chunk_by_mut(|one, two| one.0 == two.0) {
        if run.len() > 1 && text.codes[run[0].1 as usize..].iter().take(packed).all(|&code| code != END) {
            run.sort_unstable_by(|&(_, one), &(_, two)| compare_after(text, one, two, packed, depth));
        }
    }
    positions.iter_mut().zip(keyed).for_each(|(position, (_, sorted))| *position = sorted);
}

/// Compare the text after two positions that have their first `same` characters in common.
fn compare_after(text: &WordText, one: u32, two: u32, same: usize, depth: usize) -> Ordering {
    let rest = |position: u32| {
        let codes = text.codes[position as usize + same..].iter();
        codes.take_while(|&&code| code != END).take(depth - same)
    };
    rest(one).cmp(rest(two)).then(one.cmp(&two))
}

fn common_chars(text: &WordText, one: u32, two: u32, depth: usize) -> usize {
    let (one, two) = (&text.codes[one as usize..], &text.codes[two as usize..]);
    one.iter().zip(two).take(depth).take_while(|&(a, b)| a == b && *a != END).count()
}

// ---- seeds: the substrings with the largest count times length
//
// A sweep over the index counts all substrings in time linear in the text (Kasai et al. 2001, "Linear-Time
// Longest-Common-Prefix Computation in Suffix Arrays and Its Applications"). The threads visit groups of positions
// with the same first character, each keeping its heaviest substrings.

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

/// Add occurrences to the open substring of a length; no open one is longer.
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
