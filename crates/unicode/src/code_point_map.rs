//! A value for every code point, in a two-stage table: a page number for each 128 code points, then the page.
//!
//! Pages with equal values are stored once where the builder looks for them, so a map over few ranges takes little
//! more than its 17 KiB of page numbers. A lookup is two array reads.

use std::hash::Hash;
use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use super::char_class::char_class;
use super::classes::BLOCK_BITS;

/// The code points in a page: as many as in a block of [`class_block`](crate::class_block).
pub const PAGE: usize = 1 << BLOCK_BITS;
/// Pages of all code points.
const PAGES: usize = (char::MAX as usize + 1) / PAGE;

/// A value for every code point.
#[derive(Clone, Debug)]
pub struct CodePointMap<T> {
    /// By code point over [`PAGE`]: the number of its page.
    numbers: Box<[u16; PAGES]>,
    pages: Vec<[T; PAGE]>,
}

impl<T: Copy> CodePointMap<T> {
    /// Return the value of a character.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, c: char) -> T {
        self.get_code(u32::from(c))
    }

    /// Return the value of a code point.
    ///
    /// # Panics
    ///
    /// For a number above U+10FFFF.
    #[inline(always)]
    #[must_use]
    pub fn get_code(&self, code: u32) -> T {
        let code = code as usize;
        self.pages[usize::from(self.numbers[code / PAGE])][code % PAGE]
    }

    /// Return the number of the page of each [`PAGE`] code points, and the pages.
    #[inline]
    #[must_use]
    pub fn pages(&self) -> (&[u16], &[[T; PAGE]]) {
        (self.numbers.as_slice(), &self.pages)
    }

    /// Return the map of the results of a function.
    #[must_use]
    pub fn map<U>(&self, mut of: impl FnMut(T) -> U) -> CodePointMap<U> {
        let pages = self.pages.iter().map(|page| page.map(&mut of)).collect();
        CodePointMap { numbers: self.numbers.clone(), pages }
    }

    /// Return the memory that the table takes, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of_val(&*self.numbers) + size_of_val(self.pages.as_slice())
    }
}

impl CodePointMap<u8> {
    /// Return the map in which the members of each class have its value, and all other characters 0.
    ///
    /// Classes are written as in a regular expression; where they overlap, the last one wins.
    ///
    /// # Panics
    ///
    /// For text that is not a class.
    #[must_use]
    pub fn of_classes<'c>(classes: impl IntoIterator<Item = (&'c str, u8)>) -> Self {
        let mut builder = CodePointMapBuilder::new(0);
        for (class, value) in classes {
            let members = char_class(class);
            members.ranges().iter().for_each(|range| builder.fill(range.start()..=range.end(), value));
        }
        builder.build()
    }
}

/// Collects the values of a [`CodePointMap`].
#[derive(Clone, Debug)]
pub struct CodePointMapBuilder<T> {
    numbers: Box<[u16; PAGES]>,
    /// The first page holds the default value; no other is shared until the map is built.
    pages: Vec<[T; PAGE]>,
}

impl<T: Copy> CodePointMapBuilder<T> {
    /// Start a map in which every code point has the value `default`.
    #[must_use]
    pub fn new(default: T) -> Self {
        Self { numbers: Box::new([0; PAGES]), pages: vec![[default; PAGE]] }
    }

    /// Set the value of a character.
    pub fn set(&mut self, c: char, value: T) {
        self.page_mut(c as usize / PAGE)[c as usize % PAGE] = value;
    }

    /// Set the value of all characters of a range.
    pub fn fill(&mut self, range: RangeInclusive<char>, value: T) {
        let (first, last) = (*range.start() as usize, *range.end() as usize);
        for page in first / PAGE..=last / PAGE {
            let start = page * PAGE;
            let (from, to) = (first.max(start) - start, last.min(start + PAGE - 1) - start);
            self.page_mut(page)[from..=to].fill(value);
        }
    }

