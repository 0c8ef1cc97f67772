//! The settings of training by merges: how pairs are scored, in which order equal ones are merged, and which are.

use serde::Deserialize;

use crate::count::Counts;
use crate::entries::Entries;
use crate::merges::word_limit::WordLimit;
use crate::PieceRules;
use piecework_core::error::{Error, ErrorKind};

/// The score of a pair; the pair with the best one is merged. A new one is its variant, its `Objective`, and
/// its line of `learn_with_ties`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairScore {
    /// The exact gain of the unigram log-likelihood of the corpus, after Schuster and Nakajima 2012,
    /// section 3.
    Likelihood,
    /// f(ab) / (f(a) f(b)), the formula published for WordPiece.
    Pmi,
    /// The pair count, as in BPE and in the WordPiece trainer of `tokenizers`.
    Frequency,
}

/// The order among pairs of equal score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The pair with the lower left id, then the lower right id, as in `tokenizers`.
    #[default]
    LowestIds,
    /// The pair with the smaller left string, then the smaller right string, by code points. Strings
    /// include the continuation prefix.
    SmallestStrings,
    /// The pair with the greater left string, then the greater right string, as in subword-nmt.
    GreatestStrings,
    /// The pair whose merged entry has fewer characters, then the smaller string, as in SentencePiece; then
    /// the pair with the shorter left entry.
    #[serde(skip)]
    ShortestEntries,
    /// The pair that occurs first in the corpus; requires counts with first positions.
    FirstSeen,
}

/// The settings of a trainer that merges pairs, from any entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeSettings {
    /// The number of entries at which training stops.
    pub vocab_size: usize,
    /// The score of a pair.
    pub score: PairScore,
    /// The order among pairs of equal score.
    pub ties: Ties,
    /// The least count of a pair that is merged; 0 means 1.
    pub min_frequency: u64,
    /// The most characters of an entry, prefix and suffix not counted.
    pub max_token_length: Option<usize>,
    /// The number of threads, which changes no result; 0 means 1.
    pub num_threads: usize,
}

/// The limits of merged entries besides `max_token_length`.
#[derive(Default)]
pub(crate) struct EntryLimits {
    /// By entry: its characters. `None` where its string says how many it has, because there is no suffix.
    pub(crate) lengths: Option<Vec<usize>>,
    /// The rules for the strings of entries.
    pub(crate) piece_rules: Option<PieceRules>,
    /// Whether pairs whose merged string is already an entry are skipped.
    pub(crate) distinct: bool,
    /// The most words that an entry spans.
    pub(crate) words: Option<WordLimit>,
}

impl Ties {
    /// Reject counts without the positions that `FirstSeen` needs; `other` names an order that needs none.
    pub(crate) fn check(self, counts: &Counts, other: &str) -> Result<(), Error> {
        if self != Self::FirstSeen || counts.first().is_some() {
            return Ok(());
        }
        let found = "\"first-seen\" with counts that have no first positions";
        let expected = format!(
            "counts of one run, shards counted with distinct source numbers (first_source=, source= or \
             `piecework count --first-source`), Counts(..., first=...), or ties=\"{other}\""
        );
        Err(Error::new(ErrorKind::Argument, "ties", found, expected))
    }
}

impl PairScore {
    /// Return whether the score of a pair depends on the counts of its entries.
    pub(super) fn needs_entry_counts(self) -> bool {
        self != Self::Frequency
    }
}

impl EntryLimits {
    /// Return whether the merged entry of a pair is allowed.
    pub(super) fn allow(&self, max_chars: Option<usize>, entries: &Entries, left: u32, right: u32) -> bool {
        let chars = || match &self.lengths {
            Some(lengths) => lengths[left as usize] + lengths[right as usize],
            None => entries.merged_chars(left, right),
        };
        max_chars.is_none_or(|limit| chars() <= limit)
            && (self.piece_rules.as_ref())
                .is_none_or(|rules| rules.allows(&entries.merged_string(left, right)))
            && self.words.as_ref().is_none_or(|words| words.allow(left, right))
    }

    /// Return whether a pair must not be merged because its merged string is already an entry.
    pub(super) fn exclude(&self, entries: &Entries, left: u32, right: u32) -> bool {
        self.distinct && entries.find_merged(left, right).is_some()
    }

    /// Record the length of a new entry.
    pub(super) fn add(&mut self, left: u32, right: u32) {
        if let Some(lengths) = &mut self.lengths {
            lengths.push(lengths[left as usize] + lengths[right as usize]);
        }
        if let Some(words) = &mut self.words {
            words.add(left, right);
        }
    }
}
