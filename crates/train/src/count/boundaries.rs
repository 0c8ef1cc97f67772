//! Words with boundaries inside that no entry may cross.
//!
//! A boundary is a noncharacter within the stored word, so counts with boundaries merge and sort as others do.
//! Learners take the parts between boundaries as words, of which only the first begins a word and only the last ends one.

use std::borrow::Cow;

use super::count_map::CountMap;
use super::counts::{Counts, WordOrder};
use piecework_core::error::{Error, ErrorKind};

/// Separates the parts of a stored word. A stored part that does not begin a word starts with it, and one that does not end
/// a word ends with it.
const BOUNDARY: char = '\u{FDD0}';

/// Which sides of a part differ from a word's: where a model has a continuation prefix or an end-of-word suffix.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkedSides {
    pub(crate) starts: bool,
    pub(crate) ends: bool,
}

/// A word that a learner reads: a counted word, or the part of one between two boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Part<'a> {
    pub(crate) text: &'a str,
    /// Whether the part begins its word.
    pub(crate) begins: bool,
    /// Whether the part ends its word.
    pub(crate) ends: bool,
}

impl<'a> Part<'a> {
    /// Return a whole word.
    pub(crate) fn whole(text: &'a str) -> Self {
        Self { text, begins: true, ends: true }
    }

    fn stored(word: &'a str) -> Self {
        let rest = word.strip_prefix(BOUNDARY);
        let text = rest.unwrap_or(word);
        let inner = text.strip_suffix(BOUNDARY);
        Self { text: inner.unwrap_or(text), begins: rest.is_none(), ends: inner.is_none() }
    }
}

impl Counts {
    /// Build from columns of equal length; `boundaries` has the positions inside each word, in characters, ascending.
    ///
    /// ```
    /// use piecework_train::count::Counts;
    /// let counts = Counts::bounded(&["undo", "do"], &[vec![2], vec![]], &[3, 1], None)?;
    /// assert_eq!(counts.boundaries(), Some(vec![vec![2], vec![]]));
    /// # Ok::<(), piecework_core::error::Error>(())
    /// ```
    ///
    /// A word may occur again with other boundaries. Errors: as of [`Counts::from_parts`], and `Argument` for a position
    /// that is not inside its word, for positions that do not ascend, and for a word with U+FDD0.
    pub fn bounded<S: AsRef<str>>(
        words: &[S],
        boundaries: &[Vec<u32>],
        counts: &[u64],
        first: Option<&[u64]>,
    ) -> Result<Self, Error> {
        if boundaries.len() != words.len() {
            let expected = format!("{}, one for each word", words.len());
            return Err(argument("boundaries", format!("{} lists", boundaries.len()), expected));
        }
        let rows = words.iter().zip(boundaries).enumerate();
        let stored = rows.map(|(row, (word, at))| stored_word(row, word.as_ref(), at));
        let mut made = Self::from_parts(&stored.collect::<Result<Vec<_>, _>>()?, counts, first)?;
        made.has_boundaries = true;
        Ok(made)
    }

    /// Return whether the words have boundaries, perhaps none inside any.
    #[must_use]
    pub fn has_boundaries(&self) -> bool {
        self.has_boundaries
    }

    /// Return the boundaries inside each word, in characters; `None` for counts without boundaries.
    #[must_use]
    pub fn boundaries(&self) -> Option<Vec<Vec<u32>>> {
        let of = |(word, _): (&str, u64)| {
            let positions = word.chars().enumerate().filter(|&(_, character)| character == BOUNDARY);
            positions.enumerate().map(|(before, (at, _))| (at - before) as u32).collect()
        };
        self.has_boundaries.then(|| self.iter().map(of).collect())
    }

    /// Iterate over the words without their boundaries.
    pub fn words(&self) -> impl ExactSizeIterator<Item = Cow<'_, str>> + '_ {
        self.iter().map(|(word, _)| match self.has_boundaries {
            true => word.replace(BOUNDARY, "").into(),
            false => word.into(),
        })
    }

