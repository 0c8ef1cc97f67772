//! The learner that merges pairs: the words as characters, then the trainer of a score and its ties.

use crate::count::Counts;
use crate::merges::packed_words::PackedWords;
use crate::merges::state::MergeState;
use crate::progress::Progress;
use crate::wordpiece::char_entries::CharEntries;
use crate::wordpiece::spec::{Learn, MergeSettings, Merges, PairScore, Start};
use crate::Learned;
use piecework_core::error::Error;

impl Learn for Merges {
    /// Merge the pair with the best score until the vocabulary is full or no pair qualifies.
    fn learn(&self, start: Start<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        let words = segmented(&start, progress)?;
        let Start { spec, resume, entries, .. } = start;
        let settings = MergeSettings::new(spec, self.score, self.ties);
        let state = MergeState::new(words, settings, entries, progress)?;
        crate::merges::learn(state.start(resume.earlier, progress)?, progress)
    }

    /// Reject counts without the positions that the ties need.
    fn check(&self, counts: &Counts) -> Result<(), Error> {
        self.ties.check(counts)
    }

    fn has_tokenizers_alphabet(&self) -> bool {
        self.score == PairScore::Frequency
    }
}

/// Segment the words into characters.
///
/// The score `Frequency` skips characters outside the alphabet. Other learners skip words with such characters,
/// because the model encodes these as the unknown token.
fn segmented(start: &Start<'_>, progress: &mut Progress<'_>) -> Result<PackedWords, Error> {
    let Start { counts, spec, chars, alphabet, entries, .. } = start;
    let mut words = PackedWords::with_capacity(*chars, counts.len())?;
    let char_entries = CharEntries::new(entries, alphabet, spec, counts);
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        if spec.learner.as_learn().has_tokenizers_alphabet() || alphabet.contains_all(word) {
            let characters = word.chars().enumerate();
            words.push(
                characters.filter_map(|(at, character)| char_entries.get(at == 0, character)),
                count,
            )?;
        }
    }
    words.numbered()
}
