//! Failure links and failure pops of LinMaxMatch (Song et al. 2021, section 3.2, algorithm 2).
//!
//! When the greedy match is stuck at a state, the pops are the entries it commits to and the link is the
//! state of what is left over. Without a link the match is at a dead end; the pops are then those
//! before it, which `unk="char"` needs. Built once, breadth first.

use super::INSIDE;
use crate::error::{Error, ErrorKind};
use crate::model::trie::{Step, Trie};

const NONE: u32 = u32::MAX;

/// An entry that the greedy match commits to, with its length in the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pop {
    pub(super) id: u32,
    pub(super) byte_len: u32,
}

#[derive(Clone, Copy, Debug)]
struct Failure {
    link: u32,
    first_pop: u32,
    pops: u32,
}

/// The link and pops of every state.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    of_state: Vec<Failure>,
    pops: Vec<Pop>,
}

impl Failures {
    /// Compute all links; an adversarial vocabulary whose pops would not fit in memory is an error.
    pub(super) fn compute(trie: &Trie, order: &[Step]) -> Result<Self, Error> {
        let none = Failure { link: NONE, first_pop: 0, pops: 0 };
        let mut failures = Self { of_state: vec![none; trie.slots()], pops: Vec::new() };
        let most_pops = 1_000_000 + 64 * order.len();
        for step in order {
            failures.of_state[step.state as usize] = failures.failure_of(trie, *step);
            if failures.pops.len() > most_pops {
                let found = "entries whose failure pops are beyond all bounds";
                let expected = "fewer long entries that overlap";
                return Err(Error::new(ErrorKind::Vocabulary, "vocab", found, expected));
            }
        }
        Ok(failures)
    }

    /// The pops of a state and the state after them.
    #[inline]
    pub(super) fn of(&self, state: u32) -> (&[Pop], Option<u32>) {
        let failure = self.of_state[state as usize];
        let pops = &self.pops[failure.first_pop as usize..][..failure.pops as usize];
        (pops, Some(failure.link).filter(|&link| link != NONE))
    }

    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.of_state.as_slice()) + size_of_val(self.pops.as_slice())
    }

    fn failure_of(&mut self, trie: &Trie, step: Step) -> Failure {
        let first_pop = self.pops.len() as u32;
        if let Some(id) = trie.entry(step.state) {
            self.pops.push(Pop { id, byte_len: step.depth });
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
        Failure { link, first_pop, pops: self.pops.len() as u32 - first_pop }
    }

    /// Copy the pops of a state to the end of the list; gives its link.
    fn append_pops_of(&mut self, state: u32) -> u32 {
        let failure = self.of_state[state as usize];
        let first = failure.first_pop as usize;
        self.pops.extend_from_within(first..first + failure.pops as usize);
        failure.link
    }
}
