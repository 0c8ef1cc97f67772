//! Many words at once by the greedy longest match: each goes a step in turn, and what its next step reads is asked
//! for before the others are seen to.
//!
//! A walk of one word waits for memory at every byte, as a state names the place of the next; in turns the waits
//! of all words are one.

use super::failure::{State, States};
use super::{WordPiece, START};
use crate::model::Among;

/// How many words go in turns.
const ABREAST: usize = 8;

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

impl WordPiece {
    /// The greedy longest match for words of some bytes; a dead end makes the whole word unknown.
    pub(super) fn longest_matches(&self, bytes: &[u8], words: &mut [Among], ids: &mut Vec<u32>) {
        // A word has no more ids than bytes.
        let room = ids.len();
        ids.resize(room + bytes.len(), 0);
        let mut waiting = 0..words.len();
        let mut walks = [Walk::default(); ABREAST];
        let mut count = 0;
        loop {
            while count < ABREAST {
                let Some(number) = waiting.next() else { break };
                let (from, to) = words[number].bytes;
                if self.is_too_long(&bytes[from..to]) {
                    words[number].ids = self.put_unknown(room + from, ids);
                } else {
                    walks[count] = self.states.begin(number, words[number], room, bytes);
                    count += 1;
                }
            }
            if count == 0 {
                return;
            }
            let mut at = 0;
            while at < count {
                let walk = &mut walks[at];
                let start = room + words[walk.number].bytes.0;
                words[walk.number].ids = match self.states.step(walk, bytes, ids) {
                    Step::On => {
                        at += 1;
                        continue;
                    }
                    Step::Done => (start, walk.id_at),
                    Step::DeadEnd => self.put_unknown(start, ids),
                };
                count -= 1;
                walks[at] = walks[count];
            }
        }
    }

    fn is_too_long(&self, word: &[u8]) -> bool {
        let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
        word.len() > self.max_chars && word.iter().filter(is_first).count() > self.max_chars
    }

    fn put_unknown(&self, at: usize, ids: &mut [u32]) -> (usize, usize) {
        ids[at] = self.unk_id;
        (at, at + 1)
    }
}

impl States {
    fn begin(&self, number: usize, word: Among, room: usize, bytes: &[u8]) -> Walk {
        let (at, end) = word.bytes;
        let reached = self.at(START);
        let mut walk = Walk { number, at, end, state: START, reached, id_at: room + at, ..Walk::default() };
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
