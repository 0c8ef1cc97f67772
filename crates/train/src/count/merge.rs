//! Counts from columns, and sums of counts.

use foldhash::HashSet;

use super::count_map::CountMap;
use super::counts::{Counts, WordOrder, SOURCE_SHIFT};
use piecework_core::error::{Error, ErrorKind};

impl Counts {
    /// Build from columns of equal length.
    ///
    /// Words with a count of zero are dropped. An empty or repeated word is an error. Counts without words
    /// always have first positions.
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
        let order = if first.is_some() { WordOrder::Position } else { WordOrder::Count };
        Ok(map.into_sorted(order, |word, out| out.push_str(word)))
    }

    /// Return the sum of two sets of counts; associative and commutative.
    ///
    /// The result has the smaller first positions if both operands have positions and no source in common.
    /// Otherwise the order of the positions is unknown, and the result has none. A word with different boundaries is two
    /// words.
    pub fn merge(self, other: Self) -> Result<Self, Error> {
        let comparable = match (self.sources(), other.sources()) {
            (Some(one), Some(two)) => one.is_disjoint(&two),
            _ => false,
        };
        let order = if comparable { WordOrder::Position } else { WordOrder::Count };
        let has_boundaries = self.has_boundaries || other.has_boundaries;
        if has_boundaries {
            self.check_storable()?;
            other.check_storable()?;
        }
        let (larger, smaller) = if self.len() >= other.len() { (self, other) } else { (other, self) };
        let mut map = CountMap::default();
        larger.add_to(&mut map);
        smaller.add_to(&mut map);
        let mut sum = map.finish_in(order)?;
        sum.has_boundaries = has_boundaries;
        Ok(sum)
    }

    /// Return the source numbers of the first positions, if positions are known.
    fn sources(&self) -> Option<HashSet<u64>> {
        let first = self.first()?;
        Some(first.iter().map(|position| position >> SOURCE_SHIFT).collect())
    }

    fn add_to(&self, map: &mut CountMap) {
        for (index, (word, count)) in self.iter().enumerate() {
            map.add_n(word, count, self.first().map_or(0, |first| first[index]));
        }
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

    fn rows(counts: &Counts) -> Vec<(&str, u64)> {
        counts.iter().collect()
    }

    /// Return the counts of one thread from sources 0 to 2.
    fn shard() -> impl Strategy<Value = CountMap> {
        let position = (0_u64..3, 0_u64..20).prop_map(|(source, byte)| (source << SOURCE_SHIFT) + byte);
        proptest::collection::vec(("[ab]{1,3}", 1_u64..5, position), 0..12).prop_map(|rows| {
            let mut map = CountMap::default();
            rows.iter().for_each(|(word, n, first)| map.add_n(word, *n, *first));
            map
        })
    }

    fn sorted(counts: &Counts) -> Vec<(&str, u64)> {
        let mut rows = rows(counts);
        rows.sort_unstable();
        rows
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
            let merged = merged.expect("three shards");
            prop_assert_eq!(sorted(&all), sorted(&merged));
        }

        #[test]
        fn merging_shards_of_distinct_sources_keeps_the_order_of_the_corpus(a in shard(), b in shard()) {
            let mut shifted = CountMap::default();
            let later = b.clone().finish().expect("small counts");
            let positions = later.first().expect("counted words have positions");
            for ((word, count), first) in later.iter().zip(positions) {
                shifted.add_n(word, count, first + (3 << SOURCE_SHIFT));
            }
            let all = a.clone().merge(shifted.clone()).expect("small counts").finish().expect("small counts");
            let (a, b) = (a.finish().expect("small counts"), shifted.finish().expect("small counts"));
            prop_assert_eq!(&all, &b.clone().merge(a.clone()).expect("small counts"));
            prop_assert_eq!(&all, &a.merge(b).expect("small counts"));
        }
    }

    #[test]
    fn merging_shards_that_share_a_source_forgets_positions() {
        let shard = |word: &str, first| Counts::from_parts(&[word], &[1], Some(&[first])).expect("a word");
        let (one, two) = (shard("b", 5), shard("a", 0));
        assert_eq!(one.clone().merge(two.clone()).expect("small counts").first(), None);
        let apart = shard("b", 5).merge(shard("a", 1 << SOURCE_SHIFT)).expect("small counts");
        assert_eq!(apart.first(), Some(&[5, 1 << SOURCE_SHIFT][..]));
        let unknown = Counts::from_parts(&["c"], &[9], None).expect("a word");
        assert_eq!(one.clone().merge(unknown).expect("small counts").first(), None);
        assert_eq!(one.clone().merge(Counts::default()).expect("small counts"), one);
    }

    #[test]
    fn words_without_positions_are_ranked_by_count() {
        let counts =
            Counts::from_parts(&["b", "c", "a", "x"], &[2, 7, 2, 0], None).expect("distinct words");
        assert_eq!(rows(&counts), [("c", 7), ("a", 2), ("b", 2)]);
        assert_eq!(counts.first(), None);
    }

    #[test]
    fn words_at_one_position_are_ordered_by_code_points() {
        let counts =
            Counts::from_parts(&["é", "z", "a"], &[1, 1, 1], Some(&[5, 5, 9])).expect("distinct words");
        assert_eq!(rows(&counts), [("z", 1), ("é", 1), ("a", 1)]);
        assert_eq!(counts.first(), Some(&[5, 5, 9][..]));
    }

    #[test]
    fn bad_columns_are_named() {
        let place = |words: &[&str], counts: &[u64]| {
            Counts::from_parts(words, counts, None).expect_err("bad").to_string()
        };
        assert_eq!(place(&["a", "a"], &[1, 0]), "words[1]: must be distinct words, not \"a\" again");
        assert_eq!(place(&["a", ""], &[1, 1]), "words[1]: must be a word, not an empty word");
        assert_eq!(place(&["a"], &[]), "counts: must be 1, one for each word, not 0 values");
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
