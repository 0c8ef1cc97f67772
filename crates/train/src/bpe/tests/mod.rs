//! Comparison with a naive trainer, and worked examples.

mod by_source;

use std::cmp::Reverse;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{resume, BpeTrainSpec};
use crate::alphabet::{char_positions, Alphabet};
use crate::count::{Counts, Part};
use crate::learned::first_entries;
use crate::merges::Ties;
use crate::progress::Progress;
use crate::sentencepiece::{self, SentencePieceResume, SentencePieceTrainSpec};
use crate::{AlphabetForms, Learned, PieceRules, Resume};
use piecework_core::spec::SentencePieceKind;

fn run(counts: &Counts, spec: &BpeTrainSpec) -> Learned {
    resume(counts, None, spec, Resume::default(), &mut |_, _| ControlFlow::Continue(()))
        .expect("a usable corpus")
}

/// Left, right, merged, count.
type NumberedMerge = (u32, u32, u32, u64);

fn merges(learned: &Learned) -> Vec<NumberedMerge> {
    learned.merges.iter().map(|merge| (merge.left, merge.right, merge.merged, merge.count)).collect()
}

/// Train naively: count all pairs for every merge. With rules, merged entries are distinct.
fn run_naively(
    counts: &Counts,
    spec: &BpeTrainSpec,
    rules: Option<&PieceRules>,
) -> (Vec<String>, Vec<NumberedMerge>) {
    let call = &mut |_, _| ControlFlow::Continue(());
    let mut progress = Progress::start(0, call).expect("a start");
    let alphabet = Alphabet::choose(&[counts], &spec.initial_alphabet, spec.limit_alphabet, &mut progress)
        .expect("an alphabet");
    let first = spec.affixes().alphabet_entries(
        &[counts],
        &alphabet,
        AlphabetForms::StartAndSeen,
        true,
        spec.alphabet_order,
        &spec.initial_alphabet,
    );
    let entries =
        first_entries(&spec.continuing_subword_prefix, &spec.special_tokens, first, spec.vocab_size, None);
    let mut vocab = entries.expect("room for the alphabet").into_names();
    let mut words = split(counts, spec, &alphabet, &vocab);
    let mut merges = Vec::new();
    while vocab.len() < spec.vocab_size {
        let Some((left, right, count)) = best_pair(&words, &vocab, spec, rules) else { break };
        let body = vocab[right as usize]
            .strip_prefix(spec.continuing_subword_prefix.as_str())
            .unwrap_or(&vocab[right as usize]);
        let name = format!("{}{body}", vocab[left as usize]);
        let merged = vocab.iter().position(|known| *known == name).unwrap_or_else(|| {
            vocab.push(name);
            vocab.len() - 1
        }) as u32;
        merges.push((left, right, merged, count));
        words.iter_mut().for_each(|(word, _)| *word = apply(word, left, right, merged));
    }
    (vocab, merges)
}

/// An entry and its number of characters.
type Unit = (u32, usize);

fn split(
    counts: &Counts,
    spec: &BpeTrainSpec,
    alphabet: &Alphabet,
    vocab: &[String],
) -> Vec<(Vec<Unit>, u64)> {
    let unit = |(c, position): (char, crate::alphabet::CharPosition)| {
        let prefix = if position.first { "" } else { &spec.continuing_subword_prefix };
        let suffix = if position.last { spec.end_of_word_suffix.as_str() } else { "" };
        let name = format!("{prefix}{c}{suffix}");
        let entry = vocab.iter().position(|known| *known == name).expect("a form in the vocabulary");
        alphabet.contains(c).then_some((entry as u32, 1))
    };
    let kept = |word: &str| {
        char_positions(Part::whole(word)).filter(|(c, _)| alphabet.contains(*c)).filter_map(unit).collect()
    };
    counts.iter().map(|(word, count)| (kept(word), count)).collect()
}

