//! `tokenizer.json`: version 1.0 read and written, version 2.0 read.
//!
//! One file a stage, with its reader and its writer. Fields are written as `tokenizers` 0.23 writes them, in its
//! order, and the same fields are optional. `tokenizers` ignores unknown content. Here unknown fields and
//! components, repeated names, wrong types and contradictions are errors, which name the path and what is
//! expected.

mod decoders;
mod lengths;
mod models;
mod normalizers;
mod post_processors;
mod pre_tokenizers;
mod sentencepiece;
mod shared;
mod version_2;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{NormalizerSpec, PreTokenizerSpec, TextFunction, TokenizerSpec};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::{parse, Field};
use shared::{optional, read_added_tokens, write_added_tokens, Functions, FIELDS};

pub(crate) use models::{read_model, write_model};

/// Read a `tokenizer.json` in time and memory linear in its length.
pub fn read(bytes: &[u8]) -> Result<TokenizerSpec, Error> {
    read_with(bytes, &[])
}

/// Read a document with custom stages, whose functions are passed in the order of the document.
pub fn read_with(bytes: &[u8], functions: &[Arc<dyn TextFunction>]) -> Result<TokenizerSpec, Error> {
    let functions = &Functions::new(functions);
    let tree = parse(bytes)?;
    let root = Field::root(&tree);
    let version = root.member("version")?;
    let is_newer = version.map_or(Ok(false), |version| version.choice(&[("1.0", false), ("2.0", true)]))?;
    if is_newer {
        return version_2::read(&root);
    }
    root.fields(&FIELDS)?;
    Ok(TokenizerSpec {
        truncation: optional(&root, "truncation", lengths::read_truncation)?,
        padding: optional(&root, "padding", lengths::read_padding)?.filter(lengths::pads),
        added_tokens: read_added_tokens(&root)?,
        normalizer: optional(&root, "normalizer", |field| normalizers::read(field, functions))?,
        pre_tokenizer: optional(&root, "pre_tokenizer", |field| pre_tokenizers::read(field, functions))?,
        post_processor: optional(&root, "post_processor", post_processors::read)?,
        decoder: optional(&root, "decoder", decoders::read)?,
        model: models::read(&root.get("model")?)?,
    })
}

/// Read an object with a normalizer and a pre-tokenizer only; the latter must be there.
pub fn read_splitting_pipeline(bytes: &[u8]) -> Result<(Option<NormalizerSpec>, PreTokenizerSpec), Error> {
    let (normalizer, pre_tokenizer) = read_pipeline(bytes, &[])?;
    let missing = || Error::new(ErrorKind::Argument, "pattern", "nothing", "a pre-tokenizer");
    Ok((normalizer, pre_tokenizer.ok_or_else(missing)?))
}

/// Read an object with a normalizer and a pre-tokenizer only.
pub fn read_pipeline(
    bytes: &[u8],
    functions: &[Arc<dyn TextFunction>],
) -> Result<(Option<NormalizerSpec>, Option<PreTokenizerSpec>), Error> {
    let functions = &Functions::new(functions);
    let tree = parse(bytes)?;
    let root = Field::root(&tree);
    root.fields(&["normalizer", "pre_tokenizer"])?;
    let normalizer = optional(&root, "normalizer", |field| normalizers::read(field, functions))?;
    let read = |field: &Field| pre_tokenizers::read(field, functions);
    Ok((normalizer, optional(&root, "pre_tokenizer", read)?))
}

/// Write a `tokenizer.json`, indented for people or without spaces.
#[must_use]
pub fn write(spec: &TokenizerSpec, pretty: bool) -> String {
    let document = Document(spec);
    let written =
        if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
    // Every name is a string and a `String` takes all that is written to it.
    written.unwrap_or_default()
}

struct Document<'a>(&'a TokenizerSpec);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spec = self.0;
        let mut fields = serializer.serialize_map(Some(9))?;
        fields.serialize_entry("version", "1.0")?;
        fields.serialize_entry("truncation", &spec.truncation.as_ref().map(lengths::write_truncation))?;
        fields.serialize_entry("padding", &spec.padding.as_ref().map(lengths::write_padding))?;
        fields.serialize_entry("added_tokens", &write_added_tokens(&spec.added_tokens))?;
        fields.serialize_entry("normalizer", &spec.normalizer.as_ref().map(normalizers::write))?;
        fields.serialize_entry("pre_tokenizer", &spec.pre_tokenizer.as_ref().map(pre_tokenizers::write))?;
        fields
            .serialize_entry("post_processor", &spec.post_processor.as_ref().map(post_processors::write))?;
        fields.serialize_entry("decoder", &spec.decoder.as_ref().map(decoders::write))?;
        fields.serialize_entry("model", &models::ModelJson(&spec.model))?;
        fields.end()
    }
}
