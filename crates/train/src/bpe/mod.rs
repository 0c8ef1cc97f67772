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

use words::learn_words;

/// Learn a BPE vocabulary and its merges from word counts.
///
/// A merge may yield an existing entry, so there can be more merges than new entries. Continue after the merges of an
/// earlier run, if there are any; an interruption does not change the result. Call
/// `progress(entries, vocab_size)` about every 50 ms or more often; `ControlFlow::Break` stops the trainer.
///
/// With `sequences`, learn a byte-level vocabulary with superwords from the counts of sequences of words, whose words by
/// [`Counts::split`] are `words`. Then `spec` has no prefix and no suffix; without its `superwords`, learn from
/// the words only.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_train::bpe::{resume, BpeTrainSpec};
/// use piecework_train::count::Counts;
/// use piecework_train::Resume;
/// let words = ["hug", "pug", "pun", "bun", "hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], Some(&[0, 1, 2, 3, 4]))?;
/// let spec = BpeTrainSpec { vocab_size: 10, ..BpeTrainSpec::default() };
/// let learned = resume(&counts, None, &spec, Resume::default(), &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(learned.vocab, ["b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: `Corpus` for counts without words; `Argument` for settings that need first positions that the counts
/// do not have, and for merges that these counts and settings do not yield; `Training` if `vocab_size` cannot hold the
/// special tokens and the alphabet, if a sum of counts exceeds 64 bits, or if the words yield fewer entries than an exact
/// transition; `Interrupted` if `progress` stops the trainer.
pub fn resume(
    words: &Counts,
    sequences: Option<&Counts>,
    spec: &BpeTrainSpec,
    resume: Resume<'_>,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    progress.log_to(resume);
    let learned = match sequences {
        Some(sequences) => {
            words.check_unbounded("a model of superwords")?;
            superwords::learn(words, sequences, spec, resume.earlier, &mut progress)?
        }
        None => learn_words(words, spec, resume.earlier.into(), &mut progress)?,
    };
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}
