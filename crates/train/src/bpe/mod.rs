//! BPE training: word counts to special tokens, alphabet and merged entries.
//!
//! Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units",
//! section 3.2.
//!
//! ```text
//! spec               settings, and the order of ties
//! char_forms         the entries of single characters
//! pair_priority      the order among pairs of equal count
//! vocabulary         entries, and the pairs that may be merged
//! round              the pairs of a round, and the heap of the best
//! trainer            the most frequent pair first, in rounds
//! ```
//!
//! `tests` compares the trainer with a naive one that counts all pairs for each merge.

mod char_forms;
mod pair_priority;
mod round;
mod spec;
#[cfg(test)]
mod tests;
mod trainer;
mod vocabulary;

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::alphabet::{self, Alphabet};
use crate::count::Counts;
use crate::entries::Entries;
use crate::learned::{check_counts, first_entries};
use crate::merges::packed_words::PackedWords;
use crate::progress::Progress;
use crate::symbol_splitter::SymbolSplitter;
use crate::{unigram, wordpiece, Learned, Merge, Resume};
use piecework_core::error::Error;

use char_forms::CharForms;
use trainer::{BpeStart, BpeTrainer};
use vocabulary::GrowingVocabulary;

pub use spec::{BpeTies, BpeTrainSpec};

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
    spec.check_positions(counts)?;
    let alphabet = Alphabet::choose(counts, &spec.initial_alphabet, spec.limit_alphabet, &mut progress)?;
    let entries = first_entries(
        &spec.continuing_subword_prefix,
        &spec.special_tokens,
        char_forms::alphabet_entries(counts, &alphabet, spec),
        spec.vocab_size,
    )?;
    let mut forms = CharForms::new(&entries, &alphabet, spec);
    let words = segmented(counts, chars, &mut forms, &mut progress)?;
    let learned = learn_merges(spec, entries, words, resume.earlier, &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}

/// Learn from the parts of words between symbols; the first entries are those of the alphabet, in its order.
pub(super) fn learn_within(
    counts: &Counts,
    splitter: &SymbolSplitter,
    alphabet: &unigram::RankedAlphabet,
    spec: &BpeTrainSpec,
    earlier: &[Merge],
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let mut entries = Entries::new("");
    let ids: FxHashMap<char, u32> = (alphabet.ranked().iter())
        .map(|&(character, _)| (character, entries.add(character.encode_utf8(&mut [0; 4])).0))
        .collect();
    let words = segmented_parts(counts, splitter, &ids, progress)?;
    learn_merges(spec, entries, words, earlier, progress)
}

/// Segment the words into characters; skips characters outside the alphabet, as `tokenizers` does.
fn segmented(
    counts: &Counts,
    chars: usize,
    forms: &mut CharForms<'_>,
    progress: &mut Progress<'_>,
) -> Result<PackedWords, Error> {
    let mut words = PackedWords::with_capacity(chars, counts.len())?;
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        let entries = alphabet::char_positions(word).filter_map(|(c, position)| forms.entry(c, position));
        words.push(entries, count)?;
    }
    words.numbered()
}

/// Segment the parts of words between symbols and unknown characters, each as a word of its own.
fn segmented_parts(
    counts: &Counts,
    splitter: &SymbolSplitter,
    ids: &FxHashMap<char, u32>,
    progress: &mut Progress<'_>,
) -> Result<PackedWords, Error> {
    let chars = counts.iter().map(|(word, _)| word.chars().count()).sum();
    let mut words = PackedWords::with_capacity(chars, counts.len())?;
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        let mut outcome = Ok(());
        let known = |c| ids.contains_key(&c);
        splitter.known_parts(word, known, |part| {
            if outcome.is_ok() {
                outcome = words.push(part.chars().filter_map(|c| ids.get(&c).copied()), count);
            }
        });
        outcome?;
    }
    words.numbered()
}

fn learn_merges(
    spec: &BpeTrainSpec,
    entries: Entries,
    words: PackedWords,
    earlier: &[Merge],
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let lengths = GrowingVocabulary::first_lengths(spec, &entries);
    let (words, entries) = match earlier {
        [] => (words, entries),
        _ => wordpiece::replay(words, entries, earlier, progress)?,
    };
    let start = BpeStart { spec, entries, lengths, words, earlier };
    match spec.ties {
        BpeTies::LowestIds => BpeTrainer::<pair_priority::LowestIds>::new(start).run(progress),
        BpeTies::GreatestStrings => BpeTrainer::<pair_priority::GreatestStrings>::new(start).run(progress),
        BpeTies::FirstSeen => BpeTrainer::<pair_priority::FirstSeen>::new(start).run(progress),
        BpeTies::ShortestEntries => BpeTrainer::<pair_priority::ShortestEntries>::new(start).run(progress),
    }
}
