//! Superwords: entries that cross spaces, learned after those of single words.
//!
//! The counts are those of sequences of words, which a pre-tokenizer leaves together. First the words of the sequences
//! give the entries up to the transition, as without superwords. Then the model so far segments the sequences, and
//! merging continues, also between words. The merges of both stages in their order are the merges of the model.
//!
//! Source: Liu et al. 2025, "SuperBPE: Space Travel for Language Models", section 2. Sequences are counted as Schmidt et al.
//! 2026, "Faster Superword Tokenization", count their candidates, so that no document stays in memory.

use foldhash::HashSet;

use super::spec::{BpeTrainSpec, SuperwordSpec};
use super::words::learn_words;
use crate::count::Counts;
use crate::entries::Entries;
use crate::learned::check_counts;
use crate::merges::{self, ExistingModel};
use crate::progress::Progress;
use crate::resume::EarlierMerges;
use crate::{Learned, Merge};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::model::Model;
use piecework_core::spec::{BpeSpec, MergeList, ModelSpec};
use piecework_core::table_sections::TableSections;
use piecework_core::vocab::Vocab;

/// The bytes of a token at the transition, at least: what is reserved for the tokens of sequences.
const BYTES_PER_TOKEN: usize = 2;

/// Learn the entries of single words, then those that may cross spaces.
pub(super) fn learn(
    words: &Counts,
    sequences: &Counts,
    spec: &BpeTrainSpec,
    earlier: &[Merge],
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let stage = spec.superwords.and_then(|one| Some((one, one.first_stage(spec.vocab_size)?)));
    let Some((superwords, size)) = stage else {
        return learn_words(words, spec, earlier.into(), progress);
    };
    let first = learn_first(words, spec, (size, superwords.is_exact), earlier, progress)?;
    let later = EarlierMerges::after(earlier, &first.merges)?;
    let rest = learn_further(sequences, spec, superwords, (&first, later), progress)?;
    Ok(Learned { merges: [first.merges, rest.merges].concat(), ..rest })
}

/// Learn the entries of single words up to the transition.
fn learn_first(
    words: &Counts,
    spec: &BpeTrainSpec,
    (transition, is_exact): (usize, bool),
    earlier: &[Merge],
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let spec_of_words = BpeTrainSpec { vocab_size: transition, ..spec.clone() };
    let earlier = EarlierMerges::of_stage(earlier, transition, !is_exact);
    let learned = learn_words(words, &spec_of_words, earlier, progress);
    let learned = learned.map_err(|error| match error.place.as_str() {
        "vocab_size" => error.at("transition"),
        _ => error,
    })?;
    if is_exact && learned.vocab.len() < transition {
        return Err(too_few(&learned, transition));
    }
    Ok(learned)
}

