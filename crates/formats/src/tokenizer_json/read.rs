//! Bytes to specification.

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{
    AddedToken, BertNormalizerSpec, DecoderSpec, Direction, NormalizerSpec, Padding, PostProcessorSpec,
    PreTokenizerSpec, TemplatePiece, TemplateSpec, TemplateToken, TokenizerSpec, Truncation,
    TruncationStrategy,
};
use serde_json::Value;

use super::field::Field;
use super::model::read_model;

const SIDES: [(&str, Direction); 2] = [("Left", Direction::Left), ("Right", Direction::Right)];
const STRATEGIES: [(&str, TruncationStrategy); 3] = [
    ("LongestFirst", TruncationStrategy::LongestFirst),
    ("OnlyFirst", TruncationStrategy::OnlyFirst),
    ("OnlySecond", TruncationStrategy::OnlySecond),
];

/// Read a `tokenizer.json`.
pub fn read(bytes: &[u8]) -> Result<TokenizerSpec, Error> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| not_json(&error))?;
    let root = Field::root(&value);
    root.object(&[
        "version",
        "truncation",
        "padding",
        "added_tokens",
        "normalizer",
        "pre_tokenizer",
        "post_processor",
        "decoder",
        "model",
    ])?;
    if let Some(version) = root.find("version")? {
        version.choice(&[("1.0", ())])?;
    }
    Ok(TokenizerSpec {
        truncation: root.find("truncation")?.as_ref().map(read_truncation).transpose()?,
        padding: root.find("padding")?.as_ref().map(read_padding).transpose()?,
        added_tokens: match root.find("added_tokens")? {
            Some(tokens) => tokens.array()?.iter().map(read_added_token).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        normalizer: root.find("normalizer")?.as_ref().map(read_normalizer).transpose()?,
        pre_tokenizer: root.find("pre_tokenizer")?.as_ref().map(read_pre_tokenizer).transpose()?,
        post_processor: root.find("post_processor")?.as_ref().map(read_post_processor).transpose()?,
        decoder: root.find("decoder")?.as_ref().map(read_decoder).transpose()?,
        model: read_model(&root.get("model")?)?,
    })
}

/// Read an object that holds only a normalizer and a pre-tokenizer.
pub fn read_pipeline(bytes: &[u8]) -> Result<(Option<NormalizerSpec>, Option<PreTokenizerSpec>), Error> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| not_json(&error))?;
    let root = Field::root(&value);
    root.object(&["normalizer", "pre_tokenizer"])?;
    let normalizer = root.find("normalizer")?.as_ref().map(read_normalizer).transpose()?;
    let pre_tokenizer = root.find("pre_tokenizer")?.as_ref().map(read_pre_tokenizer).transpose()?;
    Ok((normalizer, pre_tokenizer))
}

fn not_json(error: &serde_json::Error) -> Error {
    let place = format!("line {}, column {}", error.line(), error.column());
    Error::new(ErrorKind::Format, place, error.to_string(), "JSON")
}

fn read_truncation(field: &Field) -> Result<Truncation, Error> {
    field.object(&["direction", "max_length", "strategy", "stride"])?;
    Ok(Truncation {
        direction: match field.find("direction")? {
            Some(direction) => direction.choice(&SIDES)?,
            None => Direction::Right,
        },
        max_length: field.get("max_length")?.size()?,
        strategy: field.get("strategy")?.choice(&STRATEGIES)?,
        stride: field.get("stride")?.size()?,
    })
}

fn read_padding(field: &Field) -> Result<Padding, Error> {
    field.object(&["strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"])?;
    let strategy = field.get("strategy")?;
    let length = if strategy.is_object() {
        strategy.object(&["Fixed"])?;
        Some(strategy.get("Fixed")?.size()?)
    } else {
        strategy.choice(&[("BatchLongest", None)])?
    };
    let pad_type_id = field.get("pad_type_id")?;
    Ok(Padding {
        length,
        direction: field.get("direction")?.choice(&SIDES)?,
        pad_to_multiple_of: field
            .find("pad_to_multiple_of")?
            .map(|multiple| multiple.size())
            .transpose()?,
        pad_id: field.get("pad_id")?.id()?,
        pad_type_id: Some(pad_type_id.id()?)
            .filter(|&id| id < 256)
            .ok_or_else(|| pad_type_id.error("a type id below 256"))?,
        pad_token: field.get("pad_token")?.text()?.to_owned(),
    })
}

fn read_added_token(field: &Field) -> Result<AddedToken, Error> {
    field.object(&["id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"])?;
    Ok(AddedToken {
        id: field.get("id")?.id()?,
        content: field.get("content")?.text()?.to_owned(),
        single_word: field.get("single_word")?.flag()?,
        lstrip: field.get("lstrip")?.flag()?,
        rstrip: field.get("rstrip")?.flag()?,
        normalized: field.get("normalized")?.flag()?,
        special: field.get("special")?.flag()?,
    })
}

