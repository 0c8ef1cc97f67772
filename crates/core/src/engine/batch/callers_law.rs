//! Several callers of one encoder at once get what the definition gives, before, while and after tables are built late;
//! each table is built once, and none after `warm_up`.

use std::sync::{Barrier, LazyLock};
use std::thread;

use proptest::prelude::*;

use super::route_law::{any_texts, compiled};
use super::*;
use crate::locks::in_tests::{builds, while_others_build};
use crate::model::Model;
use crate::stages::added_tokens::Selector;

const ALL: Options<'static> =
    Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };
const CALLERS: usize = 8;

/// More distinct words, which are no tokens, than are looked up before tables are built; runs of spaces, digits and
/// characters of other scripts between them.
fn many_words() -> Vec<String> {
    let letters = ["a", "b", "c", "e", "cca", "\u{e9}", "漢", "abb"];
    let word = |number: usize| {
        let mut rest = number;
        let parts = std::iter::from_fn(|| {
            let part = (rest > 0).then_some(letters[rest % letters.len()])?;
            rest /= letters.len();
            Some(part)
        });
        parts.collect::<String>()
    };
    let space = |number: usize| [" ", " ", "  ", " 1", "\n"][number % 5];
    let line = |from: usize| (from..from + 60).map(|number| word(8 * number + 513) + space(number));
    (0..60).map(|number| line(60 * number).collect()).collect()
}

/// What a caller gets: ids with offsets, ids alone, counts, and texts.
fn all_calls(encoder: &Encoder, texts: &[String]) -> (BatchIds, BatchIds, Vec<i64>, Vec<String>) {
    let sources: Vec<Source<'_>> = texts.iter().map(|text| Input::Text(text).into()).collect();
    let extra = ExtraColumns { spans: true, overflow: false };
    let aligned = encoder.encode(&sources, None, ALL, extra, 1).unwrap();
    let ids = encoder.encode(&sources, None, ALL, ExtraColumns::default(), 1).unwrap();
    let counts = encoder.count(&sources, ALL, 1).unwrap();
    let decode = |clean_up| encoder.tokenizer().decode(&ids.ids, true, clean_up).unwrap();
    let decoded = [None, Some(false), Some(true)].map(decode);
    (aligned, ids, counts, decoded.into())
}

/// Return whether each table of a tokenizer has a definition to continue with: SentencePiece's Unigram has none for words
/// that its trie cannot decide, so two threads may build its links.
fn builds_once(tokenizer: &Tokenizer) -> bool {
    !matches!(tokenizer.model(), Model::UnigramF32(_))
}

#[test]
fn callers_at_once_get_what_the_definition_gives_and_build_each_table_once() {
    let texts = many_words();
    for (tokenizer, definition) in compiled().into_iter().zip(compiled()) {
        let before = builds();
        let alone = Encoder::new(definition.clone());
        // All callers count the words that are segmented before tables are built.
        (0..CALLERS).for_each(|_| drop(all_calls(&alone, &texts)));
        let built_alone = builds() - before;
        let expected = all_calls(&Encoder::new(definition.plain()), &texts);
        let encoder = Encoder::new(tokenizer);
        let start = Barrier::new(CALLERS);
        let call = || {
            start.wait();
            assert_eq!(all_calls(&encoder, &texts), expected, "{:?}", definition.stages_spec());
            builds()
        };
        let built: usize = thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(call)).collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).sum()
        });
        // The tables of the pre-tokenizer, which all tokenizers share, are built already.
        if builds_once(&definition) {
            assert!(built <= built_alone, "{built} {built_alone} {:?}", definition.stages_spec());
        }
    }
}

/// Tokenizers whose tables are never built.
static FRESH: LazyLock<Vec<Tokenizer>> = LazyLock::new(compiled);

#[test]
fn no_call_builds_a_table_after_warm_up() {
    let texts = many_words();
    for tokenizer in compiled() {
        tokenizer.warm_up();
        let encoder = Encoder::new(tokenizer);
        let before = builds();
        all_calls(&encoder, &texts);
        let long = ["aab ".repeat(30_000), "ab\u{e9}".repeat(20_000)];
        all_calls(&encoder, &long);
        let plain = Encoder::new(encoder.tokenizer().plain());
        all_calls(&plain, &texts);
        encoder.tokenizer().warm_up();
        assert_eq!(builds() - before, 0, "{:?}", encoder.tokenizer().stages_spec());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn callers_get_what_the_tables_give_while_another_thread_builds_them(texts in any_texts()) {
        for (fresh, built) in FRESH.iter().zip(super::route_law::FIXTURES.iter()) {
            let expected = all_calls(&Encoder::new(built.plain()), &texts);
            let before = builds();
            let found = while_others_build(|| all_calls(&Encoder::new(fresh.clone()), &texts));
            prop_assert_eq!(found, expected, "{:?}", fresh.stages_spec());
            prop_assert!(!builds_once(fresh) || builds() == before, "{:?}", fresh.stages_spec());
        }
    }
}

#[test]
fn idle_scratches_are_bounded() {
    let encoder = Encoder::new(compiled().swap_remove(0));
    let callers = 4 * (processors() + MORE_IDLE);
    let all_inside = Barrier::new(callers);
    thread::scope(|scope| {
        for _ in 0..callers {
            scope.spawn(|| encoder.with_scratch(|_| all_inside.wait()));
        }
    });
    assert_eq!(encoder.idle().unwrap().len(), processors() + MORE_IDLE);
}
