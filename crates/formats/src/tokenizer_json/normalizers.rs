//! `normalizer`.

use base64::engine::Engine;
use piecework_core::error::Error;
use piecework_core::spec::{BertNormalizerSpec, Cleaning, NormalizerSpec};
use serde_json::{json, Value};

use super::sentencepiece::{read_normalizer, write_normalizer};
use super::shared::{
    bare, optional, read_base64, read_custom, read_replace, sequence, write_custom, write_replace,
    Functions, BASE64,
};
use crate::json::Field;

const KINDS: [&str; 15] = [
    "BertNormalizer",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Lowercase",
    "Strip",
    "StripAccents",
    "Replace",
    "Prepend",
    "Nmt",
    "Precompiled",
    "ByteLevel",
    "SentencePiece",
    "Sequence",
];

const CLEANINGS: [(&str, Cleaning); 2] =
    [("tokenizers", Cleaning::Tokenizers), ("original", Cleaning::Original)];

pub(super) fn read(field: &Field, functions: &Functions<'_>) -> Result<NormalizerSpec, Error> {
    if let Some(custom) = read_custom(field, functions)? {
        return Ok(NormalizerSpec::Custom(custom));
    }
    match field.kind(&KINDS)? {
        "BertNormalizer" => read_bert(field).map(NormalizerSpec::Bert),
        "NFC" => bare(field, NormalizerSpec::Nfc),
        "NFD" => bare(field, NormalizerSpec::Nfd),
        "NFKC" => bare(field, NormalizerSpec::Nfkc),
        "NFKD" => bare(field, NormalizerSpec::Nfkd),
        "Lowercase" => bare(field, NormalizerSpec::Lowercase),
        "Strip" => read_strip(field),
        "StripAccents" => bare(field, NormalizerSpec::StripAccents),
        "Replace" => {
            read_replace(field).map(|(pattern, content)| NormalizerSpec::Replace { pattern, content })
        }
        "Prepend" => {
            field.fields(&["type", "prepend"])?;
            Ok(NormalizerSpec::Prepend { prepend: field.get("prepend")?.text()?.to_owned() })
        }
        "Nmt" => bare(field, NormalizerSpec::Nmt),
        "Precompiled" => read_precompiled(field),
        "ByteLevel" => bare(field, NormalizerSpec::ByteLevel),
        "SentencePiece" => read_normalizer(field).map(NormalizerSpec::SentencePiece),
        _ => {
            let read = |member: &Field| read(member, functions);
            sequence(field, "normalizers", read).map(NormalizerSpec::Sequence)
        }
    }
}

fn read_bert(field: &Field) -> Result<BertNormalizerSpec, Error> {
    field.fields(&[
        "type",
        "clean_text",
        "handle_chinese_chars",
        "strip_accents",
        "lowercase",
        "cleaning",
    ])?;
    Ok(BertNormalizerSpec {
        clean_text: field.get("clean_text")?.flag()?,
        handle_chinese_chars: field.get("handle_chinese_chars")?.flag()?,
        strip_accents: optional(field, "strip_accents", Field::flag)?,
        lowercase: field.get("lowercase")?.flag()?,
        cleaning: optional(field, "cleaning", |cleaning| cleaning.choice(&CLEANINGS))?.unwrap_or_default(),
    })
}

fn read_strip(field: &Field) -> Result<NormalizerSpec, Error> {
    field.fields(&["type", "strip_left", "strip_right"])?;
    let left = field.get("strip_left")?.flag()?;
    Ok(NormalizerSpec::Strip { left, right: field.get("strip_right")?.flag()? })
}

fn read_precompiled(field: &Field) -> Result<NormalizerSpec, Error> {
    field.fields(&["type", "precompiled_charsmap"])?;
    let charsmap = read_base64(&field.get("precompiled_charsmap")?, "a charsmap in base64")?;
    Ok(NormalizerSpec::Precompiled { charsmap })
}

pub(super) fn write(normalizer: &NormalizerSpec) -> Value {
    match normalizer {
        NormalizerSpec::Bert(bert) => write_bert(bert),
        NormalizerSpec::Nfc => json!({ "type": "NFC" }),
        NormalizerSpec::Nfd => json!({ "type": "NFD" }),
        NormalizerSpec::Nfkc => json!({ "type": "NFKC" }),
        NormalizerSpec::Nfkd => json!({ "type": "NFKD" }),
        NormalizerSpec::Lowercase => json!({ "type": "Lowercase" }),
        NormalizerSpec::Strip { left, right } => {
            json!({ "type": "Strip", "strip_left": left, "strip_right": right })
        }
        NormalizerSpec::StripAccents => json!({ "type": "StripAccents" }),
        NormalizerSpec::Replace { pattern, content } => write_replace(pattern, content),
        NormalizerSpec::Prepend { prepend } => json!({ "type": "Prepend", "prepend": prepend }),
        NormalizerSpec::Nmt => json!({ "type": "Nmt" }),
        NormalizerSpec::Precompiled { charsmap } => {
            json!({ "type": "Precompiled", "precompiled_charsmap": BASE64.encode(charsmap) })
        }
        NormalizerSpec::ByteLevel => json!({ "type": "ByteLevel" }),
        NormalizerSpec::SentencePiece(spec) => write_normalizer(spec),
        NormalizerSpec::Custom(custom) => write_custom(custom),
        NormalizerSpec::Sequence(members) => {
            let normalizers: Vec<Value> = members.iter().map(write).collect();
            json!({ "type": "Sequence", "normalizers": normalizers })
        }
    }
}

fn write_bert(bert: &BertNormalizerSpec) -> Value {
    let mut value = json!({
        "type": "BertNormalizer",
        "clean_text": bert.clean_text,
        "handle_chinese_chars": bert.handle_chinese_chars,
        "strip_accents": bert.strip_accents,
        "lowercase": bert.lowercase,
    });
    if bert.cleaning == Cleaning::Original {
        value["cleaning"] = json!("original");
    }
    value
}
