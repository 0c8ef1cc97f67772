//! The settings of BPE trainers.

use serde::Deserialize;

use crate::alphabet::{characters, Affixes, Alphabet};
use crate::count::Counts;
use crate::entries::Entries;
use crate::learned::first_entries;
use crate::merges::{EntryLimits, MergeSettings, PairScore, Ties, WordLimit};
use crate::progress::Progress;
use crate::{AlphabetForms, AlphabetOrder};
use piecework_core::error::Error;

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
    /// When entries begin to cross spaces; only for counts of sequences of words.
    pub superwords: Option<SuperwordSpec>,
    /// The number of threads, which changes no result; 0 means 1.
    #[serde(default)]
    pub num_threads: usize,
}

impl BpeTrainSpec {
    pub(super) fn affixes(&self) -> Affixes<'_> {
        Affixes { prefix: &self.continuing_subword_prefix, suffix: &self.end_of_word_suffix }
    }

    /// Return the alphabet of counts, and the entries before the first merge.
    pub(super) fn start(
        &self,
        counts: &[&Counts],
        progress: &mut Progress<'_>,
    ) -> Result<(Alphabet, Entries), Error> {
        for counts in counts {
            self.alphabet_order.check(counts)?;
            self.ties.check(counts, "lowest-ids")?;
        }
        let initial = &self.initial_alphabet;
        let alphabet = Alphabet::choose(counts, initial, self.limit_alphabet, progress)?;
        let affixes = self.affixes();
        let forms = AlphabetForms::StartAndSeen;
        let first = affixes.alphabet_entries(counts, &alphabet, forms, true, self.alphabet_order, initial);
        let log = progress.steps();
        let entries = first_entries(affixes.prefix, &self.special_tokens, first, self.vocab_size, log)?;
        Ok((alphabet, entries))
    }

    pub(super) fn merge_settings(&self) -> MergeSettings {
        MergeSettings {
            vocab_size: self.vocab_size,
            score: PairScore::Frequency,
            ties: self.ties,
            min_frequency: self.min_frequency,
            max_token_length: self.max_token_length,
            num_threads: self.num_threads,
        }
    }

    /// Return the limits of merged entries, for the first entries: special tokens, and characters in any form.
    pub(super) fn limits(&self, entries: &Entries) -> EntryLimits {
        let length = |name: &str| match self.special_tokens.iter().any(|token| token == name) {
            true => name.chars().count(),
            false => 1,
        };
        let lengths = entries.names().iter().map(|name| length(name)).collect();
        EntryLimits { lengths: Some(lengths), ..EntryLimits::default() }
    }
}

/// When entries begin to cross spaces, and how far they reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuperwordSpec {
    /// The number of entries of single words, special tokens and alphabet included; the following ones may cross spaces.
    pub transition: usize,
    /// Whether fewer entries of single words are an error; otherwise those that may cross spaces follow them.
    pub is_exact: bool,
    /// The most words that an entry spans.
    pub max_words: Option<usize>,
}

impl SuperwordSpec {
    /// Return the number of entries of single words; `None` if a vocabulary of this size has no others.
    pub(super) fn first_stage(self, vocab_size: usize) -> Option<usize> {
        (!self.is_exact || self.transition < vocab_size).then(|| self.transition.min(vocab_size))
    }

    pub(super) fn limits(self, entries: &Entries) -> EntryLimits {
        let words = self.max_words.map(|most| WordLimit::new(most, entries.names()));
        EntryLimits { words, ..EntryLimits::default() }
    }
}
