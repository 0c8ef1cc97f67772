//! What the learner must give: edge cases, errors, the same seeds as counting all substrings, the same
//! outcome for any number of threads and any order of words. That it learns what the reference learns is
//! shown from Python (`tests/laws/test_unigram_training_laws.py`).

mod cases;
mod seeds;
mod text_lattice;

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{resume, LearnedUnigram, UnigramResume, UnigramTrainSpec};
use crate::count::Counts;
use piecework_core::error::Error;

fn counts(words: &[(String, u64)]) -> Counts {
    let (words, counts): (Vec<&String>, Vec<u64>) =
        words.iter().map(|(word, count)| (word, *count)).unzip();
    Counts::from_parts(&words, &counts, None).expect("distinct words")
}

fn run(counts: &Counts, spec: &UnigramTrainSpec, num_threads: usize) -> Result<LearnedUnigram, Error> {
    resume(counts, spec, num_threads, UnigramResume::default(), &mut |_, _| ControlFlow::Continue(()))
}

fn small(vocab_size: usize) -> UnigramTrainSpec {
    UnigramTrainSpec {
        vocab_size,
        special_tokens: vec!["<unk>".to_owned()],
        character_coverage: 1.0,
        ..UnigramTrainSpec::default()
    }
}

/// Words glued from few parts, each once.
fn words() -> impl Strategy<Value = Vec<(String, u64)>> {
    let part = prop::sample::select(vec!["a", "ab", "ba", "é", "北京", "c", "bcb"]);
    let word = prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat());
    prop::collection::btree_map(word, prop_oneof![1_u64..4, 1_u64..10_000], 1..30)
        .prop_map(|words| words.into_iter().collect())
}
