//! A byte trie in a double array (Aoe 1989): a step is two reads and a comparison.
//!
//! Several sets of keys may share the array; the root of set `i` is state `i`. UTF-8 makes matches of whole
//! keys end at character boundaries by itself.

use std::collections::VecDeque;

use piecework_kernels::array::Array;

use crate::error::{Error, ErrorKind};
use crate::parts::Parts;

mod stored;

/// The names of the tables where they are taken apart.
const UNITS: &str = "trie.units";
const ENTRIES: &str = "trie.entries";

const NONE: u32 = u32::MAX;
const BLOCK: usize = 256;
/// How many free slots are tried before a new block is opened.
const TRIES: usize = 48;

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
        mut sets: [Vec<(&[u8], u32)>; SETS],
    ) -> Result<(Self, Vec<Step>), Error> {
        for keys in &mut sets {
            sort(keys);
        }
        Builder::new(SETS).build(&sets)
    }

    /// Take the tables apart.
    pub(super) fn store(&self, parts: &mut Parts) {
        parts.put(UNITS, &self.units);
        parts.put(ENTRIES, &self.entries);
    }

    /// Put together a trie of `SETS` sets of keys whose entries are below `entries`, if it is there; else
    /// build it.
    pub(super) fn restore_or_build<'k, const SETS: usize>(
        parts: &Parts,
        entries: usize,
        sets: impl FnOnce() -> [Vec<(&'k [u8], u32)>; SETS],
    ) -> Result<(Self, Vec<Step>), Error> {
        if parts.has(UNITS) {
            stored::restore(parts, entries, SETS)
        } else {
            Self::build(sets())
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
struct Subtree<'k> {
    state: u32,
    depth: usize,
    keys: &'k [(&'k [u8], u32)],
}

struct Builder {
    units: Vec<Unit>,
    entries: Vec<u32>,
    /// Free slots, newest last; some may have been taken since.
    free: Vec<u32>,
    /// A bit for each base that a state has; no other one gets it, so that a child is told by its byte.
    taken: Vec<u64>,
    /// The bytes that lead on from one state.
    bytes: Vec<u8>,
}

/// Sort keys, by their first eight bytes before anything else: most are told apart by a single comparison.
fn sort(keys: &mut Vec<(&[u8], u32)>) {
    let head = |key: &[u8]| {
        let mut head = [0; 8];
        let len = key.len().min(8);
        head[..len].copy_from_slice(&key[..len]);
        u64::from_be_bytes(head)
    };
    let mut headed: Vec<_> = keys.iter().map(|&(key, entry)| (head(key), key, entry)).collect();
    headed.sort_unstable();
    keys.clear();
    keys.extend(headed.into_iter().map(|(_, key, entry)| (key, entry)));
}

impl Builder {
    fn new(roots: usize) -> Self {
        let mut builder = Self {
            units: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
            taken: Vec::new(),
            bytes: Vec::new(),
        };
        builder.open_block();
        builder.taken[0] = 1 << NO_BASE;
        for root in &mut builder.units[..roots] {
            root[PARENT] = NOBODY;
        }
        builder
    }

    fn build(mut self, roots: &[Vec<(&[u8], u32)>]) -> Result<(Trie, Vec<Step>), Error> {
        let mut steps = Vec::new();
        let mut waiting: VecDeque<Subtree> = VecDeque::new();
        for (state, keys) in (0..).zip(roots) {
            waiting.push_back(Subtree { state, depth: 0, keys });
        }
        while let Some(subtree) = waiting.pop_front() {
            self.expand(&subtree, &mut waiting, &mut steps);
            if self.units.len() >= (NONE / 2) as usize {
                let found = format!("{} trie slots", self.units.len());
                return Err(Error::new(ErrorKind::Vocabulary, "vocab", found, "a smaller vocabulary"));
            }
        }
        Ok((Trie { units: self.units.into(), entries: self.entries.into() }, steps))
    }

    /// Place the children of one state.
    fn expand<'k>(
        &mut self,
        subtree: &Subtree<'k>,
        waiting: &mut VecDeque<Subtree<'k>>,
        steps: &mut Vec<Step>,
    ) {
        let Subtree { state, depth, mut keys } = *subtree;
        while let Some(((key, id), rest)) = keys.split_first().filter(|((key, _), _)| key.len() == depth) {
            if !key.is_empty() {
                self.entries[state as usize] = *id;
            }
            keys = rest;
        }
        if keys.is_empty() {
            return;
        }
        let byte_of = |key: &(&[u8], u32)| key.0[depth];
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend(keys.chunk_by(|a, b| byte_of(a) == byte_of(b)).map(|group| byte_of(&group[0])));
        let base = self.find_base(&bytes);
        self.bytes = bytes;
        self.taken[base as usize / 64] |= 1 << (base % 64);
        self.units[state as usize][BASE] = base;
        for group in keys.chunk_by(|a, b| byte_of(a) == byte_of(b)) {
            let byte = byte_of(&group[0]);
            let child = base ^ u32::from(byte);
            self.units[child as usize][PARENT] = state;
            steps.push(Step { parent: state, byte, state: child, depth: depth as u32 + 1 });
            waiting.push_back(Subtree { state: child, depth: depth + 1, keys: group });
        }
    }

    /// A base that no state has, whose slots for all `bytes` are free.
    fn find_base(&mut self, bytes: &[u8]) -> u32 {
        for _ in 0..2 {
            while self.free.last().is_some_and(|&slot| !self.is_free(slot)) {
                self.free.pop();
            }
            let newest = self.free.iter().rev().take(4 * TRIES);
            let found = newest
                .filter(|&&slot| self.is_free(slot))
                .take(TRIES)
                .map(|&slot| slot ^ u32::from(bytes[0]))
                .filter(|&base| self.taken[base as usize / 64] >> (base % 64) & 1 == 0)
                .find(|&base| bytes.iter().all(|&byte| self.is_free(base ^ u32::from(byte))));
            if let Some(base) = found {
                return base;
            }
            self.open_block();
        }
        // A fresh block without roots is free throughout.
        (self.units.len() - BLOCK) as u32
    }

    fn is_free(&self, slot: u32) -> bool {
        self.units[slot as usize][PARENT] == NONE
    }

    fn open_block(&mut self) {
        let start = self.units.len();
        self.units.resize(start + BLOCK, FREE);
        self.entries.resize(start + BLOCK, NONE);
        self.taken.resize((start + BLOCK) / 64, 0);
        self.free.extend((start..start + BLOCK).rev().map(|slot| slot as u32));
    }
}
