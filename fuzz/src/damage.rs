//! Damage to files: structural changes that leave valid JSON, protobuf or lines, and changes of arbitrary bytes and
//! numbers.

use fastrand::Rng;
use serde_json::{json, Value};

/// Damage a file of any format, by what it looks like: JSON, lines of text or binary.
pub(crate) fn any(file: &[u8], random: &mut Rng) -> Vec<u8> {
    match std::str::from_utf8(file) {
        Ok(text) if text.starts_with('{') && !text.trim_end().contains("}\n{") => json(file, random),
        Ok(_) => lines(file, random),
        Err(_) => numbers(file, random),
    }
}

/// Damage a JSON file in one to four ways.
pub(crate) fn json(file: &[u8], random: &mut Rng) -> Vec<u8> {
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
        damage_some_bytes(&mut bytes, random);
    }
    bytes
}

/// Damage a protobuf file: change, remove, repeat or move fields, with correct lengths.
pub(crate) fn fields(file: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut fields = split_fields(file);
    for _ in 0..random.usize(1..5) {
        if fields.is_empty() {
            break;
        }
        let (at, other) = (random.usize(..fields.len()), random.usize(..fields.len()));
        match random.u8(..6) {
            0 => drop(fields.remove(at)),
            1 => fields.insert(other, fields[at].clone()),
            2 => fields.swap(at, other),
            3 => damage_float(&mut fields[at].1, random),
            _ => damage_some_bytes(&mut fields[at].1, random),
        }
    }
    let mut bytes: Vec<u8> = fields.iter().flat_map(|(tag, inner)| message(*tag, inner)).collect();
    if random.u8(..4) == 0 {
        damage_some_bytes(&mut bytes, random);
    }
    bytes
}

/// Damage a binary file: overwrite numbers of 4 or 8 bytes, and change bytes.
pub(crate) fn numbers(file: &[u8], random: &mut Rng) -> Vec<u8> {
    let values = [0, 1, 2, 3, 8, 9, 255, 1 << 16, 1 << 28, u64::from(u32::MAX), 1 << 40, u64::MAX];
    let mut bytes = file.to_vec();
    for _ in 0..random.usize(1..4) {
        let width = if random.bool() { 4 } else { 8 };
        let Some(last) = bytes.len().checked_sub(width) else { break };
        let at = random.usize(..=last);
        let value = match random.u8(..3) {
            0 => values[random.usize(..values.len())],
            1 => random.u64(..16),
            _ => u64::from(bytes[at]).wrapping_add(1),
        };
        bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
    if random.u8(..3) == 0 {
        damage_some_bytes(&mut bytes, random);
    }
    bytes
}

/// Damage a file of lines: remove, repeat, move or change lines.
pub(crate) fn lines(file: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = file.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..random.usize(1..5) {
        let (at, other) = (random.usize(..lines.len()), random.usize(..lines.len()));
        match random.u8(..5) {
            0 if lines.len() > 1 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => lines[at].extend_from_within(..),
            _ => damage_some_bytes(&mut lines[at], random),
        }
    }
    lines.join(&b'\n')
}

/// Return the fields of a message, each with a tag of one byte and fewer than 2^14 bytes.
fn split_fields(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut fields = Vec::new();
    while let [tag, first, rest @ ..] = bytes {
        let (len, rest) = match (first, rest) {
            (low, [high, rest @ ..]) if *low >= 0x80 => {
                (usize::from(low & 0x7F) | usize::from(*high) << 7, rest)
            }
            _ => (usize::from(*first), rest),
        };
        let (inner, after) = rest.split_at(len.min(rest.len()));
        fields.push((*tag, inner.to_vec()));
        bytes = after;
    }
    fields
}

/// Return a field with its tag and length.
fn message(tag: u8, inner: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let mut len = inner.len();
    while len >= 0x80 {
        bytes.push(len as u8 | 0x80);
        len >>= 7;
    }
    bytes.push(len as u8);
    [&bytes, inner].concat()
}

/// Overwrite four bytes with NaN, an infinity or an extreme number.
fn damage_float(bytes: &mut [u8], random: &mut Rng) {
    let floats =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE, -0.0, 1e5];
    if let Some(last) = bytes.len().checked_sub(4) {
        let at = random.usize(..=last);
        bytes[at..at + 4].copy_from_slice(&floats[random.usize(..floats.len())].to_le_bytes());
    }
}

/// Damage bytes in one to three places.
fn damage_some_bytes(bytes: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..random.usize(1..4) {
        damage_bytes(bytes, random);
    }
}

/// Change a random value of the tree.
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

/// Return a list nested in sequences of stages, or a list of stages that double the text.
fn nested(items: Vec<Value>, random: &mut Rng) -> Value {
    if random.bool() {
        let step = json!({ "type": "Replace", "pattern": { "Regex": "." }, "content": "aa" });
        return Value::Array(vec![step; random.usize(1..60)]);
    }
    let mut value = Value::Array(items);
    for _ in 0..random.usize(1..60) {
        value = json!([{ "type": "Sequence", "normalizers": value, "pretokenizers": [], "decoders": [] }]);
    }
    value
}

/// Return a random value that a reader may not expect.
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

/// Change, remove, repeat or truncate bytes at a random position.
pub(crate) fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Rng) {
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
