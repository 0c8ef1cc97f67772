//! The passes over all words equal the computations for one entry.

use std::ops::ControlFlow;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::effects::CostRule;
use super::losses::Losses;
use super::*;
use crate::count::Counts;
use crate::wordpiece::{begin, Learner, WordPieceTrainSpec};
use piecework_core::spec::Segmentation;

fn corpus() -> impl Strategy<Value = Counts> {
    let words = prop_oneof![
        btree_map("[ab]{1,10}", 1_u64..100, 1..12),
        btree_map("(ab|abc|ba){1,4}", 1_u64..100, 1..12),
        btree_map("[#a]{1,8}", 1_u64..100, 1..8),
        btree_map("[a-hé]{1,9}", 1_u64..100, 1..25),
    ];
    words.prop_map(|words| {
        let (words, counts): (Vec<String>, Vec<u64>) = words.into_iter().unzip();
        Counts::from_parts(&words, &counts, None).expect("distinct words")
    })
}

fn settings() -> impl Strategy<Value = WordPieceTrainSpec> {
    let prefix = prop_oneof![4 => Just("##"), 1 => Just(""), 1 => Just("a")];
    let segmentation = prop_oneof![Just(Segmentation::Greedy), Just(Segmentation::Shortest)];
    let balance = prop_oneof![Just(0.0), Just(1.0)];
    let max_use_cost = prop_oneof![2 => Just(None), 1 => Just(Some(1.5))];
    (prefix, segmentation, balance, max_use_cost, 1_usize..4).prop_map(
        |(prefix, segmentation, balance, max_use_cost, num_threads)| WordPieceTrainSpec {
            learner: Learner::Pruning(Pruning {
                segmentation,
                balance,
                max_use_cost,
                ..Pruning::default()
            }),
            min_frequency: 1,
            special_tokens: Vec::new(),
            continuing_subword_prefix: prefix.to_owned(),
            num_threads,
            ..WordPieceTrainSpec::default()
        },
    )
}

proptest! {
    /// After many removals, some of them undone.
    #[test]
    fn passes_over_all_words_equal_single_computations(
        counts in corpus(),
        spec in settings(),
        changes in vec((any::<prop::sample::Index>(), prop::bool::weighted(0.8)), 0..150),
    ) {
        let Learner::Pruning(settings) = spec.learner else { unreachable!("the strategy prunes") };
        let mut call = |_, _| ControlFlow::Continue(());
        let progress = &mut Progress::start(spec.vocab_size, &mut call).expect("not stopped");
        let start = begin(&counts, &spec, Resume::default(), spec.vocab_size, progress)
            .expect("a size above the alphabet");
        let task = wordpiece_task(&start, &settings, progress).expect("not stopped");
        let candidates = task.candidates(progress).expect("fits");
        let removable: Vec<u32> = (0..candidates.len() as u32)
            .filter(|&candidate| !candidates.protected[candidate as usize])
            .collect();
        let rule = CostRule::new(&settings);
        let mut losses = Losses::new(&candidates, settings.segmentation, rule, spec.num_threads);
        losses.estimate_costs(progress).expect("not stopped");
        losses.recompute(progress).expect("not stopped");
        for (change, is_removal) in changes.iter().filter(|_| !removable.is_empty()) {
            let candidate = *change.get(&removable);
            match (losses.is_present(candidate), is_removal) {
                (true, true) => losses.remove(candidate, progress).expect("not stopped"),
                (false, false) => losses.insert(candidate, progress).expect("not stopped"),
                _ => {}
            }
        }
        let each = || removable.iter().copied();
        let updated: Vec<f64> = each().map(|candidate| losses.loss_in_tokens(candidate)).collect();
        let updated_cheapest = losses.cheapest();
        losses.recompute(progress).expect("not stopped");
        let computed: Vec<f64> = each().map(|candidate| losses.loss_in_tokens(candidate)).collect();
        prop_assert_eq!(updated, computed);
        prop_assert_eq!(updated_cheapest, losses.cheapest());
        let gains = losses.gains(progress).expect("not stopped");
        for candidate in each().filter(|&candidate| !losses.is_present(candidate)).collect::<Vec<_>>() {
            let gain = losses.gain(candidate, progress).expect("not stopped");
            prop_assert_eq!(gains[candidate as usize], gain);
        }
    }
}
