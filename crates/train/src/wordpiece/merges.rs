//! The learner that merges pairs of entries, which are characters at the start.

use crate::alphabet::CharForms;
use crate::count::Counts;
use crate::merges::{self, EntryLimits, MergeSettings, PairScore};
use crate::progress::Progress;
use crate::wordpiece::spec::{Learn, Merges, Start};
use crate::Learned;
use piecework_core::error::Error;

impl Learn for Merges {
    /// Merge the pair with the best score until the vocabulary is full or no pair qualifies.
    ///
    /// The score `Frequency` skips characters outside the alphabet. Other scores skip words with such characters,
    /// because the model encodes these as the unknown token.
    fn learn(&self, start: Start<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        let Start { counts, spec, resume, chars, alphabet, entries } = start;
        let whole_words = !self.has_tokenizers_alphabet();
        let mut forms = CharForms::new(&entries, &alphabet, spec.affixes());
        let words = forms.segment(counts, chars, whole_words, progress)?;
        let settings = MergeSettings {
            vocab_size: spec.vocab_size,
            score: self.score,
            ties: self.ties,
            min_frequency: spec.min_frequency,
            max_token_length: spec.max_token_length,
            num_threads: spec.num_threads,
        };
        let (limits, earlier) = (EntryLimits::default(), resume.earlier.into());
        merges::learn(words, entries, settings, limits, None, earlier, progress)
    }

    /// Reject counts without the positions that the ties need.
    fn check(&self, counts: &Counts) -> Result<(), Error> {
        self.ties.check(counts, "smallest-strings")
    }

    fn has_tokenizers_alphabet(&self) -> bool {
        self.score == PairScore::Frequency
    }
}
