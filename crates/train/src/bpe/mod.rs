//! BPE training: word counts to special tokens, alphabet and merged entries.
//!
//! Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units",
//! section 3.2.
//!
//! `merges` learns; this file has the settings, and `by_source` those of merges that sources choose in turns.
//! `tests` compares the result with a naive trainer that counts all pairs for each merge.

mod by_source;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use serde::Deserialize;

use crate::alphabet::{characters, Affixes, Alphabet, CharForms};
use crate::count::Counts;
use crate::entries::Entries;
use crate::learned::{check_counts, first_entries};
use crate::merges::{self, EntryLimits, MergeSettings, PairScore, Ties};
use crate::progress::Progress;
use crate::{AlphabetOrder, Learned, Resume};
use piecework_core::error::Error;

pub use by_source::{learn_by_source, CostUnit, ParitySpec, SourceCounts};

/// The settings of a BPE trainer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BpeTrainSpec {
    /// The number of entries to learn, special tokens and alphabet included.
    pub vocab_size: usize,
    /// The least count of a pair that is merged; 0 means 1.
    pub min_frequency: u64,
    /// The most characters of the alphabet; the most frequent ones are kept.
    pub limit_alphabet: Option<usize>,
    /// Characters that the alphabet includes even if the corpus does not contain them.
    #[serde(deserialize_with = "characters")]
    pub initial_alphabet: Vec<char>,
    /// Entries that come first. A character or a merge with the same text has the same id.
    pub special_tokens: Vec<String>,
    /// The prefix of entries that do not begin a word; often empty.
    pub continuing_subword_prefix: String,
    /// The suffix of entries that end a word; often empty.
    pub end_of_word_suffix: String,
    /// The order of the entries of single characters.
    pub alphabet_order: AlphabetOrder,
    /// The most characters of an entry, prefix and suffix not counted.
    pub max_token_length: Option<usize>,
    /// The order among the most frequent pairs.
    pub ties: Ties,
}

impl BpeTrainSpec {
    fn affixes(&self) -> Affixes<'_> {
        Affixes { prefix: &self.continuing_subword_prefix, suffix: &self.end_of_word_suffix }
    }

    /// Return the alphabet of counts, and the entries before the first merge.
    fn start(&self, counts: &[&Counts], progress: &mut Progress<'_>) -> Result<(Alphabet, Entries), Error> {
        for counts in counts {
            self.alphabet_order.check(counts)?;
            self.ties.check(counts, "lowest-ids")?;
        }
        let initial = &self.initial_alphabet;
        let alphabet = Alphabet::choose(counts, initial, self.limit_alphabet, progress)?;
        let affixes = self.affixes();
        let entries = first_entries(
            affixes.prefix,
            &self.special_tokens,
            affixes.alphabet_entries(counts, &alphabet, true, self.alphabet_order, initial),
            self.vocab_size,
        )?;
        Ok((alphabet, entries))
    }

    fn merge_settings(&self) -> MergeSettings {
        MergeSettings {
            vocab_size: self.vocab_size,
            score: PairScore::Frequency,
            ties: self.ties,
            min_frequency: self.min_frequency,
            max_token_length: self.max_token_length,
        }
    }

    /// Return the limits of merged entries, for the first entries: special tokens, and characters in any form.
    fn limits(&self, entries: &Entries) -> EntryLimits {
        let length = |name: &str| match self.special_tokens.iter().any(|token| token == name) {
            true => name.chars().count(),
            false => 1,
        };
        let lengths = entries.names().iter().map(|name| length(name)).collect();
        EntryLimits { lengths: Some(lengths), ..EntryLimits::default() }
    }
}

/// Learn a BPE vocabulary and its merges from word counts.
///
/// A merge may yield an existing entry, so there can be more merges than new entries. Calls
/// `progress(entries, vocab_size)` about every 50 ms or more often; `ControlFlow::Break` stops the trainer.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_train::bpe::{learn, BpeTrainSpec};
/// use piecework_train::count::Counts;
/// let words = ["hug", "pug", "pun", "bun", "hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], Some(&[0, 1, 2, 3, 4]))?;
/// let spec = BpeTrainSpec { vocab_size: 10, ..BpeTrainSpec::default() };
/// let learned = learn(&counts, &spec, &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(learned.vocab, ["b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: `Corpus` for counts without words; `Argument` for settings that need first positions that the counts
/// do not have; `Training` if `vocab_size` cannot hold the special tokens and
/// the alphabet, or if a sum of counts exceeds 64 bits; `Interrupted` if `progress` stops the trainer.
pub fn learn(
    counts: &Counts,
    spec: &BpeTrainSpec,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    resume(counts, spec, Resume::default(), progress)
}

/// Continue after the merges of an earlier run; the result equals that of an undisturbed run.
///
/// Errors: those of [`learn`], and `Argument` for merges that these counts and settings do not yield.
pub fn resume(
    counts: &Counts,
    spec: &BpeTrainSpec,
    resume: Resume<'_>,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    progress.log_merges(resume.log);
    let chars = check_counts(counts, &mut progress)?;
    let (alphabet, entries) = spec.start(&[counts], &mut progress)?;
    let words =
        CharForms::new(&entries, &alphabet, spec.affixes()).segment(counts, chars, false, &mut progress)?;
    let limits = spec.limits(&entries);
    let learned =
        merges::learn(words, entries, spec.merge_settings(), limits, resume.earlier, &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}
