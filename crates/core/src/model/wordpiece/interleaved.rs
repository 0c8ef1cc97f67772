//! Many words at once by the greedy longest match: each goes a step in turn, and what its next step reads is asked
//! for before the others are seen to.
//!
//! A walk of one word waits for memory at every byte, as a state names the place of the next; in turns the waits
//! of all words are one.

use super::failure::{State, States};
use super::{WordPiece, START};
use crate::model::Among;

/// How many words go in turns.
const ABREAST: usize = 16;

/// A word on its way through the states.
#[derive(Clone, Copy, Default)]
struct Walk {
    /// Its number.
    number: usize,
    /// Its next byte, and the end.
    at: usize,
    end: usize,
    /// The state that it has come to, and where it leads.
    state: u32,
    reached: State,
    /// The state to be read next.
    next: u32,
    /// It is that after the next byte, if there is one; else where the match is stuck.
    is_child: bool,
    /// Where its next id goes.
    id_at: usize,
}

/// What a step came to.
enum Step {
    On,
    Done,
    DeadEnd,
}

/// All words, and those of them that are on their way.
struct Abreast<'w> {
    bytes: &'w [u8],
    words: &'w mut [Among],
    /// Room for as many ids as there are bytes, in the same places.
    ids: &'w mut [u32],
    /// How many ids are before that room.
    before: usize,
    walks: [Walk; ABREAST],
    count: usize,
    /// The next word.
    next: usize,
}

impl WordPiece {
    /// The greedy longest match for words of some bytes; a dead end makes the whole word unknown.
    pub(super) fn longest_matches(&self, bytes: &[u8], words: &mut [Among], ids: &mut Vec<u32>) {
        let before = ids.len();
        // A word has no more ids than bytes.
        ids.resize(before + bytes.len(), 0);
        let (ids, walks) = (&mut ids[before..], [Walk::default(); ABREAST]);
        let mut abreast = Abreast { bytes, words, ids, before, walks, count: 0, next: 0 };
        while self.fill_up(&mut abreast) {
            self.take_turns(&mut abreast);
        }
    }

    /// Let words begin as long as there is room for them; says whether any are on their way.
    #[inline]
    fn fill_up(&self, all: &mut Abreast<'_>) -> bool {
        while all.count < ABREAST && all.next < all.words.len() {
            let (number, word) = (all.next, &mut all.words[all.next]);
            let (from, to) = word.bytes;
            all.next += 1;
            if from == to {
                continue;
            }
            if self.is_too_long(&all.bytes[from..to]) {
                word.ids = self.unknown(all.before, from, all.ids);
            } else {
                all.walks[all.count] = self.states.begin(number, *word, all.bytes);
                all.count += 1;
            }
        }
        all.count > 0
    }

    /// Let each word go a step.
    #[inline]
    fn take_turns(&self, all: &mut Abreast<'_>) {
        let mut at = 0;
        while at < all.count {
            let walk = &mut all.walks[at];
            let step = self.states.step(walk, all.bytes, all.ids);
            if matches!(step, Step::On) {
                at += 1;
                continue;
            }
            let word = &mut all.words[walk.number];
            word.ids = match step {
                Step::DeadEnd => self.unknown(all.before, word.bytes.0, all.ids),
                _ => (all.before + word.bytes.0, all.before + walk.id_at),
            };
            all.count -= 1;
            all.walks[at] = all.walks[all.count];
        }
    }

    fn unknown(&self, before: usize, at: usize, ids: &mut [u32]) -> (usize, usize) {
        ids[at] = self.unk_id;
        (before + at, before + at + 1)
    }
}

impl States {
    fn begin(&self, number: usize, word: Among, bytes: &[u8]) -> Walk {
        let (at, end) = word.bytes;
        let reached = self.at(START);
        let mut walk = Walk { number, at, end, state: START, reached, id_at: at, ..Walk::default() };
        self.ask(&mut walk, bytes);
        walk
    }

    /// Ask for the state after the next byte, if there is one.
    #[inline(always)]
    fn ask(&self, walk: &mut Walk, bytes: &[u8]) {
        walk.next = walk.reached.child(bytes[walk.at]);
        walk.is_child = true;
        self.prefetch(walk.next);
    }

    /// Go to the state that was asked for, or back from where the match is stuck, and ask for the next.
    #[inline(always)]
    fn step(&self, walk: &mut Walk, bytes: &[u8], ids: &mut [u32]) -> Step {
        let read = self.at(walk.next);
        if walk.is_child {
            if !read.is_child_of(walk.state) {
                return self.go_back(walk, bytes, ids);
            }
            walk.at += 1;
        }
        (walk.state, walk.reached) = (walk.next, read);
        self.go_on(walk, bytes, ids)
    }

    #[inline(always)]
    fn go_on(&self, walk: &mut Walk, bytes: &[u8], ids: &mut [u32]) -> Step {
        if walk.at < walk.end {
            self.ask(walk, bytes);
            return Step::On;
        }
        if walk.state == super::INSIDE {
            return Step::Done;
        }
        self.go_back(walk, bytes, ids)
    }

    /// Put the ids that the match commits to where it is stuck, and ask for the state of what is left.
    #[inline(always)]
    fn go_back(&self, walk: &mut Walk, bytes: &[u8], ids: &mut [u32]) -> Step {
        let (pops, link) = self.stuck_at(&walk.reached);
        for &id in pops {
            ids[walk.id_at] = id;
            walk.id_at += 1;
        }
        let Some(link) = link else { return Step::DeadEnd };
        (walk.next, walk.is_child) = (link, false);
        if link == super::INSIDE {
            // It is always at hand.
            (walk.state, walk.reached) = (link, self.at(link));
            if walk.at == walk.end {
                return Step::Done;
            }
            self.ask(walk, bytes);
        } else {
            self.prefetch(link);
        }
        Step::On
    }
}
