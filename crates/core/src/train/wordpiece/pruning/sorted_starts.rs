//! All positions where an entry can begin, sorted by the text that follows them in their word.
//!
//! The positions where a substring occurs are adjacent in this order. Word starts come first, because a
//! substring has another entry there than inside words.

use std::cmp::Ordering;

use super::word_text::{WordText, END, MAX_WORD_CHARS};
use crate::error::Error;
use crate::train::progress::Progress;

/// Positions in the order of the text that follows them.
pub(super) struct SortedStarts {
    /// Positions; a position is listed twice if two entries can begin there.
    pub(super) positions: Vec<u32>,
    /// By index: the number of characters that the text has in common with the previous one; dropped when the
    /// candidates are connected.
    pub(super) common: Vec<u8>,
    /// The number of word starts.
    pub(super) initial: u32,
    /// The number of characters by which the text is sorted.
    depth: usize,
}

impl SortedStarts {
    /// Sort by at most `depth` characters.
    pub(super) fn new(text: &WordText, depth: usize, progress: &mut Progress<'_>) -> Result<Self, Error> {
        let depth = depth.min(MAX_WORD_CHARS);
        let (mut heads, mut inner) = (Vec::new(), Vec::new());
        for word in &text.words {
            heads.push(word.head);
            if word.begins_with_prefix() {
                inner.push(word.start + text.prefix_chars);
            }
            inner.extend(word.start + 1..word.end);
        }
        if text.prefix.is_empty() {
            heads.append(&mut inner);
        }
        let initial = heads.len() as u32;
        let mut positions = sorted(text, heads, depth, progress)?;
        positions.append(&mut sorted(text, inner, depth, progress)?);
        let mut starts = Self { common: vec![0; positions.len()], positions, initial, depth };
        for index in 1..starts.positions.len() {
            progress.advance(1)?;
            if index != initial as usize {
                let (one, two) = (starts.positions[index - 1], starts.positions[index]);
                starts.common[index] = common_chars(text, one, two, depth) as u8;
            }
        }
        Ok(starts)
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

/// Sort positions by the text that follows, then by position.
fn sorted(
    text: &WordText,
    positions: Vec<u32>,
    depth: usize,
    progress: &mut Progress<'_>,
) -> Result<Vec<u32>, Error> {
    let bits = text.code_bits().max(1);
    let packed = ((u64::BITS / bits) as usize).min(depth);
    let key = |position: u32| {
        let mut rest = text.codes[position as usize..].iter().take_while(|&&code| code != END);
        (0..packed).fold(0, |key, _| (key << bits) | u64::from(*rest.next().unwrap_or(&END)))
    };
    let mut keyed: Vec<(u64, u32)> = Vec::with_capacity(positions.len());
    for position in positions {
        progress.advance(1)?;
        keyed.push((key(position), position));
    }
    keyed.sort_unstable();
    for run in keyed.chunk_by_mut(|one, two| one.0 == two.0) {
        progress.advance(run.len())?;
        if run.len() > 1 && text.codes[run[0].1 as usize..].iter().take(packed).all(|&code| code != END) {
            run.sort_unstable_by(|&(_, one), &(_, two)| compare_after(text, one, two, packed, depth));
        }
    }
    Ok(keyed.into_iter().map(|(_, position)| position).collect())
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
