//! Published figures and edge cases.

use std::ops::ControlFlow;

use super::{counts, merges, merges_by, merges_with, run, spec, traced};
use crate::count::Counts;
use crate::merges::{PairScore, Ties};
use crate::resume::Choices;
use crate::wordpiece::{resume, Learner, Pruning, TopDown, WordPieceTrainSpec};
use crate::{AlphabetForms, Resume, Step};
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
fn the_steps_of_merges_are_the_merges() {
    let runs = counts(&[("aaaaaaa", 5), ("aaaa", 3), ("aaaaa", 2), ("baaa", 2), ("abaaaa", 1)]);
    for (counts, learner) in
        [four_sentences(), runs].iter().flat_map(|all| LEARNERS[..3].iter().map(move |one| (all, one)))
    {
        let (learned, trace, _) = traced(counts, &spec(*learner, 75, 1), &[]);
        assert_eq!((trace.steps.len(), trace.step_count), (learned.merges.len(), learned.merges.len()));
        let name = |id: u32| learned.vocab[id as usize].as_str();
        let mut size = trace.alphabet.len();
        for (at, (step, merge)) in trace.steps.iter().zip(&learned.merges).enumerate() {
            let Step::Merge(step) = step else { panic!("{step:?}") };
            let winner = &step.winner;
            assert_eq!((step.number, winner.count), (at + 1, merge.count));
            assert_eq!((&*winner.left, &*winner.right), (name(merge.left), name(merge.right)));
            assert_eq!((&*winner.token, &winner.token), (name(merge.merged), &step.candidates[0].token));
            assert_eq!(step.candidates.len(), step.pairs.min(100));
            assert_eq!(step.changes.len(), step.changed_words);
            size += usize::from(step.is_new);
            assert_eq!((step.vocab_size, step.is_new), (size, merge.merged as usize + 1 == size));
        }
        assert_eq!(size, learned.vocab.len());
    }
}

#[test]
fn the_steps_of_pruning_are_the_removals() {
    for balance in [0.0, 1.0] {
        let pruning = Pruning { record_removals: true, balance, ..Pruning::default() };
        let spec = spec(Learner::Pruning(pruning), 75, 1);
        let (learned, trace, choices) = traced(&four_sentences(), &spec, &[]);
        assert!(learned.removals.len() > 100);
        assert_eq!((trace.steps.len(), trace.step_count), (learned.removals.len(), learned.removals.len()));
        for (at, (step, removal)) in trace.steps.iter().zip(&learned.removals).enumerate() {
            let Step::Removal(step) = step else { panic!("{step:?}") };
            let put_back = step.put_back.as_ref().map(|entry| &entry.entry);
            assert_eq!((step.number, put_back), (at + 1, removal.put_back.as_ref()));
            assert_eq!((&step.removed.entry, step.removed.loss), (&removal.entry, removal.loss));
            assert_eq!(step.vocab_size, trace.alphabet.len() + step.removable - 1);
        }
        assert_eq!(trace.seeds.len() - learned.removals.len() + trace.alphabet.len(), 75);
        for kept in [1, choices.len() / 3, choices.len() / 2, choices.len() - 1, choices.len()] {
            let (again, _, all) = traced(&four_sentences(), &spec, &choices[..kept]);
            assert_eq!((again.vocab, all), (learned.vocab.clone(), choices.clone()), "{kept} choices");
        }
    }
}

#[test]
fn the_steps_of_top_down_are_its_thresholds() {
    let spec = spec(LEARNERS[3], 75, 1);
    let (learned, trace, choices) = traced(&four_sentences(), &spec, &[]);
    assert_eq!((trace.steps.len(), trace.step_count), (choices.len(), choices.len()));
    let mut bounds = None;
    for (at, step) in trace.steps.iter().enumerate() {
        let Step::Threshold(step) = step else { panic!("{step:?}") };
        assert_eq!((step.number, u64::from(step.fits)), (at + 1, choices[at]));
        assert_eq!((step.low, step.high), bounds.unwrap_or((step.low, step.high)));
        assert_eq!(step.threshold, step.low + (step.high - step.low) / 2);
        assert_eq!(step.fits, step.vocab_size <= 75);
        assert_eq!(step.vocab_size, trace.alphabet.len() + step.selected);
        bounds = Some(match step.fits {
            true => (step.low, step.threshold),
            false => (step.threshold + 1, step.high),
        });
    }
    assert!(bounds.is_some_and(|(low, high)| low == high));
    for kept in 1..=choices.len() {
        let (again, steps, all) = traced(&four_sentences(), &spec, &choices[..kept]);
        assert_eq!((&again, &all), (&learned, &choices));
        assert_eq!(format!("{steps:?}"), format!("{trace:?}"));
    }
}

#[test]
fn choices_of_an_earlier_run_are_not_computed() {
    let mut choices = Choices::new(Resume { earlier_choices: &[7], ..Resume::default() });
    let computed = choices.next_or(|| panic!("computed"));
    assert_eq!(computed.expect("a choice"), Some(7));
    assert_eq!(choices.next_or(|| Ok(Some(8))).expect("a choice"), Some(8));
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
