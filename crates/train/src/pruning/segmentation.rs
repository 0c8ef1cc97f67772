//! Segmentation of a word by the candidates that are in the vocabulary, or by a vocabulary that differs from it in an entry
//! or two: longest match, or the fewest tokens.

use super::candidates::Candidates;
use crate::substrings::{DistinctWord, NONE};
use piecework_core::spec::Segmentation;

/// The longest word that pruning segments, in characters: the default of `max_input_chars_per_word`.
pub(crate) const MAX_WORD_CHARS: usize = 100;

/// Segments words by the candidates that are in the vocabulary, or by a vocabulary that differs a little.
pub(super) struct CandidateSegmenter<'a> {
    pub(super) candidates: &'a Candidates,
    pub(super) segmentation: Segmentation,
    pub(super) present: PresentCandidates<'a>,
}

/// By offset in a word: the fewest tokens from there, and the first of them.
pub(super) struct FewestScratch(Vec<(u32, u32)>);

impl Default for FewestScratch {
    fn default() -> Self {
        Self(vec![(0, NONE); MAX_WORD_CHARS + 1])
    }
}

impl<'a> CandidateSegmenter<'a> {
    /// Start with all candidates.
    pub(super) fn new(candidates: &'a Candidates, segmentation: Segmentation) -> Self {
        Self { candidates, segmentation, present: PresentCandidates::new(candidates) }
    }

    /// Write the tokens of a word.
    pub(super) fn segment(
        &self,
        word: &DistinctWord,
        change: &VocabularyChange,
        fewest: &mut FewestScratch,
        tokens: &mut Vec<u32>,
    ) {
        tokens.clear();
        self.segment_from(word, word.start, change, fewest, tokens);
    }

    /// Append the tokens from a position on.
    ///
    /// From the start of a token on, the segmentation of a whole word is that of its rest.
    pub(super) fn segment_from(
        &self,
        word: &DistinctWord,
        from: u32,
        change: &VocabularyChange,
        fewest: &mut FewestScratch,
        tokens: &mut Vec<u32>,
    ) {
        match self.segmentation {
            Segmentation::Greedy => self.longest_matches(word, from, change, tokens),
            Segmentation::Shortest => self.fewest_tokens(word, from, change, fewest, tokens),
        }
    }

    fn longest_matches(
        &self,
        word: &DistinctWord,
        from: u32,
        change: &VocabularyChange,
        tokens: &mut Vec<u32>,
    ) {
        let mut position = from;
        while position < word.end {
            let (longest, skipped) = self.first_match(word, position);
            let token = self.present.longest_match(longest, change);
            tokens.push(token);
            position += self.candidates.chars(token) + skipped;
        }
    }

    /// Segment into the fewest tokens; among equal segmentations, choose the longer first token, then the longer second
    /// token.
    fn fewest_tokens(
        &self,
        word: &DistinctWord,
        from: u32,
        change: &VocabularyChange,
        FewestScratch(fewest): &mut FewestScratch,
        tokens: &mut Vec<u32>,
    ) {
        fewest[(word.end - word.start) as usize] = (0, NONE);
        for position in (from..word.end).rev() {
            let mut best = (u32::MAX, NONE);
            self.visit_matches(word, position, change, |candidate, end| {
                let count = fewest[(end - word.start) as usize].0.saturating_add(1);
                if count < best.0 {
                    best = (count, candidate);
                }
            });
            fewest[(position - word.start) as usize] = best;
        }
        let mut position = from;
        while position < word.end {
            let candidate = fewest[(position - word.start) as usize].1;
            tokens.push(candidate);
            position += self.length_at(word, position, candidate);
        }
    }

    /// Visit the tokens that match at a position, the longest first, with the position of their end.
    fn visit_matches(
        &self,
        word: &DistinctWord,
        position: u32,
        change: &VocabularyChange,
        mut visit: impl FnMut(u32, u32),
    ) {
        let chars = |candidate| self.candidates.chars(candidate);
        let (longest, skipped) = self.first_match(word, position);
        self.present.visit_matches(longest, change, |token| {
            visit(token, position + skipped + chars(token));
        });
        if skipped > 0 {
            let longest = self.candidates.longest_at(word.head);
            self.present.visit_matches(longest, change, |token| visit(token, position + chars(token)));
        }
    }

    /// Return the longest candidate that matches at a position, and the length of the prefix that it matches too.
    #[inline]
    fn first_match(&self, word: &DistinctWord, position: u32) -> (u32, u32) {
        if position == word.start && word.begins_with_prefix {
            let prefix_chars = self.candidates.index.text.prefix_chars;
            return (self.candidates.longest_at(position + prefix_chars), prefix_chars);
        }
        (self.candidates.longest_at(position), 0)
    }

    /// Return the number of characters of the word that a token at a position covers.
    #[inline]
    pub(super) fn length_at(&self, word: &DistinctWord, position: u32, candidate: u32) -> u32 {
        let chars = self.candidates.chars(candidate);
        let is_after_prefix =
            position == word.start && word.begins_with_prefix && !self.candidates.is_initial(candidate);
        if is_after_prefix {
            chars + self.candidates.index.text.prefix_chars
        } else {
            chars
        }
    }
}

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

    /// Return this change without `candidate`, which is present or added by it.
    #[inline]
    pub(super) fn and_removing(self, candidate: u32) -> Self {
        if candidate == self.added {
            Self::NONE
        } else {
            Self { removed: candidate, ..self }
        }
    }

    /// Return whether the added candidate matches where `longest` is the longest candidate.
    #[inline]
    fn adds_at(&self, longest: u32) -> bool {
        longest.wrapping_sub(self.added) < self.added_span
    }
}
