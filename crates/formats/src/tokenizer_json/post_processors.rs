//! `post_processor`.

use std::collections::BTreeMap;

use piecework_core::error::Error;
use piecework_core::spec::{PostProcessorSpec, TemplatePiece, TemplateSpec, TemplateToken};
use serde_json::{json, Value};

use super::shared::{read_byte_level, sequence, write_byte_level};
use crate::json::Field;

const KINDS: [&str; 5] =
    ["BertProcessing", "RobertaProcessing", "ByteLevel", "TemplateProcessing", "Sequence"];

pub(super) fn read(field: &Field) -> Result<PostProcessorSpec, Error> {
    match field.kind(&KINDS)? {
        "BertProcessing" => {
            field.fields(&["type", "sep", "cls"])?;
            let (sep, cls) = (token_and_id(&field.get("sep")?)?, token_and_id(&field.get("cls")?)?);
            Ok(PostProcessorSpec::Bert { sep, cls })
        }
        "RobertaProcessing" => read_roberta(field),
        "ByteLevel" => read_byte_level(field).map(PostProcessorSpec::ByteLevel),
        "TemplateProcessing" => read_template(field).map(PostProcessorSpec::Template),
        _ => sequence(field, "processors", read).map(PostProcessorSpec::Sequence),
    }
}

fn read_roberta(field: &Field) -> Result<PostProcessorSpec, Error> {
    field.fields(&["type", "sep", "cls", "trim_offsets", "add_prefix_space"])?;
    Ok(PostProcessorSpec::Roberta {
        sep: token_and_id(&field.get("sep")?)?,
        cls: token_and_id(&field.get("cls")?)?,
        trim_offsets: field.get("trim_offsets")?.flag()?,
        add_prefix_space: field.get("add_prefix_space")?.flag()?,
    })
}

fn token_and_id(field: &Field) -> Result<(String, u32), Error> {
    let [token, id] = field.pair("a token and its id")?;
    Ok((token.text()?.to_owned(), id.id()?))
}

fn read_template(field: &Field) -> Result<TemplateSpec, Error> {
    field.fields(&["type", "single", "pair", "special_tokens"])?;
    let pieces = |name: &str| -> Result<Vec<TemplatePiece>, Error> {
        field.get(name)?.items()?.map(|piece| read_piece(&piece)).collect()
    };
    let special_tokens = field.get("special_tokens")?;
    let special_tokens = special_tokens.entries()?;
    Ok(TemplateSpec {
        single: pieces("single")?,
        pair: pieces("pair")?,
        special_tokens: special_tokens
            .map(|(name, token)| read_template_token(name, &token))
            .collect::<Result<_, _>>()?,
    })
}

fn read_piece(field: &Field) -> Result<TemplatePiece, Error> {
    field.fields(&["Sequence", "SpecialToken"])?;
    match (field.find("Sequence")?, field.find("SpecialToken")?) {
        (Some(sequence), None) => {
            sequence.fields(&["id", "type_id"])?;
            let index = sequence.get("id")?.choice(&[("A", 0), ("B", 1)])?;
            Ok(TemplatePiece::Sequence(index, sequence.get("type_id")?.id()?))
        }
        (None, Some(token)) => {
            token.fields(&["id", "type_id"])?;
            Ok(TemplatePiece::Special(token.get("id")?.text()?.to_owned(), token.get("type_id")?.id()?))
        }
        _ => Err(field.error("either {\"Sequence\": ...} or {\"SpecialToken\": ...}")),
    }
}

fn read_template_token(name: &str, field: &Field) -> Result<TemplateToken, Error> {
    field.fields(&["id", "ids", "tokens"])?;
    let id = field.get("id")?;
    if id.text()? != name {
        return Err(id.error(format!("{name:?}, the name of its entry")));
    }
    let ids: Vec<u32> = field.get("ids")?.items()?.map(|id| id.id()).collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Err(field.get("ids")?.contradiction("an empty list", "the ids that stand for this token"));
    }
    let tokens = field.get("tokens")?;
    if tokens.items()?.len() != ids.len() {
        let found = format!("{} for {} ids", tokens.items()?.len(), ids.len());
        return Err(tokens.contradiction(found, "one token for each id"));
    }
    let tokens = tokens.items()?.map(|token| token.text().map(str::to_owned));
    Ok(TemplateToken { name: name.to_owned(), ids, tokens: tokens.collect::<Result<_, _>>()? })
}

pub(super) fn write(post_processor: &PostProcessorSpec) -> Value {
    match post_processor {
        PostProcessorSpec::Bert { sep, cls } => {
            json!({ "type": "BertProcessing", "sep": sep, "cls": cls })
        }
        PostProcessorSpec::Roberta { sep, cls, trim_offsets, add_prefix_space } => json!({
            "type": "RobertaProcessing",
            "sep": sep,
            "cls": cls,
            "trim_offsets": trim_offsets,
            "add_prefix_space": add_prefix_space,
        }),
        PostProcessorSpec::ByteLevel(spec) => write_byte_level(*spec),
        PostProcessorSpec::Template(spec) => write_template(spec),
        PostProcessorSpec::Sequence(members) => {
            let processors: Vec<Value> = members.iter().map(write).collect();
            json!({ "type": "Sequence", "processors": processors })
        }
    }
}

/// Write a template, with the special tokens in the order of their names.
fn write_template(spec: &TemplateSpec) -> Value {
    let pieces = |pieces: &[TemplatePiece]| -> Vec<Value> { pieces.iter().map(write_piece).collect() };
    let written =
        |token: &TemplateToken| json!({ "id": token.name, "ids": token.ids, "tokens": token.tokens });
    let tokens = spec.special_tokens.iter().map(|token| (token.name.as_str(), written(token)));
    json!({
        "type": "TemplateProcessing",
        "single": pieces(&spec.single),
        "pair": pieces(&spec.pair),
        "special_tokens": tokens.collect::<BTreeMap<_, _>>(),
    })
}

fn write_piece(piece: &TemplatePiece) -> Value {
    match piece {
        TemplatePiece::Sequence(index, type_id) => {
            let id = if *index == 0 { "A" } else { "B" };
            json!({ "Sequence": { "id": id, "type_id": type_id } })
        }
        TemplatePiece::Special(name, type_id) => {
            json!({ "SpecialToken": { "id": name, "type_id": type_id } })
        }
    }
}
