//! SentencePiece's normalizer, models and decoder: components that `tokenizers` does not have.

use base64::engine::Engine;
use piecework_core::error::Error;
use piecework_core::spec::{
    PieceType, ScoredPiece, SentencePieceDecoderSpec, SentencePieceKind, SentencePieceNormalizerSpec,
    SentencePieceSpec,
};
use serde::ser::{Serialize, SerializeMap, SerializeTuple, Serializer};
use serde_json::{json, Value};

use super::shared::{name_of, optional, read_base64, BASE64};
use crate::json::Field;

/// The name of all three.
pub(super) const KIND: &str = "SentencePiece";

const KINDS: [(&str, SentencePieceKind); 4] = [
    ("unigram", SentencePieceKind::Unigram),
    ("bpe", SentencePieceKind::Bpe),
    ("word", SentencePieceKind::Word),
    ("char", SentencePieceKind::Char),
];

const TYPES: [(&str, PieceType); 6] = [
    ("normal", PieceType::Normal),
    ("unknown", PieceType::Unknown),
    ("control", PieceType::Control),
    ("user_defined", PieceType::UserDefined),
    ("unused", PieceType::Unused),
    ("byte", PieceType::Byte),
];

pub(super) fn read_normalizer(field: &Field) -> Result<SentencePieceNormalizerSpec, Error> {
    field.fields(&[
        "type",
        "precompiled_charsmap",
        "add_dummy_prefix",
        "remove_extra_whitespaces",
        "escape_whitespaces",
        "treat_whitespace_as_suffix",
        "user_defined_symbols",
    ])?;
    Ok(SentencePieceNormalizerSpec {
        charsmap: read_base64(&field.get("precompiled_charsmap")?, "bytes in base64")?,
        add_dummy_prefix: field.get("add_dummy_prefix")?.flag()?,
        remove_extra_whitespaces: field.get("remove_extra_whitespaces")?.flag()?,
        escape_whitespaces: field.get("escape_whitespaces")?.flag()?,
        treat_whitespace_as_suffix: field.get("treat_whitespace_as_suffix")?.flag()?,
        user_defined_symbols: texts(&field.get("user_defined_symbols")?)?,
    })
}

pub(super) fn write_normalizer(spec: &SentencePieceNormalizerSpec) -> Value {
    json!({
        "type": KIND,
        "precompiled_charsmap": BASE64.encode(&spec.charsmap),
        "add_dummy_prefix": spec.add_dummy_prefix,
        "remove_extra_whitespaces": spec.remove_extra_whitespaces,
        "escape_whitespaces": spec.escape_whitespaces,
        "treat_whitespace_as_suffix": spec.treat_whitespace_as_suffix,
        "user_defined_symbols": spec.user_defined_symbols,
    })
}

pub(super) fn read_decoder(field: &Field) -> Result<SentencePieceDecoderSpec, Error> {
    field.fields(&[
        "type",
        "add_dummy_prefix",
        "remove_extra_whitespaces",
        "unk_piece",
        "unk_surface",
        "control_symbols",
        "byte_fallback",
        "denormalizer",
    ])?;
    Ok(SentencePieceDecoderSpec {
        add_dummy_prefix: field.get("add_dummy_prefix")?.flag()?,
        remove_extra_whitespaces: field.get("remove_extra_whitespaces")?.flag()?,
        unk_piece: field.get("unk_piece")?.text()?.to_owned(),
        unk_surface: field.get("unk_surface")?.text()?.to_owned(),
        control_symbols: texts(&field.get("control_symbols")?)?,
        byte_fallback: field.get("byte_fallback")?.flag()?,
        denormalizer: optional(field, "denormalizer", |inner| {
            inner.kind(&[KIND])?;
            read_normalizer(inner)
        })?,
    })
}

pub(super) fn write_decoder(spec: &SentencePieceDecoderSpec) -> Value {
    json!({
        "type": KIND,
        "add_dummy_prefix": spec.add_dummy_prefix,
        "remove_extra_whitespaces": spec.remove_extra_whitespaces,
        "unk_piece": spec.unk_piece,
        "unk_surface": spec.unk_surface,
        "control_symbols": spec.control_symbols,
        "byte_fallback": spec.byte_fallback,
        "denormalizer": spec.denormalizer.as_ref().map(write_normalizer),
    })
}

