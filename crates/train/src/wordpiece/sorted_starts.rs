//! All positions where an entry can begin, sorted by the text that follows them in their word.
//!
//! The positions where a substring occurs are adjacent in this order. Word starts come first, because a
//! substring has another entry there than inside words. The positions are distributed by their first character,
//! and the threads sort these groups.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::word_text::{DistinctWord, WordText, END, MAX_WORD_CHARS};
use crate::memory::reserve;
use crate::progress::Progress;
use crate::thread_team::ThreadTeam;
use piecework_core::error::Error;

/// Positions in the order of the text that follows them.
pub(super) struct SortedStarts {
    /// Positions; a position is listed twice if two entries can begin there.
    pub(super) positions: Vec<u32>,
    /// By index: the number of characters that the text has in common with the previous one; dropped when the
    /// candidates are connected.
    pub(super) common: Vec<u8>,
    /// The ranges of indices with the same first character and the same side of `initial`, in order.
    pub(super) groups: Vec<Range<usize>>,
    /// The number of word starts.
    pub(super) initial: u32,
    /// The number of characters by which the text is sorted.
    depth: usize,
}

/// The positions of a group, and the lengths that they have in common with the previous one.
type StartGroup<'a> = Mutex<(&'a mut [u32], &'a mut [u8])>;

impl SortedStarts {
    /// Sort by at most `depth` characters.
    pub(super) fn new(
        text: &WordText,
        depth: usize,
        threads: usize,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut starts = Self::distributed(text, depth.min(MAX_WORD_CHARS))?;
        progress.check()?;
        let depth = starts.depth;
        let mut groups: Vec<StartGroup<'_>> = Vec::with_capacity(starts.groups.len());
        let (mut positions, mut common) = (&mut *starts.positions, &mut *starts.common);
        for group in &starts.groups {
            let (positions_of, common_of);
            (positions_of, positions) = positions.split_at_mut(group.len());
            (common_of, common) = common.split_at_mut(group.len());
            groups.push(Mutex::new((positions_of, common_of)));
        }
        // The largest groups first, so that the threads end at about the same time.
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&group| Reverse(starts.groups[group].len()));
        ThreadTeam::new(threads, progress).run_parts(
            groups.len(),
            1,
            || (),
            |(), group, _| {
                let mut group = groups[order[group]].lock().unwrap_or_else(PoisonError::into_inner);
                let (positions, common) = &mut *group;
                sort(text, positions, depth);
                for index in 1..positions.len() {
                    common[index] = common_chars(text, positions[index - 1], positions[index], depth) as u8;
                }
            },
        )?;
        drop(groups);
        Ok(starts)
    }

    /// The positions by side and first character, not sorted further.
    fn distributed(text: &WordText, depth: usize) -> Result<Self, Error> {
        let codes = text.codes.iter().max().map_or(1, |&code| code as usize + 1);
        let of = |is_initial: bool, position: u32| {
            let side = if is_initial || text.prefix.is_empty() { 0 } else { codes };
            side + text.codes[position as usize] as usize
        };
        let mut sizes = vec![0; 2 * codes];
        visit_starts(text, |is_initial, position| sizes[of(is_initial, position)] += 1);
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
        visit_starts(text, |is_initial, position| {
            let end = &mut ends[of(is_initial, position)];
            positions[*end] = position;
            *end += 1;
        });
        Ok(Self { positions, common, groups, initial, depth })
    }

    /// Whether the position at an index is the start of a word.
    pub(super) fn is_initial(&self, index: u32) -> bool {
        index < self.initial
    }

    /// The number of characters that follow the position at an index, up to the sorted ones.
    pub(super) fn chars_at(&self, text: &WordText, index: usize) -> usize {
        let rest = &text.codes[self.positions[index] as usize..];
        rest.iter().take(self.depth).take_while(|&&code| code != END).count()
    }

    /// The range of indices where the text begins with `codes`.
    pub(super) fn range_of(&self, text: &WordText, initial: bool, codes: &[u32]) -> std::ops::Range<u32> {
        let base = if initial { 0 } else { self.initial as usize };
        let side = if initial {
            &self.positions[..self.initial as usize]
        } else {
            &self.positions[self.initial as usize..]
        };
        let compare = |position: u32| {
            let rest = text.codes[position as usize..].iter().take_while(|&&code| code != END);
            rest.take(codes.len()).cmp(codes.iter())
        };
        let first = side.partition_point(|&position| compare(position) == Ordering::Less);
        let end = side.partition_point(|&position| compare(position) != Ordering::Greater);
        (base + first) as u32..(base + end) as u32
    }
}

/// Visit all positions where an entry can begin, and whether it is the start of a word.
fn visit_starts(text: &WordText, mut visit: impl FnMut(bool, u32)) {
    text.words().for_each(|word| {
        visit(true, word.head);
        inner_starts(text, &word).for_each(|position| visit(false, position));
    });
}

/// The positions inside a word where an entry can begin.
///
/// One is listed twice if the entry can also begin at the start of the word, which begins with the prefix.
pub(super) fn inner_starts(text: &WordText, word: &DistinctWord) -> impl Iterator<Item = u32> {
    let at_start = word.begins_with_prefix().then_some(word.start + text.prefix_chars);
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
