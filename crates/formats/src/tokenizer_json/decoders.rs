//! `decoder`.

use piecework_core::error::Error;
use piecework_core::spec::DecoderSpec;
use serde_json::{json, Value};

use super::sentencepiece::{read_decoder, write_decoder};
use super::shared::{
    bare, read_byte_level, read_metaspace, read_replace, sequence, write_byte_level, write_metaspace,
    write_replace,
};
use crate::json::Field;

const KINDS: [&str; 11] = [
    "WordPiece",
    "ByteLevel",
    "ByteFallback",
    "BPEDecoder",
    "Metaspace",
    "CTC",
    "Replace",
    "Fuse",
    "Strip",
    "SentencePiece",
    "Sequence",
];

pub(super) fn read(field: &Field) -> Result<DecoderSpec, Error> {
    match field.kind(&KINDS)? {
        "WordPiece" => {
            field.fields(&["type", "prefix", "cleanup"])?;
            let prefix = field.get("prefix")?.text()?.to_owned();
            Ok(DecoderSpec::WordPiece { prefix, cleanup: field.get("cleanup")?.flag()? })
        }
        "ByteLevel" => read_byte_level(field).map(DecoderSpec::ByteLevel),
        "ByteFallback" => bare(field, DecoderSpec::ByteFallback),
        "BPEDecoder" => {
            field.fields(&["type", "suffix"])?;
            Ok(DecoderSpec::Bpe { suffix: field.get("suffix")?.text()?.to_owned() })
        }
        "Metaspace" => read_metaspace(field).map(DecoderSpec::Metaspace),
        "CTC" => read_ctc(field),
        "Replace" => {
            read_replace(field).map(|(pattern, content)| DecoderSpec::Replace { pattern, content })
        }
        "Fuse" => bare(field, DecoderSpec::Fuse),
        "Strip" => read_strip(field),
        "SentencePiece" => read_decoder(field).map(DecoderSpec::SentencePiece),
        _ => sequence(field, "decoders", read).map(DecoderSpec::Sequence),
    }
}

fn read_ctc(field: &Field) -> Result<DecoderSpec, Error> {
    field.fields(&["type", "pad_token", "word_delimiter_token", "cleanup"])?;
    Ok(DecoderSpec::Ctc {
        pad_token: field.get("pad_token")?.text()?.to_owned(),
        word_delimiter_token: field.get("word_delimiter_token")?.text()?.to_owned(),
        cleanup: field.get("cleanup")?.flag()?,
    })
}

fn read_strip(field: &Field) -> Result<DecoderSpec, Error> {
    field.fields(&["type", "content", "start", "stop"])?;
    Ok(DecoderSpec::Strip {
        content: field.get("content")?.char()?,
        start: field.get("start")?.size()?,
        stop: field.get("stop")?.size()?,
    })
}

pub(super) fn write(decoder: &DecoderSpec) -> Value {
    match decoder {
        DecoderSpec::WordPiece { prefix, cleanup } => {
            json!({ "type": "WordPiece", "prefix": prefix, "cleanup": cleanup })
        }
        DecoderSpec::ByteLevel(spec) => write_byte_level(*spec),
        DecoderSpec::ByteFallback => json!({ "type": "ByteFallback" }),
        DecoderSpec::Bpe { suffix } => json!({ "type": "BPEDecoder", "suffix": suffix }),
        DecoderSpec::Metaspace(spec) => write_metaspace(*spec),
        DecoderSpec::Ctc { pad_token, word_delimiter_token, cleanup } => json!({
            "type": "CTC",
            "pad_token": pad_token,
            "word_delimiter_token": word_delimiter_token,
            "cleanup": cleanup,
        }),
        DecoderSpec::Replace { pattern, content } => write_replace(pattern, content),
        DecoderSpec::Fuse => json!({ "type": "Fuse" }),
        DecoderSpec::Strip { content, start, stop } => {
            json!({ "type": "Strip", "content": content, "start": start, "stop": stop })
        }
        DecoderSpec::SentencePiece(spec) => write_decoder(spec),
        DecoderSpec::Sequence(members) => {
            let decoders: Vec<Value> = members.iter().map(write).collect();
            json!({ "type": "Sequence", "decoders": decoders })
        }
    }
}
