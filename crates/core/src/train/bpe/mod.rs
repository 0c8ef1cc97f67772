//! Learning byte-pair merges from word counts: special tokens, alphabet, then merged entries
//! (Sennrich, Haddow, Birch 2016, section 3.2).
//!
//! ```text
//! forms       the entries of single characters, and their order
//! words       the distinct words as sequences of entries, four bytes a character
//! pairs       the pairs worth following: counts and where they occur
//! neighbours  what one merge changes, gathered by the entry next to it
//! order       which pair comes first among equals
//! learner     the most frequent pair first, in rounds
//! ```
//!
//! `tests` holds a naive twin that counts everything anew at each merge.

mod char_forms;
mod neighbour_changes;
mod packed_words;
mod pair_priority;
#[cfg(test)]
mod tests;
mod tracked_pairs;
mod trainer;

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::count::Counts;
use crate::error::Error;
use crate::train::alphabet::Alphabet;
use crate::train::entries::Entries;
use crate::train::learned::{check_counts, first_entries};
use crate::train::progress::Progress;
use crate::train::symbol_splitter::SymbolSplitter;
use crate::train::{unigram, Learned, PieceRules};

use char_forms::CharForms;
use packed_words::PackedWords;
use trainer::BpeTrainer;

/// Which of the pairs that occur most often is merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BpeTies {
    /// The one with the lower left id, then the lower right id, as in `tokenizers`.
    #[default]
    LowestIds,
    /// The one with the greater left string, then the greater right string, as in subword-nmt.
    GreatestStrings,
    /// The one that makes the entry of fewer characters, then the lesser string, as in SentencePiece; then
    /// the one with the shorter left part.
    ShortestEntries,
}

/// What to learn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BpeTrainSpec {
    /// Entries wanted, special tokens and alphabet included.
    pub vocab_size: usize,
    /// Pairs that occur fewer times are never merged; 0 is taken as 1.
    pub min_frequency: u64,
    /// At most this many characters, the most frequent ones.
    pub limit_alphabet: Option<usize>,
    /// Characters that are in the alphabet even when unseen.
    pub initial_alphabet: Vec<char>,
    /// Entries that come first and are never merged.
    pub special_tokens: Vec<String>,
    /// What marks an entry that continues a word; often nothing.
    pub continuing_subword_prefix: String,
    /// What marks an entry that ends a word; often nothing.
    pub end_of_word_suffix: String,
    /// The longest entry in characters, prefix and suffix not counted.
    pub max_token_length: Option<usize>,
    /// Which pair is merged among equals.
    pub ties: BpeTies,
    /// What entries may look like that are merged, if not anything.
    pub piece_rules: Option<PieceRules>,
    /// Never merge a pair that spells an entry which is there already.
    pub distinct: bool,
}

/// Learn a byte-pair vocabulary and its merges from word counts.
///
/// The merges are the merges, in order; one may make an entry that is there already, so there can be more
/// of them than new entries. `progress(entries, vocab_size)` is called at least every 50 ms or so and
/// stops the learner by `ControlFlow::Break`.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_core::train::bpe::{learn, BpeTrainSpec};
/// use piecework_core::count::Counts;
/// let words = ["hug", "pug", "pun", "bun", "hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], Some(&[0, 1, 2, 3, 4]))?;
/// let spec = BpeTrainSpec { vocab_size: 10, ..BpeTrainSpec::default() };
/// let learned = learn(&counts, &spec, &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(learned.vocab, ["b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: `Corpus` without any word, `Training` when `vocab_size` cannot hold the special tokens and
/// the alphabet or the corpus is beyond 64-bit counts, `Interrupted` when `progress` says so.
pub fn learn(
    counts: &Counts,
    spec: &BpeTrainSpec,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    check_counts(counts, &mut progress)?;
    let alphabet = Alphabet::choose(counts, &spec.initial_alphabet, spec.limit_alphabet, &mut progress)?;
    let entries = first_entries(
        &spec.continuing_subword_prefix,
        &spec.special_tokens,
        char_forms::alphabet_entries(&alphabet, spec),
        spec.vocab_size,
    )?;
    let words = PackedWords::new(counts, &mut CharForms::new(&entries, &alphabet, spec), &mut progress)?;
    let learned = learn_merges(spec, entries, words, &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}

/// Learn from what a cutter leaves of words; the alphabet is the first entries, in its order.
pub(super) fn learn_within(
    counts: &Counts,
    splitter: &SymbolSplitter,
    alphabet: &unigram::RankedAlphabet,
    spec: &BpeTrainSpec,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let mut entries = Entries::new("");
    let ids: FxHashMap<char, u32> = (alphabet.ranked().iter())
        .map(|&(character, _)| (character, entries.add(character.encode_utf8(&mut [0; 4])).0))
        .collect();
    let words = PackedWords::of_parts(counts, splitter, &ids, progress)?;
    learn_merges(spec, entries, words, progress)
}

fn learn_merges(
    spec: &BpeTrainSpec,
    entries: Entries,
    words: PackedWords,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    match spec.ties {
        BpeTies::LowestIds => {
            BpeTrainer::<pair_priority::LowestIds>::new(spec, entries, words).run(progress)
        }
        BpeTies::GreatestStrings => {
            BpeTrainer::<pair_priority::GreatestStrings>::new(spec, entries, words).run(progress)
        }
        BpeTies::ShortestEntries => {
            BpeTrainer::<pair_priority::ShortestEntries>::new(spec, entries, words).run(progress)
        }
    }
}
