//! Where stretches begin and end, by arithmetic on the class masks of 64 bytes.
//!
//! A stretch is a run of bytes that are neither ASCII space nor a byte that stands alone, or one byte that
//! does. Bit `i` speaks of byte `i`; what is known at the end of a block is carried into the next.

use piecework_kernels::classes::{class_masks, ByteClasses};
use piecework_kernels::positions;

/// Classes of bytes, as bits of `ByteClasses`; anything else is space.
pub(super) const WORD: u8 = 1;
pub(super) const ALONE: u8 = 2;
pub(super) const OTHER: u8 = 4;

/// The most bytes that are looked at together.
pub(super) const CHUNK: usize = 4096;

/// Set in an end where the stretch needs the tables.
const NEEDS_TABLES: u16 = 1 << 15;

/// The stretches of a chunk in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    masks: Vec<[u64; 4]>,
    blocks: Blocks,
    starts: Vec<u16>,
    ends: Vec<u16>,
}

/// For each block its first bytes of stretches, the bytes after them, and those of the latter whose stretch needs
/// the tables.
#[derive(Clone, Debug, Default)]
struct Blocks {
    starts: Vec<u64>,
    ends: Vec<u64>,
    ends_of_others: Vec<u64>,
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
        let Self { masks, blocks, starts, ends } = self;
        masks.clear();
        class_masks(chunk, classes, masks);
        let carried = blocks.fill(masks);
        positions::list(&blocks.starts, starts);
        positions::list(&blocks.ends, ends);
        blocks.mark(ends);
        if carried.in_stretch != 0 && !is_last {
            return starts.pop().map_or(chunk.len(), usize::from);
        }
        if carried.in_stretch | carried.alone != 0 {
            let others = if carried.in_others != 0 { NEEDS_TABLES } else { 0 };
            ends.push(chunk.len() as u16 | others);
        }
        chunk.len()
    }

    /// All stretches found.
    #[inline]
    pub(super) fn all(&self) -> Group<'_> {
        Group { starts: &self.starts, ends: &self.ends }
    }

    /// The stretches found, in groups of `size`.
    #[inline]
    pub(super) fn groups(&self, size: usize) -> impl Iterator<Item = Group<'_>> {
        let Group { starts, ends } = self.all();
        starts.chunks(size).zip(ends.chunks(size)).map(|(starts, ends)| Group { starts, ends })
    }
}

impl Group<'_> {
    /// How many they are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One of them.
    #[inline]
    pub(super) fn stretch(&self, number: usize) -> Stretch {
        Stretch::of(self.starts[number], self.ends[number])
    }

    /// The stretches, in order.
    #[inline]
    pub(super) fn stretches(&self) -> impl Iterator<Item = Stretch> + '_ {
        self.starts.iter().zip(self.ends).map(|(&start, &end)| Stretch::of(start, end))
    }
}

impl Stretch {
    #[inline]
    fn of(start: u16, end: u16) -> Self {
        let needs_tables = end & NEEDS_TABLES != 0;
        Self { start: usize::from(start), end: usize::from(end & !NEEDS_TABLES), needs_tables }
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

impl Blocks {
    /// Find the blocks of some masks; gives what is known at the end.
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

    /// Mark those of the listed ends whose stretches need the tables.
    fn mark(&self, listed: &mut [u16]) {
        let mut before = 0;
        for (ends, others) in self.ends.iter().zip(&self.ends_of_others) {
            let mut marked = *others;
            while marked != 0 {
                let below = (marked & marked.wrapping_neg()) - 1;
                listed[before + (ends & below).count_ones() as usize] |= NEEDS_TABLES;
                marked &= marked - 1;
            }
            before += ends.count_ones() as usize;
        }
    }
}

impl Carried {
    /// First bytes of stretches, bytes after them, and those of the latter whose stretch needs the tables.
    #[inline]
    fn block(&mut self, [word, alone, other, wide]: [u64; 4]) -> [u64; 3] {
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
        [runs & !after_run | alone, after_run & !runs | after_alone, sum & !runs]
    }
}
