//! The candidates that are in the vocabulary, and vocabularies that differ from it in an entry or two.

use super::candidates::Candidates;
use crate::substrings::NONE;

/// Which candidates are in the vocabulary.
pub(super) struct PresentCandidates<'a> {
    candidates: &'a Candidates,
    present: Vec<bool>,
    /// By candidate: itself or its closest ancestor, whichever is present.
    nearest: Vec<u32>,
}

impl<'a> PresentCandidates<'a> {
    /// Start with all candidates.
    pub(super) fn new(candidates: &'a Candidates) -> Self {
        let size = candidates.len();
        Self { candidates, present: vec![true; size], nearest: (0..size as u32).collect() }
    }

    #[inline]
    pub(super) fn contains(&self, candidate: u32) -> bool {
        self.present[candidate as usize]
    }

    pub(super) fn insert(&mut self, candidate: u32) {
        let chars = self.candidates.chars(candidate);
        self.present[candidate as usize] = true;
        for below in self.candidates.descendants(candidate) {
            let nearest = &mut self.nearest[below as usize];
            if *nearest == NONE || self.candidates.chars(*nearest) < chars {
                *nearest = candidate;
            }
        }
    }

    pub(super) fn remove(&mut self, candidate: u32) {
        let above = self.above(candidate);
        self.present[candidate as usize] = false;
        for below in self.candidates.descendants(candidate) {
            let nearest = &mut self.nearest[below as usize];
            if *nearest == candidate {
                *nearest = above;
            }
        }
    }

    /// Return the closest ancestor that is present.
    #[inline]
    fn above(&self, candidate: u32) -> u32 {
        match self.candidates.parent(candidate) {
            NONE => NONE,
            parent => self.nearest[parent as usize],
        }
    }

    /// Return the longest match of a changed vocabulary at a position where `longest` is the longest candidate.
    ///
    /// There is one, because single characters are always present.
    #[inline]
    pub(super) fn longest_match(&self, longest: u32, change: &VocabularyChange) -> u32 {
        let mut token = self.nearest[longest as usize];
        if token == change.removed {
            token = self.above(token);
        }
        if change.adds_at(longest) && self.candidates.chars(token) < change.added_chars {
            token = change.added;
        }
        token
    }

    /// Visit all matches of a changed vocabulary at such a position, the longest first.
    pub(super) fn visit_matches(
        &self,
        longest: u32,
        change: &VocabularyChange,
        mut visit: impl FnMut(u32),
    ) {
        if longest == NONE {
            return;
        }
        let mut added = change.adds_at(longest).then_some(change.added);
        let mut token = self.nearest[longest as usize];
        while token != NONE {
            if let Some(added) = added.take_if(|_| self.candidates.chars(token) < change.added_chars) {
                visit(added);
            }
            if token != change.removed {
                visit(token);
            }
            token = self.above(token);
        }
        added.into_iter().for_each(visit);
    }
}

/// A change of the vocabulary: an absent candidate that is added, a present one that is removed, or both.
#[derive(Clone, Copy)]
pub(super) struct VocabularyChange {
    added: u32,
    added_chars: u32,
    /// The number of descendants of the added candidate, itself included.
    added_span: u32,
    removed: u32,
}

impl VocabularyChange {
    /// No change.
    pub(super) const NONE: Self = Self { added: NONE, added_chars: 0, added_span: 0, removed: NONE };

    pub(super) fn adding(candidate: u32, candidates: &Candidates) -> Self {
        let added_span = candidates.descendants(candidate).len() as u32;
        Self { added: candidate, added_chars: candidates.chars(candidate), added_span, removed: NONE }
    }

    /// This change without `candidate`, which is present or added by it.
    #[inline]
    pub(super) fn and_removing(self, candidate: u32) -> Self {
        if candidate == self.added {
            Self::NONE
        } else {
            Self { removed: candidate, ..self }
        }
    }

    /// Whether the added candidate matches where `longest` is the longest candidate.
    #[inline]
    fn adds_at(&self, longest: u32) -> bool {
        longest.wrapping_sub(self.added) < self.added_span
    }
}
