//! The suffix array of the distinct words, and the substrings that may be seeds.
//!
//! A substring is a candidate if it occurs at least twice and is not always followed by the same character.
//! The end of a word is not a character, so every word that occurs twice is a candidate. Occurrences are
//! weighted by word counts.
//!
//! A sweep over the sorted suffixes counts all candidates in time linear in the text (Kasai et al. 2001,
//! "Linear-Time Longest-Common-Prefix Computation in Suffix Arrays and Its Applications"); sorting takes
//! O(n log n).

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use piecework_unicode::{begins_char, char_count};

use super::segment_text::{SegmentText, END};
use super::spec::UnigramTrainSpec;
use crate::progress::Progress;
use crate::PieceRules;
use piecework_core::error::Error;

/// The least count of a candidate.
const MIN_COUNT: u64 = 2;
/// Bytes whose suffixes take some time to sort.
const LONG_TEXT: usize = 1 << 20;
/// The time between two looks at the thread that sorts.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// A substring that begins the sorted suffixes `first..last`.
#[derive(Clone, Copy)]
pub(super) struct SeedCandidate {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) bytes: u32,
    pub(super) chars: u32,
    pub(super) count: u64,
}

impl SeedCandidate {
    /// The number of characters of the corpus that it covers.
    pub(super) fn weight(&self) -> u128 {
        u128::from(self.count) * u128::from(self.chars)
    }

    /// A key for the order by code points.
    pub(super) fn position(&self) -> (u32, u32) {
        (self.first, self.bytes)
    }
}

/// The suffixes of all segments in order.
pub(super) struct SortedSuffixes<'c> {
    pub(super) corpus: &'c SegmentText,
    /// The positions of the suffixes.
    pub(super) order: Vec<u32>,
    /// By position in the text: the segment.
    segment_of: Vec<u32>,
    /// The characters of a suffix that matter: one more than the longest piece has.
    pub(super) max_chars: usize,
    pub(super) piece_rules: Option<&'c PieceRules>,
}

/// A substring whose occurrences are being counted.
struct OpenSubstring {
    bytes: usize,
    first: usize,
    count: u64,
}

/// Return the positions of a text in the order of its suffixes.
///
/// A long text is sorted in a thread of its own, which ends later if the caller stops: the sort cannot be stopped.
fn sorted_positions(text: &Arc<Vec<u8>>, progress: &mut Progress<'_>) -> Result<Vec<i32>, Error> {
    let sort = |text: &[u8]| {
        let mut sorted = vec![0; text.len()];
        divsufsort::sort_in_place(text, &mut sorted);
        sorted
    };
    if text.len() < LONG_TEXT {
        return Ok(sort(text));
    }
    let shared = Arc::clone(text);
    let thread = thread::spawn(move || sort(&shared));
    while !thread.is_finished() {
        thread::sleep(POLL_EVERY);
        progress.check()?;
    }
    Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
}

impl<'c> SortedSuffixes<'c> {
    pub(super) fn new(
        corpus: &'c SegmentText,
        spec: &'c UnigramTrainSpec,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let sorted = sorted_positions(&corpus.text, progress)?;
        let begins = |&position: &u32| !matches!(corpus.text[position as usize], END | 0x80..0xC0);
        let order = sorted.into_iter().map(|position| position as u32).filter(begins).collect();
        let mut segment_of = vec![0; corpus.text.len()];
        for (number, segment) in (0..).zip(&corpus.segments) {
            segment_of[segment.range()].fill(number);
        }
        let max_chars = spec.max_piece_length + 1;
        Ok(Self { corpus, order, segment_of, max_chars, piece_rules: spec.piece_rules.as_ref() })
    }

    /// The range of the suffixes that begin with a text, if there are any.
    pub(super) fn beginning_with(&self, text: &[u8]) -> Option<Range<usize>> {
        let head = |&position: &u32| {
            let rest = &self.corpus.text[position as usize..];
            &rest[..text.len().min(rest.len())]
        };
        let first = self.order.partition_point(|position| head(position) < text);
        let count = self.order[first..].partition_point(|position| head(position) == text);
        (count > 0).then(|| first..first + count)
    }

    /// Emit all candidates with their counts, each after its last suffix.
    pub(super) fn sweep(
        &self,
        progress: &mut Progress<'_>,
        mut emit: impl FnMut(SeedCandidate),
    ) -> Result<(), Error> {
        let mut open = vec![OpenSubstring { bytes: 0, first: 0, count: 0 }];
        let mut before: &[u8] = &[];
        for (at, &position) in self.order.iter().enumerate() {
            progress.advance(1)?;
            let suffix = self.suffix(position as usize);
            self.close(&mut open, at, shared(before, suffix), &mut emit);
            add(&mut open, suffix.len(), at, self.count_at(position as usize));
            before = suffix;
        }
        self.close(&mut open, self.order.len(), 0, &mut emit);
        Ok(())
    }

