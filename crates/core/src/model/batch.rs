//! Segmentation of many words, of byte-level words, and of parts of words.

use super::{BatchWord, ByteAdjacency, Model, ModelScratch, TokenSink};
use crate::text::printable_of;
use crate::vocab::Vocab;

impl Model {
    /// Return whether a word of this many bytes can be segmented part by part with [`Model::run_part`].
    pub fn supports_parts(&self, word_bytes: usize) -> bool {
        match self {
            Self::Unigram(model) => model.supports_parts(word_bytes),
            _ => true,
        }
    }

    /// Segment a part of a word that does not begin the word and whose boundaries no token crosses. Return whether
    /// the ids are the same in every word; if not, the word must be segmented as a whole.
    pub fn run_part(
        &self,
        part: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut impl TokenSink,
    ) -> bool {
        match self {
            Self::Unigram(model) => model.run_part(part, vocab, &mut scratch.unigram, out),
            _ => {
                self.run(part, vocab, scratch, out);
                true
            }
        }
    }

    /// Segment words of `bytes`, which do not overlap, and set the span of the ids of each. Words without bytes keep
    /// their span.
    pub fn run_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        ids: &mut Vec<u32>,
    ) {
        if let Self::WordPiece(model) = self {
            if model.run_batch(bytes, words, vocab, ids) {
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

    /// Segment one non-empty word with a byte-level vocabulary, whose tokens contain printable characters instead of
    /// bytes.
    pub fn run_byte_level(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes(word.as_bytes(), &mut scratch.bpe, out) {
                return;
            }
        }
        let mut printable = std::mem::take(&mut scratch.printable);
        printable.clear();
        printable.extend(word.bytes().map(printable_of));
        self.run(&printable, vocab, scratch, out);
        scratch.printable = printable;
    }

    /// Return where byte-level words can be split before segmentation, if the model has such positions.
    #[must_use]
    pub fn byte_adjacency(&self) -> Option<&ByteAdjacency> {
        match self {
            Self::Bpe(model) => model.byte_adjacency(),
            _ => None,
        }
    }

    /// Segment byte-level words of `bytes` like `run_byte_level`, several at a time, and set the span of the ids of each.
    pub fn run_byte_level_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        ids: &mut Vec<u32>,
    ) {
        if let (Self::Bpe(model), None) = (self, &scratch.rng) {
            if model.run_bytes_batch(bytes, words, &mut scratch.bpe, ids) {
                return;
            }
        }
        for word in words {
            let start = ids.len();
            if let Ok(text) = std::str::from_utf8(&bytes[word.bytes.0..word.bytes.1]) {
                self.run_byte_level(text, vocab, scratch, ids);
            }
            word.ids = (start, ids.len());
        }
    }
}
