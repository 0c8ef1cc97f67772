//! Specification to text, always in version 1.0, which every reader supports.

use piecework_core::spec::TokenizerSpec;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{added_tokens, decoders, lengths, models, normalizers, post_processors, pre_tokenizers};

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
        fields.serialize_entry("added_tokens", &added_tokens::write(&spec.added_tokens))?;
        fields.serialize_entry("normalizer", &spec.normalizer.as_ref().map(normalizers::write))?;
        fields.serialize_entry("pre_tokenizer", &spec.pre_tokenizer.as_ref().map(pre_tokenizers::write))?;
        fields
            .serialize_entry("post_processor", &spec.post_processor.as_ref().map(post_processors::write))?;
        fields.serialize_entry("decoder", &spec.decoder.as_ref().map(decoders::write))?;
        fields.serialize_entry("model", &models::ModelJson(&spec.model))?;
        fields.end()
    }
}