    /// Finish the substrings that are longer than the common prefix of the next suffix and the last.
    fn close(
        &self,
        open: &mut Vec<OpenSubstring>,
        at: usize,
        shared: usize,
        emit: &mut impl FnMut(SeedCandidate),
    ) {
        let (mut count, mut first) = (0, at);
        while open.last().is_some_and(|top| top.bytes > shared) {
            let Some(done) = open.pop() else { break };
            count += done.count;
            first = done.first;
            let below = open.last().map_or(0, |next| next.bytes).max(shared);
            let bytes = &self.corpus.text[self.order[first] as usize..][..done.bytes];
            if let Some(bytes) = self.allowed(bytes, below).filter(|_| count >= MIN_COUNT) {
                emit(candidate(first..at, bytes.len(), char_count(bytes) as usize, count));
            }
        }
        if count > 0 {
            add(open, shared, first, count);
        }
    }

    /// The longest prefix of a substring that the rules allow and that has more than `below` bytes, and so the
    /// same count.
    fn allowed<'t>(&self, bytes: &'t [u8], below: usize) -> Option<&'t [u8]> {
        if char_count(bytes) as usize >= self.max_chars {
            return None;
        }
        let Some(piece_rules) = self.piece_rules else { return Some(bytes) };
        let longest = std::str::from_utf8(bytes).ok().and_then(|text| piece_rules.longest(text));
        longest.filter(|&len| len > below).map(|len| &bytes[..len])
    }

    /// The text of a candidate.
    pub(super) fn name(&self, candidate: &SeedCandidate) -> &'c [u8] {
        &self.corpus.text[self.order[candidate.first as usize] as usize..][..candidate.bytes as usize]
    }

    /// The count of the word at a position.
    pub(super) fn count_at(&self, position: usize) -> u64 {
        self.corpus.segments[self.segment_of[position] as usize].count
    }

    /// The first `max_chars` characters of the suffix at a position, within its segment.
    fn suffix(&self, position: usize) -> &'c [u8] {
        let end = self.corpus.segments[self.segment_of[position] as usize].range().end;
        let all = &self.corpus.text[position..end];
        let starts = (0..all.len()).filter(|&at| begins_char(all[at]));
        let cut = starts.take(self.max_chars + 1).nth(self.max_chars);
        &all[..cut.unwrap_or(all.len())]
    }
}

/// A substring that begins a range of the sorted suffixes.
pub(super) fn candidate(suffixes: Range<usize>, bytes: usize, chars: usize, count: u64) -> SeedCandidate {
    SeedCandidate {
        first: suffixes.start as u32,
        last: suffixes.end as u32,
        bytes: bytes as u32,
        chars: chars as u32,
        count,
    }
}

/// Add occurrences to the open substring of this length, which is the longest open one or longer.
fn add(open: &mut Vec<OpenSubstring>, bytes: usize, first: usize, count: u64) {
    match open.last_mut().filter(|top| top.bytes == bytes) {
        Some(top) => top.count += count,
        None => open.push(OpenSubstring { bytes, first, count }),
    }
}

/// The length of the common prefix of two texts, in bytes of whole characters.
fn shared(one: &[u8], two: &[u8]) -> usize {
    let same = one.iter().zip(two).take_while(|(a, b)| a == b).count();
    let whole = |&at: &usize| two.get(at).is_none_or(|&byte| begins_char(byte));
    (0..=same).rev().find(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    /// A text that takes some time to sort.
    fn long_text() -> Arc<Vec<u8>> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b'a' + (state >> 29) as u8
        };
        Arc::new((0..8 * LONG_TEXT).map(|_| next()).collect())
    }

    #[test]
    fn a_long_sort_returns_when_the_caller_stops() {
        let mut calls = 0;
        let mut call = |_, _| {
            calls += 1;
            if calls == 1 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let mut progress = Progress::start(1, &mut call).expect("continues once");
        assert!(sorted_positions(&long_text(), &mut progress).is_err());
    }

    #[test]
    fn a_thread_of_its_own_sorts_like_the_caller() {
        let mut call = |_, _| ControlFlow::Continue(());
        let mut progress = Progress::start(1, &mut call).expect("nobody stops");
        let text = long_text();
        let mut sorted = vec![0; text.len()];
        divsufsort::sort_in_place(&text, &mut sorted);
        assert!(sorted_positions(&text, &mut progress).is_ok_and(|positions| positions == sorted));
    }
}
