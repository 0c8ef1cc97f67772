//! Ids aligned with the words of a text: each id covers a known number of bytes of its word.

use piecework_unicode::char_count;
use std::iter::Zip;
use std::slice::{Iter, IterMut};

use super::super::stages::{AddedSpaces, Stages, WordNumber, CONTINUING, FIRST, LENGTH};
use crate::encoding::Token;
use crate::model::TokenSpan;
use crate::stages::postprocess::EdgeSpaces;

/// The spans and words of the ids of an input, one item for each id, and the spaces of added tokens.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct AlignedIds {
    /// The first character and the one after the last.
    offsets: Vec<[u32; 2]>,
    /// The number of the word.
    words: Vec<u32>,
    /// The position of each added token, and the index of its spaces.
    spaces: Vec<(usize, u32)>,
}

impl AlignedIds {
    /// Return the tokens of the ids that were aligned last.
    pub(super) fn tokens(&self, ids: &[u32], index: u32) -> Vec<Token> {
        let spans = ids.iter().zip(&self.offsets).zip(&self.words);
        let mut tokens: Vec<Token> =
            spans.map(|((&id, &chars), &word)| Token::of_word(id, chars, word, index)).collect();
        self.spaces.iter().for_each(|&(at, spaces)| tokens[at].spaces = spaces);
        tokens
    }

    /// Return the spans and the words of the ids that were aligned last.
    pub(super) fn columns(&self) -> (&[[u32; 2]], &[u32]) {
        (&self.offsets, &self.words)
    }
}

/// The ids that are not aligned yet, with the slots of their spans and words.
type Remaining<'l> = Zip<Iter<'l, u32>, Zip<IterMut<'l, [u32; 2]>, IterMut<'l, u32>>>;

/// Aligns ids with the words that they were made from.
pub(super) struct Aligner<'l> {
    lengths: &'l [u16],
    ids: &'l [u32],
    aligned: &'l mut AlignedIds,
    /// The number of ids that are aligned.
    done: usize,
    number: WordNumber,
    /// The characters before a byte of the text, minus the byte.
    shift: u32,
    /// The end of the last added token in the text.
    added_end: usize,
}

impl<'l> Aligner<'l> {
    pub(super) fn new(lengths: &'l [u16], ids: &'l [u32], aligned: &'l mut AlignedIds) -> Self {
        aligned.offsets.resize(ids.len(), [0; 2]);
        aligned.words.resize(ids.len(), 0);
        aligned.spaces.clear();
        Self { lengths, ids, aligned, done: 0, number: WordNumber::Next(0), shift: 0, added_end: 0 }
    }

    pub(super) fn begin_text(&mut self, number: WordNumber) {
        (self.number, self.shift, self.added_end) = (number, 0, 0);
    }

    pub(super) fn is_done(&self) -> bool {
        self.done == self.ids.len()
    }

    /// Return the characters before a byte of the text; all text before it is passed or ASCII.
    #[inline]
    pub(super) fn char_at(&self, byte: usize) -> u32 {
        (byte as u32).wrapping_add(self.shift)
    }

    /// Pass text, given by its bytes and its characters.
    #[inline]
    pub(super) fn pass(&mut self, bytes: usize, chars: u32) {
        self.shift = self.shift.wrapping_add(chars).wrapping_sub(bytes as u32);
    }