/// Learn the entries that may cross spaces, after the merges of an earlier run.
fn learn_further(
    sequences: &Counts,
    spec: &BpeTrainSpec,
    superwords: SuperwordSpec,
    (learned, later): (&Learned, EarlierMerges<'_>),
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let chars = check_counts(sequences, progress)?;
    let entries = Entries::of("", &learned.vocab);
    let (model, vocab) = model_of(learned)?;
    let base = ExistingModel { model: &model, vocab: &vocab, barriers: &[] };
    let cells = merges::segmented(sequences, chars / BYTES_PER_TOKEN, base, spec.num_threads, progress)?;
    let limits = superwords.limits(&entries);
    merges::learn(cells, entries, spec.merge_settings(), limits, None, later, progress)
}

/// Return the model of the entries of single words.
fn model_of(learned: &Learned) -> Result<(Model, Vocab), Error> {
    let text = |id: u32| learned.vocab[id as usize].as_str();
    let (mut merges, mut known) = (MergeList::default(), HashSet::default());
    for merge in &learned.merges {
        // A pair can be merged twice; the first merge decides the rank.
        if known.insert((merge.left, merge.right)) {
            merges.push(text(merge.left), text(merge.right));
        }
    }
    let spec = ModelSpec::Bpe(BpeSpec {
        vocab: learned.vocab.iter().cloned().zip(0..).collect(),
        merges,
        ..BpeSpec::default()
    });
    let vocab = Vocab::of_model(&spec)?;
    Ok((Model::compile(&spec, &vocab, &TableSections::default())?, vocab))
}

fn too_few(learned: &Learned, transition: usize) -> Error {
    let expected = format!("at most {}, the entries that the words yield", learned.vocab.len());
    Error::new(ErrorKind::Training, "transition", transition.to_string(), expected)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::bpe::resume;
    use crate::{MergeLog, Resume};

    const SPEC: BpeTrainSpec = BpeTrainSpec {
        vocab_size: 13,
        min_frequency: 1,
        limit_alphabet: None,
        initial_alphabet: Vec::new(),
        special_tokens: Vec::new(),
        continuing_subword_prefix: String::new(),
        end_of_word_suffix: String::new(),
        alphabet_order: crate::AlphabetOrder::Sorted,
        max_token_length: None,
        ties: crate::merges::Ties::LowestIds,
        superwords: Some(SuperwordSpec { transition: 10, is_exact: true, max_words: None }),
        num_threads: 2,
    };

    fn counts(rows: &[(&str, u64)]) -> Counts {
        let (words, counts): (Vec<String>, Vec<u64>) = rows.iter().map(|&(w, n)| (w.into(), n)).unzip();
        Counts::from_parts(&words, &counts, None).expect("distinct words")
    }

    fn sequences() -> (Counts, Counts) {
        (
            counts(&[("of", 5), ("Ġthe", 3), ("Ġa", 2), ("the", 2)]),
            counts(&[("ofĠthe", 3), ("ofĠa", 2), ("the", 2)]),
        )
    }

    fn learn(spec: &BpeTrainSpec, earlier: &[Merge], log: &MergeLog) -> Result<Learned, Error> {
        let (words, sequences) = sequences();
        let start = Resume { earlier, log: Some(log), ..Resume::default() };
        resume(&words, Some(&sequences), spec, start, &mut |_, _| ControlFlow::Continue(()))
    }

    #[test]
    fn entries_cross_spaces_after_the_transition() {
        let learned = learn(&SPEC, &[], &MergeLog::default()).expect("a usable corpus");
        assert_eq!(learned.vocab[7..], ["he", "of", "the", "ofĠ", "ofĠthe", "ofĠa"]);
        let spec = BpeTrainSpec { vocab_size: 10, ..SPEC };
        assert_eq!(learn(&spec, &[], &MergeLog::default()).expect("a size").vocab, learned.vocab[..10]);
    }

    #[test]
    fn a_run_continues_after_every_merge() {
        let log = MergeLog::default();
        let expected = learn(&SPEC, &[], &log).expect("a usable corpus");
        for made in 0..=expected.merges.len() {
            let again = MergeLog::default();
            assert_eq!(
                learn(&SPEC, &expected.merges[..made], &again),
                Ok(expected.clone()),
                "{made} merges"
            );
            assert_eq!(again.merges(), log.merges());
        }
    }

    #[test]
    fn after_too_few_words_a_transition_that_is_not_exact_continues_with_sequences() {
        let superwords =
            SPEC.superwords.map(|one| SuperwordSpec { transition: 14, is_exact: false, ..one });
        let spec = BpeTrainSpec { superwords, vocab_size: 16, ..SPEC };
        let log = MergeLog::default();
        let expected = learn(&spec, &[], &log).expect("a usable corpus");
        assert_eq!(expected.vocab[10..], ["Ġthe", "Ġa", "ofĠthe", "ofĠa"]);
        for made in 0..=expected.merges.len() {
            let again = MergeLog::default();
            assert_eq!(
                learn(&spec, &expected.merges[..made], &again),
                Ok(expected.clone()),
                "{made} merges"
            );
            assert_eq!(again.merges(), log.merges());
        }
    }

    #[test]
    fn a_checkpoint_of_other_words_is_not_the_second_stage() {
        let superwords =
            SPEC.superwords.map(|one| SuperwordSpec { transition: 14, is_exact: false, ..one });
        let spec = BpeTrainSpec { superwords, vocab_size: 16, ..SPEC };
        let mut earlier = learn(&spec, &[], &MergeLog::default()).expect("a usable corpus").merges;
        earlier[2].count += 1;
        let error = learn(&spec, &earlier, &MergeLog::default()).unwrap_err();
        assert_eq!(error.place, "merge 3 of the checkpoint");
    }

    #[test]
    fn a_run_without_entries_of_several_letters_continues() {
        let superwords = SPEC.superwords.map(|one| SuperwordSpec { transition: 7, ..one });
        let spec = BpeTrainSpec { superwords, ..SPEC };
        let expected = learn(&spec, &[], &MergeLog::default()).expect("a usable corpus");
        assert_eq!(expected.vocab[7], "fĠ");
        let again = learn(&spec, &expected.merges[..3], &MergeLog::default());
        assert_eq!(again, Ok(expected));
    }

    #[test]
    fn the_words_of_entries_are_limited() {
        let superwords = SPEC.superwords.map(|one| SuperwordSpec { max_words: Some(1), ..one });
        let learned = learn(&BpeTrainSpec { superwords, ..SPEC }, &[], &MergeLog::default());
        let learned = learned.expect("a usable corpus");
        assert_eq!(learned.vocab[10..], ["Ġthe", "Ġa"]);
        assert!(learned.stopped_early.is_some());
    }

    #[test]
    fn a_transition_out_of_reach_or_below_the_alphabet_is_named() {
        for (transition, expected) in [(12, "at most 12"), (13, "at most 12"), (6, "at least 7")] {
            let superwords = Some(SuperwordSpec { transition, is_exact: true, max_words: None });
            let spec = BpeTrainSpec { superwords, vocab_size: 20, ..SPEC };
            match learn(&spec, &[], &MergeLog::default()) {
                Ok(_) => assert_eq!(transition, 12),
                Err(error) => {
                    assert_eq!(error.place, "transition");
                    assert!(error.expected.starts_with(expected), "{error}");
                }
            }
        }
    }
}
