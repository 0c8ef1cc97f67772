//! A byte trie in a double array (Aoe 1989): a step is two reads and a comparison.
//!
//! Several sets of keys may share the array; the root of set `i` is state `i`. UTF-8 makes matches of whole
//! keys end at character boundaries by itself.

use std::collections::VecDeque;

use piecework_kernels::array::Array;

use super::allocator::{Room, BLOCK};
use super::keys::{chunks, sorted, Key};
use crate::error::{Error, ErrorKind};
use crate::table_sections::TableSections;

mod stored;

/// The names of the tables where they are taken apart.
const UNITS: &str = "trie.units";
const ENTRIES: &str = "trie.entries";

const NONE: u32 = u32::MAX;

/// The child by byte `b` of the state at `s` stands at `s[BASE] ^ b`, if the `PARENT` of that slot is the state.
type Unit = [u32; 2];
const BASE: usize = 0;
const PARENT: usize = 1;

/// The base of states without children.
const NO_BASE: u32 = 0;
const FREE: Unit = [NO_BASE, NONE];
/// The parent of a root: a state that has no children.
const NOBODY: u32 = NONE - 1;

/// The double array and the entry that ends at each state.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    units: Array<Unit>,
    entries: Array<u32>,
}

/// One state in breadth-first order, with the step that led to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) parent: u32,
    pub(super) byte: u8,
    pub(super) state: u32,
    pub(super) depth: u32,
}

impl Trie {
    /// Build from at most 256 sets of keys; also gives all states but the roots in breadth-first order.
    /// Empty keys end nowhere.
    pub(super) fn build<const SETS: usize>(
        sets: [Vec<(&[u8], u32)>; SETS],
    ) -> Result<(Self, Vec<Step>), Error> {
        Builder::new(SETS).build(&sets.map(|keys| sorted(keys.into_iter())))
    }

    /// Take the tables apart.
    pub(super) fn store(&self, parts: &mut TableSections) {
        parts.put(UNITS, &self.units);
        parts.put(ENTRIES, &self.entries);
    }

    /// Put together the trie of some sets of keys, each key once, if `parts` has it; else build it.
    pub(super) fn restore_or_build<const SETS: usize>(
        parts: &TableSections,
        sets: [Vec<(&[u8], u32)>; SETS],
    ) -> Result<(Self, Vec<Step>), Error> {
        if parts.has(UNITS) {
            stored::restore(parts, &sets)
        } else {
            Self::build(sets)
        }
    }

    /// The state after `byte`.
    #[inline]
    pub(super) fn child(&self, state: u32, byte: u8) -> Option<u32> {
        let next = self.units[state as usize][BASE] ^ u32::from(byte);
        (self.units[next as usize][PARENT] == state).then_some(next)
    }

    /// The entry that ends at a state.
    #[inline]
    pub(super) fn entry(&self, state: u32) -> Option<u32> {
        Some(self.entries[state as usize]).filter(|&id| id != NONE)
    }

    /// The bases and parents of all slots.
    pub(super) fn units(&self) -> &[[u32; 2]] {
        &self.units
    }

    /// By slot: what its bytes are combined with to find its children, and the byte that led there; that of a slot
    /// where none did is one that UTF-8 never has. `None` where a state has the base of another one or of states
    /// without children, so that a byte does not tell whose child a slot is.
    pub(super) fn bases_and_bytes(&self) -> Option<impl Iterator<Item = (u32, u8)> + '_> {
        let mut owners = vec![NONE; self.units.len()];
        for &[_, parent] in self.units.iter().filter(|unit| unit[PARENT] < NOBODY) {
            let base = self.units[parent as usize][BASE];
            let owner = &mut owners[base as usize];
            if base == NO_BASE || *owner != NONE && *owner != parent {
                return None;
            }
            *owner = parent;
        }
        Some((0..).zip(self.units.iter()).map(move |(slot, unit): (u32, &Unit)| {
            let parent = self.units.get(unit[PARENT] as usize);
            (unit[BASE], parent.map_or(0xFF, |parent| (parent[BASE] ^ slot) as u8))
        }))
    }

    /// The number of slots, used or not.
    pub(super) fn slots(&self) -> usize {
        self.units.len()
    }
}

/// Keys that share the first `depth` bytes and hang below `state`.
struct Subtree<'s, 'k> {
    state: u32,
    depth: usize,
    keys: &'s [Key<'k>],
}

struct Builder {
    room: Room,
    units: Vec<Unit>,
    entries: Vec<u32>,
    /// The bytes that lead on from one state.
    bytes: Vec<u8>,
}

impl Builder {
    fn new(roots: usize) -> Self {
        let room = Room::with_roots(roots);
        let mut builder = Self { room, units: Vec::new(), entries: Vec::new(), bytes: Vec::new() };
        builder.grow();
        for root in &mut builder.units[..roots] {
            root[PARENT] = NOBODY;
        }
        builder
    }

    fn build(mut self, roots: &[Vec<Key<'_>>]) -> Result<(Trie, Vec<Step>), Error> {
        let mut steps = Vec::new();
        let mut waiting: VecDeque<Subtree> = VecDeque::new();
        for (state, keys) in (0..).zip(roots) {
            waiting.push_back(Subtree { state, depth: 0, keys });
        }
        while let Some(subtree) = waiting.pop_front() {
            self.expand(&subtree, &mut waiting, &mut steps);
            if self.units.len() >= (NONE / 2) as usize {
                let found = format!("{} trie slots", self.units.len());
                return Err(Error::new(
                    ErrorKind::Vocabulary,
                    "model.vocab",
                    found,
                    "a smaller vocabulary",
                ));
            }
        }
        Ok((Trie { units: self.units.into(), entries: self.entries.into() }, steps))
    }

    /// Place the children of one state.
    fn expand<'s, 'k>(
        &mut self,
        subtree: &Subtree<'s, 'k>,
        waiting: &mut VecDeque<Subtree<'s, 'k>>,
        steps: &mut Vec<Step>,
    ) {
        let Subtree { state, depth, mut keys } = *subtree;
        while let Some((key, rest)) = keys.split_first().filter(|(key, _)| key.bytes.len() == depth) {
            if !key.bytes.is_empty() {
                self.entries[state as usize] = key.number;
            }
            keys = rest;
        }
        if keys.is_empty() {
            return;
        }
        self.bytes.clear();
        self.bytes.extend(chunks(keys, depth).map(|keys| keys[0].byte_at(depth)));
        let base = self.room.take(&self.bytes) as u32;
        self.grow();
        self.units[state as usize][BASE] = base;
        for keys in chunks(keys, depth) {
            let byte = keys[0].byte_at(depth);
            let child = base ^ u32::from(byte);
            self.units[child as usize][PARENT] = state;
            steps.push(Step { parent: state, byte, state: child, depth: depth as u32 + 1 });
            waiting.push_back(Subtree { state: child, depth: depth + 1, keys });
        }
    }

    fn grow(&mut self) {
        self.units.resize(self.room.slots(), FREE);
        self.entries.resize(self.room.slots(), NONE);
    }
}