fn best_pair(
    words: &[(Vec<Unit>, u64)],
    vocab: &[String],
    spec: &BpeTrainSpec,
    rules: Option<&PieceRules>,
) -> Option<(u32, u32, u64)> {
    let mut counted: std::collections::BTreeMap<(u32, u32), u64> = std::collections::BTreeMap::new();
    let mut seen: Vec<(u32, u32)> = Vec::new();
    for (word, count) in words {
        for pair in word.windows(2) {
            seen.push((pair[0].0, pair[1].0));
            if spec.max_token_length.is_none_or(|limit| pair[0].1 + pair[1].1 <= limit) {
                *counted.entry((pair[0].0, pair[1].0)).or_default() += count;
            }
        }
    }
    let names = |&(left, right): &(u32, u32)| (&vocab[left as usize], &vocab[right as usize]);
    let both = |pair: &(u32, u32)| format!("{}{}", names(pair).0, names(pair).1);
    let allowed = |pair: &(u32, u32)| {
        rules.is_none_or(|rules| rules.allows(&both(pair)) && !vocab.contains(&both(pair)))
    };
    let shortness =
        |pair: &(u32, u32)| Reverse((both(pair).chars().count(), both(pair), names(pair).0.len()));
    let first = |pair: &(u32, u32)| Reverse(seen.iter().position(|one| one == pair));
    let best = counted.iter().filter(|(pair, _)| allowed(pair)).max_by(|one, two| {
        one.1.cmp(two.1).then_with(|| match spec.ties {
            Ties::LowestIds => two.0.cmp(one.0),
            Ties::SmallestStrings => names(two.0).cmp(&names(one.0)),
            Ties::GreatestStrings => names(one.0).cmp(&names(two.0)),
            Ties::FirstSeen => first(one.0).cmp(&first(two.0)),
            Ties::ShortestEntries => shortness(one.0).cmp(&shortness(two.0)),
        })
    });
    best.filter(|(_, &count)| count >= spec.min_frequency.max(1))
        .map(|(pair, &count)| (pair.0, pair.1, count))
}

fn apply(word: &[Unit], left: u32, right: u32, merged: u32) -> Vec<Unit> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < word.len() {
        if at + 1 < word.len() && (word[at].0, word[at + 1].0) == (left, right) {
            out.push((merged, word[at].1 + word[at + 1].1));
            at += 2;
        } else {
            out.push(word[at]);
            at += 1;
        }
    }
    out
}

fn corpora() -> impl Strategy<Value = Counts> {
    let word = prop_oneof![3 => "[ab]{1,9}", 3 => "[abc#<]{1,8}", 1 => "a{1,20}", 1 => "[a-eé]{1,12}"];
    proptest::collection::btree_map(word, (1_u64..40, 0_u64..1 << 20), 1..14).prop_map(|rows| {
        let (words, columns): (Vec<String>, Vec<(u64, u64)>) = rows.into_iter().unzip();
        let (counts, first): (Vec<u64>, Vec<u64>) = columns.into_iter().unzip();
        let first: Vec<u64> = (0..).zip(first).map(|(row, position)| position << 4 | row).collect();
        Counts::from_parts(&words, &counts, Some(&first)).expect("distinct words")
    })
}

