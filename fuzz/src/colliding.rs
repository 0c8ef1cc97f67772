//! Files of tokens that were chosen to have one hash under a fixed hash function.

use base64::prelude::{Engine, BASE64_STANDARD};

use crate::kinds::Kind;

/// The tokens of a file.
const TOKENS: usize = 20_000;
const DIGITS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-+";

/// Return a file of each kind that names its tokens.
pub(crate) fn files() -> Vec<(Kind, Vec<u8>)> {
    let tokens = tokens();
    let lines = format!("[UNK]\n{}\n", tokens.join("\n"));
    let entries: serde_json::Map<_, _> =
        (0u32..).zip(lines.lines()).map(|(id, token)| (token.to_owned(), id.into())).collect();
    let model = serde_json::json!({"type": "WordPiece", "vocab": entries, "unk_token": "[UNK]",
        "continuing_subword_prefix": "##", "max_input_chars_per_word": 100});
    vec![
        (Kind::Lines, lines.clone().into_bytes()),
        (Kind::Json, serde_json::json!({"version": "1.0", "model": model}).to_string().into_bytes()),
        (Kind::Ranks, ranks(&tokens)),
    ]
}

/// Return a file of ranks: all bytes, then these tokens.
pub(crate) fn ranks(tokens: &[String]) -> Vec<u8> {
    let bytes = (0u8..=255).map(|byte| vec![byte]);
    let all = bytes.chain(tokens.iter().map(|token| token.clone().into_bytes())).enumerate();
    let lines = all.map(|(rank, token)| format!("{} {rank}\n", BASE64_STANDARD.encode(token)));
    lines.collect::<String>().into_bytes()
}

/// Return tokens of 32 bytes with equal hashes under `FxHasher`: the last eight bytes are its state after the first
/// sixteen, so that its last product is zero.
fn tokens() -> Vec<String> {
    let tokens = (0u64..).filter_map(|number| {
        let first: [u8; 8] = std::array::from_fn(|at| DIGITS[(number >> (6 * at)) as usize % 64]);
        let one = 0x243f_6a88_85a3_08d3 ^ u64::from_le_bytes(first);
        let product =
            u128::from(one) * u128::from(0xa409_3822_299f_31d0 ^ u64::from_le_bytes(*b"--------"));
        let last = printable((product >> 64) as u64 ^ product as u64)?;
        Some(format!("{}----------------{last}", String::from_utf8_lossy(&first)))
    });
    tokens.take(TOKENS).collect()
}

/// Return the bytes of a number as text, if all are visible.
fn printable(number: u64) -> Option<String> {
    let bytes = number.to_le_bytes();
    bytes.iter().all(u8::is_ascii_graphic).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
