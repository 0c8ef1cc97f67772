//! Counting within a memory limit equals counting without one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;

use super::counts::SOURCE_SHIFT;
use super::{CounterSettings, Counts, GroupWeights, WordCounter};
use piecework_core::error::ErrorKind;
use piecework_core::spec::PreTokenizerSpec;
use piecework_core::stages::normalize::Normalizer;
use piecework_core::stages::pretokenize::PreTokenizer;
use piecework_core::stages::split::Splitter;

/// A folder that is deleted with the value.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("piecework-counts-{}-{number}", std::process::id())))
    }

    /// Return the settings of a counter with a memory limit.
    fn limit(&self, bytes: usize) -> CounterSettings {
        CounterSettings { memory: Some(bytes), folder: Some(self.0.clone()), ..CounterSettings::default() }
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn counter(num_threads: usize) -> WordCounter {
    counter_of(num_threads, CounterSettings::default())
}

fn counter_of(num_threads: usize, settings: CounterSettings) -> WordCounter {
    let pre_tokenizer = PreTokenizer::compile(Some(&PreTokenizerSpec::WhitespaceSplit));
    let splitter = Splitter::new(
        Normalizer::compile(None).expect("no normalizer"),
        pre_tokenizer.expect("a known pre-tokenizer"),
    );
    WordCounter::new(splitter, num_threads, settings)
}

fn add(counter: &mut WordCounter, source: u32, text: &str) {
    counter.add_block(text.as_bytes(), source, 0, true).expect("UTF-8 text");
}

fn counted(mut counter: WordCounter, texts: &[String]) -> Counts {
    texts.iter().zip(0..).for_each(|(text, source)| add(&mut counter, source, text));
    finish(counter, &GroupWeights::UNIT)
}

fn finish(counter: WordCounter, weights: &GroupWeights) -> Counts {
    counter.finish(weights).and_then(super::OrderedWords::into_counts).expect("small counts")
}

/// Return a line with its end; most are invalid UTF-8.
fn bytes_of_line() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![&b"a"[..], b"bc", b" ", b"\xff", b"\xc3", "é".as_bytes()]);
    let end = prop::sample::select(vec![&b"\n"[..], b"\r\n"]);
    (vec(part, 0..8), end).prop_map(|(parts, end)| [parts.concat(), end.to_vec()].concat())
}

