//! Where stretches begin and end, by arithmetic on the class masks of 64 bytes.
//!
//! A stretch is a run of bytes that are neither ASCII space nor a byte that stands alone, or one byte that
//! does. Bit `i` speaks of byte `i`; what is known at the end of a block is carried into the next.

use piecework_kernels::classes::{class_masks, ByteClasses, BLOCK};

/// Classes of bytes, as bits of `ByteClasses`; anything else is space.
pub(super) const WORD: u8 = 1;
pub(super) const ALONE: u8 = 2;
pub(super) const OTHER: u8 = 4;

/// The most bytes that are looked at together, a multiple of `BLOCK`.
pub(super) const CHUNK: usize = 4096;

/// Set in an end where the stretch needs the tables.
const NEEDS_TABLES: u16 = 1 << 15;

/// The stretches of a chunk in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    masks: Vec<[u64; 4]>,
    /// The stretches found, then garbage.
    starts: Vec<u16>,
    ends: Vec<u16>,
    count: usize,
}

/// Stretches one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'e> {
    starts: &'e [u16],
    ends: &'e [u16],
}

/// A stretch: its bytes in the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    /// It has bytes that are neither of a word nor alone.
    pub(super) needs_tables: bool,
}

impl Edges {
    /// Find the stretches of a chunk of at most `CHUNK` bytes that begins outside any.
    ///
    /// Where a stretch goes on at the end and the chunk is not the `last` of its text, the stretch is left
    /// out. Returns how many bytes are dealt with.
    pub(super) fn find(&mut self, chunk: &[u8], is_last: bool, classes: &ByteClasses) -> usize {
        let Self { masks, starts, ends, count } = self;
        masks.clear();
        class_masks(chunk, classes, masks);
        let most = chunk.len().next_multiple_of(BLOCK) + 2 * BLOCK;
        if starts.len() < most {
            starts.resize(most, 0);
            ends.resize(most, 0);
        }
        let (mut carried, mut start_count, mut end_count) = (Carried::default(), 0, 0);
        for (&masks, base) in masks.iter().zip((0..).step_by(BLOCK)) {
            let block = carried.block(masks);
            start_count += write_positions(block.starts, base, &mut starts[start_count..]);
            let written = &mut ends[end_count..];
            end_count += write_positions(block.ends, base, written);
            if block.ends_of_others != 0 {
                mark(block, written);
            }
        }
        let mut done = chunk.len();
        if carried.in_stretch | carried.alone != 0 {
            let goes_on = carried.in_stretch != 0 && !is_last;
            if goes_on {
                start_count -= 1;
                done = usize::from(starts[start_count]);
            } else {
                let others = if carried.in_others != 0 { NEEDS_TABLES } else { 0 };
                ends[end_count] = chunk.len() as u16 | others;
            }
        }
        *count = start_count;
        done
    }

    /// All stretches found.
    #[inline]
    pub(super) fn all(&self) -> Group<'_> {
        Group { starts: &self.starts[..self.count], ends: &self.ends[..self.count] }
    }

    /// The stretches found, in groups of `size`.
    #[inline]
    pub(super) fn groups(&self, size: usize) -> impl Iterator<Item = Group<'_>> {
        let Group { starts, ends } = self.all();
        starts.chunks(size).zip(ends.chunks(size)).map(|(starts, ends)| Group { starts, ends })
    }
}

impl Group<'_> {
    /// The stretches, in order.
    #[inline]
    pub(super) fn stretches(&self) -> impl Iterator<Item = Stretch> + '_ {
        self.starts.iter().zip(self.ends).map(|(&start, &end)| Stretch {
            start: usize::from(start),
            end: usize::from(end & !NEEDS_TABLES),
            needs_tables: end & NEEDS_TABLES != 0,
        })
    }
}

/// What a block needs to know of the one before it, each 0 or 1.
#[derive(Clone, Copy, Default)]
struct Carried {
    /// Its last byte is of a stretch that can go on,
    in_stretch: u64,
    /// and that has bytes which need the tables;
    in_others: u64,
    /// its last byte stands alone.
    alone: u64,
}

/// First bytes of stretches, bytes after them, and those of the latter whose stretch needs the tables.
#[derive(Clone, Copy)]
struct Block {
    starts: u64,
    ends: u64,
    ends_of_others: u64,
}

impl Carried {
    #[inline]
    fn block(&mut self, [word, alone, other, wide]: [u64; 4]) -> Block {
        let others = other | wide;
        let runs = word | others;
        let after_run = runs << 1 | self.in_stretch;
        let after_alone = alone << 1 | self.alone;
        // Adding the other bytes to the runs carries a bit out of the end of each run that has one.
        let (sum, overflows) = runs.overflowing_add(others);
        let (sum, overflows_too) = sum.overflowing_add(self.in_others);
        *self = Self {
            in_stretch: runs >> 63,
            in_others: u64::from(overflows | overflows_too),
            alone: alone >> 63,
        };
        Block {
            starts: runs & !after_run | alone,
            ends: after_run & !runs | after_alone,
            ends_of_others: sum & !runs,
        }
    }
}

/// Write `base` plus the number of each set bit, lowest first; returns how many.
///
/// `out` has room for 64, and what follows the last is garbage: eight are always written, so that there is
/// one branch for all but crowded blocks.
#[inline]
fn write_positions(mut mask: u64, base: u16, out: &mut [u16]) -> usize {
    let count = mask.count_ones() as usize;
    let Some(out) = out.first_chunk_mut::<BLOCK>() else { return 0 };
    let mut next = || {
        let position = base + mask.trailing_zeros() as u16;
        mask &= mask.wrapping_sub(1);
        position
    };
    out[..8].iter_mut().for_each(|slot| *slot = next());
    if count > 8 {
        out[8..16].iter_mut().for_each(|slot| *slot = next());
    }
    if count > 16 {
        out[16..count].iter_mut().for_each(|slot| *slot = next());
    }
    count
}

/// Mark those of a block's ends whose stretches need the tables.
fn mark(block: Block, ends: &mut [u16]) {
    let mut marked = block.ends_of_others;
    while marked != 0 {
        let below = (marked & marked.wrapping_neg()) - 1;
        ends[(block.ends & below).count_ones() as usize] |= NEEDS_TABLES;
        marked &= marked - 1;
    }
}
