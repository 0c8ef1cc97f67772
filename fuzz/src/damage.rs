//! Damage: changes of the JSON tree that keep it JSON, and changes of bytes that need not.

use fastrand::Rng;
use serde_json::{json, Value};

/// Damage a file in one to four ways.
pub(crate) fn damaged(file: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = file.to_vec();
    if random.u8(..4) != 0 {
        if let Ok(mut tree) = serde_json::from_slice::<Value>(&bytes) {
            for _ in 0..random.usize(1..4) {
                damage_tree(&mut tree, random);
            }
            bytes = tree.to_string().into_bytes();
        }
    }
    if random.u8(..3) == 0 {
        for _ in 0..random.usize(1..4) {
            damage_bytes(&mut bytes, random);
        }
    }
    bytes
}

/// Walk down to a random place and change what stands there.
fn damage_tree(tree: &mut Value, random: &mut Rng) {
    let mut here = tree;
    while random.u8(..8) != 0 {
        let next = match &mut *here {
            Value::Array(items) if !items.is_empty() => random.usize(..items.len()),
            Value::Object(members) if !members.is_empty() => random.usize(..members.len()),
            _ => break,
        };
        here = match here {
            Value::Array(items) => &mut items[next],
            Value::Object(members) => match members.values_mut().nth(next) {
                Some(value) => value,
                None => return,
            },
            _ => return,
        };
    }
    match (random.u8(..5), &mut *here) {
        (0, Value::Array(items)) if !items.is_empty() => {
            let copy = items[random.usize(..items.len())].clone();
            items.push(copy);
        }
        (1, Value::Array(items)) if !items.is_empty() => drop(items.remove(random.usize(..items.len()))),
        (2, Value::Object(members)) => {
            if let Some(name) = members.keys().nth(random.usize(..members.len().max(1))).cloned() {
                members.remove(&name);
            }
        }
        (3, Value::Array(items)) => *here = nested(std::mem::take(items), random),
        _ => *here = any_value(random),
    }
}

/// Wrap a list in stages of stages.
fn nested(items: Vec<Value>, random: &mut Rng) -> Value {
    let mut value = Value::Array(items);
    for _ in 0..random.usize(1..60) {
        value = json!([{ "type": "Sequence", "normalizers": value, "pretokenizers": [], "decoders": [] }]);
    }
    value
}

fn any_value(random: &mut Rng) -> Value {
    let numbers = [0, 1, 2, 255, 256, 65_535, 4_294_967_295, 4_294_967_296, u64::MAX, 1 << 28, 1 << 24];
    let texts = [
        "",
        " ",
        "a",
        "[UNK]",
        "##",
        "▁",
        "(a+)+$",
        "(?=",
        "\\p{L}",
        "(?i:x)",
        "x{1000}{1000}",
        "\u{0}",
        "AAAA",
        "\u{10FFFF}",
        "Isolated",
        "First",
        "Sequence",
        "WordPiece",
        "BPE",
        "Unigram",
        "Split",
        "Metaspace",
    ];
    match random.u8(..6) {
        0 => Value::Null,
        1 => Value::Bool(random.bool()),
        2 => json!(numbers[random.usize(..numbers.len())]),
        3 => json!(-random.f64() * 1e300),
        4 => json!({ "type": texts[random.usize(..texts.len())] }),
        _ => json!(texts[random.usize(..texts.len())].repeat(random.usize(1..3))),
    }
}

fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = random.usize(..bytes.len());
    let end = (at + random.usize(1..50)).min(bytes.len());
    match random.u8(..4) {
        0 => bytes[at] = random.u8(..),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
        _ => bytes.truncate(at),
    }
}
