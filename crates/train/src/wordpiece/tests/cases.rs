//! Published figures and edge cases.

use std::ops::ControlFlow;

use super::{counts, merges, merges_by, merges_with, run, spec};
use crate::count::Counts;
use crate::merges::{PairScore, Ties};
use crate::wordpiece::{resume, Learner, TopDown, WordPieceTrainSpec};
use crate::{AlphabetForms, Resume};
use piecework_core::error::ErrorKind;

const LEARNERS: [Learner; 4] = [
    merges_with(PairScore::Likelihood, Ties::SmallestStrings),
    merges_with(PairScore::Pmi, Ties::FirstSeen),
    merges_with(PairScore::Frequency, Ties::LowestIds),
    Learner::TopDown(TopDown {}),
];

/// The words of the four-sentence corpus in order of first occurrence.
const FOUR_SENTENCES: &str = "This 3 is 2 the 1 Hugging 1 Face 1 Course 1 . 4 chapter 1 about 1 tokenization 1 section 1 \
    shows 1 several 1 tokenizer 1 algorithms 1 Hopefully 1 , 1 you 1 will 1 be 1 able 1 to 1 understand 1 how 1 they 1 \
    are 1 trained 1 and 1 generate 1 tokens 1";

fn four_sentences() -> Counts {
    let fields: Vec<&str> = FOUR_SENTENCES.split_whitespace().collect();
    let words: Vec<(&str, u64)> =
        fields.chunks(2).map(|pair| (pair[0], pair[1].parse().expect("a count"))).collect();
    counts(&words)
}

