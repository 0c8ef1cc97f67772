//! BPE: characters joined pair by pair, the pair of the lowest rank first, the leftmost of equals.
//!
//! alphabet  characters and their bytes to entries
//! pairs     two entries to the rank of their merge
//! short     the merges of a short word, by looking for the best pair again and again
//! long      the merges of any word, by a heap: O(n log n)
//!
//! Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

mod alphabet;
mod long;
mod pairs;
mod short;

use self::alphabet::Alphabet;
use self::long::Links;
use self::pairs::{Pairs, NO_RANK};
use super::{ModelScratch, Piece, PieceSink};
use crate::error::{Error, ErrorKind};
use crate::spec::BpeSpec;
use crate::vocab::Vocab;

/// Up to so many symbols are scanned for the best pair; beyond, a heap is faster.
const SHORT: usize = 24;

/// The compiled BPE model.
#[derive(Clone, Debug)]
pub struct Bpe {
    alphabet: Alphabet,
    pairs: Pairs,
    /// A word that is an entry is that entry.
    whole_words: bool,
    /// Every merge is left out.
    drops_all: bool,
}

/// A part of the word that is an entry, on its way to being joined.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    id: u32,
    /// Rank of the merge with the next symbol, `NO_RANK` if there is none.
    rank: u32,
    /// Byte span of the word.
    start: u32,
    end: u32,
}

impl Symbol {
    /// Become the join of this symbol and its right neighbour.
    fn join(&mut self, right: Self, id: u32) {
        self.id = id;
        self.start = self.start.min(right.start);
        self.end = self.end.max(right.end);
    }
}

/// Memory for the symbols of one word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    list: Vec<Symbol>,
    links: Links,
}

impl Bpe {
    /// Look up all merges; each must join two entries to an entry.
    pub fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        Ok(Self {
            alphabet: Alphabet::compile(spec, vocab)?,
            pairs: Pairs::compile(spec, vocab)?,
            drops_all: drops_all(spec.dropout)?,
            whole_words: spec.ignore_merges,
        })
    }

    /// Segment one non-empty word.
    pub fn run(&self, word: &str, vocab: &Vocab, scratch: &mut ModelScratch, out: &mut impl PieceSink) {
        if self.whole_words && !self.drops_all {
            if let Some(id) = vocab.id_of(word) {
                return out.push(Piece { id, start: 0, end: word.len() as u32 });
            }
        }
        let Symbols { list, links } = &mut scratch.symbols;
        self.alphabet.spell(word, list);
        if !self.drops_all {
            self.join(list, links);
        }
        for &Symbol { id, start, end, .. } in list.iter() {
            out.push(Piece { id, start, end });
        }
    }

    /// Apply all merges.
    fn join(&self, symbols: &mut Vec<Symbol>, links: &mut Links) {
        self.rank_all(symbols);
        if symbols.len() <= SHORT && !self.pairs.may_repeat() {
            short::join(symbols, &self.pairs);
        } else {
            long::join(symbols, &self.pairs, links);
        }
    }

    fn rank_all(&self, symbols: &mut [Symbol]) {
        for i in 1..symbols.len() {
            symbols[i - 1].rank = self.pairs.rank(symbols[i - 1].id, symbols[i].id);
        }
    }
}

/// Whether a dropout leaves out every merge. A smaller share is for training: here it leaves out none.
fn drops_all(dropout: Option<f64>) -> Result<bool, Error> {
    match dropout {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(Error::new(ErrorKind::Format, "model.dropout", share.to_string(), "a number from 0 to 1"))
        }
        share => Ok(share == Some(1.0)),
    }
}

#[cfg(test)]
mod tests;
