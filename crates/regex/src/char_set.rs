//! Character sets in the form that the matcher reads: a table of 256 bytes for ASCII, and ranges or a
//! two-stage bitmap for the rest.

use piecework_unicode::wide_char_at;
use regex_syntax::hir::ClassUnicode;

/// The table entry of bytes that start a non-ASCII character.
const NON_ASCII: u8 = 2;

/// Code points in a block of the bitmap.
const BLOCK: u32 = 256;
const BLOCKS: usize = 0x11_0000 / BLOCK as usize;

/// A set of characters.
#[derive(Clone, Debug)]
pub(crate) struct CharSet {
    /// By lead byte: 1 for an ASCII member, 0 for other ASCII characters, `NON_ASCII` for all others.
    by_byte: [u8; 256],
    non_ascii: NonAscii,
}

/// The members that are not ASCII.
#[derive(Clone, Debug)]
enum NonAscii {
    All,
    Ranges(Box<[(u32, u32)]>),
    /// A bitmap takes an eighth of the memory of a [`piecework_unicode::CodePointMap`]; a pattern has many sets.
    Table {
        index: Box<[u16]>,
        bits: Box<[[u64; 4]]>,
    },
}

impl CharSet {
    /// Convert a set. `with_table` allows a bitmap of about 10 KB for sets of more than four non-ASCII
    /// ranges.
    pub(crate) fn new(set: &ClassUnicode, with_table: bool) -> Self {
        let mut by_byte = [0; 256];
        by_byte[128..].fill(NON_ASCII);
        let mut ranges = Vec::new();
        for range in set.ranges() {
            let (first, last) = (range.start() as u32, range.end() as u32);
            (first..=last.min(127)).for_each(|c| by_byte[c as usize] = 1);
            if last > 127 {
                ranges.push((first.max(128), last));
            }
        }
        let non_ascii = match ranges.as_slice() {
            [(128, 0x10_FFFF)] => NonAscii::All,
            _ if ranges.len() > 4 && with_table => table(&ranges),
            _ => NonAscii::Ranges(ranges.into()),
        };
        Self { by_byte, non_ascii }
    }

    /// Return the length in bytes of the character at byte `at`, if it is a member.
    #[inline]
    pub(crate) fn len_at(&self, bytes: &[u8], at: usize) -> Option<usize> {
        match self.by_byte[usize::from(*bytes.get(at)?)] {
            0 => None,
            1 => Some(1),
            _ => self.len_of_non_ascii(bytes, at),
        }
    }

    #[inline(never)]
    fn len_of_non_ascii(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let (c, len) = wide_char_at(bytes, at)?;
        self.contains_non_ascii(c).then_some(len)
    }

    #[inline]
    fn contains_non_ascii(&self, c: u32) -> bool {
        match &self.non_ascii {
            NonAscii::All => true,
            NonAscii::Ranges(ranges) => {
                let after = ranges.partition_point(|&(first, _)| first <= c);
                ranges[..after].last().is_some_and(|&(_, last)| c <= last)
            }
            NonAscii::Table { index, bits } => {
                let block = index.get((c / BLOCK) as usize).map_or(0, |&block| usize::from(block));
                let word = bits.get(block).map_or(0, |bits| bits[(c % BLOCK / 64) as usize]);
                word >> (c % 64) & 1 == 1
            }
        }
    }

    /// Skip the members from byte `at` on, at most `most` characters. Return the end in bytes and the
    /// number of characters.
    #[inline]
    pub(crate) fn run(&self, bytes: &[u8], mut at: usize, most: u32) -> (usize, u32) {
        let mut count = 0;
        while count < most {
            let Some(len) = self.len_at(bytes, at) else { break };
            at += len;
            count += 1;
        }
        (at, count)
    }
}

/// Build the two-stage bitmap of some ranges. Block 0 is empty and block 1 is full.
fn table(ranges: &[(u32, u32)]) -> NonAscii {
    let mut index = vec![0; BLOCKS];
    let mut bits = vec![[0; 4], [u64::MAX; 4]];
    for &(first, last) in ranges {
        for block in first / BLOCK..=last / BLOCK {
            let (low, high) = (first.max(block * BLOCK), last.min(block * BLOCK + BLOCK - 1));
            let entry = &mut index[block as usize];
            if high - low == BLOCK - 1 {
                *entry = 1;
                continue;
            }
            if *entry == 0 {
                *entry = bits.len() as u16;
                bits.push([0; 4]);
            }
            let words = &mut bits[usize::from(*entry)];
            (low..=high).for_each(|c| words[(c % BLOCK / 64) as usize] |= 1 << (c % 64));
        }
    }
    NonAscii::Table { index: index.into(), bits: bits.into() }
}
