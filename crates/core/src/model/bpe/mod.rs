//! BPE: characters joined pair by pair, the pair of the lowest rank first, the leftmost of equals.
//!
//! alphabet  characters and their bytes to entries
//! pairs     two entries to the rank of their merge
//! bytes     the same for words spelled by their bytes, and the merges of all but very long ones
//! short     the merges of a short word, by looking for the best pair again and again
//! whole     words that are entries, told by their bytes
//! long      the merges of any word, by a heap: O(n log n)
//! sweeps    the same rank by rank, without a heap, where merges are in order
//! dropout   the merges of a word when some are left out at random
//! order     the pairs that dropout chooses from
//!
//! Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

mod alphabet;
mod bytes;
mod dropout;
mod long;
mod order;
mod pairs;
mod short;
mod sweeps;
mod whole;

use self::alphabet::Alphabet;
use self::bytes::{ByteMerges, Row};
use self::long::Links;
use self::order::Order;
use self::pairs::{Pairs, NO_RANK};
use self::sweeps::Places;
use self::whole::WholeWords;
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
    /// Where every byte has an entry.
    bytes: Option<Box<ByteMerges>>,
    /// A word that is an entry is that entry.
    whole_words: Option<WholeWords>,
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
    order: Order,
    row: Box<Row>,
    places: Places,
}

impl Bpe {
    /// Look up all merges; each must join two entries to an entry.
    pub fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        check_dropout(spec.dropout)?;
        let pairs = Pairs::compile(spec, vocab)?;
        Ok(Self {
            alphabet: Alphabet::compile(spec, vocab)?,
            bytes: ByteMerges::compile(spec, vocab, &pairs).map(Box::new),
            pairs,
            whole_words: spec.ignore_merges.then(|| WholeWords::collect(vocab)),
        })
    }

    /// The memory of the merges.
    pub(super) fn derived_bytes(&self) -> usize {
        self.pairs.bytes()
    }

    /// Segment one non-empty word; at random where the scratch has draws.
    ///
    /// A drawn segmentation begins with characters even where whole words need no merges, as in
    /// `tokenizers`.
    pub fn run(&self, word: &str, vocab: &Vocab, scratch: &mut ModelScratch, out: &mut impl PieceSink) {
        let ModelScratch { symbols: Symbols { list, links, order, places, .. }, draws, .. } = scratch;
        if self.whole_words.is_some() && draws.is_none() {
            if let Some(id) = vocab.id_of(word) {
                return out.push(Piece { id, start: 0, end: word.len() as u32 });
            }
        }
        self.alphabet.spell(word, list);
        self.rank_all(list);
        match draws {
            Some(draws) => dropout::join(list, &self.pairs, links, order, draws),
            None => self.join(list, links, places),
        }
        for &Symbol { id, start, end, .. } in list.iter() {
            out.push(Piece { id, start, end });
        }
    }

    /// Segment one non-empty word given as bytes that the entries spell by printable characters, as `run`
    /// would with those and without draws; says whether it can.
    pub fn run_bytes(
        &self,
        word: &[u8],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) -> bool {
        let Some(bytes) = &self.bytes else { return false };
        let ModelScratch { symbols: Symbols { list, links, row, places, .. }, spelled, .. } = scratch;
        if let Some(id) = self.whole_words.as_ref().and_then(|words| words.id_of(word, vocab, spelled)) {
            out.push(id);
            return true;
        }
        if word.len() <= bytes::MOST {
            bytes.join(word, &self.pairs, row, out);
        } else {
            bytes.spell(word, list);
            self.join_long(list, links, places);
            out.extend(list.iter().map(|symbol| symbol.id));
        }
        true
    }

    /// Apply all merges.
    fn join(&self, symbols: &mut Vec<Symbol>, links: &mut Links, places: &mut Places) {
        if symbols.len() <= SHORT && !self.pairs.may_repeat() {
            short::join(symbols, &self.pairs);
        } else {
            self.join_long(symbols, links, places);
        }
    }

    fn join_long(&self, symbols: &mut Vec<Symbol>, links: &mut Links, places: &mut Places) {
        if self.pairs.are_in_order() {
            sweeps::join(symbols, &self.pairs, links, places);
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

fn check_dropout(dropout: Option<f64>) -> Result<(), Error> {
    match dropout {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(Error::new(ErrorKind::Format, "model.dropout", share.to_string(), "a number from 0 to 1"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
