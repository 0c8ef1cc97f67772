//! Word counts: distinct words, how often each occurs and where each occurs first.
//!
//! `Counts` is the finished artefact, ordered by (first position, word); `CountMap` gathers it. Merging
//! adds counts and takes the smaller first position, so it is associative and commutative and shards may
//! come in any order.

use super::CountMap;
use crate::error::{Error, ErrorKind};

/// Distinct words with u64 counts and u64 first positions, ordered by (first, code points).
///
/// ```
/// use piecework_core::train::Counts;
/// let words = ["hug", "pug"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5], None)?;
/// assert_eq!(counts.iter().next(), Some(("hug", 10, 0)));
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    text: String,
    /// Where each word ends in `text`; it starts where the one before ends.
    ends: Vec<usize>,
    counts: Vec<u64>,
    first: Vec<u64>,
}

impl Counts {
    /// Build from columns of equal length.
    ///
    /// Words with a count of zero are dropped. Without `first`, words are ordered by (count descending,
    /// code points) and that rank becomes their first position. An empty or repeated word is an error.
    pub fn from_parts<S: AsRef<str>>(
        words: &[S],
        counts: &[u64],
        first: Option<&[u64]>,
    ) -> Result<Self, Error> {
        check_length("counts", counts.len(), words.len())?;
        if let Some(first) = first {
            check_length("first", first.len(), words.len())?;
        }
        let mut map = CountMap::default();
        for (row, word) in words.iter().enumerate() {
            let word = word.as_ref();
            if word.is_empty() {
                return Err(argument(format!("words[{row}]"), "an empty word", "a word"));
            }
            if !map.insert_new(word, counts[row], first.map_or(0, |first| first[row])) {
                return Err(argument(format!("words[{row}]"), format!("{word:?} again"), "distinct words"));
            }
        }
        map.drop_zeros();
        if first.is_none() {
            map.rank_by_count();
        }
        Ok(map.into_sorted(|word, out| out.push_str(word)))
    }

    /// Add two sets of counts: counts are summed, first positions are the smaller of both.
    pub fn merge(self, other: Self) -> Result<Self, Error> {
        let (mut into, from) = if self.len() >= other.len() {
            (CountMap::from(&self), other)
        } else {
            (CountMap::from(&other), self)
        };
        from.iter().for_each(|(word, count, first)| into.add_n(word, count, first));
        into.finish()
    }

    /// Append a word that comes after all others.
    pub(super) fn push(&mut self, count: u64, first: u64, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
        self.counts.push(count);
        self.first.push(first);
    }

    /// How many distinct words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no word at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The word at `index` in (first, code points) order; `index` must be below `len()`.
    #[must_use]
    pub fn word(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// How often each word occurs, in word order.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Where each word occurs first, in word order (ascending).
    #[must_use]
    pub fn first(&self) -> &[u64] {
        &self.first
    }

    /// Walk over (word, count, first) in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u64, u64)> + '_ {
        (0..self.len()).map(|index| (self.word(index), self.counts[index], self.first[index]))
    }
}

fn check_length(column: &str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(argument(column, format!("{found} values"), format!("{expected}, one for each word")))
}

fn argument(place: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::new(ErrorKind::Argument, place, found, expected)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(counts: &Counts) -> Vec<(&str, u64, u64)> {
        counts.iter().collect()
    }

    fn shard() -> impl Strategy<Value = CountMap> {
        proptest::collection::vec(("[ab]{1,3}", 1_u64..5, 0_u64..20), 0..12).prop_map(|rows| {
            let mut map = CountMap::default();
            rows.iter().for_each(|(word, n, first)| map.add_n(word, *n, *first));
            map
        })
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative(a in shard(), b in shard(), c in shard()) {
            let merge = |one: &CountMap, two: &CountMap| one.clone().merge(two.clone()).expect("small counts");
            let all = merge(&merge(&a, &b), &c).finish().expect("small counts");
            prop_assert_eq!(&all, &merge(&a, &merge(&b, &c)).finish().expect("small counts"));
            prop_assert_eq!(&all, &merge(&c, &merge(&b, &a)).finish().expect("small counts"));
            let finished = [&a, &b, &c].map(|map| map.clone().finish().expect("small counts"));
            let merged = finished.into_iter().reduce(|one, two| one.merge(two).expect("small counts"));
            prop_assert_eq!(Some(all), merged);
        }
    }

    #[test]
    fn words_without_positions_are_ranked_by_count() {
        let counts =
            Counts::from_parts(&["b", "c", "a", "x"], &[2, 7, 2, 0], None).expect("distinct words");
        assert_eq!(rows(&counts), [("c", 7, 0), ("a", 2, 1), ("b", 2, 2)]);
    }

    #[test]
    fn words_at_one_position_are_ordered_by_code_points() {
        let counts =
            Counts::from_parts(&["é", "z", "a"], &[1, 1, 1], Some(&[5, 5, 9])).expect("distinct words");
        assert_eq!(rows(&counts), [("z", 1, 5), ("é", 1, 5), ("a", 1, 9)]);
    }

    #[test]
    fn bad_columns_are_named() {
        let place = |words: &[&str], counts: &[u64]| {
            Counts::from_parts(words, counts, None).expect_err("bad").to_string()
        };
        assert_eq!(place(&["a", "a"], &[1, 0]), "words[1]: found \"a\" again, expected distinct words");
        assert_eq!(place(&["a", ""], &[1, 1]), "words[1]: found an empty word, expected a word");
        assert_eq!(place(&["a"], &[]), "counts: found 0 values, expected 1, one for each word");
    }

    #[test]
    fn sums_beyond_64_bits_are_reported() {
        let mut map = CountMap::default();
        map.add_n("hug", u64::MAX, 0);
        let one = map.clone();
        map.add("hug", 1);
        assert_eq!(map.finish().expect_err("too many").kind, ErrorKind::Training);
        assert_eq!(one.clone().merge(one).expect_err("too many").kind, ErrorKind::Training);
    }
}
