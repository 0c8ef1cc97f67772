//! Segmentation of a word by a part of the candidates: longest match, or the fewest tokens.

use super::candidates::{Candidates, NONE};
use super::word_text::{DistinctWord, MAX_WORD_CHARS};
use crate::spec::Segmentation;

/// Segments words by the candidates that are in the vocabulary.
pub(super) struct Segmenter<'a> {
    pub(super) candidates: &'a Candidates,
    pub(super) segmentation: Segmentation,
    /// By candidate: whether it is in the vocabulary.
    pub(super) present: Vec<bool>,
    /// By offset in a word: the fewest tokens from there, and the first of them.
    fewest: Vec<(u32, u32)>,
}

impl<'a> Segmenter<'a> {
    /// Start with all candidates.
    pub(super) fn new(candidates: &'a Candidates, segmentation: Segmentation) -> Self {
        let present = vec![true; candidates.len()];
        Self { candidates, segmentation, present, fewest: vec![(0, NONE); MAX_WORD_CHARS + 1] }
    }

    /// Write the tokens of a word, `excluded` being absent.
    pub(super) fn segment(&mut self, word: &DistinctWord, excluded: u32, tokens: &mut Vec<u32>) {
        tokens.clear();
        self.segment_from(word, word.start, excluded, tokens);
    }

    /// Append the tokens from a position on.
    ///
    /// From the start of a token on, the segmentation of a whole word is that of its rest.
    pub(super) fn segment_from(
        &mut self,
        word: &DistinctWord,
        from: u32,
        excluded: u32,
        tokens: &mut Vec<u32>,
    ) {
        match self.segmentation {
            Segmentation::Greedy => self.longest_matches(word, from, excluded, tokens),
            Segmentation::Shortest => self.fewest_tokens(word, from, excluded, tokens),
        }
    }

    fn longest_matches(&self, word: &DistinctWord, from: u32, excluded: u32, tokens: &mut Vec<u32>) {
        let mut position = from;
        while position < word.end {
            let (mut candidate, skipped) = self.first_choices(word, position);
            while !self.is_present(candidate, excluded) {
                candidate = self.candidates.parent(candidate);
            }
            tokens.push(candidate);
            position += self.candidates.chars(candidate) + skipped;
        }
    }

    /// Of equal segmentations, the one with the longer first token, then the longer second token.
    fn fewest_tokens(&mut self, word: &DistinctWord, from: u32, excluded: u32, tokens: &mut Vec<u32>) {
        self.fewest[(word.end - word.start) as usize] = (0, NONE);
        for position in (from..word.end).rev() {
            let mut best = (u32::MAX, NONE);
            self.visit_matches(word, position, excluded, |candidate, end| {
                let count = self.fewest[(end - word.start) as usize].0.saturating_add(1);
                if count < best.0 {
                    best = (count, candidate);
                }
            });
            self.fewest[(position - word.start) as usize] = best;
        }
        let mut position = from;
        while position < word.end {
            let candidate = self.fewest[(position - word.start) as usize].1;
            tokens.push(candidate);
            position += self.length_at(word, position, candidate);
        }
    }

    /// Visit the candidates that match at a position, the longest first, with the position of their end.
    fn visit_matches(
        &self,
        word: &DistinctWord,
        position: u32,
        excluded: u32,
        mut visit: impl FnMut(u32, u32),
    ) {
        let (mut candidate, skipped) = self.first_choices(word, position);
        while candidate != NONE {
            if self.is_present(candidate, excluded) {
                visit(candidate, position + skipped + self.candidates.chars(candidate));
            }
            candidate = self.candidates.parent(candidate);
        }
        if skipped == 0 {
            return;
        }
        candidate = self.candidates.longest_at(word.head);
        while candidate != NONE {
            if self.is_present(candidate, excluded) {
                visit(candidate, position + self.candidates.chars(candidate));
            }
            candidate = self.candidates.parent(candidate);
        }
    }

    /// The longest candidate that matches at a position, and the length of the prefix that it matches too.
    #[inline]
    fn first_choices(&self, word: &DistinctWord, position: u32) -> (u32, u32) {
        if position == word.start && word.begins_with_prefix() {
            let prefix_chars = self.candidates.text.prefix_chars;
            return (self.candidates.longest_at(position + prefix_chars), prefix_chars);
        }
        (self.candidates.longest_at(position), 0)
    }

    #[inline]
    fn is_present(&self, candidate: u32, excluded: u32) -> bool {
        self.present[candidate as usize] && candidate != excluded
    }

    /// The number of characters of the word that a token at a position covers.
    #[inline]
    pub(super) fn length_at(&self, word: &DistinctWord, position: u32, candidate: u32) -> u32 {
        let chars = self.candidates.chars(candidate);
        if position == word.start && word.begins_with_prefix() {
            let first = self.candidates.substrings[candidate as usize].first;
            if !self.candidates.starts.is_initial(first) {
                return chars + self.candidates.text.prefix_chars;
            }
        }
        chars
    }
}
