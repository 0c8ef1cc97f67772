//! The trainers learn what naive trainers learn.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::{merges, merges_with, naive_merges, naive_top_down, run, traced};
use crate::count::Counts;
use crate::merges::{PairScore, Ties};
use crate::wordpiece::{Learner, Pruning, TopDown, WordPieceTrainSpec};
use crate::AlphabetForms;

fn corpus() -> impl Strategy<Value = Counts> {
    let count = prop_oneof![
        1_u64..4,
        1_u64..100,
        1_u64..1_000_000,
        // The products of two are beyond the integers of a double.
        (1_u64..10).prop_map(|count| count * 1_000_000_007),
    ];
    let words = prop_oneof![
        btree_map("[ab]{1,10}", count.clone(), 1..12),
        btree_map("[abc]{1,7}", count.clone(), 1..25),
        btree_map("[#a]{1,8}", count.clone(), 1..8),
        btree_map("[a-hé]{1,9}", count, 1..25),
        btree_map("[a-z]{1,8}", 1_u64..3, 1..40),
    ];
    (words, any::<u64>()).prop_map(|(words, seed)| {
        let (words, counts): (Vec<String>, Vec<u64>) = words.into_iter().unzip();
        let first: Vec<u64> =
            (0..words.len() as u64).map(|rank| (rank + 1).wrapping_mul(seed | 1) >> 60).collect();
        Counts::from_parts(&words, &counts, Some(&first)).expect("distinct words")
    })
}

fn settings() -> impl Strategy<Value = WordPieceTrainSpec> {
    let prefix = prop_oneof![8 => Just("##"), 1 => Just(""), 1 => Just("a")];
    let limit = prop_oneof![4 => Just(None), 1 => (1_usize..5).prop_map(Some)];
    let longest = prop_oneof![4 => Just(None), 1 => (0_usize..5).prop_map(Some)];
    let specials = prop_oneof![3 => Just(vec![]), 1 => Just(vec!["[UNK]".to_owned(), "ab".to_owned(), "##b".to_owned()])];
    let forms = vec![AlphabetForms::Possible, AlphabetForms::StartAndSeen, AlphabetForms::Seen];
    let alphabet = (
        vec(prop_oneof![Just('a'), Just('x')], 0..2),
        prop::sample::select(forms),
        vec(prop_oneof![Just('b'), Just('é')], 0..2),
    );
    (prefix, limit, longest, specials, alphabet, 0_u64..4, 0_usize..60, 1_usize..4).prop_map(
        |(
            prefix,
            limit_alphabet,
            max_token_length,
            special_tokens,
            (initial_alphabet, alphabet_forms, isolated_characters),
            min_frequency,
            more,
            num_threads,
        )| WordPieceTrainSpec {
            vocab_size: more,
            min_frequency,
            limit_alphabet,
            initial_alphabet,
            alphabet_forms,
            isolated_characters,
            special_tokens,
            continuing_subword_prefix: prefix.to_owned(),
            max_token_length,
            num_threads,
            ..WordPieceTrainSpec::default()
        },
    )
}

/// Return the same counts with other first positions.
fn reordered(counts: &Counts, seed: u64) -> Counts {
    let (words, numbers): (Vec<&str>, Vec<u64>) = counts.iter().unzip();
    let first: Vec<u64> =
        (0..words.len() as u64).map(|rank| (rank + 1).wrapping_mul(seed | 1) >> 40).collect();
    Counts::from_parts(&words, &numbers, Some(&first)).expect("distinct words")
}

fn ties() -> impl Strategy<Value = Ties> {
    prop::sample::select(vec![
        Ties::LowestIds,
        Ties::SmallestStrings,
        Ties::GreatestStrings,
        Ties::FirstSeen,
    ])
}

/// Learners whose vocabulary does not depend on the order of the corpus.
fn without_positions() -> impl Strategy<Value = Learner> {
    let scores = vec![PairScore::Likelihood, PairScore::Pmi, PairScore::Frequency];
    let ties = prop::sample::select(vec![Ties::LowestIds, Ties::SmallestStrings]);
    prop_oneof![
        3 => (prop::sample::select(scores), ties).prop_map(|(score, ties)| merges_with(score, ties)),
        1 => Just(Learner::TopDown(TopDown {})),
    ]
}

