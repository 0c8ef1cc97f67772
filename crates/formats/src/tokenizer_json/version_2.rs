//! Version 2.0, read as the 1.0 pipeline that does the same.
//!
//! Pre-tokenizers of 1.0 are divided in 2.0: `Metaspace` is the normalizer `MetaspaceNormalizer` and a `Split`
//! at the metaspace; `ByteLevel` is the model's `byte_level` and a `Split` by GPT-2's pattern. Templates have
//! the ids of special tokens. Merges are pairs, and models have a type. (`tokenizers` 1.0 describes the format in `tk-serialize/SPEC.md`.)

use std::collections::HashMap;

use piecework_core::error::Error;
use piecework_core::spec::{
    AddedToken, MetaspaceSpec, ModelSpec, NormalizerSpec, PatternSpec, PostProcessorSpec, PreTokenizerSpec,
    PrependScheme, SplitBehavior, TemplatePiece, TemplateSpec, TemplateToken, TokenizerSpec,
};

use super::shared::{optional, read_added_tokens, Functions, FIELDS};
use super::{decoders, lengths, models, normalizers, pre_tokenizers};
use crate::bytes::byte_level;
use crate::json::Field;

const PRE_TOKENIZERS: [&str; 10] = [
    "BertPreTokenizer",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Punctuation",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "Sequence",
];

/// The split of GPT-2, which 1.0 has as `ByteLevel` with `use_regex`.
const GPT2_PATTERN: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Read a document of version 2.0. `role_to_token` is checked and ignored, because 1.0 has no such field.
pub(super) fn read(root: &Field) -> Result<TokenizerSpec, Error> {
    root.fields(&[&FIELDS[..], &["role_to_token"]].concat())?;
    if let Some(roles) = root.find("role_to_token")? {
        roles.entries()?.try_for_each(|(_, token)| token.text().map(drop))?;
    }
    let (normalizer, metaspace) = read_normalizer(root)?;
    let model_field = root.get("model")?;
    let (model, is_byte_level) = read_model(&model_field)?;
    let split = optional(root, "pre_tokenizer", |field| {
        pre_tokenizers::read_among(field, &PRE_TOKENIZERS, &Functions::default())
    })?;
    let added_tokens = read_added_tokens(root)?;
    Ok(TokenizerSpec {
        truncation: optional(root, "truncation", lengths::read_truncation)?,
        padding: optional(root, "padding", lengths::read_padding)?.filter(lengths::pads),
        normalizer,
        pre_tokenizer: pre_tokenizer(root, split, metaspace, is_byte_level)?,
        post_processor: optional(root, "post_processor", |field| {
            read_template(field, &model, &added_tokens)
        })?,
        decoder: optional(root, "decoder", decoders::read)?,
        added_tokens,
        model,
    })
}

/// The settings of a `MetaspaceNormalizer`.
#[derive(Clone, Copy)]
struct MetaspaceSettings {
    replacement: char,
    prepend: bool,
    drop_whitespace: bool,
}

/// Read the normalizer, and the settings of a `MetaspaceNormalizer` at its end.
fn read_normalizer(root: &Field) -> Result<(Option<NormalizerSpec>, Option<MetaspaceSettings>), Error> {
    let Some(field) = root.find("normalizer")? else {
        return Ok((None, None));
    };
    if let Some(metaspace) = read_metaspace(&field)? {
        return Ok((None, Some(metaspace)));
    }
    if !is_kind(&field, "Sequence")? {
        return Ok((Some(normalizers::read(&field, &Functions::default())?), None));
    }
    field.fields(&["type", "normalizers"])?;
    let members = field.get("normalizers")?;
    let last = members.items()?.last();
    let metaspace = last.map_or(Ok(None), |last| read_metaspace(&last))?;
    let plain = members.items()?.len() - usize::from(metaspace.is_some());
    let plain =
        members.items()?.take(plain).map(|member| normalizers::read(&member, &Functions::default()));
    let plain: Vec<NormalizerSpec> = plain.collect::<Result<_, _>>()?;
    let is_all_marks = plain.is_empty() && metaspace.is_some();
    Ok(((!is_all_marks).then_some(NormalizerSpec::Sequence(plain)), metaspace))
}

fn read_metaspace(field: &Field) -> Result<Option<MetaspaceSettings>, Error> {
    if !is_kind(field, "MetaspaceNormalizer")? {
        return Ok(None);
    }
    field.fields(&["type", "replacement", "prepend", "drop_whitespace"])?;
    Ok(Some(MetaspaceSettings {
        replacement: field.get("replacement")?.char()?,
        prepend: field.get("prepend")?.flag()?,
        drop_whitespace: field.get("drop_whitespace")?.flag()?,
    }))
}

fn is_kind(field: &Field, kind: &str) -> Result<bool, Error> {
    Ok(field.get("type")?.text()? == kind)
}

fn read_model(field: &Field) -> Result<(ModelSpec, bool), Error> {
    let kind = field.kind(&models::KINDS)?;
    if kind != "BPE" {
        return Ok((models::read_kind(field, kind, &[])?, false));
    }
    let merges = field.get("merges")?;
    if let Some(line) = merges.items()?.find(Field::is_text) {
        return Err(line.error("a pair of entries: version 2.0 has no other merges"));
    }
    let is_byte_level = field.member("byte_level")?.map_or(Ok(false), |value| value.flag())?;
    Ok((models::read_kind(field, kind, &["byte_level"])?, is_byte_level))
}

