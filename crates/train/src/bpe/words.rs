//! Entries of single words: alphabet, then merges.

use super::spec::BpeTrainSpec;
use crate::alphabet::CharForms;
use crate::count::Counts;
use crate::learned::check_counts;
use crate::merges;
use crate::progress::Progress;
use crate::resume::EarlierMerges;
use crate::Learned;
use piecework_core::error::Error;

/// Learn from word counts, after the merges of an earlier run, if there is room for merges.
pub(super) fn learn_words(
    counts: &Counts,
    spec: &BpeTrainSpec,
    earlier: EarlierMerges<'_>,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let counts = &*counts.parts(spec.affixes().marked_sides())?;
    let chars = check_counts(counts, progress)?;
    let (alphabet, entries) = spec.start(&[counts], progress)?;
    let mut forms = CharForms::new(&entries, &alphabet, spec.affixes());
    let words = forms.segment(counts, chars, false, progress)?;
    let limits = spec.limits(&entries);
    let earlier = if entries.len() < spec.vocab_size { earlier } else { EarlierMerges::default() };
    merges::learn(words, entries, spec.merge_settings(), limits, None, earlier, progress)
}
