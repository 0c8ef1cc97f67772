//! What the way from left to right leaves, where symbols are bytes: joined rank by rank, by the same joins, so
//! that no other table is made for it.
//!
//! Entries are numbered by the time at which they are made, so what two join to is their rank.

use super::super::long::{self, Links};
use super::super::pairs::Ranks;
use super::super::sweeps::{self, Places};
use super::super::Symbol;
use super::split_table::Halves;
use super::{Linear, NONE};

/// Up to so many bytes go by a heap, which needs no memory for each rank.
const HEAPED: usize = 1 << 12;

impl Linear {
    /// Give `found` the entries of the rest of a word and how many bytes each has; only where the first numbers
    /// are the bytes.
    #[cold]
    pub(in crate::model::bpe) fn join_rest(
        &self,
        rest: &[u8],
        symbols: &mut Vec<Symbol>,
        (links, places): (&mut Links, &mut Places),
        mut found: impl FnMut(u32, usize),
    ) {
        self.halves.spell(rest, symbols);
        if rest.len() <= HEAPED {
            long::join(symbols, &self.halves, links);
        } else {
            sweeps::join(symbols, &self.halves, links, places);
        }
        for symbol in symbols {
            found(self.entries[symbol.id as usize], (symbol.end - symbol.start) as usize);
        }
    }
}

impl Halves {
    /// Bytes as numbers.
    fn spell(&self, bytes: &[u8], symbols: &mut Vec<Symbol>) {
        symbols.clear();
        symbols.extend((0..).zip(bytes).map(|(start, &byte)| {
            let end = start + 1;
            let behind = bytes.get(end as usize);
            let rank = behind.map_or(NONE, |&behind| self.rank(byte.into(), behind.into()));
            Symbol { id: byte.into(), rank, start, end }
        }));
    }
}

impl Ranks for Halves {
    #[inline]
    fn rank(&self, left: u32, right: u32) -> u32 {
        self.joined(left, right)
    }

    #[inline]
    fn joined(&self, rank: u32) -> u32 {
        rank
    }

    fn len(&self) -> usize {
        self.numbers()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{small, Walk};
    use super::*;

    fn plain(linear: &Linear, symbols: &[Symbol]) -> Vec<(u32, usize)> {
        let plain =
            |symbol: &Symbol| (linear.entries[symbol.id as usize], (symbol.end - symbol.start) as usize);
        symbols.iter().map(plain).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_rest_is_what_the_way_from_left_to_right_finds(
            pairs in prop::collection::vec((0..40usize, 0..40usize), 1..30),
            parts in prop::collection::vec((0..3u8, 1..20usize), 1..30),
        ) {
            let Some(linear) = small::linear([0, 1, 2], &pairs, usize::MAX) else { return Ok(()) };
            let word: Vec<u8> = parts.iter().flat_map(|&(byte, times)| vec![byte; times]).collect();
            let (mut links, mut places, mut symbols) = (Links::default(), Places::default(), Vec::new());
            let (mut segmented, mut heaped) = (Vec::new(), Vec::new());
            let done = linear.segment(&word, &mut Walk::default(), |id, len| segmented.push((id, len)));
            linear.join_rest(&word, &mut symbols, (&mut links, &mut places), |id, len| heaped.push((id, len)));
            prop_assert!(heaped.starts_with(&segmented));
            prop_assert!(done < word.len() || heaped.len() == segmented.len());
            linear.halves.spell(&word, &mut symbols);
            sweeps::join(&mut symbols, &linear.halves, &mut links, &mut places);
            prop_assert_eq!(plain(&linear, &symbols), heaped);
        }
    }
}
