use super::*;
use proptest::prelude::*;
use serde_json::Value as SerdeValue;

/// Return the value as `serde_json` gives it: of members with the same name the last counts.
fn plain(value: Value<'_>) -> SerdeValue {
    match value.node() {
        Node::Null => SerdeValue::Null,
        Node::Bool(flag) => (*flag).into(),
        Node::Unsigned(number) => (*number).into(),
        Node::Signed(number) => (*number).into(),
        Node::Float(number) => (*number).into(),
        Node::Text(text) => (**text).into(),
        Node::Array(_) => value.items().unwrap().map(plain).collect(),
        Node::Object(_) => {
            let members = value.members().unwrap().map(|(name, value)| (name.to_owned(), plain(value)));
            SerdeValue::Object(members.collect())
        }
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let read = Tree::read(text);
    prop_assert_eq!(read.as_ref().ok().map(|tree| plain(tree.root())), serde_json::from_str(text).ok());
    Ok(())
}

const PARTS: [&str; 42] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "          ",
    "\t\r",
    "\"",
    "\"a\"",
    "\"\\u0120b\"",
    "\"\\ud800\"",
    "\"\\q\"",
    "\"\\\\\"",
    "\"\u{1}\"",
    "\"é\"",
    "null",
    "true",
    "false",
    "nul",
    "0",
    "-0",
    "00",
    "1",
    "-1",
    "1.5",
    "-1.",
    "1e3",
    "1E-400",
    "1e400",
    "18446744073709551615",
    "18446744073709551616",
    "1234567890123456789",
    "-9223372036854775809",
    "0.1e+1",
    "+1",
    "{\"a\":1,",
    "\"b\": [",
    "], \"a\": ",
    "\\",
];

proptest! {
    #[test]
    fn any_text_is_read_as_serde_json_reads_it(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..12),
    ) {
        check(&parts.concat())?;
    }

    #[test]
    fn any_document_is_read_as_serde_json_reads_it(document in document(), pretty in any::<bool>()) {
        let write = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
        check(&write(&document).unwrap())?;
    }

    #[test]
    fn damaged_documents_are_refused_as_serde_json_refuses_them(
        document in document(), place in any::<prop::sample::Index>(), part in prop::sample::select(&PARTS[..]),
    ) {
        let mut text: Vec<char> = serde_json::to_string(&document).unwrap().chars().collect();
        let place = place.index(text.len());
        text.splice(place..place + 1, part.chars());
        check(&text.into_iter().collect::<String>())?;
    }
}

fn document() -> impl Strategy<Value = SerdeValue> {
    let leaf = prop_oneof![
        Just(SerdeValue::Null),
        any::<bool>().prop_map(SerdeValue::from),
        any::<u64>().prop_map(SerdeValue::from),
        any::<i64>().prop_map(SerdeValue::from),
        any::<f64>().prop_map(SerdeValue::from),
        ".*".prop_map(SerdeValue::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(SerdeValue::from),
            prop::collection::vec((".{0,3}", inner), 0..6)
                .prop_map(|members| SerdeValue::Object(members.into_iter().collect())),
        ]
    })
}

#[test]
fn accepts_the_depth_of_serde_json() {
    for depth in [126, 127, 128, 129, 100_000] {
        check(&("[".repeat(depth) + &"]".repeat(depth))).unwrap();
        check(&("{\"a\":".repeat(depth) + "1" + &"}".repeat(depth))).unwrap();
    }
}

#[test]
fn keeps_order_and_repeated_names() {
    let tree = Tree::read(r#"{"b": 1, "a": [-1, {}], "b": 1.5}"#).unwrap();
    let names: Vec<&str> = tree.root().members().unwrap().map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a", "b"]);
}

#[test]
fn memory_is_bounded_by_the_values() {
    assert!(size_of::<Node<'_>>() <= 24);
}
