//! Edge cases, errors, and laws of the whole learner.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::super::{resume, UnigramResume, UnigramTrainSpec};
use super::{counts, run, small, words};
use crate::count::Counts;
use piecework_core::error::ErrorKind;

fn plain(words: &[(&str, u64)]) -> Counts {
    let words: Vec<(String, u64)> = words.iter().map(|&(word, count)| (word.to_owned(), count)).collect();
    counts(&words)
}

fn names(learned: &super::LearnedUnigram) -> Vec<&str> {
    learned.pieces.iter().map(|(piece, _)| piece.as_str()).collect()
}

proptest! {
    #[test]
    fn the_size_is_exact_or_the_error_names_one_that_is(words in words(), vocab_size in 1_usize..60) {
        let counts = counts(&words);
        let possible = match run(&counts, &small(vocab_size), 1) {
            Ok(learned) => {
                prop_assert_eq!(learned.pieces.len(), vocab_size);
                prop_assert!(learned.pieces.iter().all(|(_, score)| score.is_finite()));
                return Ok(());
            }
            Err(error) => {
                prop_assert_eq!((error.kind, error.place.as_str()), (ErrorKind::Training, "vocab_size"));
                error.expected.split(|c: char| !c.is_ascii_digit()).find_map(|number| number.parse().ok())
            }
        };
        let possible: usize = possible.expect("a number");
        prop_assert_eq!(run(&counts, &small(possible), 1).map(|learned| learned.pieces.len()), Ok(possible));
    }

    #[test]
    fn neither_threads_nor_the_order_of_words_change_anything(words in words(), vocab_size in 12_usize..30) {
        let one = run(&counts(&words), &small(vocab_size), 1).map(|learned| learned.pieces);
        let names: Vec<&String> = words.iter().map(|(word, _)| word).collect();
        let numbers: Vec<u64> = words.iter().map(|&(_, count)| count).collect();
        let positions: Vec<u64> = (0..words.len() as u64).rev().collect();
        let reversed = Counts::from_parts(&names, &numbers, Some(&positions)).expect("distinct words");
        prop_assert_eq!(one, run(&reversed, &small(vocab_size), 3).map(|learned| learned.pieces));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let word = |number: u64| format!("{:x}{:b}", number * 7919 % 50_021, number % 61);
    let words: Vec<(String, u64)> = (0..20_000).map(|number| (word(number), number % 13 + 1)).collect();
    let distinct: std::collections::BTreeMap<String, u64> = words.into_iter().collect();
    let counts = counts(&distinct.into_iter().collect::<Vec<_>>());
    let one = run(&counts, &small(300), 1).expect("enough words");
    for num_threads in [2, 3, 8] {
        assert_eq!(run(&counts, &small(300), num_threads).as_ref(), Ok(&one));
    }
    assert!(one.steps.windows(2).all(|two| two[1].pieces <= two[0].pieces));
}

#[test]
fn symbols_are_entries_and_no_piece_crosses_them() {
    let counts = plain(&[("ab<sep>cd", 9), ("b<sep>c", 9), ("<sep>", 3)]);
    let spec = UnigramTrainSpec { user_defined_symbols: vec!["<sep>".to_owned()], ..small(8) };
    let learned = run(&counts, &spec, 1).expect("enough words");
    assert_eq!(names(&learned)[..2], ["<unk>", "<sep>"]);
    assert!(names(&learned)[2..].iter().all(|piece| ["a", "b", "c", "d", "ab", "cd"].contains(piece)));
}

#[test]
fn byte_entries_precede_pieces_and_encode_rare_characters() {
    let counts = plain(&[("ab", 999), ("é", 1)]);
    let spec = UnigramTrainSpec { byte_fallback: true, character_coverage: 0.99, ..small(260) };
    let learned = run(&counts, &spec, 1).expect("enough words");
    assert_eq!(names(&learned)[1..3], ["<0x00>", "<0x01>"]);
    assert_eq!(names(&learned)[257..], ["ab", "a", "b"]);
}

#[test]
fn the_initial_alphabet_is_in_the_vocabulary_if_unseen() {
    let spec = UnigramTrainSpec { initial_alphabet: vec!['z'], ..small(4) };
    let learned = run(&plain(&[("aa", 5)]), &spec, 1).expect("enough words");
    assert_eq!(names(&learned), ["<unk>", "aa", "a", "z"]);
}

#[test]
fn impossible_sizes_are_errors_that_name_possible_ones() {
    let counts = plain(&[("hug", 10), ("hugs", 5)]);
    let message = |spec: &UnigramTrainSpec| run(&counts, spec, 1).expect_err("refused").to_string();
    assert_eq!(
        message(&small(4)),
        "vocab_size: must be at least 5 (1 reserved entries and an alphabet of 4), not 4"
    );
    assert_eq!(
        message(&small(100)),
        "vocab_size: must be at most 10, not 100; the corpus has no more substrings that occur twice"
    );
    let spec = UnigramTrainSpec { character_coverage: f64::NAN, ..small(8) };
    assert_eq!(message(&spec), "character_coverage: must be above 0 and at most 1, not NaN");
    let spec = UnigramTrainSpec { shrinking_factor: 1.0, ..small(8) };
    assert_eq!(message(&spec), "shrinking_factor: must be above 0 and below 1, not 1");
}

#[test]
fn an_empty_corpus_is_refused() {
    let error = run(&plain(&[]), &small(8), 1).expect_err("empty");
    assert_eq!(error.kind, ErrorKind::Corpus);
}

#[test]
fn counts_up_to_62_bits_are_accepted() {
    let counts = plain(&[("ab", 1 << 60), ("b", 1 << 59)]);
    let learned = run(&counts, &small(4), 1).expect("within 62 bits");
    assert_eq!(names(&learned), ["<unk>", "ab", "b", "a"]);
    let error = run(&plain(&[("ab", 1 << 62)]), &small(4), 1).expect_err("beyond 62 bits");
    assert_eq!(error.kind, ErrorKind::Training);
}

#[test]
fn long_words_neither_underflow_nor_take_long() {
    let letters = |number: usize| char::from(b'a' + (number * number % 7919 % 26) as u8);
    let long: String = (0..200_000).map(letters).collect();
    let counts = plain(&[(&long, 2), (&"a".repeat(100_000), 1)]);
    let learned = run(&counts, &small(200), 2).expect("enough substrings");
    assert_eq!(learned.pieces.len(), 200);
    assert!(learned.steps.iter().all(|step| step.log_likelihood.is_finite()));
}

#[test]
fn progress_stops_the_trainer() {
    let counts = plain(&[("hug", 10), ("hugs", 5)]);
    let error = resume(&counts, &small(8), 1, UnigramResume::default(), &mut |_, _| ControlFlow::Break(()))
        .expect_err("stopped");
    assert_eq!(error.kind, ErrorKind::Interrupted);
}