fn specs() -> impl Strategy<Value = BpeTrainSpec> {
    (
        40_usize..120,
        0_u64..6,
        proptest::option::of(2_usize..6),
        prop_oneof![3 => Just(""), 1 => Just("#"), 1 => Just("##")],
        prop_oneof![3 => Just(""), 1 => Just("<"), 1 => Just("</w>")],
        proptest::collection::vec(prop_oneof![Just("ab"), Just("abc"), Just("[UNK]"), Just("a")], 0..3),
        prop_oneof![
            Just(Ties::LowestIds),
            Just(Ties::SmallestStrings),
            Just(Ties::GreatestStrings),
            Just(Ties::FirstSeen)
        ],
        1_usize..4,
    )
        .prop_map(
            |(
                vocab_size,
                min_frequency,
                limit_alphabet,
                prefix,
                suffix,
                special_tokens,
                ties,
                num_threads,
            )| {
                BpeTrainSpec {
                    vocab_size,
                    min_frequency,
                    limit_alphabet,
                    initial_alphabet: vec!['z'],
                    special_tokens: special_tokens.into_iter().map(String::from).collect(),
                    continuing_subword_prefix: prefix.to_owned(),
                    end_of_word_suffix: suffix.to_owned(),
                    max_token_length: None,
                    ties,
                    num_threads,
                    ..BpeTrainSpec::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn merges_equal_those_of_counting_anew(counts in corpora(), spec in specs()) {
        let learned = run(&counts, &spec);
        let (vocab, naive) = run_naively(&counts, &spec, None);
        prop_assert_eq!(merges(&learned), naive);
        prop_assert_eq!(&learned.vocab, &vocab);
    }

    #[test]
    fn entries_stay_within_max_token_length(
        counts in corpora(),
        spec in specs(),
        limit in 1_usize..6,
    ) {
        // One string in two lengths, which prefixes and suffixes can make, would be one entry of either length.
        let spec = BpeTrainSpec {
            max_token_length: Some(limit),
            continuing_subword_prefix: String::new(),
            end_of_word_suffix: String::new(),
            special_tokens: Vec::new(),
            ..spec
        };
        let learned = run(&counts, &spec);
        let (vocab, naive) = run_naively(&counts, &spec, None);
        prop_assert_eq!(merges(&learned), naive);
        prop_assert_eq!(&learned.vocab, &vocab);
        prop_assert!(vocab.iter().all(|entry| entry.chars().count() <= limit));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn merges_of_sentencepiece_are_distinct_and_have_its_shapes(
        counts in corpora(),
        vocab_size in 40_usize..120,
        max_chars in 1_usize..6,
        split_digits in proptest::bool::ANY,
    ) {
        let rules = PieceRules { max_chars, split_digits, ..PieceRules::default() };
        let sentencepiece = SentencePieceTrainSpec {
            kind: SentencePieceKind::Bpe,
            vocab_size: Some(vocab_size),
            hard_vocab_limit: false,
            symbols: Vec::new(),
            character_coverage: 1.0,
            piece_rules: rules.clone(),
            ..SentencePieceTrainSpec::default()
        };
        let start = SentencePieceResume::default();
        let learned = sentencepiece::resume(&counts, None, &sentencepiece, 1, start, &mut |_, _| ControlFlow::Continue(()))
            .expect("a usable corpus");
        let spec = BpeTrainSpec { vocab_size, ties: Ties::ShortestEntries, ..BpeTrainSpec::default() };
        let (vocab, naive) = run_naively(&counts, &spec, Some(&rules));
        let merged = &vocab[vocab.len() - naive.len()..];
        let pieces: Vec<String> = learned.pieces.into_iter().map(|(piece, _)| piece).collect();
        prop_assert_eq!(pieces.len(), vocab.len());
        prop_assert_eq!(&pieces[..merged.len()], merged);
    }
}

#[test]
fn only_first_seen_needs_first_positions() {
    let counts = Counts::from_parts(&["ba", "ab"], &[2, 2], None).expect("distinct words");
    let spec = BpeTrainSpec { vocab_size: 3, ties: Ties::FirstSeen, ..BpeTrainSpec::default() };
    let error = resume(&counts, None, &spec, Resume::default(), &mut |_, _| ControlFlow::Continue(()))
        .expect_err("no positions");
    assert_eq!(error.place, "ties");
    let spec = BpeTrainSpec { ties: Ties::LowestIds, ..spec };
    assert_eq!(run(&counts, &spec).vocab, ["a", "b", "ab"]);
}

#[test]
fn doubled_pairs_are_merged_left_to_right() {
    let counts = Counts::from_parts(&["aaaaa", "aaaa"], &[3, 2], None).expect("distinct words");
    let spec = BpeTrainSpec { vocab_size: 3, ..BpeTrainSpec::default() };
    assert_eq!(merges(&run(&counts, &spec)), [(0, 0, 1, 18), (1, 1, 2, 5)]);
}

#[test]
fn long_words_are_merged_in_linear_time() {
    let words = ["ab".repeat(200_000), "a".repeat(300_000)];
    let counts = Counts::from_parts(&words, &[1, 1], None).expect("distinct words");
    let learned =
        run(&counts, &BpeTrainSpec { vocab_size: 60, min_frequency: 2, ..BpeTrainSpec::default() });
    let longest = learned.vocab.iter().map(String::len).max();
    assert!(learned.stopped_early.is_some());
    assert_eq!(longest, Some(2 << 17));
}
