//! BPE: merges adjacent symbols, the pair of the lowest rank first, the leftmost of equal ones.
//!
//! ```text
//! symbols          the tokens of a word while it is merged, and the lookup of their merges
//! initial_symbols  the first symbols of a word
//! merges           the token ids of all merges
//! first_words      words by rank, without the merges of ranks
//! tables           the tables of merges, and words by them
//! merge_ranks      pairs of tokens to the ranks of their merges
//! scored           merges by the scores of SentencePiece's pieces
//! backtracking     linear time, from left to right, for merges in order
//! char_level       words of characters, or of bytes, by backtracking
//! merge            merges of a short word, of any word, and of any word if merges are in order
//! scratch          the buffers of one word, and of its merges
//! dropout          BPE-dropout, and the order of pairs that it selects from
//! ```
//!
//! Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

mod backtracking;
mod char_level;
mod dropout;
mod first_words;
mod initial_symbols;
mod merge;
mod merge_ranks;
mod merges;
mod scored;
mod scratch;
mod symbols;
mod tables;

use self::merges::Merges;
pub use self::scored::ScoredBpe;
pub(crate) use self::scored::ScoredBpeScratch;
pub(super) use self::scratch::BpeScratch;
use self::tables::MergeTables;
use super::late_tables::LateTables;
use super::sampling::SamplingRng;
use super::{BatchWord, ByteAdjacency, TokenSink, TokenSpan};
use crate::error::{Error, ErrorKind};
use crate::spec::BpeSpec;
use crate::table_sections::{TableSections, RANKS};
use crate::vocab::Vocab;

/// The number of words, other than tokens, that are merged by lookups before the tables of ranks are built: a tenth of the
/// time that these take.
const LOOKUPS: u32 = 2048;
/// A longer word, in bytes, builds these tables.
const MAX_FIRST_WORD: usize = 256;
/// The longest text, in bytes, whose words are not split before segmentation while these tables are not built.
const MAX_FIRST_BYTES: usize = 1 << 16;

/// The compiled BPE model.
#[derive(Clone, Debug)]
pub struct Bpe {
    tables: LateTables<MergeTables>,
    unk_id: Option<u32>,
    /// Whether a word that is a token needs no merges.
    ignore_merges: bool,
    /// Whether the merges are those of the ids as ranks. Their tables are built late.
    is_ranked: bool,
}