fn read_normalizer(field: &Field) -> Result<NormalizerSpec, Error> {
    field.get("type")?.choice(&[("BertNormalizer", ())])?;
    field.object(&["type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"])?;
    Ok(NormalizerSpec::Bert(BertNormalizerSpec {
        clean_text: field.get("clean_text")?.flag()?,
        handle_chinese_chars: field.get("handle_chinese_chars")?.flag()?,
        strip_accents: field.find("strip_accents")?.map(|strip| strip.flag()).transpose()?,
        lowercase: field.get("lowercase")?.flag()?,
    }))
}

fn read_pre_tokenizer(field: &Field) -> Result<PreTokenizerSpec, Error> {
    let kinds = ["BertPreTokenizer", "WhitespaceSplit", "Punctuation"];
    let kind = field.get("type")?.choice(&kinds.map(|kind| (kind, kind)))?;
    match kind {
        "Punctuation" => {
            field.object(&["type", "behavior"])?;
            field.get("behavior")?.choice(&[("Isolated", ())])?;
            Ok(PreTokenizerSpec::Punctuation)
        }
        "WhitespaceSplit" => field.object(&["type"]).map(|_| PreTokenizerSpec::WhitespaceSplit),
        _ => field.object(&["type"]).map(|_| PreTokenizerSpec::Bert),
    }
}

fn read_post_processor(field: &Field) -> Result<PostProcessorSpec, Error> {
    let kinds = ["BertProcessing", "TemplateProcessing"];
    match field.get("type")?.choice(&kinds.map(|kind| (kind, kind)))? {
        "BertProcessing" => {
            field.object(&["type", "sep", "cls"])?;
            let (sep, cls) = (token_and_id(&field.get("sep")?)?, token_and_id(&field.get("cls")?)?);
            Ok(PostProcessorSpec::Bert { sep, cls })
        }
        _ => read_template(field).map(PostProcessorSpec::Template),
    }
}

fn token_and_id(field: &Field) -> Result<(String, u32), Error> {
    match field.array()?.as_slice() {
        [token, id] => Ok((token.text()?.to_owned(), id.id()?)),
        _ => Err(field.error("a token and its id")),
    }
}

fn read_template(field: &Field) -> Result<TemplateSpec, Error> {
    field.object(&["type", "single", "pair", "special_tokens"])?;
    let pieces = |name: &str| -> Result<Vec<TemplatePiece>, Error> {
        field.get(name)?.array()?.iter().map(read_piece).collect()
    };
    let special_tokens = field.get("special_tokens")?;
    let special_tokens = special_tokens.members()?.into_iter();
    Ok(TemplateSpec {
        single: pieces("single")?,
        pair: pieces("pair")?,
        special_tokens: special_tokens
            .map(|(_, token)| read_template_token(&token))
            .collect::<Result<_, _>>()?,
    })
}

fn read_piece(field: &Field) -> Result<TemplatePiece, Error> {
    field.object(&["Sequence", "SpecialToken"])?;
    if let Some(sequence) = field.find("Sequence")? {
        sequence.object(&["id", "type_id"])?;
        let index = sequence.get("id")?.choice(&[("A", 0), ("B", 1)])?;
        return Ok(TemplatePiece::Sequence(index, sequence.get("type_id")?.id()?));
    }
    let token = field.get("SpecialToken")?;
    token.object(&["id", "type_id"])?;
    Ok(TemplatePiece::Special(token.get("id")?.text()?.to_owned(), token.get("type_id")?.id()?))
}

fn read_template_token(field: &Field) -> Result<TemplateToken, Error> {
    field.object(&["id", "ids", "tokens"])?;
    let ids = field.get("ids")?.array()?;
    let tokens = field.get("tokens")?.array()?;
    Ok(TemplateToken {
        name: field.get("id")?.text()?.to_owned(),
        ids: ids.iter().map(Field::id).collect::<Result<_, _>>()?,
        tokens: tokens.iter().map(|token| token.text().map(str::to_owned)).collect::<Result<_, _>>()?,
    })
}

fn read_decoder(field: &Field) -> Result<DecoderSpec, Error> {
    let kinds = ["WordPiece", "Fuse"];
    match field.get("type")?.choice(&kinds.map(|kind| (kind, kind)))? {
        "WordPiece" => {
            field.object(&["type", "prefix", "cleanup"])?;
            let prefix = field.get("prefix")?.text()?.to_owned();
            Ok(DecoderSpec::WordPiece { prefix, cleanup: field.get("cleanup")?.flag()? })
        }
        _ => field.object(&["type"]).map(|_| DecoderSpec::Fuse),
    }
}
