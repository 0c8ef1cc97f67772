//! Specification to bytes, fields in the order that `tokenizers` writes them.

use piecework_core::spec::{
    AddedToken, DecoderSpec, Direction, ModelSpec, NormalizerSpec, Padding, PostProcessorSpec,
    PreTokenizerSpec, Segmentation, TemplatePiece, TemplateSpec, TokenizerSpec, Truncation,
    TruncationStrategy, UnknownUnit, VocabSpec, WordPieceSpec,
};
use serde_json::{json, Map, Value};

/// Write a `tokenizer.json`, indented for people or without spaces.
#[must_use]
pub fn write(spec: &TokenizerSpec, pretty: bool) -> String {
    let document = json!({
        "version": "1.0",
        "truncation": spec.truncation.as_ref().map(truncation),
        "padding": spec.padding.as_ref().map(padding),
        "added_tokens": spec.added_tokens.iter().map(added_token).collect::<Vec<_>>(),
        "normalizer": spec.normalizer.as_ref().map(normalizer),
        "pre_tokenizer": spec.pre_tokenizer.as_ref().map(pre_tokenizer),
        "post_processor": spec.post_processor.as_ref().map(post_processor),
        "decoder": spec.decoder.as_ref().map(decoder),
        "model": model(&spec.model),
    });
    if pretty {
        format!("{document:#}")
    } else {
        document.to_string()
    }
}

fn side(direction: Direction) -> &'static str {
    match direction {
        Direction::Left => "Left",
        Direction::Right => "Right",
    }
}

fn truncation(truncation: &Truncation) -> Value {
    let strategy = match truncation.strategy {
        TruncationStrategy::LongestFirst => "LongestFirst",
        TruncationStrategy::OnlyFirst => "OnlyFirst",
        TruncationStrategy::OnlySecond => "OnlySecond",
    };
    json!({
        "direction": side(truncation.direction),
        "max_length": truncation.max_length,
        "strategy": strategy,
        "stride": truncation.stride,
    })
}

fn padding(padding: &Padding) -> Value {
    let strategy = padding.length.map_or(json!("BatchLongest"), |length| json!({ "Fixed": length }));
    json!({
        "strategy": strategy,
        "direction": side(padding.direction),
        "pad_to_multiple_of": padding.pad_to_multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.pad_type_id,
        "pad_token": padding.pad_token,
    })
}

fn added_token(token: &AddedToken) -> Value {
    json!({
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    })
}

fn normalizer(normalizer: &NormalizerSpec) -> Value {
    let NormalizerSpec::Bert(bert) = normalizer;
    json!({
        "type": "BertNormalizer",
        "clean_text": bert.clean_text,
        "handle_chinese_chars": bert.handle_chinese_chars,
        "strip_accents": bert.strip_accents,
        "lowercase": bert.lowercase,
    })
}

fn pre_tokenizer(pre_tokenizer: &PreTokenizerSpec) -> Value {
    match pre_tokenizer {
        PreTokenizerSpec::Bert => json!({ "type": "BertPreTokenizer" }),
        PreTokenizerSpec::WhitespaceSplit => json!({ "type": "WhitespaceSplit" }),
        PreTokenizerSpec::Punctuation => json!({ "type": "Punctuation", "behavior": "Isolated" }),
    }
}

fn post_processor(post_processor: &PostProcessorSpec) -> Value {
    match post_processor {
        PostProcessorSpec::Bert { sep, cls } => {
            json!({ "type": "BertProcessing", "sep": [sep.0, sep.1], "cls": [cls.0, cls.1] })
        }
        PostProcessorSpec::Template(spec) => template(spec),
    }
}

fn template(spec: &TemplateSpec) -> Value {
    let pieces = |pieces: &[TemplatePiece]| -> Vec<Value> { pieces.iter().map(template_piece).collect() };
    let tokens = spec.special_tokens.iter().map(|token| {
        let value = json!({ "id": token.name, "ids": token.ids, "tokens": token.tokens });
        (token.name.clone(), value)
    });
    json!({
        "type": "TemplateProcessing",
        "single": pieces(&spec.single),
        "pair": pieces(&spec.pair),
        "special_tokens": tokens.collect::<Map<_, _>>(),
    })
}

fn template_piece(piece: &TemplatePiece) -> Value {
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

fn decoder(decoder: &DecoderSpec) -> Value {
    match decoder {
        DecoderSpec::WordPiece { prefix, cleanup } => {
            json!({ "type": "WordPiece", "prefix": prefix, "cleanup": cleanup })
        }
        DecoderSpec::Fuse => json!({ "type": "Fuse" }),
    }
}

fn model(model: &ModelSpec) -> Value {
    match model {
        ModelSpec::WordPiece(spec) => wordpiece(spec),
        ModelSpec::Word(spec) => {
            json!({ "type": "WordLevel", "vocab": vocab(&spec.vocab), "unk_token": spec.unk_token })
        }
        ModelSpec::Char(spec) => json!({
            "type": "BPE",
            "dropout": null,
            "unk_token": spec.unk_token,
            "continuing_subword_prefix": null,
            "end_of_word_suffix": null,
            "fuse_unk": false,
            "byte_fallback": false,
            "ignore_merges": false,
            "vocab": vocab(&spec.vocab),
            "merges": [],
        }),
    }
}

/// `unk` and `segmentation` are written only when they are not what every reader assumes.
fn wordpiece(spec: &WordPieceSpec) -> Value {
    let mut model = Map::new();
    model.insert("type".into(), json!("WordPiece"));
    model.insert("unk_token".into(), json!(spec.unk_token));
    model.insert("continuing_subword_prefix".into(), json!(spec.continuing_subword_prefix));
    model.insert("max_input_chars_per_word".into(), json!(spec.max_input_chars_per_word));
    if spec.unk == UnknownUnit::Char {
        model.insert("unk".into(), json!("char"));
    }
    if spec.segmentation == Segmentation::Shortest {
        model.insert("segmentation".into(), json!("shortest"));
    }
    model.insert("vocab".into(), vocab(&spec.vocab));
    Value::Object(model)
}

fn vocab(entries: &VocabSpec) -> Value {
    let mut by_id: Vec<&(String, u32)> = entries.iter().collect();
    by_id.sort_unstable_by_key(|(_, id)| *id);
    Value::Object(by_id.into_iter().map(|(token, id)| (token.clone(), json!(id))).collect())
}
