//! Bytes to specification.

use std::sync::Arc;

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{NormalizerSpec, PreTokenizerSpec, TextFunction, TokenizerSpec};

use super::custom::Functions;
use super::shared::{optional, FIELDS};
use super::{
    added_tokens, decoders, lengths, models, normalizers, post_processors, pre_tokenizers, version_2,
};
use crate::json::{parse, Field};

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
        added_tokens: added_tokens::read(&root)?,
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
