//! Words that have been asked for to ids, those that are known at once. The ids of others come later than those of the
//! words after them, in their own text or the next: where they go, and putting them in.

use crate::word_cache::{Copied, MAX_PIECES};

/// How many words wait before they are worth being segmented at once.
const FULL: usize = 128;

/// A word whose ids are not in the memo, on its way to them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Later {
    /// Its number among those that come in the same way.
    pub(super) number: usize,
    /// Where its ids go, if those of all others that come later are left out.
    pub(super) at: usize,
    pub(super) way: Way,
    /// Where its ids are.
    pub(super) ids: (usize, usize),
}

/// Where the ids of a word come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The model.
    New,
    /// Where they are kept.
    Kept,
    /// The same word came before, as the one with this number of those that come later.
    Again(usize),
}

/// All words that wait, and the rows that have ended meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub(super) words: Vec<Later>,
    /// Their ids, as far as they are found.
    pub(super) ids: Vec<u32>,
    /// How many words waited at the end of each row.
    rows: Vec<usize>,
    /// How far the end of each row has moved since, for rows whose words are put in.
    shifts: Vec<usize>,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.rows.is_empty()
    }

    /// Whether it is time to put them in.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.words.len() >= FULL
    }

    /// Let a word wait whose ids go to `at`; gives its number among all that wait.
    pub(super) fn push(&mut self, number: usize, at: usize, way: Way) -> usize {
        self.words.push(Later { number, at, way, ids: (0, 0) });
        self.words.len() - 1
    }

    /// Let a word wait that is the same as the one with a number.
    pub(super) fn push_again(&mut self, number: usize, at: usize) {
        self.push(number, at, Way::Again(number));
    }

    /// Say that a row ends here.
    pub(super) fn end_row(&mut self) {
        self.rows.push(self.words.len());
    }

    /// How far the ends of rows have moved, from the first on.
    pub(super) fn shifts(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.shifts.drain(..)
    }

    /// Put in the ids of all words, from the last on; those of new ones are found.
    pub(super) fn put_in(&mut self, out: &mut Vec<u32>) {
        self.resolve();
        let mut from = out.len();
        out.resize(from + count(&self.words), 0);
        let mut to = out.len();
        for word in self.words.drain(..).rev() {
            let ids = &self.ids[word.ids.0..word.ids.1];
            out.copy_within(word.at..from, to - (from - word.at));
            to -= from - word.at;
            from = word.at;
            out[to - ids.len()..to].copy_from_slice(ids);
            to -= ids.len();
        }
        self.ids.clear();
    }

    /// Give words that came before the same ids, and see how far rows will move.
    fn resolve(&mut self) {
        for at in 0..self.words.len() {
            if let Way::Again(number) = self.words[at].way {
                self.words[at].ids = self.words[number].ids;
            }
        }
        let (mut from, mut shift) = (0, 0);
        for to in self.rows.drain(..) {
            shift += count(&self.words[from..to]);
            self.shifts.push(shift);
            from = to;
        }
    }
}

/// How many ids words have.
fn count(words: &[Later]) -> usize {
    words.iter().map(|word| word.ids.1 - word.ids.0).sum()
}

/// Append the ids of so many words. Those that the memo has are put by `known` from a word on, up to one that it has not:
/// its ids are put at a place by `other`, if they are known, with more room behind; gives where they end.
///
/// Room is made for the most ids that a memo's words have, and cut off at the end: no other check a word.
#[inline(always)]
pub(super) fn answer<W, E>(
    words: &mut W,
    count: usize,
    out: &mut Vec<u32>,
    known: impl Fn(&W, usize, &mut [u32]) -> Copied,
    mut other: impl FnMut(&mut W, usize, usize, &mut Vec<u32>) -> Result<usize, E>,
) -> Result<(), E> {
    let (mut number, mut at) = (0, out.len());
    out.resize(at + MAX_PIECES * count, 0);
    let result = loop {
        let put = known(words, number, &mut out[at..]);
        (number, at) = (number + put.words, at + put.ids);
        if number == count {
            break Ok(());
        }
        match other(words, number, at, out) {
            Ok(end) => at = end,
            Err(error) => break Err(error),
        }
        number += 1;
    };
    out.truncate(at);
    result
}

/// Put ids that are known at a place, and more room behind; returns where they end.
pub(super) fn put_known(ids: &[u32], at: usize, out: &mut Vec<u32>) -> usize {
    let end = at + ids.len();
    out.resize(out.len() + ids.len(), 0);
    out[at..end].copy_from_slice(ids);
    end
}