pub(super) fn read_model(field: &Field) -> Result<SentencePieceSpec, Error> {
    field.fields(&[
        "type",
        "kind",
        "pieces",
        "byte_fallback",
        "bos_piece",
        "eos_piece",
        "pad_piece",
        "lowest_score",
        "self_test",
        "rest",
    ])?;
    let sample = |field: Field| {
        let [input, expected] = field.pair("a text and its pieces")?;
        Ok((input.text()?.to_owned(), expected.text()?.to_owned()))
    };
    Ok(SentencePieceSpec {
        kind: field.get("kind")?.choice(&KINDS)?,
        pieces: field.get("pieces")?.items()?.map(read_piece).collect::<Result<_, Error>>()?,
        byte_fallback: field.get("byte_fallback")?.flag()?,
        bos_piece: field.get("bos_piece")?.text()?.to_owned(),
        eos_piece: field.get("eos_piece")?.text()?.to_owned(),
        pad_piece: field.get("pad_piece")?.text()?.to_owned(),
        lowest_score: optional(field, "lowest_score", score)?,
        self_test: field.get("self_test")?.items()?.map(sample).collect::<Result<_, Error>>()?,
        rest: read_base64(&field.get("rest")?, "bytes in base64")?,
    })
}

/// Read a piece: text, score and, unless it is normal, type.
fn read_piece(field: Field) -> Result<ScoredPiece, Error> {
    let mut items = field.items()?;
    let (Some(text), Some(number), kind, None) = (items.next(), items.next(), items.next(), items.next())
    else {
        return Err(field.error("a text, a score and perhaps a type"));
    };
    Ok(ScoredPiece {
        text: text.text()?.to_owned(),
        score: score(&number)?,
        kind: kind.map_or(Ok(PieceType::Normal), |kind| kind.choice(&TYPES))?,
    })
}

fn score(field: &Field) -> Result<f32, Error> {
    let score = field.number()? as f32;
    if score.is_finite() {
        Ok(score)
    } else {
        Err(field.error("a number that 32-bit floats can hold"))
    }
}

fn texts(field: &Field) -> Result<Vec<String>, Error> {
    field.items()?.map(|text| text.text().map(str::to_owned)).collect()
}

/// A model for writing, without a copy of its pieces.
pub(super) struct SentencePieceJson<'a>(pub(super) &'a SentencePieceSpec);

impl Serialize for SentencePieceJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spec = self.0;
        let pieces: Vec<PieceJson<'_>> = spec.pieces.iter().map(PieceJson).collect();
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("type", KIND)?;
        fields.serialize_entry("kind", name_of(&KINDS, spec.kind))?;
        fields.serialize_entry("byte_fallback", &spec.byte_fallback)?;
        fields.serialize_entry("bos_piece", &spec.bos_piece)?;
        fields.serialize_entry("eos_piece", &spec.eos_piece)?;
        fields.serialize_entry("pad_piece", &spec.pad_piece)?;
        fields.serialize_entry("lowest_score", &spec.lowest_score.map(f64::from))?;
        fields.serialize_entry("self_test", &spec.self_test)?;
        fields.serialize_entry("rest", &BASE64.encode(&spec.rest))?;
        fields.serialize_entry("pieces", &pieces)?;
        fields.end()
    }
}

struct PieceJson<'a>(&'a ScoredPiece);

impl Serialize for PieceJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ScoredPiece { text, score, kind } = self.0;
        let is_normal = *kind == PieceType::Normal;
        let mut items = serializer.serialize_tuple(if is_normal { 2 } else { 3 })?;
        items.serialize_element(text)?;
        items.serialize_element(&f64::from(*score))?;
        if !is_normal {
            items.serialize_element(name_of(&TYPES, *kind))?;
        }
        items.end()
    }
}