    /// Set all values of the page of a code point to those of the page of another one. Later changes to one of these
    /// pages change both.
    ///
    /// # Panics
    ///
    /// For a number above U+10FFFF.
    pub fn share_page(&mut self, code: u32, of: u32) {
        self.numbers[code as usize / PAGE] = self.numbers[of as usize / PAGE];
    }

    /// Build the map with the pages as they are, for values of which few pages are equal.
    #[must_use]
    pub fn build_as_is(self) -> CodePointMap<T> {
        CodePointMap { numbers: self.numbers, pages: self.pages }
    }

    /// Return the page to write to; a page is allocated at its first write.
    fn page_mut(&mut self, page: usize) -> &mut [T; PAGE] {
        let number = &mut self.numbers[page];
        if *number == 0 {
            *number = self.pages.len() as u16;
            self.pages.push(self.pages[0]);
        }
        &mut self.pages[usize::from(*number)]
    }
}

impl<T: Copy + Eq + Hash> CodePointMapBuilder<T> {
    /// Build the map; equal pages become one.
    #[must_use]
    pub fn build(self) -> CodePointMap<T> {
        let Self { mut numbers, pages: all } = self;
        let (mut pages, mut number_of) = (Vec::new(), FxHashMap::<&[T; PAGE], u16>::default());
        let mut new_numbers = vec![None; all.len()];
        for number in numbers.iter_mut() {
            let page = usize::from(*number);
            *number = *new_numbers[page].get_or_insert_with(|| {
                *number_of.entry(&all[page]).or_insert_with(|| {
                    pages.push(all[page]);
                    (pages.len() - 1) as u16
                })
            });
        }
        CodePointMap { numbers, pages }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_pages_are_stored_once() {
        let mut builder = CodePointMapBuilder::new(0u8);
        builder.fill('\0'..=char::MAX, 1);
        let map = builder.build();
        assert_eq!(map.memory(), 2 * PAGES + PAGE);
        assert_eq!((map.get('\0'), map.get(char::MAX), map.get_code(0xD800)), (1, 1, 1));
    }

    #[test]
    fn a_shared_page_has_the_values_of_the_other() {
        let mut builder = CodePointMapBuilder::new(0u8);
        builder.fill('\u{80}'..='\u{85}', 3);
        builder.share_page(0x1_0000, 0x80);
        let map = builder.build_as_is();
        assert_eq!(map.memory(), 2 * PAGES + 2 * PAGE);
        assert_eq!([0x1_0000, 0x1_0005, 0x1_0006, 0x0_0000].map(|code| map.get_code(code)), [3, 3, 0, 0]);
    }

    #[test]
    fn members_of_classes_have_their_value() {
        let map = CodePointMap::of_classes([(r"\p{L}", 1), ("a", 2)]);
        let letters = char_class(r"\p{L}");
        for c in '\0'..=char::MAX {
            let is_letter = letters.ranges().iter().any(|r| (r.start()..=r.end()).contains(&c));
            assert_eq!(map.get(c), if c == 'a' { 2 } else { u8::from(is_letter) });
        }
    }

    proptest! {
        #[test]
        fn every_code_point_has_its_last_value(
            ranges in prop::collection::vec((any::<char>(), 0..600u32, any::<u16>()), 0..20),
            chars in prop::collection::vec((any::<char>(), any::<u16>()), 0..20),
        ) {
            let (mut builder, mut expected) = (CodePointMapBuilder::new(7), HashMap::new());
            for (first, more, value) in ranges {
                let last = char::from_u32(u32::from(first) + more).unwrap_or(first);
                builder.fill(first..=last, value);
                expected.extend((first..=last).map(|c| (c, value)));
            }
            for (c, value) in chars {
                builder.set(c, value);
                expected.insert(c, value);
            }
            for map in [builder.clone().build_as_is(), builder.build()] {
                for c in ('\0'..=char::MAX).step_by(97).chain(expected.keys().copied()) {
                    prop_assert_eq!(map.get(c), expected.get(&c).copied().unwrap_or(7));
                }
            }
        }
    }
}