    /// Pass text.
    #[inline]
    pub(super) fn pass_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.pass(text.len(), char_count(text.as_bytes()));
        }
    }

    /// Align words of ASCII, whose bytes in the text `span_of` returns. Stop at the first other word, or the first whose
    /// ids do not say how they cover it, and return it.
    #[inline]
    pub(super) fn ascii_words<W: Copy>(
        &mut self,
        mut words: impl Iterator<Item = W>,
        span_of: impl Fn(W) -> Option<(usize, usize)>,
    ) -> Option<W> {
        let (shift, lengths, mut number) = (self.shift, self.lengths, self.number);
        let mut remaining = self.remaining();
        let mut count = remaining.len();
        let other = words.find(|&word| {
            let Some((start, end)) = span_of(word) else { return true };
            let first = (start as u32).wrapping_add(shift);
            let chars_of = |from: usize, to: usize| [first + from as u32, first + to as u32];
            let mut next = number;
            let is_aligned = align_word(&mut remaining, lengths, end - start, next.take(), chars_of);
            if is_aligned {
                (count, number) = (remaining.len(), next);
            }
            !is_aligned
        });
        (self.done, self.number) = (self.ids.len() - count, number);
        other
    }

    /// Align a word, given by its number of bytes. Return `false` and do nothing if the ids do not say how they cover it.
    #[inline]
    pub(super) fn word(&mut self, bytes: usize, chars_of: impl FnMut(usize, usize) -> [u32; 2]) -> bool {
        let (lengths, mut number) = (self.lengths, self.number);
        let mut remaining = self.remaining();
        let is_aligned = align_word(&mut remaining, lengths, bytes, number.take(), chars_of);
        let count = remaining.len();
        if is_aligned {
            (self.done, self.number) = (self.ids.len() - count, number);
        }
        is_aligned
    }

    /// Align a word by its tokens; return `false` if the ids are others.
    pub(super) fn tokens(
        &mut self,
        tokens: &[TokenSpan],
        chars_of: impl Fn(usize, usize) -> [u32; 2],
    ) -> bool {
        let number = self.number.take();
        tokens
            .iter()
            .all(|token| self.push(token.id, chars_of(token.start as usize, token.end as usize), number))
    }

    /// Align the id of an added token, found at a byte of the text. Return `false` if it is not the next id, or if the
    /// token is within whitespace that the token before it includes: then text would be passed twice.
    pub(super) fn added_token(
        &mut self,
        stages: &Stages,
        id: u32,
        found: &str,
        at: usize,
        added_spaces: &mut AddedSpaces,
    ) -> bool {
        if at < self.added_end {
            return false;
        }
        self.added_end = at + found.len();
        let (word, first) = (self.number.take(), self.char_at(at));
        if stages.trims {
            self.aligned.spaces.push((self.done, added_spaces.len() as u32));
            added_spaces.push(EdgeSpaces::of(found));
        }
        self.pass_text(found);
        self.push(id, [first, self.char_at(self.added_end)], word)
    }

    /// Set the span and word of an id; return `false` if it is not the next one.
    fn push(&mut self, id: u32, offsets: [u32; 2], number: u32) -> bool {
        let is_next = self.ids.get(self.done) == Some(&id);
        if is_next {
            (self.aligned.offsets[self.done], self.aligned.words[self.done]) = (offsets, number);
            self.done += 1;
        }
        is_next
    }

    /// Return the ids that are not aligned yet, with the slots of their spans and words.
    fn remaining(&mut self) -> Remaining<'_> {
        let AlignedIds { offsets, words, .. } = &mut *self.aligned;
        let slots = offsets[self.done..].iter_mut().zip(&mut words[self.done..]);
        self.ids[self.done..].iter().zip(slots)
    }
}

/// Align a word, given by its number of bytes; return `false` if the ids do not say how they cover it.
#[inline(always)]
fn align_word(
    remaining: &mut Remaining<'_>,
    lengths: &[u16],
    bytes: usize,
    number: u32,
    mut chars_of: impl FnMut(usize, usize) -> [u32; 2],
) -> bool {
    let (mut at, mut place) = (0, FIRST);
    while at < bytes {
        let Some((&id, (chars, word))) = remaining.next() else { return false };
        let length = lengths.get(id as usize).map_or(0, |&length| length);
        let end = at + usize::from(length & LENGTH);
        if length & place == 0 || end > bytes {
            return false;
        }
        (*chars, *word) = (chars_of(at, end), number);
        (at, place) = (end, CONTINUING);
    }
    true
}