fn hugs() -> Counts {
    counts(&[("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
}

/// The published score, with the entries of characters that published examples print.
fn published(vocab_size: usize) -> WordPieceTrainSpec {
    let spec = spec(merges_by(PairScore::Pmi), vocab_size, 1);
    WordPieceTrainSpec { alphabet_forms: AlphabetForms::Seen, ..spec }
}

#[test]
fn pmi_learns_the_published_merges_of_hugs() {
    let learned = run(&hugs(), &published(11)).expect("room for four merges");
    assert_eq!(learned.vocab, ["##g", "##n", "##s", "##u", "b", "h", "p", "##gs", "hu", "hugs", "hug"]);
    assert_eq!(merges(&learned)[..2], [("##g", "##s", 5), ("h", "##u", 15)]);
    let scores: Vec<f64> = learned.merges.iter().map(|merge| merge.score).collect();
    assert_eq!(scores, [1.0 / 20.0, 1.0 / 36.0, 1.0 / 15.0, 1.0 / 15.0]);
}

#[test]
fn likelihood_merges_the_smaller_strings_among_equals() {
    let words = [("zx", 5), ("ab", 5), ("b", 1), ("x", 1)];
    let ties = |ties| {
        let learner = merges_with(PairScore::Likelihood, ties);
        let spec = WordPieceTrainSpec { max_token_length: Some(2), ..spec(learner, 100, 1) };
        let learned = run(&counts(&words), &spec).expect("merges");
        merges(&learned).iter().map(|&(left, right, _)| format!("{left}{right}")).collect::<Vec<_>>()
    };
    assert_eq!(ties(Ties::SmallestStrings), ["a##b", "z##x"]);
    assert_eq!(ties(Ties::FirstSeen), ["z##x", "a##b"]);
}

#[test]
fn first_seen_needs_first_positions() {
    let unknown = Counts::from_parts(&["ab", "ba"], &[2, 2], None).expect("distinct words");
    let error = run(&unknown, &spec(merges_by(PairScore::Pmi), 10, 1)).expect_err("no positions");
    assert_eq!((error.kind, error.place.as_str()), (ErrorKind::Argument, "ties"));
    let any = merges_with(PairScore::Pmi, Ties::SmallestStrings);
    run(&unknown, &spec(any, 10, 1)).expect("merges");
}

#[test]
fn frequency_learns_the_published_merges_of_hugs() {
    let learned = run(&hugs(), &spec(merges_by(PairScore::Frequency), 100, 15)).expect("all merges");
    assert_eq!(merges(&learned), [("##u", "##g", 20), ("##u", "##n", 16), ("h", "##ug", 15)]);
    assert!(learned.stopped_early.is_some());
}

#[test]
fn pmi_learns_the_published_vocabulary_of_four_sentences() {
    let special_tokens = WordPieceTrainSpec::default().special_tokens;
    let spec = WordPieceTrainSpec { special_tokens, ..published(70) };
    let learned = run(&four_sentences(), &spec).expect("70 entries");
    let expected = "[PAD] [UNK] [CLS] [SEP] [MASK] ##a ##b ##c ##d ##e ##f ##g ##h ##i ##k ##l ##m ##n ##o ##p ##r ##s ##t \
        ##u ##v ##w ##y ##z , . C F H T a b c g h i s t u w y ab ##fu Fa Fac ##ct ##ful ##full ##fully Th ch ##hm cha \
        chap chapt ##thm Hu Hug Hugg sh th is ##thms ##za ##zat ##ut";
    assert_eq!(learned.vocab, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(learned.merges[0].score, 0.2);
    assert_eq!(learned.stopped_early, None);
}

#[test]
fn overlapping_pairs_count_as_each_score_says() {
    let corpus = counts(&[("xaaaa", 7)]);
    let frequency = run(&corpus, &spec(merges_by(PairScore::Frequency), 100, 7)).expect("merges");
    assert_eq!(merges(&frequency)[0], ("##a", "##a", 21));
    let corpus = counts(&[("xaaaa", 7), ("ya", 20), ("zc", 20)]);
    let likelihood = run(
        &corpus,
        &WordPieceTrainSpec { max_token_length: Some(2), ..spec(merges_by(PairScore::Likelihood), 100, 1) },
    )
    .expect("merges");
    assert!(merges(&likelihood).contains(&("##a", "##a", 14)), "{:?}", merges(&likelihood));
}

#[test]
fn runs_are_merged_left_to_right() {
    let learned =
        run(&counts(&[("xaaa", 5)]), &spec(merges_by(PairScore::Frequency), 7, 1)).expect("merges");
    assert_eq!(merges(&learned), [("##a", "##a", 10), ("x", "##aa", 5), ("xaa", "##a", 5)]);
}

#[test]
fn likelihood_stops_where_no_merge_gains() {
    let learned = run(
        &counts(&[("ab", 1), ("ac", 1), ("db", 1), ("dc", 1)]),
        &spec(merges_by(PairScore::Likelihood), 50, 1),
    )
    .expect("merges");
    let reason = learned.stopped_early.expect("a reason");
    assert!(reason.starts_with("no pair that occurs 1 times raises the likelihood"), "{reason}");
}

#[test]
fn no_words_are_a_corpus_error() {
    for learner in LEARNERS {
        assert_eq!(
            run(&Counts::default(), &spec(learner, 10, 1)).expect_err("empty").kind,
            ErrorKind::Corpus
        );
    }
}

#[test]
fn a_small_vocab_size_is_named_with_what_is_needed() {
    let error = run(
        &hugs(),
        &WordPieceTrainSpec {
            vocab_size: 18,
            learner: merges_by(PairScore::Pmi),
            ..WordPieceTrainSpec::default()
        },
    )
    .expect_err("too small");
    assert_eq!(
        (error.kind, error.place.as_str(), error.found.as_str()),
        (ErrorKind::Training, "vocab_size", "18")
    );
    assert_eq!(error.expected, "at least 19 (5 special tokens and an alphabet of 14)");
}

#[test]
fn sums_beyond_64_bits_are_errors() {
    for learner in LEARNERS {
        let error =
            run(&counts(&[("ab", u64::MAX / 2), ("b", 2)]), &spec(learner, 10, 1)).expect_err("too many");
        assert_eq!(error.kind, ErrorKind::Training);
        run(&counts(&[("ab", u64::MAX / 2), ("b", 1)]), &spec(learner, 10, 1))
            .expect("just within 64 bits");
    }
}

#[test]
fn progress_can_stop_every_learner_at_any_call() {
    for learner in LEARNERS {
        let error =
            resume(&hugs(), &spec(learner, 30, 1), Resume::default(), &mut |_, _| ControlFlow::Break(()))
                .expect_err("stopped");
        assert_eq!(error.kind, ErrorKind::Interrupted);
    }
}

#[test]
fn one_letter_words_and_an_empty_alphabet_give_the_alphabet() {
    for learner in LEARNERS {
        let learned = run(&counts(&[("a", 3), ("b", 1)]), &spec(learner, 30, 1)).expect("an alphabet");
        let mut entries = learned.vocab;
        entries.sort();
        assert_eq!(entries, ["##a", "##b", "a", "b"]);
        let none = WordPieceTrainSpec { limit_alphabet: Some(0), ..spec(learner, 30, 1) };
        assert_eq!(run(&hugs(), &none).expect("nothing").vocab, Vec::<String>::new());
    }
}

#[test]
fn a_limited_alphabet_leaves_words_out_or_skips_characters() {
    let corpus = counts(&[("xab", 5), ("ab", 4), ("qb", 1)]);
    let limited = |score| WordPieceTrainSpec { limit_alphabet: Some(2), ..spec(merges_by(score), 9, 1) };
    let pmi = run(&corpus, &limited(PairScore::Pmi)).expect("merges");
    assert_eq!(
        (pmi.vocab[..4].to_vec(), merges(&pmi)),
        (["##a", "##b", "a", "b"].map(String::from).to_vec(), vec![("a", "##b", 4)])
    );
    let frequency = run(&corpus, &limited(PairScore::Frequency)).expect("merges");
    assert_eq!(frequency.vocab, ["a", "b", "##a", "##b", "##ab", "ab"]);
}

#[test]
fn the_initial_alphabet_is_in_the_vocabulary_if_unseen() {
    let wanted = |score| WordPieceTrainSpec {
        initial_alphabet: vec!['z'],
        limit_alphabet: Some(1),
        ..spec(merges_by(score), 30, 1)
    };
    assert_eq!(run(&hugs(), &wanted(PairScore::Pmi)).expect("z").vocab, ["##z", "z"]);
    assert_eq!(run(&hugs(), &wanted(PairScore::Frequency)).expect("z").vocab, ["z", "##z"]);
}

#[test]
fn every_character_begins_words_and_continues_them_unless_the_pipeline_isolates_it() {
    let corpus = counts(&[("aqua", 5), ("squad", 4), ("北", 3), (".", 2)]);
    for learner in LEARNERS {
        let isolated = WordPieceTrainSpec { isolated_characters: vec!['.', '北'], ..spec(learner, 12, 1) };
        let learned = run(&corpus, &isolated).expect("two forms of five letters, one of two");
        let mut entries = learned.vocab;
        entries.sort();
        assert_eq!(entries, ["##a", "##d", "##q", "##s", "##u", ".", "a", "d", "q", "s", "u", "北"]);
    }
}

#[test]
fn forms_that_the_corpus_lacks_are_a_choice() {
    let corpus = counts(&[("aqua", 5), ("b", 4)]);
    let entries = |learner, alphabet_forms| {
        let spec = WordPieceTrainSpec { alphabet_forms, max_token_length: Some(1), ..spec(learner, 9, 1) };
        let mut entries = run(&corpus, &spec).expect("an alphabet").vocab;
        entries.sort();
        entries
    };
    for learner in LEARNERS {
        let started = ["##a", "##q", "##u", "a", "b", "q", "u"];
        assert_eq!(entries(learner, AlphabetForms::StartAndSeen), started);
        assert_eq!(entries(learner, AlphabetForms::Seen), ["##a", "##q", "##u", "a", "b"]);
    }
}

#[test]
fn entries_stay_within_max_token_length() {
    for learner in LEARNERS {
        let short = WordPieceTrainSpec { max_token_length: Some(2), ..spec(learner, 100, 1) };
        let learned = run(&four_sentences(), &short).expect("short entries");
        assert!(
            learned.vocab.iter().all(|name| name.trim_start_matches("##").chars().count() <= 2),
            "{:?}",
            learned.vocab
        );
        assert!(learned.vocab.iter().any(|name| name.trim_start_matches("##").chars().count() == 2));
    }
}

#[test]
fn top_down_fills_the_vocabulary_exactly() {
    for size in 70..140 {
        let learned = run(
            &four_sentences(),
            &WordPieceTrainSpec { vocab_size: size, ..spec(Learner::TopDown(TopDown {}), size, 1) },
        )
        .expect("entries");
        assert!(learned.vocab.len() <= size);
        assert_eq!(learned.vocab.len() < size, learned.stopped_early.is_some());
    }
}

#[test]
fn a_very_long_word_takes_no_longer_than_its_length() {
    let (same, cycle) = ("a".repeat(200_000), "abc".repeat(70_000));
    for learner in LEARNERS {
        for word in [&same, &cycle] {
            let learned = run(&counts(&[(word, 2)]), &spec(learner, 60, 1)).expect("entries");
            assert!(learned.vocab.len() > 3);
        }
    }
}