/// Texts of short words, and of words that are too long for a key.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof!["[ab]{1,3}", "[ab]{14,18}", "é{7,9}", "\u{0}?a"];
    let text = vec((word, prop_oneof![Just(" "), Just("\n")]), 0..20)
        .prop_map(|words| words.into_iter().flat_map(|(word, space)| [word, space.to_owned()]).collect());
    vec(text, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_memory_limit_does_not_change_counts(texts in texts(), threads in 1_usize..4, limit in 0_usize..20_000) {
        let folder = TestFolder::new();
        let limited = counter_of(threads, folder.limit(limit));
        prop_assert_eq!(counted(limited, &texts), counted(counter(1), &texts));
    }

    #[test]
    fn blocks_of_any_size_give_the_same_counts(
        lines in vec(bytes_of_line(), 0..12),
        cuts in vec(any::<bool>(), 12),
        keep in any::<bool>(),
        threads in 1_usize..3,
    ) {
        let sample = Some((0.7, 1));
        let settings = CounterSettings { keep_line_ends: keep, sample, ..CounterSettings::default() };
        let new = || counter_of(threads, settings.clone());
        let (mut whole, mut divided) = (new(), new());
        whole.add_block(&lines.concat(), 1, 100, false).expect("short lines");
        let (mut offset, mut block) = (100, Vec::new());
        for (line, is_end) in lines.iter().zip(cuts) {
            block.extend_from_slice(line);
            if is_end {
                divided.add_block(&block, 1, offset, false).expect("short lines");
                offset += block.len() as u64;
                block.clear();
            }
        }
        divided.add_block(&block, 1, offset, false).expect("short lines");
        prop_assert_eq!(whole.left_out(), divided.left_out());
        prop_assert_eq!(whole.progress().replacements, divided.progress().replacements);
        prop_assert_eq!(finish(whole, &GroupWeights::UNIT), finish(divided, &GroupWeights::UNIT));
    }

    #[test]
    fn words_in_parts_are_all_words(texts in texts(), part in 1_usize..5, limit in 0_usize..2_000) {
        let folder = TestFolder::new();
        let mut limited = counter_of(1, folder.limit(limit));
        texts.iter().zip(0..).for_each(|(text, source)| add(&mut limited, source, text));
        let mut words = limited.finish(&GroupWeights::UNIT).expect("small counts");
        let mut rows = Vec::new();
        loop {
            let next = words.next_words(part).expect("undamaged runs");
            if next.is_empty() {
                break;
            }
            let first = next.first().expect("counted words have positions").to_vec();
            rows.extend(next.iter().zip(first).map(|((word, n), first)| (word.to_owned(), n, first)));
        }
        let all = counted(counter(1), &texts);
        let first = all.first().expect("counted words have positions");
        let expected = all.iter().zip(first).map(|((word, n), first)| (word.to_owned(), n, *first));
        prop_assert_eq!(rows, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_restored_counter_counts_like_an_undisturbed_one(
        texts in texts(), stop in 0_usize..8, limit in 0_usize..20_000,
    ) {
        let folder = TestFolder::new();
        let stop = stop.min(texts.len());
        let limited = || counter_of(2, folder.limit(limit));
        let mut first = limited();
        texts[..stop].iter().zip(0..).for_each(|(text, source)| add(&mut first, source, text));
        let state = first.state().expect("a writable folder");
        // What the first counter does after its checkpoint is lost.
        texts[stop..].iter().zip(0..).for_each(|(text, source)| add(&mut first, source, text));
        drop(first);
        let mut second = limited();
        second.restore(state).expect("a memory limit");
        texts.iter().zip(0..).skip(stop).for_each(|(text, source)| add(&mut second, source, text));
        prop_assert_eq!(finish(second, &GroupWeights::UNIT), counted(counter(1), &texts));
    }

    #[test]
    fn weighted_counts_are_exact_sums_rounded_once(
        texts in texts(), numerators in vec(0_u64..9, 8), denominator in 1_u64..7,
    ) {
        let folder = TestFolder::new();
        let mut limited = counter_of(1, folder.limit(1 << 20));
        let mut sums = BTreeMap::<String, u64>::new();
        for (at, text) in texts.iter().enumerate() {
            limited.start_group(at as u32).expect("a memory limit");
            add(&mut limited, at as u32, text);
            for (word, n) in counted(counter(1), std::slice::from_ref(text)).iter() {
                *sums.entry(word.to_owned()).or_default() += n * numerators[at];
            }
        }
        let weights = GroupWeights::new(numerators, denominator);
        let rounded = sums.into_iter().map(|(word, sum)| (word, (2 * sum + denominator) / (2 * denominator)));
        let expected: BTreeMap<String, u64> = rounded.filter(|(_, n)| *n > 0).collect();
        let found = finish(limited, &weights);
        prop_assert_eq!(found.iter().map(|(word, n)| (word.to_owned(), n)).collect::<BTreeMap<_, _>>(), expected);
    }

    #[test]
    fn a_damaged_run_is_an_error(at in 0.0..1.0_f64, bit in 0_u32..8, cut in any::<bool>()) {
        let folder = TestFolder::new();
        let mut limited = counter_of(1, folder.limit(0));
        add(&mut limited, 0, "hug pug hugs a much longer word: internationalization");
        let path = limited.write_runs().expect("a writable folder")[0].path.clone();
        let mut bytes = std::fs::read(&path).expect("the run");
        let at = (at * bytes.len() as f64) as usize;
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1 << bit;
        }
        std::fs::write(&path, bytes).expect("a writable folder");
        let words = limited.finish(&GroupWeights::UNIT).and_then(super::OrderedWords::into_counts);
        prop_assert_eq!(words.expect_err("damaged").kind, ErrorKind::Format);
    }
}

/// Distinct words of numbers, one line each.
fn numbered_words(range: std::ops::Range<u32>) -> String {
    range
        .map(|number| format!("w{} internationalization{number}\n", number.wrapping_mul(0x9E37_79B9)))
        .collect()
}

#[test]
fn many_runs_and_large_tables_are_sorted_in_files() {
    let folder = TestFolder::new();
    let texts: Vec<String> = (0..80).map(|at| numbered_words(at * 500..at * 500 + 1000)).collect();
    let mut limited = counter_of(2, folder.limit(400_000));
    for (text, source) in texts.iter().zip(0..) {
        add(&mut limited, source, text);
        limited.write_runs().expect("a writable folder");
    }
    assert!(limited.write_runs().expect("a writable folder").len() > super::spilled::MAX_OPEN_RUNS);
    assert_eq!(finish(limited, &GroupWeights::UNIT), counted(counter(1), &texts));
}

#[test]
fn maps_stay_within_the_limit() {
    let folder = TestFolder::new();
    let mut limited = counter_of(1, folder.limit(2_000_000));
    for source in 0..20 {
        add(&mut limited, source, &numbered_words(source * 5000..source * 5000 + 5000));
        assert!(limited.map_bytes() <= 2_000_000);
    }
    assert!(limited.write_runs().expect("a writable folder").len() > 5);
}

#[test]
fn sums_beyond_64_bits_are_reported() {
    let folder = TestFolder::new();
    let mut limited = counter_of(1, CounterSettings { with_counts: true, ..folder.limit(0) });
    let most = format!("hug\t{}\n", u64::MAX);
    for source in 0..2 {
        add(&mut limited, source, &most);
        limited.write_runs().expect("a writable folder");
    }
    let found = limited.finish(&GroupWeights::UNIT).and_then(super::OrderedWords::into_counts);
    assert_eq!(found.expect_err("too many").kind, ErrorKind::Training);
}

#[test]
fn long_words_and_unsampled_texts_are_left_out_and_counted() {
    let settings = CounterSettings { max_word_length: Some(3), ..CounterSettings::default() };
    let mut short = counter_of(1, settings);
    add(&mut short, 0, "hug hugs ééé éééé internationalization");
    assert_eq!(short.left_out().long_words, 3);
    assert_eq!(finish(short, &GroupWeights::UNIT).iter().collect::<Vec<_>>(), [("hug", 1), ("ééé", 1)]);
    let settings = CounterSettings { sample: Some((0.5, 1)), ..CounterSettings::default() };
    let mut sampled = counter_of(1, settings);
    add(&mut sampled, 0, &"hug\n".repeat(1000));
    let left_out = sampled.left_out().unsampled_texts;
    assert!((400..600).contains(&left_out));
    assert_eq!(finish(sampled, &GroupWeights::UNIT).counts(), [1000 - left_out]);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Some("/dev/null/runs".into());
    let settings = CounterSettings { memory: Some(0), folder, ..CounterSettings::default() };
    let mut limited = counter_of(1, settings);
    add(&mut limited, 0, "hug");
    let error = limited.write_runs().expect_err("not a folder");
    assert_eq!((error.kind, error.place.as_str()), (ErrorKind::File, "/dev/null/runs"));
}

#[test]
fn positions_order_words_across_sources() {
    let folder = TestFolder::new();
    let mut limited = counter_of(1, folder.limit(0));
    add(&mut limited, 1, "b a");
    add(&mut limited, 0, "c a");
    let counts = finish(limited, &GroupWeights::UNIT);
    assert_eq!(counts.iter().collect::<Vec<_>>(), [("c", 1), ("a", 2), ("b", 1)]);
    assert_eq!(counts.first(), Some(&[0, 2, 1 << SOURCE_SHIFT][..]));
}
