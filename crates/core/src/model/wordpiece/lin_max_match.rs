//! The states of LinMaxMatch with their failure links and failure pops (Song et al. 2021, "Fast WordPiece
//! Tokenization", section 3.2, algorithm 2).
//!
//! When no child matches at a state, the pops are the tokens that the greedy match commits to, and the link is the
//! state of the remaining bytes. Without a link the match is at a dead end; the pops are then those before it, which
//! `unk="char"` needs. The links are built once, breadth first.
//!
//! A state has everything in 16 bytes, so that a word of moderate length reads one cache line a byte.

use piecework_kernels::huge_pages;
use piecework_kernels::level::prefetch_read;

use crate::double_array::{Trie, TrieStep};
use crate::error::{Error, ErrorKind};
use crate::interrupt;

/// The root of matches at the start of a word: every token in full.
pub(super) const START: u32 = 0;
/// The root of matches inside a word: tokens without their continuation prefix.
pub(super) const INSIDE: u32 = 1;
const NONE: u32 = u32::MAX;
/// Marks the index of a list of pops. A number below is the only pop, or `NONE`.
const LIST: u32 = 1 << 31;

/// A state: its slot in the double array, its failure link and its failure pops.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct LinMaxState {
    base: u32,
    parent: u32,
    link: u32,
    pops: u32,
}

impl LinMaxState {
    /// Return the slot of the child by `byte`, if there is one.
    #[inline]
    pub(super) fn child(&self, byte: u8) -> u32 {
        self.base ^ u32::from(byte)
    }

    #[inline]
    pub(super) fn is_child_of(&self, parent: u32) -> bool {
        self.parent == parent
    }
}

/// The states of both tries.
#[derive(Clone, Debug)]
pub(super) struct LinMaxMatch {
    states: Vec<LinMaxState>,
    /// The failure pops of states with several: their number, then their ids.
    lists: Vec<u32>,
}

impl LinMaxMatch {
    /// Compute all links and pops. Reject an adversarial vocabulary whose pops would not fit in memory.
    pub(super) fn compute(trie: &Trie, order: &[TrieStep]) -> Result<Self, Error> {
        let failures = FailureBuilder::compute(trie, order)?;
        let mut made = Self { states: huge_pages::with_capacity(trie.slots()), lists: Vec::new() };
        for (failure, [base, parent]) in failures.of_state.iter().zip(trie.units()) {
            let ids = &failures.ids[failure.first_pop as usize..][..failure.pops as usize];
            let pops = made.packed(ids);
            made.states.push(LinMaxState { base: *base, parent: *parent, link: failure.link, pops });
        }
        Ok(made)
    }

    fn packed(&mut self, ids: &[u32]) -> u32 {
        match ids {
            [] => NONE,
            &[id] => id,
            _ => {
                let at = self.lists.len() as u32;
                self.lists.push(ids.len() as u32);
                self.lists.extend_from_slice(ids);
                at | LIST
            }
        }
    }

    #[inline]
    pub(super) fn at(&self, state: u32) -> LinMaxState {
        self.states[state as usize]
    }

    /// Prefetch a state.
    #[inline]
    pub(super) fn prefetch(&self, state: u32) {
        prefetch_read(&self.states[state as usize]);
    }

    /// Return the state after `byte`.
    #[inline]
    pub(super) fn child(&self, state: u32, byte: u8) -> Option<u32> {
        let next = self.at(state).child(byte);
        self.at(next).is_child_of(state).then_some(next)
    }

    /// Return the failure pops of a state, as token ids, and its failure link.
    #[inline]
    pub(super) fn failure(&self, state: u32) -> (&[u32], Option<u32>) {
        self.failure_at(&self.states[state as usize])
    }

    #[inline]
    pub(super) fn failure_at<'s>(
        &'s self,
        LinMaxState { link, pops, .. }: &'s LinMaxState,
    ) -> (&'s [u32], Option<u32>) {
        let ids = match *pops {
            NONE => &[],
            list if list & LIST != 0 => {
                let at = (list & !LIST) as usize;
                &self.lists[at + 1..][..self.lists[at] as usize]
            }
            _ => std::slice::from_ref(pops),
        };
        (ids, Some(*link).filter(|&link| link != NONE))
    }

    /// Emit the ids of the greedy longest match of a word. Return `false` at a dead end, after the ids before it.
    #[inline(always)]
    pub(super) fn match_word(&self, word: &[u8], mut emit: impl FnMut(u32)) -> bool {
        let (mut state, mut current) = (START, self.at(START));
        let mut fail = |current: LinMaxState| match current.pops < LIST {
            true => {
                emit(current.pops);
                (current.link != NONE).then_some(current.link)
            }
            false => {
                let (pops, link) = self.failure_at(&current);
                pops.iter().for_each(|&id| emit(id));
                link
            }
        };
        for &byte in word {
            loop {
                let next = current.child(byte);
                let read = self.at(next);
                if read.is_child_of(state) {
                    (state, current) = (next, read);
                    break;
                }
                let Some(link) = fail(current) else { return false };
                (state, current) = (link, self.at(link));
            }
        }
        while state != INSIDE {
            let Some(link) = fail(current) else { return false };
            (state, current) = (link, self.at(link));
        }
        true
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.states.as_slice()) + size_of_val(self.lists.as_slice())
    }
}

#[derive(Clone, Copy, Debug)]
struct Failure {
    link: u32,
    first_pop: u32,
    pops: u32,
}

/// The links and pops of all states while they are computed.
struct FailureBuilder {
    of_state: Vec<Failure>,
    ids: Vec<u32>,
}

impl FailureBuilder {
    fn compute(trie: &Trie, order: &[TrieStep]) -> Result<Self, Error> {
        let none = Failure { link: NONE, first_pop: 0, pops: 0 };
        let mut failures = Self { of_state: vec![none; trie.slots()], ids: Vec::new() };
        let most_pops = 1_000_000 + 64 * order.len();
        for step in order {
            interrupt::check(1);
            failures.of_state[step.state as usize] = failures.failure_of(trie, *step);
            if failures.ids.len() > most_pops {
                let found = "entries whose failure pops are beyond all bounds";
                let expected = "fewer long entries that overlap";
                return Err(Error::new(ErrorKind::Vocabulary, "model.vocab", found, expected));
            }
        }
        Ok(failures)
    }

    fn failure_of(&mut self, trie: &Trie, step: TrieStep) -> Failure {
        let first_pop = self.ids.len() as u32;
        if let Some(id) = trie.entry(step.state) {
            self.ids.push(id);
            return Failure { link: INSIDE, first_pop, pops: 1 };
        }
        let mut link = self.append_pops_of(step.parent);
        while link != NONE {
            if let Some(next) = trie.child(link, step.byte) {
                link = next;
                break;
            }
            link = self.append_pops_of(link);
        }
        Failure { link, first_pop, pops: self.ids.len() as u32 - first_pop }
    }

    /// Append the pops of a state to the list; return its link.
    fn append_pops_of(&mut self, state: u32) -> u32 {
        let failure = self.of_state[state as usize];
        let first = failure.first_pop as usize;
        self.ids.extend_from_within(first..first + failure.pops as usize);
        failure.link
    }
}
