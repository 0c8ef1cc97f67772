//! Compare the ids of the crate `tokenizers` with a golden file.
//!
//! ```text
//! check-golden golden.jsonl tokenizer.json
//! ```
//!
//! Prints the rows that differ and counts the skipped ones. The exit code is 0 if all compared rows are equal, and 1 if a row
//! differs or none was compared.

use std::error::Error;
use std::process::ExitCode;

use serde::Deserialize;
use tokenizers::{EncodeInput, Tokenizer};

#[derive(Deserialize)]
struct Row {
    row: usize,
    text: String,
    pair: Option<String>,
    add_special_tokens: bool,
    parse_special: bool,
    truncation: Option<serde_json::Value>,
    padding: Option<serde_json::Value>,
    #[serde(default)]
    error: bool,
    #[serde(default)]
    ids: Vec<u32>,
    #[serde(default)]
    char_offsets: Vec<(usize, usize)>,
    decoded: Option<String>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, golden, file] = &arguments[..] else {
        return Err("usage: check-golden GOLDEN TOKENIZER_JSON".into());
    };
    let mut tokenizer = Tokenizer::from_file(file).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None).with_truncation(None).map_err(|error| error.to_string())?;
    let (mut compared, mut differing, mut skipped) = (0, 0, 0);
    for line in std::fs::read_to_string(golden)?.lines().skip(1) {
        let row: Row = serde_json::from_str(line)?;
        if row.truncation.is_some() || row.padding.is_some() {
            skipped += 1;
            continue;
        }
        compared += 1;
        if let Some(difference) = difference(&mut tokenizer, &row) {
            differing += 1;
            println!("row {}: {:?}: {difference}", row.row, row.text);
        }
    }
    println!("skipped {skipped} rows: this program does not truncate or pad");
    println!("tokenizers: {differing} of {compared} compared rows differ");
    Ok(if differing == 0 && compared > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Return what differs in the first field that differs.
fn difference(tokenizer: &mut Tokenizer, row: &Row) -> Option<String> {
    tokenizer.set_encode_special_tokens(!row.parse_special);
    let text = row.text.as_str();
    let input = match &row.pair {
        Some(pair) => EncodeInput::Dual(text.into(), pair.as_str().into()),
        None => EncodeInput::Single(text.into()),
    };
    let encoding = match tokenizer.encode_char_offsets(input, row.add_special_tokens) {
        Ok(encoding) if !row.error => encoding,
        Ok(encoding) => return Some(format!("expected an error, found {:?}", encoding.get_ids())),
        Err(error) => return (!row.error).then(|| error.to_string()),
    };
    if encoding.get_ids() != row.ids {
        return Some(format!("ids: expected {:?}, found {:?}", row.ids, encoding.get_ids()));
    }
    if encoding.get_offsets() != row.char_offsets {
        return Some(format!(
            "char_offsets: expected {:?}, found {:?}",
            row.char_offsets,
            encoding.get_offsets()
        ));
    }
    let expected = row.decoded.as_ref().unwrap_or(&row.text);
    match tokenizer.decode(encoding.get_ids(), false) {
        Ok(decoded) if decoded == *expected => None,
        decoded => Some(format!("decoded: expected {expected:?}, found {decoded:?}")),
    }
}