impl Bpe {
    /// Look up all merges, each of which must merge two tokens to a token. Use the tables that `sections` contains, and the
    /// merges of ids as ranks if it says so.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab, sections: &TableSections) -> Result<Self, Error> {
        check_dropout(spec.dropout)?;
        if sections.has(RANKS) {
            return Ok(Self::ranked(spec, sections));
        }
        let merges = Merges::compile(spec, vocab, sections)?;
        let unk = spec.unk_token.as_ref().map(|token| vocab.require(token, "model.unk_token"));
        let unk_id = unk.transpose()?;
        let tables = MergeTables::build(spec, vocab, (merges, unk_id), sections);
        Ok(Self {
            tables: LateTables::built(tables),
            unk_id,
            ignore_merges: spec.ignore_merges,
            is_ranked: false,
        })
    }

    /// Return the model whose merges are those of its ids as ranks.
    fn ranked(spec: &BpeSpec, sections: &TableSections) -> Self {
        Self {
            tables: LateTables::unbuilt(LOOKUPS, backtracking::stored_sections(sections)),
            unk_id: None,
            ignore_merges: spec.ignore_merges,
            is_ranked: true,
        }
    }

    /// Return the id of the unknown token.
    pub(super) fn unk_id(&self) -> Option<u32> {
        self.unk_id
    }

    /// Return the ranks of the first merge that occurs twice. The second one counts.
    pub(super) fn duplicate_merge(&self) -> Option<(usize, usize)> {
        // Pairs of ranks make different tokens.
        self.tables.get()?.pairs.duplicate()
    }

    /// Add the table sections of tables that take long to build.
    pub(super) fn store(&self, vocab: &Vocab, sections: &mut TableSections) {
        if self.is_ranked {
            sections.put(RANKS, &Vec::<u8>::new().into());
        }
        self.made_tables(vocab).store(sections);
    }

    /// Build every table that is not built yet.
    pub(super) fn warm_up(&self, vocab: &Vocab) {
        self.made_tables(vocab).warm_up();
    }

    /// Return the bytes of memory of the other tables.
    pub(super) fn derived_bytes(&self) -> usize {
        self.tables.get().map_or(0, MergeTables::derived_bytes)
    }

    /// Segment one non-empty word; with dropout if there are random numbers.
    ///
    /// Dropout begins with characters even if `ignore_merges` is set and the word is a token, as in `tokenizers`.
    pub(super) fn run(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut BpeScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        if rng.is_none() {
            if let Some(id) = self.ignore_merges.then(|| vocab.id_of(word)).flatten() {
                return out.push(TokenSpan { id, start: 0, end: word.len() as u32 });
            }
        }
        match self.tables.get() {
            Some(tables) => tables.run(word, scratch, rng, out),
            None => self.run_early(word, vocab, scratch, rng, out),
        }
    }

    /// Segment a word before the tables are built: by the definition if it is among the first ones, and while another
    /// thread builds the tables.
    #[cold]
    fn run_early(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut BpeScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        let is_first = rng.is_none() && word.len() <= MAX_FIRST_WORD && self.tables.count_lookup();
        let tables = if is_first { None } else { self.tables(vocab) };
        match tables {
            None if rng.is_none() && first_words::merge(word, vocab, scratch, out) => {}
            tables => tables.unwrap_or_else(|| self.made_tables(vocab)).run(word, scratch, rng, out),
        }
    }

    /// Segment one non-empty byte-level word without dropout, with the ids that `run` gives for its printable
    /// characters. Return `false` if the model is not byte-level, and for the first words.
    pub(super) fn run_bytes(&self, word: &[u8], scratch: &mut BpeScratch, out: &mut Vec<u32>) -> bool {
        self.tables.get().is_some_and(|tables| tables.run_bytes(word, scratch, out))
    }

    /// Segment byte-level words of `bytes` like `run_bytes`, most of them interleaved, and set the span of the ids of
    /// each. Return `false` if the model is not byte-level, and for the first words.
    pub(super) fn run_bytes_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut BpeScratch,
        ids: &mut Vec<u32>,
    ) -> bool {
        // The words that are no tokens are counted when they are merged.
        let tables = if self.tables.can_wait() { None } else { self.tables(vocab) };
        tables.is_some_and(|tables| tables.run_bytes_batch(bytes, words, scratch, ids))
    }

    /// Return where words of a byte-level text of `len` bytes can be split before segmentation, if the model has such
    /// positions.
    pub(crate) fn byte_adjacency(&self, len: usize, vocab: &Vocab) -> Option<&ByteAdjacency> {
        let can_wait = self.tables.can_wait() && len <= MAX_FIRST_BYTES;
        let tables = if can_wait { None } else { self.tables(vocab) };
        tables?.bytes.as_ref()?.byte_adjacency()
    }

    /// Return the tables; build them now if nobody does. `None` while another thread builds them.
    #[inline]
    fn tables(&self, vocab: &Vocab) -> Option<&MergeTables> {
        self.tables.get_or_build(|| Some(self.build_ranked(vocab)))
    }

    /// Return the tables; build them now if they are not built, even if another thread builds them.
    fn made_tables(&self, vocab: &Vocab) -> &MergeTables {
        self.tables.get_or_make(|| self.build_ranked(vocab))
    }

    /// Build the tables of the merges of ids as ranks.
    fn build_ranked(&self, vocab: &Vocab) -> MergeTables {
        let spec = BpeSpec { ignore_merges: self.ignore_merges, ..BpeSpec::default() };
        MergeTables::build(&spec, vocab, (Merges::of_ranks(vocab), None), self.tables.stored())
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