/// Combine the stages that 2.0 divides.
fn pre_tokenizer(
    root: &Field,
    split: Option<PreTokenizerSpec>,
    metaspace: Option<MetaspaceSettings>,
    is_byte_level: bool,
) -> Result<Option<PreTokenizerSpec>, Error> {
    if metaspace.is_none() && !is_byte_level {
        return Ok(split);
    }
    let mut splits = match split {
        Some(PreTokenizerSpec::Sequence(members)) => members,
        split => split.into_iter().collect(),
    };
    let mut stages = Vec::new();
    if let Some(metaspace) = metaspace {
        let splits_there = splits.first() == Some(&mark_split(metaspace.replacement));
        if splits_there {
            splits.remove(0);
        }
        stages.extend(metaspace_stages(root, metaspace, splits_there)?);
    }
    stages.append(&mut splits);
    if is_byte_level {
        let use_regex = stages.last() == Some(&gpt2_split());
        stages.truncate(stages.len() - usize::from(use_regex));
        stages.push(PreTokenizerSpec::ByteLevel(byte_level(use_regex)));
    }
    Ok(Some(if stages.len() == 1 { stages.remove(0) } else { PreTokenizerSpec::Sequence(stages) }))
}

fn metaspace_stages(
    root: &Field,
    metaspace: MetaspaceSettings,
    split: bool,
) -> Result<Vec<PreTokenizerSpec>, Error> {
    let prepend_scheme = if metaspace.prepend { PrependScheme::Always } else { PrependScheme::Never };
    let spec = MetaspaceSpec { replacement: metaspace.replacement, prepend_scheme, split };
    if !metaspace.drop_whitespace {
        return Ok(vec![PreTokenizerSpec::Metaspace(spec)]);
    }
    if !(metaspace.prepend && split) {
        let expected = "\"prepend\": true and a Split at the replacement with it";
        return Err(root.get("normalizer")?.contradiction("\"drop_whitespace\": true", expected));
    }
    Ok(vec![PreTokenizerSpec::WhitespaceSplit, PreTokenizerSpec::Metaspace(spec)])
}

fn mark_split(replacement: char) -> PreTokenizerSpec {
    PreTokenizerSpec::Split {
        pattern: PatternSpec::Text(replacement.to_string()),
        behavior: SplitBehavior::MergedWithNext,
        invert: false,
    }
}

fn gpt2_split() -> PreTokenizerSpec {
    PreTokenizerSpec::Split {
        pattern: PatternSpec::Regex(GPT2_PATTERN.to_owned()),
        behavior: SplitBehavior::Isolated,
        invert: false,
    }
}

/// Convert a template of ids to one of tokens by the vocabulary.
fn read_template(
    field: &Field,
    model: &ModelSpec,
    added_tokens: &[AddedToken],
) -> Result<PostProcessorSpec, Error> {
    field.kind(&["TemplateProcessing"])?;
    field.fields(&["type", "single", "pair"])?;
    let vocab = model.vocab();
    let mut names: HashMap<u32, &str> = vocab.iter().map(|(token, id)| (*id, token.as_str())).collect();
    names.extend(added_tokens.iter().map(|token| (token.id, token.content.as_str())));
    let (single, pair) = (field.get("single")?, field.get("pair")?);
    let mut special_tokens = HashMap::new();
    let template = TemplateSpec {
        single: read_pieces(&single, &names, &mut special_tokens)?,
        pair: read_pieces(&pair, &names, &mut special_tokens)?,
        special_tokens: Vec::new(),
    };
    let mut special_tokens: Vec<TemplateToken> = special_tokens.into_values().collect();
    special_tokens.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(PostProcessorSpec::Template(TemplateSpec { special_tokens, ..template }))
}

fn read_pieces(
    field: &Field,
    names: &HashMap<u32, &str>,
    special_tokens: &mut HashMap<u32, TemplateToken>,
) -> Result<Vec<TemplatePiece>, Error> {
    let mut pieces = Vec::new();
    for piece in field.items()? {
        piece.fields(&["seq", "ids", "type_id"])?;
        let type_id = piece.member("type_id")?.map_or(Ok(0), |value| value.id())?;
        match (piece.find("seq")?, piece.find("ids")?) {
            (Some(seq), None) => {
                pieces.push(TemplatePiece::Sequence(seq.choice(&[("A", 0), ("B", 1)])?, type_id));
            }
            (None, Some(ids)) => {
                for id in ids.items()? {
                    let number = id.id()?;
                    let name = names.get(&number).ok_or_else(|| id.error("an id of the vocabulary"))?;
                    special_tokens.entry(number).or_insert_with(|| template_token(name, number));
                    pieces.push(TemplatePiece::Special((*name).to_owned(), type_id));
                }
            }
            _ => return Err(piece.error("either \"seq\" or \"ids\"")),
        }
    }
    Ok(pieces)
}

fn template_token(name: &str, id: u32) -> TemplateToken {
    TemplateToken { name: name.to_owned(), ids: vec![id], tokens: vec![name.to_owned()] }
}
