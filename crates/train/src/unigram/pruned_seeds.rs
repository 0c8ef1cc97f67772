//! Seeds by pruning: as many as the vocabulary has room for, chosen by the tokens that their removal would add.

use super::ranked_alphabet::RankedAlphabet;
use super::reserved_entries::ReservedEntries;
use super::seeds::MIN_COUNT;
use super::spec::UnigramTrainSpec;
use crate::count::{Counts, Part};
use crate::progress::Progress;
use crate::pruning::{prune, PruningTask, MAX_WORD_CHARS};
use crate::resume::Resume;
use crate::substrings::SeedLimits;
use crate::symbol_splitter::SymbolSplitter;
use crate::wordpiece::Pruning;
use piecework_core::error::Error;

/// Return the seeds and the characters that occur, with their uses.
pub(super) fn pruned_seeds(
    words: &SeedWords<'_>,
    reserved: &ReservedEntries,
    pruning: &Pruning,
    spec: &UnigramTrainSpec,
    num_threads: usize,
    resume: Resume<'_>,
    progress: &mut Progress<'_>,
) -> Result<Vec<(String, u64)>, Error> {
    let allows = |name: &str| {
        !reserved.contains(name) && spec.piece_rules.as_ref().is_none_or(|rules| rules.allows(name))
    };
    let task = PruningTask {
        words: words.parts(progress)?,
        prefix: "",
        special_tokens: &[],
        seeds: SeedLimits { number: pruning.seeds(spec.vocab_size), min_count: MIN_COUNT },
        max_chars: spec.max_piece_length.min(MAX_WORD_CHARS),
        allows: Some(&allows),
        num_threads,
    };
    prune(&task, pruning, reserved.free(), spec.vocab_size, resume, progress)
}

/// The words to find seeds in.
pub(super) struct SeedWords<'a> {
    pub(super) counts: &'a Counts,
    pub(super) splitter: &'a SymbolSplitter,
    pub(super) alphabet: &'a RankedAlphabet,
}

impl<'a> SeedWords<'a> {
    /// Return the distinct segments, sorted; longer ones than pruning segments are cut.
    fn parts(&self, progress: &mut Progress<'_>) -> Result<Vec<(Part<'a>, u64)>, Error> {
        let Self { counts, splitter, alphabet } = *self;
        let mut parts = Vec::with_capacity(counts.len());
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            let known = |c| alphabet.contains(c);
            splitter.known_parts(word, known, |segment| {
                cut(segment, |part| parts.push((Part::whole(part), count)));
            });
        }
        parts.sort_unstable();
        progress.check()?;
        parts.dedup_by(|next, kept| {
            let is_equal = next.0 == kept.0;
            kept.1 += if is_equal { next.1 } else { 0 };
            is_equal
        });
        Ok(parts)
    }
}

/// Emit parts of [`MAX_WORD_CHARS`] characters, and the rest.
fn cut<'a>(mut text: &'a str, mut emit: impl FnMut(&'a str)) {
    while let Some((at, _)) = text.char_indices().nth(MAX_WORD_CHARS) {
        let (part, rest) = text.split_at(at);
        emit(part);
        text = rest;
    }
    emit(text);
}
