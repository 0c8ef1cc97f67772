//! Places the states of [`Prefixes`] in blocks of 256.
//!
//! The label of a free place must not be the byte that leads there from the base of any state. So every block
//! keeps one base that no state has, and its free places, and the root, are labelled as if they were that one's
//! children. A state without children has base 0, which no other has.

use std::collections::VecDeque;

use super::prefixes::{Match, Prefixes, Unit, BASE_SHIFT, ENDS, NO_MATCH, ROOT};
use super::NONE;

const BLOCK: usize = 256;
/// How many free places are tried before a new block is opened.
const TRIES: usize = 64;
const BEFORE: usize = 0;
const AFTER: usize = 1;
/// The base of a state without children.
const NOWHERE: usize = 0;
/// More states than that have no number.
const MOST_STATES: usize = 1 << (32 - BASE_SHIFT);

/// The first eight bytes of a text, all of them, and the number of its entry.
type Text<'t> = (u64, &'t [u8], u32);

/// Sorted texts that share the first `depth` bytes and hang below `state`.
struct Subtree<'t> {
    state: usize,
    depth: usize,
    /// The longest entry so far.
    longest: Match,
    texts: &'t [Text<'t>],
}

#[derive(Default)]
struct Builder {
    units: Vec<Unit>,
    entries: Vec<u32>,
    shorter: Vec<Match>,
    is_taken: Vec<bool>,
    is_base: Vec<bool>,
    /// The number of bases in each block.
    bases: Vec<usize>,
    /// The free places before and after each free one; in a ring by way of the root.
    around: Vec<[usize; 2]>,
    /// The bytes that lead on from one state.
    bytes: Vec<usize>,
    first_whole: u32,
}

/// Make the trie of the bytes of each entry, no two alike.
pub(super) fn build(texts: &[&[u8]], first_whole: u32) -> Option<Prefixes> {
    let sorted = sorted(texts);
    let mut builder = Builder { first_whole, shorter: vec![NO_MATCH; texts.len()], ..Builder::default() };
    builder.open_block();
    builder.is_taken[ROOT] = true; // It stays in the ring.
    builder.set_base(NOWHERE);
    let mut waiting =
        VecDeque::from([Subtree { state: ROOT, depth: 0, longest: NO_MATCH, texts: &sorted }]);
    while let Some(subtree) = waiting.pop_front() {
        builder.expand(&subtree, &mut waiting);
        if builder.units.len() > MOST_STATES {
            return None;
        }
    }
    builder.label_free_places();
    let Builder { units, entries, shorter, .. } = builder;
    Some(Prefixes { units, entries, shorter })
}

/// Texts by their bytes, the first eight of which are compared as a number.
fn sorted<'t>(texts: &[&'t [u8]]) -> Vec<Text<'t>> {
    let head = |text: &[u8]| {
        let mut head = [0; 8];
        let len = text.len().min(8);
        head[..len].copy_from_slice(&text[..len]);
        u64::from_be_bytes(head)
    };
    let mut sorted: Vec<_> = (0..).zip(texts).map(|(number, &text)| (head(text), text, number)).collect();
    sorted.sort_unstable();
    sorted
}

impl Builder {
    /// Place the children of one state.
    fn expand<'t>(&mut self, subtree: &Subtree<'t>, waiting: &mut VecDeque<Subtree<'t>>) {
        let Subtree { state, depth, mut longest, mut texts } = *subtree;
        if let Some(&(_, text, number)) = texts.first().filter(|first| first.1.len() == depth) {
            texts = &texts[1..];
            self.entries[state] = number;
            if number < self.first_whole {
                self.units[state] |= ENDS;
                self.shorter[number as usize] = longest;
                longest = Match { entry: number, len: text.len() as u32 };
            }
        }
        if texts.is_empty() {
            return;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend(chunks(texts, depth).map(|texts| usize::from(byte_at(&texts[0], depth))));
        let base = self.find_base(&bytes);
        self.bytes = bytes;
        self.set_base(base);
        self.units[state] |= (base as Unit) << BASE_SHIFT;
        for texts in chunks(texts, depth) {
            let byte = byte_at(&texts[0], depth);
            let state = base ^ usize::from(byte);
            self.take(state);
            self.units[state] = Unit::from(byte);
            waiting.push_back(Subtree { state, depth: depth + 1, longest, texts });
        }
    }

    /// A base that no state has, with free places for all bytes.
    fn find_base(&mut self, bytes: &[usize]) -> usize {
        for _ in 0..2 {
            let mut place = self.around[ROOT][BEFORE];
            for _ in 0..TRIES {
                if place == ROOT {
                    break;
                }
                let base = place ^ bytes[0];
                let can_be_base = !self.is_base[base] && self.bases[base / BLOCK] < BLOCK - 1;
                if can_be_base && bytes.iter().all(|byte| !self.is_taken[base ^ byte]) {
                    return base;
                }
                place = self.around[place][BEFORE];
            }
            self.open_block();
        }
        // All of a new block is free.
        self.units.len() - BLOCK
    }

    fn set_base(&mut self, base: usize) {
        self.is_base[base] = true;
        self.bases[base / BLOCK] += 1;
    }

    fn take(&mut self, place: usize) {
        let [before, after] = self.around[place];
        self.around[before][AFTER] = after;
        self.around[after][BEFORE] = before;
        self.is_taken[place] = true;
    }

    fn open_block(&mut self) {
        let (start, end) = (self.units.len(), self.units.len() + BLOCK);
        self.units.resize(end, 0);
        self.entries.resize(end, NONE);
        self.is_taken.resize(end, false);
        self.is_base.resize(end, false);
        self.bases.push(0);
        // The ring goes on from the newest place before to those of the block, and back to the root.
        self.around.extend((start..end).map(|place| [place.saturating_sub(1), place + 1]));
        let newest = self.around[ROOT][BEFORE];
        if start > 0 {
            (self.around[newest][AFTER], self.around[start][BEFORE]) = (start, newest);
        }
        (self.around[end - 1][AFTER], self.around[ROOT][BEFORE]) = (ROOT, end - 1);
    }

    fn label_free_places(&mut self) {
        for start in (0..self.units.len()).step_by(BLOCK) {
            let nobodys = (start..start + BLOCK).find(|&base| !self.is_base[base]).unwrap_or(start);
            let free = (start..start + BLOCK).filter(|&place| !self.is_taken[place]);
            free.for_each(|place| self.units[place] = (place ^ nobodys) as Unit);
            if start == ROOT {
                self.units[ROOT] |= nobodys as Unit;
            }
        }
    }
}

/// Texts by the byte at `depth`.
fn chunks<'s, 't>(texts: &'s [Text<'t>], depth: usize) -> impl Iterator<Item = &'s [Text<'t>]> {
    texts.chunk_by(move |one, other| byte_at(one, depth) == byte_at(other, depth))
}

/// A byte of a text, as a rule without a look at where that lies.
#[inline]
fn byte_at(&(head, text, _): &Text<'_>, depth: usize) -> u8 {
    match depth {
        0..8 => head.to_be_bytes()[depth],
        _ => text[depth],
    }
}
