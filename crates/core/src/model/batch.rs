//! Segmentation of many words, of byte-level words, and of parts of words.

use super::{ByteAdjacency, Model, ModelScratch, PieceSink};
use crate::text::printable_of;
use crate::vocab::Vocab;

/// A word among others that are segmented at once.
#[derive(Clone, Copy, Debug)]
pub struct BatchWord {
    /// Its bytes.
    pub bytes: (usize, usize),
    /// Where its ids are.
    pub ids: (usize, usize),
}

impl Model {
    /// Whether a word of this many bytes may be segmented part by part with [`Model::run_part`].
    pub fn supports_parts(&self, word_bytes: usize) -> bool {
        match self {
            Self::Unigram(model) => model.supports_parts(word_bytes),
            _ => true,
        }
    }

    /// Segment a part of a word that no entry crosses the byte_adjacency of and that does not begin the word. Returns whether
    /// the ids are the same in every word; if they are not, the word must be segmented as a whole.
    pub fn run_part(
        &self,
        part: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut impl PieceSink,
    ) -> bool {
        match self {
            Self::Unigram(model) => model.run_part(part, vocab, scratch, out),
            _ => {
                self.run(part, vocab, scratch, out);
                true
            }
        }
    }

    /// Segment words of `bytes`, which do not overlap; says of each where its ids are. Those without bytes stay
    /// as they are.
    pub fn run_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        ids: &mut Vec<u32>,
    ) {
        if let Self::WordPiece(model) = self {
            if model.run_batch(bytes, words, ids) {
                return;
            }
        }
        for word in words.iter_mut().filter(|word| word.bytes.0 < word.bytes.1) {
            let start = ids.len();
            if let Ok(text) = std::str::from_utf8(&bytes[word.bytes.0..word.bytes.1]) {
                self.run(text, vocab, scratch, ids);
            }
            word.ids = (start, ids.len());
        }
    }

    /// Segment one non-empty word whose bytes the entries spell by printable characters.
    pub fn run_byte_level(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes(word.as_bytes(), scratch, out) {
                return;
            }
        }
        let mut printable = std::mem::take(&mut scratch.printable);
        printable.clear();
        printable.extend(word.bytes().map(printable_of));
        self.run(&printable, vocab, scratch, out);
        scratch.printable = printable;
    }

    /// Where words that are printable by their bytes may be taken apart, if that is known.
    #[must_use]
    pub fn byte_adjacency(&self) -> Option<&ByteAdjacency> {
        match self {
            Self::Bpe(model) => model.byte_adjacency(),
            _ => None,
        }
    }

    /// Segment words of a text as `run_byte_level` does, some at a time; `ends` are where the ids of each end.
    pub fn run_byte_level_batch(
        &self,
        (text, spans): (&str, &[(usize, usize)]),
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
        ends: &mut Vec<usize>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes_batch((text, spans), scratch, out, ends) {
                return;
            }
        }
        for &(start, end) in spans {
            self.run_byte_level(&text[start..end], vocab, scratch, out);
            ends.push(out.len());
        }
    }
}
