//! Where ASCII spans begin and end, by arithmetic on the class masks of 64 bytes.
//!
//! A span is a run of bytes that are neither ASCII whitespace nor isolated, or one isolated byte. Bit `i` of a mask is
//! byte `i` of a block; the state at the end of a block is carried into the next.

use std::ops::Range;

use piecework_kernels::classes::{class_masks, ByteClasses};
use piecework_kernels::positions;

/// Classes of bytes, as bits of `ByteClasses`; a byte without a class is whitespace.
pub(crate) const WORD: u8 = 1;
pub(crate) const ISOLATED: u8 = 2;
pub(crate) const OTHER: u8 = 4;

/// The most bytes of a chunk.
pub(crate) const CHUNK: usize = 4096;

/// Set in the end of a span that must be split by the table of actions.
const NEEDS_ACTIONS: u16 = 1 << 15;

/// Finds the spans of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanFinder {
    masks: Vec<[u64; 4]>,
    blocks: Blocks,
    starts: Vec<u16>,
    ends: Vec<u16>,
}

/// For each block, as masks: the first bytes of spans, the bytes after spans, and those of the latter whose span needs the
/// table of actions.
#[derive(Clone, Debug, Default)]
struct Blocks {
    starts: Vec<u64>,
    ends: Vec<u64>,
    ends_of_others: Vec<u64>,
}

/// Adjacent ASCII spans.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanGroup<'e> {
    starts: &'e [u16],
    ends: &'e [u16],
}

/// An ASCII span: its bytes in the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AsciiSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// It has bytes that are neither `WORD` nor `ISOLATED`.
    pub(crate) needs_actions: bool,
}

impl SpanFinder {
    /// Find the spans of a chunk of at most `CHUNK` bytes that begins outside a span; return the number of bytes covered.
    ///
    /// A span that reaches the end of the chunk is left out, unless the chunk is the last of its text.
    pub(crate) fn find(&mut self, chunk: &[u8], is_last: bool, classes: &ByteClasses) -> usize {
        let Self { masks, blocks, starts, ends } = self;
        masks.clear();
        class_masks(chunk, classes, masks);
        let carried = blocks.fill(masks);
        positions::list(&blocks.starts, starts);
        positions::list(&blocks.ends, ends);
        blocks.mark(ends);
        if carried.in_span != 0 && !is_last {
            return starts.pop().map_or(chunk.len(), usize::from);
        }
        if carried.in_span | carried.alone != 0 {
            let others = if carried.in_others != 0 { NEEDS_ACTIONS } else { 0 };
            ends.push(chunk.len() as u16 | others);
        }
        chunk.len()
    }

    /// Return the spans that were found last.
    #[inline]
    pub(super) fn spans(&self) -> SpanGroup<'_> {
        SpanGroup { starts: &self.starts, ends: &self.ends }
    }
}

impl<'e> SpanGroup<'e> {
    /// Return the spans of a range of numbers.
    #[inline]
    pub(crate) fn range(self, numbers: Range<usize>) -> Self {
        Self { starts: &self.starts[numbers.clone()], ends: &self.ends[numbers] }
    }

    /// Return the number of spans.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Return one span.
    #[inline]
    pub(crate) fn span(&self, number: usize) -> AsciiSpan {
        AsciiSpan::of(self.starts[number], self.ends[number])
    }

    /// Return the spans in order.
    #[inline]
    pub(crate) fn spans(self) -> impl Iterator<Item = AsciiSpan> + 'e {
        self.starts.iter().zip(self.ends).map(|(&start, &end)| AsciiSpan::of(start, end))
    }
}

impl AsciiSpan {
    #[inline]
    fn of(start: u16, end: u16) -> Self {
        let needs_actions = end & NEEDS_ACTIONS != 0;
        Self { start: usize::from(start), end: usize::from(end & !NEEDS_ACTIONS), needs_actions }
    }
}

/// The state at the end of a block, each 0 or 1.
#[derive(Clone, Copy, Default)]
struct Carried {
    /// The last byte is in a span that can continue.
    in_span: u64,
    /// That span has bytes that need the table of actions.
    in_others: u64,
    /// The last byte is isolated.
    alone: u64,
}

impl Blocks {
    /// Compute the blocks of class masks; return the state at the end.
    fn fill(&mut self, masks: &[[u64; 4]]) -> Carried {
        let mut carried = Carried::default();
        for list in [&mut self.starts, &mut self.ends, &mut self.ends_of_others] {
            list.clear();
            list.resize(masks.len(), 0);
        }
        let lists = self.starts.iter_mut().zip(&mut self.ends).zip(&mut self.ends_of_others);
        for (&masks, ((starts, ends), others)) in masks.iter().zip(lists) {
            [*starts, *ends, *others] = carried.block(masks);
        }
        carried
    }

    /// Mark the listed ends of spans that need the table of actions.
    fn mark(&self, listed: &mut [u16]) {
        let mut before = 0;
        for (ends, others) in self.ends.iter().zip(&self.ends_of_others) {
            let mut marked = *others;
            while marked != 0 {
                let below = (marked & marked.wrapping_neg()) - 1;
                listed[before + (ends & below).count_ones() as usize] |= NEEDS_ACTIONS;
                marked &= marked - 1;
            }
            before += ends.count_ones() as usize;
        }
    }
}

impl Carried {
    /// Return the masks of one block and update the state.
    #[inline]
    fn block(&mut self, [word, alone, other, wide]: [u64; 4]) -> [u64; 3] {
        let others = other | wide;
        let runs = word | others;
        let after_run = runs << 1 | self.in_span;
        let after_alone = alone << 1 | self.alone;
        // Adding the other bytes to the runs carries a bit out of the end of each run that has one.
        let (sum, overflows) = runs.overflowing_add(others);
        let (sum, overflows_too) = sum.overflowing_add(self.in_others);
        *self = Self {
            in_span: runs >> 63,
            in_others: u64::from(overflows | overflows_too),
            alone: alone >> 63,
        };
        [runs & !after_run | alone, after_run & !runs | after_alone, sum & !runs]
    }
}

#[cfg(test)]
mod tests {
    use piecework_kernels::level::Level;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spans_equal_a_walk_over_the_bytes(
            bytes in prop::collection::vec(prop::sample::select(b"aaaaa b,,\xC3\x01".to_vec()), 0..600)
        ) {
            let classes = ByteClasses::new(|byte| match byte {
                b'a' | b'b' => WORD,
                b',' => ISOLATED,
                b' ' => 0,
                _ => OTHER,
            });
            for level in Level::supported() {
                level.activate();
                let mut finder = SpanFinder::default();
                prop_assert_eq!(finder.find(&bytes, true, &classes), bytes.len());
                let found: Vec<AsciiSpan> = finder.spans().spans().collect();
                prop_assert_eq!(found, walked(&bytes));
            }
        }
    }

    fn walked(bytes: &[u8]) -> Vec<AsciiSpan> {
        let mut found: Vec<AsciiSpan> = Vec::new();
        let mut is_open = false;
        for (at, &byte) in bytes.iter().enumerate() {
            let is_other = matches!(byte, 0xC3 | 1);
            if matches!(byte, b' ' | b',') || !is_open {
                if byte != b' ' {
                    found.push(AsciiSpan { start: at, end: at + 1, needs_actions: is_other });
                }
                is_open = !matches!(byte, b' ' | b',');
            } else if let Some(last) = found.last_mut() {
                *last = AsciiSpan { end: at + 1, needs_actions: last.needs_actions | is_other, ..*last };
            }
        }
        found
    }
}
