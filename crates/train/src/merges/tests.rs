//! Merges from segmentations that other merges do not yield, such as those of an existing model.

use std::ops::ControlFlow;

use super::{learn, EntryLimits, MergeSettings, PackedWords, PairScore, Ties};
use crate::entries::Entries;
use crate::progress::Progress;
use crate::resume::EarlierMerges;
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
