//! WordPiece training: word counts to special tokens, alphabet and learned entries.
//!
//! ```text
//! spec               settings: learners; what a learner is and starts from
//! merges             the learner that merges pairs
//! ```
//!
//! Sources: Schuster and Nakajima 2012, "Japanese and Korean Voice Search", section 3, for greedy merges by
//! likelihood; `tokenizers` for `frequency`; Song et al. 2021, "Fast WordPiece Tokenization", and
//! TensorFlow Text's vocabulary generator for `top-down`.
//!
//! All trainers are deterministic. `tests` compares each with a naive trainer that recounts everything for
//! each merge.

mod merges;
pub(crate) mod spec;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use crate::alphabet::Alphabet;
use crate::count::Counts;
use crate::learned::{check_counts, first_entries};
use crate::progress::Progress;
use crate::{Learned, Resume};
use piecework_core::error::Error;

use spec::Start;

pub use spec::{Learner, Merges, Pruning, TopDown, WordPieceTrainSpec};

/// Learn a WordPiece vocabulary from word counts.
///
/// Continue after the merges or choices of an earlier run, if there are any; an interruption does not change the result.
/// Call `progress(entries, vocab_size)` about every 50 ms or more often; `ControlFlow::Break` stops the trainer.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_train::merges::{PairScore, Ties};
/// use piecework_train::wordpiece::{resume, Learner, Merges, WordPieceTrainSpec};
/// use piecework_train::count::Counts;
/// use piecework_train::{AlphabetForms, Resume};
/// let words = ["hug", "pug", "pun", "bun", "hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], Some(&[0, 1, 2, 3, 4]))?;
/// let learner = Learner::Merges(Merges { score: PairScore::Pmi, ties: Ties::FirstSeen });
/// let alphabet_forms = AlphabetForms::Seen; // as published examples print it
/// let spec = WordPieceTrainSpec { vocab_size: 15, learner, alphabet_forms, ..WordPieceTrainSpec::default() };
/// let learned = resume(&counts, &spec, Resume::default(), &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(learned.vocab[12..], ["##gs", "hu", "hugs"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: `Argument` for ties that need first positions that the counts do not have, and for merges or choices that
/// these counts and settings do not yield; `Corpus` for counts without words; `Training` if `vocab_size` cannot hold the special tokens and the alphabet, or if a sum of
/// counts exceeds 64 bits; `Interrupted` if `progress` stops the trainer.
pub fn resume(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    resume: Resume<'_>,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    let counts = counts.parts(spec.affixes().marked_sides())?;
    let start = begin(&counts, spec, resume, spec.vocab_size, &mut progress)?;
    let learned = spec.learner.as_learn().learn(start, &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}

/// Learn vocabularies of several sizes by pruning, in one run; return them in the order of the sizes.
///
/// Each equals that of [`resume`] with its size and the seeds of the largest: the number of seeds is that of
/// `spec.vocab_size`, unless the settings of the learner set it. Errors: those of [`resume`], and `Argument` for
/// another learner than `Pruning`.
pub fn learn_sizes(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    sizes: &[usize],
    resume: Resume<'_>,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Vec<Learned>, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    let least = sizes.iter().copied().min().unwrap_or(spec.vocab_size);
    let counts = counts.parts(spec.affixes().marked_sides())?;
    let start = begin(&counts, spec, resume, least, &mut progress)?;
    let learned = spec.learner.as_learn().learn_sizes(&start, sizes, &mut progress)?;
    progress.finish(spec.vocab_size)?;
    Ok(learned)
}

/// Check counts and settings; return what a learner starts from, whose entries fit `least_size`.
pub(crate) fn begin<'r>(
    counts: &'r Counts,
    spec: &'r WordPieceTrainSpec,
    resume: Resume<'r>,
    least_size: usize,
    progress: &mut Progress<'r>,
) -> Result<Start<'r>, Error> {
    progress.log_to(resume);
    let chars = check_counts(counts, progress)?;
    spec.learner.as_learn().check(counts)?;
    spec.alphabet_order.check(counts)?;
    let initial = &spec.initial_alphabet;
    let mut alphabet = Alphabet::choose(&[counts], initial, spec.limit_alphabet, progress)?;
    alphabet.isolate(&spec.isolated_characters);
    let (forms, order) = (spec.alphabet_forms, spec.alphabet_order);
    let bare_first = spec.learner.as_learn().has_tokenizers_alphabet();
    let affixes = spec.affixes();
    let first = affixes.alphabet_entries(&[counts], &alphabet, forms, bare_first, order, initial);
    let log = progress.steps();
    let entries = first_entries(affixes.prefix, &spec.special_tokens, first, least_size, log)?;
    Ok(Start { counts, spec, resume, chars, alphabet, entries })
}