    /// Return the counts that learners read: of the parts between boundaries, in the order of their first occurrence.
    ///
    /// Parts keep a [`BOUNDARY`] at the sides that are marked. Equal parts are one word.
    pub(crate) fn parts(&self, marked: MarkedSides) -> Result<Cow<'_, Self>, Error> {
        if !self.has_boundaries {
            return Ok(Cow::Borrowed(self));
        }
        let (mut map, mut text, mut position) = (CountMap::default(), String::new(), 0);
        for (word, count) in self.iter() {
            let mut parts = word.split(BOUNDARY).peekable();
            let mut is_first = true;
            while let Some(part) = parts.next() {
                text.clear();
                text.extend((marked.starts && !is_first).then_some(BOUNDARY));
                text.push_str(part);
                text.extend((marked.ends && parts.peek().is_some()).then_some(BOUNDARY));
                map.add_n(&text, count, position);
                (is_first, position) = (false, position + 1);
            }
        }
        let order = if self.first().is_some() { WordOrder::Position } else { WordOrder::Count };
        let mut parts = map.finish_in(order)?;
        parts.has_boundaries = marked.starts || marked.ends;
        Ok(Cow::Owned(parts))
    }

    /// Iterate over (part, count) of what [`Self::parts`] returned.
    pub(crate) fn iter_parts(&self) -> impl ExactSizeIterator<Item = (Part<'_>, u64)> + '_ {
        let part = if self.has_boundaries { Part::stored } else { Part::whole };
        self.iter().map(move |(word, count)| (part(word), count))
    }

    /// Return the counts of parts that no side marks, whose memory learners need.
    ///
    /// Errors: `Training` if a sum exceeds 64 bits.
    pub fn unmarked_parts(&self) -> Result<Self, Error> {
        self.parts(MarkedSides::default()).map(Cow::into_owned)
    }

    /// Raise for counts with boundaries, which `what` cannot take.
    pub(crate) fn check_unbounded(&self, what: &str) -> Result<(), Error> {
        if !self.has_boundaries {
            return Ok(());
        }
        let found = format!("words with boundaries, which {what} cannot keep");
        Err(argument("counts", found, "counts without boundaries"))
    }

    /// Raise for a word that has the boundary character as text; for counts that meet counts with boundaries.
    pub(super) fn check_storable(&self) -> Result<(), Error> {
        let mut rows = self.iter().enumerate();
        match rows.find(|(_, (word, _))| !self.has_boundaries && word.contains(BOUNDARY)) {
            Some((row, (word, _))) => Err(noncharacter(row, word)),
            None => Ok(()),
        }
    }
}

fn stored_word(row: usize, word: &str, boundaries: &[u32]) -> Result<String, Error> {
    if word.contains(BOUNDARY) {
        return Err(noncharacter(row, word));
    }
    let (mut stored, mut left) = (String::with_capacity(word.len() + 3 * boundaries.len()), boundaries);
    for (at, character) in word.chars().enumerate() {
        if left.first().is_some_and(|&boundary| at > 0 && boundary as usize == at) {
            stored.push(BOUNDARY);
            left = &left[1..];
        }
        stored.push(character);
    }
    if left.is_empty() {
        return Ok(stored);
    }
    let expected = format!("ascending positions inside {word:?}");
    Err(argument(format!("boundaries[{row}]"), format!("{boundaries:?}"), expected))
}

fn noncharacter(row: usize, word: &str) -> Error {
    let expected = "words without U+FDD0, which stands for a boundary";
    argument(format!("words[{row}]"), format!("{word:?}"), expected)
}

fn argument(place: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::new(ErrorKind::Argument, place, found, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(&str, &[u32], u64)]) -> Counts {
        let words: Vec<&str> = rows.iter().map(|row| row.0).collect();
        let boundaries: Vec<Vec<u32>> = rows.iter().map(|row| row.1.to_vec()).collect();
        let numbers: Vec<u64> = rows.iter().map(|row| row.2).collect();
        let first: Vec<u64> = (0..rows.len() as u64).collect();
        Counts::bounded(&words, &boundaries, &numbers, Some(&first)).expect("boundaries inside words")
    }

    fn parts_of(counts: &Counts, starts: bool, ends: bool) -> Vec<(&'static str, bool, bool, u64)> {
        let parts = counts.parts(MarkedSides { starts, ends }).expect("small counts");
        let row =
            |(part, count): (Part<'_>, u64)| (&*part.text.to_owned().leak(), part.begins, part.ends, count);
        parts.iter_parts().map(row).collect()
    }

    #[test]
    fn parts_are_words_that_marked_sides_tell_apart() {
        let counts = counts(&[("undo", &[2], 3), ("do", &[], 1), ("redoing", &[2, 4], 5)]);
        let whole = |text, count| (text, true, true, count);
        assert_eq!(
            parts_of(&counts, false, false),
            [whole("un", 3), whole("do", 9), whole("re", 5), whole("ing", 5)]
        );
        assert_eq!(
            parts_of(&counts, true, true),
            [
                ("un", true, false, 3),
                ("do", false, true, 3),
                whole("do", 1),
                ("re", true, false, 5),
                ("do", false, false, 5),
                ("ing", false, true, 5),
            ]
        );
        assert_eq!(parts_of(&counts, true, false)[1], ("do", false, true, 8));
    }

    #[test]
    fn positions_must_be_inside_and_ascend() {
        for wrong in [&[0_u32][..], &[4], &[9], &[2, 2], &[3, 1]] {
            let error = Counts::bounded(&["undo"], &[wrong.to_vec()], &[1], None).unwrap_err();
            assert_eq!(error.place, "boundaries[0]", "{wrong:?}");
        }
        let error = Counts::bounded(&["a\u{fdd0}"], &[vec![]], &[1], None).unwrap_err();
        assert_eq!(error.place, "words[0]");
        assert_eq!(Counts::bounded(&["a"], &[], &[1], None).unwrap_err().place, "boundaries");
    }

    #[test]
    fn words_are_returned_without_boundaries() {
        let counts = counts(&[("čedo", &[2], 3), ("čedo", &[], 1)]);
        assert_eq!(counts.words().collect::<Vec<_>>(), ["čedo", "čedo"]);
        assert_eq!(counts.boundaries(), Some(vec![vec![2], vec![]]));
        assert_eq!(counts.at_least(2).expect("memory").boundaries(), Some(vec![vec![2]]));
    }
}
