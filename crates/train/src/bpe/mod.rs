//! BPE training: word counts to special tokens, alphabet and merged entries.
//!
//! Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units",
//! section 3.2.
//!
//! ```text
//! spec        the settings
//! by_source   merges that sources choose in turns
//! words       entries of single words
//! superwords  entries that cross spaces, after those of single words
//! ```
//!
//! `merges` learns. `tests` compares the result with a naive trainer that counts all pairs for each merge.

mod by_source;
mod spec;
mod superwords;
#[cfg(test)]
mod tests;
mod words;

use std::ops::ControlFlow;

use crate::count::Counts;
use crate::progress::Progress;
use crate::{Learned, Resume};
use piecework_core::error::Error;

pub use by_source::{learn_by_source, CostUnit, ParitySpec, SourceCounts};
pub use spec::{BpeTrainSpec, SuperwordSpec};
pub use superwords::resume_with_superwords;

use words::learn_words;

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
    progress.log_to(resume);
    let learned = learn_words(counts, spec, resume.earlier.into(), &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}
