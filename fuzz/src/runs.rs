//! Files of tokens and merges that were chosen to fill the slots of a hash table one after the other, and texts whose
//! lookups begin where these runs of full slots begin.
//!
//! No key is far from its own slot, and no two tokens have the upper half of their hashes in common. To encode a text, or to
//! look up its words, takes more than a second if each lookup reads a whole run.

use std::collections::HashSet;
use std::hash::Hasher;

use rustc_hash::FxHasher;
use serde_json::json;

use crate::colliding;
use crate::kinds::Kind;

/// The tokens or merges in a row.
const KEYS: usize = 100_000;
/// The words of a text.
const WORDS: usize = 40_000;

/// Return files with their texts.
pub(crate) fn files() -> Vec<(Kind, Vec<u8>, String)> {
    let (tokens, words) = tokens_and_words();
    let lines = format!("[UNK]\n{}\n", tokens.join("\n"));
    let vocab = in_order(lines.lines().map(str::to_owned));
    let word_level = json!({"version": "1.0", "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}});
    let (tokens, merges, pairs) = merges_and_words();
    let ranks = colliding::ranks(&tokens);
    let byte_level =
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    let bytes = (0u8..=255).map(|byte| piecework_core::text::printable_of(byte).to_string());
    let vocab = in_order(bytes.chain(tokens));
    let bpe = json!({"version": "1.0", "pre_tokenizer": byte_level,
        "model": {"type": "BPE", "vocab": vocab, "merges": merges}});
    vec![
        (Kind::Lines, lines.into_bytes(), words.clone()),
        (Kind::Json, word_level.to_string().into_bytes(), words),
        (Kind::Ranks, ranks, pairs.clone()),
        (Kind::Json, bpe.to_string().into_bytes(), pairs),
    ]
}

/// Return a vocabulary with ids in order.
fn in_order(tokens: impl Iterator<Item = String>) -> serde_json::Value {
    let entries: serde_json::Map<_, _> = tokens.zip(0u32..).map(|(token, id)| (token, id.into())).collect();
    serde_json::Value::Object(entries)
}

/// Return tokens with different tags whose own slots without a seed are in a row, and a text of other words whose slots are
/// the first ones.
fn tokens_and_words() -> (Vec<String>, String) {
    let mask = (2 * KEYS).next_power_of_two() - 1;
    let hash = |word: &str| {
        let mut hasher = FxHasher::default();
        hasher.write(word.as_bytes());
        hasher.finish()
    };
    let (mut is_taken, mut tags) = (vec![false; KEYS], HashSet::new());
    let (mut tokens, mut words) = (Vec::new(), Vec::new());
    for word in (0..).map(|number| format!("w{number}")) {
        let (slot, tag) = (hash(&word) as usize & mask, hash(&word) >> 32);
        if slot < KEYS && !is_taken[slot] && tags.insert(tag) {
            is_taken[slot] = true;
            tokens.push(word);
        } else if slot < KEYS / 20 && words.len() < WORDS {
            words.push(word);
        }
        if tokens.len() == KEYS && words.len() == WORDS {
            return (tokens, words.join(" "));
        }
    }
    unreachable!("the numbers do not end")
}

/// Return the tokens of a byte-level model after its bytes, their merges, whose pairs fill buckets in a row, and a text
/// of words whose last pairs are no merges and belong to the first of these buckets.
fn merges_and_words() -> (Vec<String>, Vec<[String; 2]>, String) {
    let (mut tokens, mut merges, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (x, y) in (b'a'..=b'q').flat_map(|x| (b'A'..=b'M').map(move |y| (x, y))) {
        numbers.push((u64::from(x), u64::from(y)));
        merges.push([char::from(x).to_string(), char::from(y).to_string()]);
        tokens.push(merges[merges.len() - 1].concat());
    }
    let two = tokens.clone();
    for (number, z) in (0..two.len()).flat_map(|number| (b'N'..=b'W').map(move |z| (number, z))) {
        numbers.push((256 + number as u64, u64::from(z)));
        merges.push([two[number].clone(), char::from(z).to_string()]);
        tokens.push(merges[merges.len() - 1].concat());
    }
    // All pairs of tokens of three letters, by their buckets.
    let count = (merges.len() + KEYS) * 2 / 3 + 1;
    let bucket = |(left, right): (u64, u64)| {
        let hash = (left << 21 | right).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((u128::from(hash) * count as u128) >> 64) as usize
    };
    let (first, three) = (256 + two.len() as u64, tokens.split_off(two.len()));
    let mut pairs = vec![Vec::new(); count];
    for (left, right) in (0..three.len()).flat_map(|left| (0..three.len()).map(move |right| (left, right)))
    {
        pairs[bucket((first + left as u64, first + right as u64))].push((left, right));
    }
    let mut free = vec![4_isize; count];
    numbers.iter().for_each(|&pair| free[bucket(pair)] -= 1);
    tokens.extend(three.iter().cloned());
    // From the last bucket to the first: where one has too few pairs, the one before it has more.
    let (mut due, mut chosen) = (0, HashSet::new());
    for bucket in (0..KEYS / 4).rev() {
        due += free[bucket];
        for &pair in pairs[bucket].iter().take(due.max(0) as usize) {
            due -= 1;
            chosen.insert(pair);
            merges.push([three[pair.0].clone(), three[pair.1].clone()]);
            tokens.push(merges[merges.len() - 1].concat());
        }
    }
    let is_absent = |pair: &&(usize, usize)| !chosen.contains(*pair);
    let absent = pairs[..KEYS / 100].iter().flat_map(|pairs| pairs.iter().filter(is_absent));
    let words = absent.take(WORDS).map(|&(left, right)| three[left].clone() + &three[right]);
    (tokens, merges, words.collect::<Vec<_>>().join(" "))
}
