//! Merges from segmentations that other merges do not yield, such as those of an existing model.

use std::ops::ControlFlow;

use super::{learn, EntryLimits, MergeSettings, PackedWords, PairScore, SegmentedParts, Ties};
use crate::count::Counts;
use crate::entries::Entries;
use crate::progress::Progress;
use crate::resume::EarlierMerges;
use crate::thread_team::ThreadTeam;
use crate::Learned;

/// Learn up to `vocab_size` entries by the most frequent pair, from words of these entries.
fn run(names: &[&str], rows: &[(&[u32], u64)], vocab_size: usize) -> Learned {
    let entries = Entries::of("", names);
    assert_eq!(entries.len(), names.len());
    let chars = rows.iter().map(|(word, _)| word.len()).sum();
    let mut words = PackedWords::with_capacity(chars, rows.len()).expect("memory");
    for (word, count) in rows {
        words.push(word.iter().copied(), *count).expect("few characters");
    }
    let words = words.numbered().expect("memory");
    let settings = MergeSettings {
        vocab_size,
        score: PairScore::Frequency,
        ties: Ties::LowestIds,
        min_frequency: 1,
        max_token_length: None,
        num_threads: 2,
    };
    let call = &mut |_, _| ControlFlow::Continue(());
    let mut progress = Progress::start(vocab_size, call).expect("a start");
    learn(words, entries, settings, EntryLimits::default(), None, EarlierMerges::default(), &mut progress)
        .expect("few entries")
}

#[test]
fn a_merge_that_yields_an_existing_entry_takes_the_pairs_before_it() {
    // The words are `ab a b` and `ab a`; the merge of (a, b) leaves (ab, a) in the second alone.
    let learned = run(&["a", "b", "ab"], &[(&[2, 0, 1], 7), (&[2, 0], 3), (&[0, 1], 9)], 5);
    let merges: Vec<(u32, u32, u32, u64)> =
        learned.merges.iter().map(|merge| (merge.left, merge.right, merge.merged, merge.count)).collect();
    assert_eq!(merges, [(0, 1, 2, 16), (2, 2, 3, 7), (2, 0, 4, 3)]);
    assert_eq!(learned.vocab, ["a", "b", "ab", "abab", "aba"]);
}

#[test]
fn words_are_segmented_in_the_order_of_the_counts() {
    let words: Vec<String> = ('a'..='k').map(String::from).collect();
    let counts = Counts::from_parts(&words, &[1; 11], None).expect("distinct words");
    let call = &mut |_, _| ControlFlow::Continue(());
    let mut progress = Progress::start(0, call).expect("a start");
    let segment = |(): &mut (), word: &str, parts: &mut SegmentedParts| {
        parts.push(word.chars().map(u32::from));
        Ok(())
    };
    let mut team = ThreadTeam::new(3, &mut progress);
    let segmented = PackedWords::segmented(&counts, 11, || (), segment, &mut team).expect("memory");
    let mut found = String::new();
    segmented
        .visit_words(|entries, _| found.extend(entries.iter().filter_map(|&entry| char::from_u32(entry))));
    assert_eq!(found, "abcdefghijk");
}
