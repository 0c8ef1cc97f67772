//! The law of growing text: for every fixture, whatever parts a text is appended in, it has the ids of the whole text as the
//! definition encodes it, and stable ids stay.

use proptest::prelude::*;

use super::route_law::{any_texts, FIXTURES};
use super::truncation_law::{WITH_OTHER_TOKENS, WITH_TOUCHING_TOKENS};
use super::*;
use crate::stages::added_tokens::Selector;

fn any_parts() -> impl Strategy<Value = Vec<String>> {
    let pieces = vec![
        "<x>", "<", "y>", "b", "c", "1", " e", " ", "  ", ". ", "\u{301}", "a b", "\0 ", "[SEP]", "\n",
    ];
    let part = prop_oneof![
        3 => prop::sample::select(pieces).prop_map(str::to_owned),
        1 => any_texts().prop_map(|texts| texts.concat()),
    ];
    prop::collection::vec(part, 1..10)
}

fn check(tokenizer: &Tokenizer, parts: &[String], parse_special: &Selector) {
    let (plain, routed) = (Encoder::new(tokenizer.plain()), Encoder::new(tokenizer.clone()));
    let options = Options { add_special_tokens: false, parse_special, sampling: None };
    let (mut whole, mut rest, mut stable) = (String::new(), String::new(), Vec::new());
    for part in parts {
        whole.push_str(part);
        rest.push_str(part);
        let expected = plain.ids(Input::Text(&whole).into(), options, <[u32]>::to_vec);
        let found = routed.growing_ids(&rest, parse_special);
        let (Ok(expected), Ok(found)) = (&expected, &found) else {
            assert_eq!(expected.is_ok(), found.is_ok(), "{parts:?} {:?}", tokenizer.stages_spec());
            return;
        };
        let ids = [&stable[..], &found.ids].concat();
        assert_eq!(&ids, expected, "{parts:?} {:?}", tokenizer.stages_spec());
        stable.extend_from_slice(&found.ids[..found.num_stable]);
        rest.drain(..found.rest);
    }
    let ids = |text: &str| plain.ids(Input::Text(text).into(), options, <[u32]>::to_vec).unwrap();
    if let Some(parts) = tokenizer.parts(&whole, parts.len()) {
        assert_eq!(parts.into_iter().flat_map(ids).collect::<Vec<_>>(), ids(&whole), "{whole:?}");
    }
}

/// The number of cases, each of one text for every fixture.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_growing_text_has_the_ids_of_the_whole(parts in any_parts(), parses in any::<bool>()) {
        let parse_special = if parses { Selector::All } else { Selector::only(Vec::new()) };
        for tokenizer in FIXTURES.iter().chain(WITH_OTHER_TOKENS.iter()).chain(WITH_TOUCHING_TOKENS.iter()) {
            check(tokenizer, &parts, &parse_special);
        }
    }
}

#[test]
fn only_the_last_words_are_encoded_again() {
    let is_cut = |tokenizer: &&Tokenizer| tokenizer.cuts().is_some_and(|cuts| cuts.allow_rests());
    let mut routes: Vec<&str> = Vec::new();
    for tokenizer in WITH_OTHER_TOKENS.iter().filter(is_cut) {
        let encoder = Encoder::new(tokenizer.clone());
        let mut rest = String::new();
        for word in 0..50 {
            rest.push_str(&format!(" ab{word} c"));
            let found = encoder.growing_ids(&rest, &Selector::All).unwrap();
            rest.drain(..found.rest);
            assert!(rest.len() < 10, "{rest:?} {:?}", tokenizer.stages_spec());
        }
        routes.push(tokenizer.route_name());
    }
    routes.sort_unstable();
    routes.dedup();
    assert_eq!(routes, ["bert", "byte-level", "generic", "metaspace"]);
}
