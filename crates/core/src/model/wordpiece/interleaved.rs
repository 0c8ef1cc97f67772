//! The greedy longest match of many words in turns: each step prefetches what the next step of its word reads.
//!
//! A single word waits for memory at every byte, since each state contains the slot of the next one. In turns these
//! waits overlap.

use super::lin_max_match::{LinMaxMatch, LinMaxState, INSIDE, START};
use super::WordPiece;
use crate::model::BatchWord;

/// The number of words that are matched in turns.
const MAX_INTERLEAVED: usize = 16;

/// A word that is being matched.
#[derive(Clone, Copy, Default)]
struct ActiveWord {
    /// Its index in the batch.
    number: usize,
    /// The next byte and the end of the word.
    at: usize,
    end: usize,
    /// The current state, and its slot.
    state: u32,
    current: LinMaxState,
    /// The state to read next.
    next: u32,
    /// Whether `next` is the child by the next byte, if there is one; otherwise it is the failure link.
    is_child: bool,
    /// The index of the next id.
    id_at: usize,
}

/// The outcome of a step.
enum Outcome {
    Continue,
    Done,
    DeadEnd,
}

/// All words, and those that are being matched.
struct WordBatch<'w> {
    bytes: &'w [u8],
    words: &'w mut [BatchWord],
    /// As many ids as there are bytes; a word writes its ids at its byte offsets.
    ids: &'w mut [u32],
    /// The number of ids before these.
    before: usize,
    active: [ActiveWord; MAX_INTERLEAVED],
    count: usize,
    /// The next word to start.
    next: usize,
}

impl WordPiece {
    /// The greedy longest match of words of `bytes`; a dead end makes the whole word unknown.
    pub(super) fn greedy_match_batch(
        &self,
        matcher: &LinMaxMatch,
        bytes: &[u8],
        words: &mut [BatchWord],
        ids: &mut Vec<u32>,
    ) {
        let before = ids.len();
        // A word has no more ids than bytes.
        ids.resize(before + bytes.len(), 0);
        let (ids, active) = (&mut ids[before..], [ActiveWord::default(); MAX_INTERLEAVED]);
        let mut batch = WordBatch { bytes, words, ids, before, active, count: 0, next: 0 };
        while self.admit(matcher, &mut batch) {
            self.step_all(matcher, &mut batch);
        }
    }

    /// Start words while there are free places; return whether any word is active.
    #[inline]
    fn admit(&self, matcher: &LinMaxMatch, batch: &mut WordBatch<'_>) -> bool {
        while batch.count < MAX_INTERLEAVED && batch.next < batch.words.len() {
            let (number, word) = (batch.next, &mut batch.words[batch.next]);
            let (from, to) = word.bytes;
            batch.next += 1;
            if from == to {
                continue;
            }
            if self.is_too_long(&batch.bytes[from..to]) {
                word.ids = self.unknown(batch.before, from, batch.ids);
            } else {
                batch.active[batch.count] = matcher.begin(number, *word, batch.bytes);
                batch.count += 1;
            }
        }
        batch.count > 0
    }

    /// Advance each active word by a step.
    #[inline]
    fn step_all(&self, matcher: &LinMaxMatch, batch: &mut WordBatch<'_>) {
        let mut at = 0;
        while at < batch.count {
            let active_word = &mut batch.active[at];
            let step = matcher.step(active_word, batch.bytes, batch.ids);
            if matches!(step, Outcome::Continue) {
                at += 1;
                continue;
            }
            let word = &mut batch.words[active_word.number];
            word.ids = match step {
                Outcome::DeadEnd => self.unknown(batch.before, word.bytes.0, batch.ids),
                _ => (batch.before + word.bytes.0, batch.before + active_word.id_at),
            };
            batch.count -= 1;
            batch.active[at] = batch.active[batch.count];
        }
    }

    fn unknown(&self, before: usize, at: usize, ids: &mut [u32]) -> (usize, usize) {
        ids[at] = self.unk_id;
        (before + at, before + at + 1)
    }
}

impl LinMaxMatch {
    fn begin(&self, number: usize, word: BatchWord, bytes: &[u8]) -> ActiveWord {
        let (at, end) = word.bytes;
        let current = self.at(START);
        let mut active_word =
            ActiveWord { number, at, end, state: START, current, id_at: at, ..ActiveWord::default() };
        self.prefetch_child(&mut active_word, bytes);
        active_word
    }

    /// Prefetch the child by the next byte, if there is one.
    #[inline(always)]
    fn prefetch_child(&self, active_word: &mut ActiveWord, bytes: &[u8]) {
        active_word.next = active_word.current.child(bytes[active_word.at]);
        active_word.is_child = true;
        self.prefetch(active_word.next);
    }

    /// Move to the prefetched state, or along the failure link, and prefetch the next state.
    #[inline(always)]
    fn step(&self, active_word: &mut ActiveWord, bytes: &[u8], ids: &mut [u32]) -> Outcome {
        let read = self.at(active_word.next);
        if active_word.is_child {
            if !read.is_child_of(active_word.state) {
                return self.follow_failure(active_word, bytes, ids);
            }
            active_word.at += 1;
        }
        (active_word.state, active_word.current) = (active_word.next, read);
        self.advance(active_word, bytes, ids)
    }

    #[inline(always)]
    fn advance(&self, active_word: &mut ActiveWord, bytes: &[u8], ids: &mut [u32]) -> Outcome {
        if active_word.at < active_word.end {
            self.prefetch_child(active_word, bytes);
            return Outcome::Continue;
        }
        if active_word.state == INSIDE {
            return Outcome::Done;
        }
        self.follow_failure(active_word, bytes, ids)
    }

    /// Write the failure pops and prefetch the state of the failure link.
    #[inline(always)]
    fn follow_failure(&self, active_word: &mut ActiveWord, bytes: &[u8], ids: &mut [u32]) -> Outcome {
        let (pops, link) = self.failure_at(&active_word.current);
        for &id in pops {
            ids[active_word.id_at] = id;
            active_word.id_at += 1;
        }
        let Some(link) = link else { return Outcome::DeadEnd };
        (active_word.next, active_word.is_child) = (link, false);
        if link == INSIDE {
            // This state is always in the cache.
            (active_word.state, active_word.current) = (link, self.at(link));
            if active_word.at == active_word.end {
                return Outcome::Done;
            }
            self.prefetch_child(active_word, bytes);
        } else {
            self.prefetch(link);
        }
        Outcome::Continue
    }
}