fn compare_merges(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    score: PairScore,
    ties: Ties,
) -> Result<(), TestCaseError> {
    let mut spec = WordPieceTrainSpec { learner: merges_with(score, ties), ..spec.clone() };
    spec.vocab_size += naive_merges::alphabet(counts, &spec).1.len();
    let learned = run(counts, &spec).expect("room for the alphabet");
    let (vocab, expected) = naive_merges::learn(counts, &spec);
    let expected: Vec<(&str, &str, u64)> =
        expected.iter().map(|(left, right, count)| (left.as_str(), right.as_str(), *count)).collect();
    prop_assert_eq!(merges(&learned), expected);
    prop_assert_eq!(&learned.vocab, &vocab);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn frequency_equals_counting_anew(counts in corpus(), spec in settings(), ties in ties()) {
        compare_merges(&counts, &spec, PairScore::Frequency, ties)?;
    }

    #[test]
    fn pmi_equals_counting_anew(counts in corpus(), spec in settings(), ties in ties()) {
        compare_merges(&counts, &spec, PairScore::Pmi, ties)?;
    }

    #[test]
    fn likelihood_equals_counting_anew(counts in corpus(), spec in settings(), ties in ties()) {
        compare_merges(&counts, &spec, PairScore::Likelihood, ties)?;
    }

    #[test]
    fn only_first_seen_depends_on_the_order_of_words(
        counts in corpus(),
        spec in settings(),
        seed in any::<u64>(),
        learner in without_positions()
    ) {
        let mut spec = WordPieceTrainSpec { learner, ..spec };
        spec.vocab_size += naive_merges::alphabet(&counts, &spec).1.len();
        let expected = run(&counts, &spec).expect("room for the alphabet");
        prop_assert_eq!(&run(&reordered(&counts, seed), &spec).expect("room for the alphabet"), &expected);
        let (words, numbers): (Vec<&str>, Vec<u64>) = counts.iter().unzip();
        let unknown = Counts::from_parts(&words, &numbers, None).expect("distinct words");
        prop_assert_eq!(run(&unknown, &spec).expect("room for the alphabet"), expected);
    }

    #[test]
    fn pruning_after_its_choices_learns_the_same(
        counts in corpus(),
        spec in settings(),
        balance in prop::sample::select(vec![0.0, 1.0]),
        kept in any::<prop::sample::Index>(),
    ) {
        let learner = Learner::Pruning(Pruning { balance, ..Pruning::default() });
        let mut spec = WordPieceTrainSpec { learner, ..spec };
        spec.vocab_size += naive_merges::alphabet(&counts, &spec).1.len();
        let (learned, _, choices) = traced(&counts, &spec, &[]);
        let (again, _, all) = traced(&counts, &spec, &choices[..kept.index(choices.len() + 1)]);
        prop_assert_eq!((again, all), (learned, choices));
    }

    /// Counts are at most 12, so that the first threshold is at most 7 and all substrings are in its list.
    #[test]
    fn top_down_equals_tables_of_words_that_begin_with_the_prefix(
        words in btree_set("(##|#)?[ab]{1,3}", 1..6),
        alphabet_forms in prop::sample::select(vec![AlphabetForms::Possible, AlphabetForms::Seen]),
        more in 0_usize..12,
    ) {
        let words: Vec<String> = words.into_iter().collect();
        let counts = Counts::from_parts(&words, &vec![1; words.len()], None).expect("distinct words");
        let mut spec = WordPieceTrainSpec {
            learner: Learner::TopDown(TopDown {}),
            min_frequency: 1,
            alphabet_forms,
            special_tokens: Vec::new(),
            ..WordPieceTrainSpec::default()
        };
        spec.vocab_size = more + naive_merges::alphabet(&counts, &spec).1.len();
        prop_assert_eq!(run(&counts, &spec).expect("room for the alphabet").vocab, naive_top_down::learn(&counts, &spec));
    }

    #[test]
    fn top_down_equals_tables_of_substrings(counts in corpus(), spec in settings()) {
        let mut spec = WordPieceTrainSpec { learner: Learner::TopDown(TopDown {}), ..spec };
        // A word that begins with the prefix itself may match an inner entry there, whatever its length.
        let prefix = spec.continuing_subword_prefix.as_str();
        if !prefix.is_empty() && counts.iter().any(|(word, _)| word.starts_with(prefix)) {
            return Ok(());
        }
        spec.vocab_size += naive_merges::alphabet(&counts, &spec).1.len();
        prop_assert_eq!(run(&counts, &spec).expect("room for the alphabet").vocab, naive_top_down::learn(&counts, &spec));
    }
}
