//! Places the states of [`Prefixes`].
//!
//! The label of a free place must not be the byte that leads there from the base of any state. So every block
//! has one base that no state has, and its free places, and the root, are labelled as if they were that one's
//! children. A state without children has base 0, which no other has.

use std::collections::VecDeque;

use super::prefixes::{Match, Prefixes, Unit, BASE_SHIFT, ENDS, NO_MATCH, ROOT};
use super::NONE;
use crate::model::allocator::Room;
use crate::model::keys::{chunks, sorted, Key};

/// More states than that have no number.
const MOST_STATES: usize = 1 << (32 - BASE_SHIFT);

/// Sorted texts that share the first `depth` bytes and hang below `state`.
struct Subtree<'s, 't> {
    state: usize,
    depth: usize,
    /// The longest entry so far.
    longest: Match,
    texts: &'s [Key<'t>],
}

struct Builder {
    room: Room,
    units: Vec<Unit>,
    entries: Vec<u32>,
    shorter: Vec<Match>,
    /// The bytes that lead on from one state.
    bytes: Vec<u8>,
    first_whole: u32,
}

/// Make the trie of the bytes of each entry, no two alike.
pub(super) fn build(texts: &[&[u8]], first_whole: u32) -> Option<Prefixes> {
    let sorted = sorted(texts.iter().copied().zip(0..));
    let mut builder = Builder {
        room: Room::with_roots(1),
        units: Vec::new(),
        entries: Vec::new(),
        shorter: vec![NO_MATCH; texts.len()],
        bytes: Vec::new(),
        first_whole,
    };
    builder.grow();
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

impl Builder {
    /// Place the children of one state.
    fn expand<'s, 't>(&mut self, subtree: &Subtree<'s, 't>, waiting: &mut VecDeque<Subtree<'s, 't>>) {
        let Subtree { state, depth, mut longest, mut texts } = *subtree;
        if let Some(&Key { bytes, number, .. }) = texts.first().filter(|first| first.bytes.len() == depth) {
            texts = &texts[1..];
            self.entries[state] = number;
            if number < self.first_whole {
                self.units[state] |= ENDS;
                self.shorter[number as usize] = longest;
                longest = Match { entry: number, len: bytes.len() as u32 };
            }
        }
        if texts.is_empty() {
            return;
        }
        self.bytes.clear();
        self.bytes.extend(chunks(texts, depth).map(|texts| texts[0].byte_at(depth)));
        let base = self.room.take(&self.bytes);
        self.grow();
        self.units[state] |= (base as Unit) << BASE_SHIFT;
        for texts in chunks(texts, depth) {
            let byte = texts[0].byte_at(depth);
            let state = base ^ usize::from(byte);
            self.units[state] = Unit::from(byte);
            waiting.push_back(Subtree { state, depth: depth + 1, longest, texts });
        }
    }

    fn grow(&mut self) {
        self.units.resize(self.room.slots(), 0);
        self.entries.resize(self.room.slots(), NONE);
    }

    fn label_free_places(&mut self) {
        let label = |place: usize| (place ^ self.room.nobodys_base(place)) as u8;
        for place in (0..self.units.len()).filter(|&place| self.room.is_free(place)) {
            self.units[place] = Unit::from(label(place));
        }
        self.units[ROOT] |= Unit::from(label(ROOT));
    }
}
