//! `pre_tokenizer`.

use piecework_core::error::Error;
use piecework_core::spec::{PreTokenizerSpec, SplitBehavior};
use serde_json::{json, Value};

use super::shared::{
    bare, read_behavior, read_byte_level, read_custom, read_metaspace, read_pattern, sequence,
    write_behavior, write_byte_level, write_custom, write_metaspace, write_pattern, Functions,
};
use crate::json::Field;

const KINDS: [&str; 12] = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "Punctuation",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "Sequence",
];

/// The default length of `FixedLength`.
const DEFAULT_LENGTH: usize = 5;

pub(super) fn read(field: &Field, functions: &Functions<'_>) -> Result<PreTokenizerSpec, Error> {
    read_among(field, &KINDS, functions)
}

/// Read a pre-tokenizer whose kind, and that of its members, is one of `kinds`.
pub(super) fn read_among(
    field: &Field,
    kinds: &[&str],
    functions: &Functions<'_>,
) -> Result<PreTokenizerSpec, Error> {
    if let Some(custom) = read_custom(field, functions)? {
        return Ok(PreTokenizerSpec::Custom(custom));
    }
    match field.kind(kinds)? {
        "BertPreTokenizer" => bare(field, PreTokenizerSpec::Bert),
        "ByteLevel" => read_byte_level(field).map(PreTokenizerSpec::ByteLevel),
        "CharDelimiterSplit" => {
            field.fields(&["type", "delimiter"])?;
            Ok(PreTokenizerSpec::CharDelimiterSplit { delimiter: field.get("delimiter")?.char()? })
        }
        "Digits" => {
            field.fields(&["type", "individual_digits"])?;
            let individual_digits = field.get("individual_digits")?.flag()?;
            Ok(PreTokenizerSpec::Digits { individual_digits })
        }
        "FixedLength" => {
            field.fields(&["type", "length"])?;
            let length = field.member("length")?;
            let length = length.map_or(Ok(DEFAULT_LENGTH), |length| length.size())?;
            Ok(PreTokenizerSpec::FixedLength { length })
        }
        "Metaspace" => read_metaspace(field).map(PreTokenizerSpec::Metaspace),
        "Punctuation" => {
            field.fields(&["type", "behavior"])?;
            let behavior = field.member("behavior")?;
            let behavior = behavior.map_or(Ok(SplitBehavior::Isolated), |value| read_behavior(&value))?;
            Ok(PreTokenizerSpec::Punctuation { behavior })
        }
        "Split" => read_split(field),
        "UnicodeScripts" => bare(field, PreTokenizerSpec::UnicodeScripts),
        "Whitespace" => bare(field, PreTokenizerSpec::Whitespace),
        "WhitespaceSplit" => bare(field, PreTokenizerSpec::WhitespaceSplit),
        _ => {
            let read = |member: &Field| read_among(member, kinds, functions);
            sequence(field, "pretokenizers", read).map(PreTokenizerSpec::Sequence)
        }
    }
}

fn read_split(field: &Field) -> Result<PreTokenizerSpec, Error> {
    field.fields(&["type", "pattern", "behavior", "invert"])?;
    Ok(PreTokenizerSpec::Split {
        pattern: read_pattern(&field.get("pattern")?)?,
        behavior: read_behavior(&field.get("behavior")?)?,
        invert: field.get("invert")?.flag()?,
    })
}

pub(super) fn write(pre_tokenizer: &PreTokenizerSpec) -> Value {
    match pre_tokenizer {
        PreTokenizerSpec::Bert => json!({ "type": "BertPreTokenizer" }),
        PreTokenizerSpec::ByteLevel(spec) => write_byte_level(*spec),
        PreTokenizerSpec::CharDelimiterSplit { delimiter } => {
            json!({ "type": "CharDelimiterSplit", "delimiter": delimiter })
        }
        PreTokenizerSpec::Digits { individual_digits } => {
            json!({ "type": "Digits", "individual_digits": individual_digits })
        }
        PreTokenizerSpec::FixedLength { length } => json!({ "type": "FixedLength", "length": length }),
        PreTokenizerSpec::Metaspace(spec) => write_metaspace(*spec),
        PreTokenizerSpec::Punctuation { behavior } => {
            json!({ "type": "Punctuation", "behavior": write_behavior(*behavior) })
        }
        PreTokenizerSpec::Split { pattern, behavior, invert } => json!({
            "type": "Split",
            "pattern": write_pattern(pattern),
            "behavior": write_behavior(*behavior),
            "invert": invert,
        }),
        PreTokenizerSpec::UnicodeScripts => json!({ "type": "UnicodeScripts" }),
        PreTokenizerSpec::Whitespace => json!({ "type": "Whitespace" }),
        PreTokenizerSpec::WhitespaceSplit => json!({ "type": "WhitespaceSplit" }),
        PreTokenizerSpec::Custom(custom) => write_custom(custom),
        PreTokenizerSpec::Sequence(members) => {
            let pretokenizers: Vec<Value> = members.iter().map(write).collect();
            json!({ "type": "Sequence", "pretokenizers": pretokenizers })
        }
    }
}
