//! The tokenizer of a GGUF file, the model files of llama.cpp.
//!
//! Only the key-value section is read; the tensors follow it. The file states the tokens and, by name, the
//! algorithm and the pre-tokenizer; it does not contain a pattern or a normalizer. The specification gives the ids
//! of the library that made the vocabulary, with the special tokens that llama.cpp adds. Sources: the GGUF
//! specification of ggml, and `llama-vocab.cpp` of llama.cpp for names and defaults.

mod keys;
mod pipelines;
mod section;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::io::{Read, Seek};

use piecework_core::error::Error;
use piecework_core::spec::TokenizerSpec;

use keys::{read_chat_templates, Keys, MERGES, MODEL, PRE, SCORES};
use pipelines::{read_bert, read_byte_level, read_metaspace_bpe, read_sentencepiece};
use section::Section;
use vocabulary::{TokenizerModel, Vocabulary, MODELS};

pub use vocabulary::NamedPipeline;

/// The names in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The model: "gpt2" needs a [`NamedPipeline`], the others have a pipeline of their own.
    pub model: &'static str,
    /// The pre-tokenizer.
    pub pre: Option<String>,
}

/// Return whether a file begins like a GGUF file: with its name and a small number, which no text contains.
#[must_use]
pub fn is_gguf(head: &[u8]) -> bool {
    head.starts_with(section::MAGIC) && head.get(4..8).is_none_or(|version| version.contains(&0))
}

/// Return the length in bytes of the key-value section, from the start of a file of `len` bytes.
///
/// Memory is that of the keys: values are skipped. Errors name the key and the byte.
pub fn section_len(reader: impl Read + Seek, len: u64) -> Result<u64, Error> {
    Section::read(reader, len, |_| false).map(|section| section.len)
}

/// Read the names of model and pre-tokenizer. `bytes` begin with the key-value section.
pub fn names(bytes: &[u8]) -> Result<Names, Error> {
    let keys = Keys::read(bytes, |key| [MODEL, PRE].contains(&key))?;
    let model = TokenizerModel::read(&keys)?;
    let name = MODELS.iter().find(|(_, known)| *known == model).map_or("", |(name, _)| name);
    Ok(Names { model: name, pre: keys.text(PRE)?.map(str::to_owned) })
}

/// Read the tokens that have a role, by the names of transformers, such as `bos_token`.
pub fn roles(bytes: &[u8]) -> Result<Vec<(&'static str, String)>, Error> {
    let keys = Keys::read(bytes, |key| ![MERGES, SCORES].contains(&key))?;
    let vocabulary = Vocabulary::read(&keys, TokenizerModel::read(&keys)?)?;
    Ok(vocabulary.roles().into_iter().map(|(role, token)| (role, token.to_owned())).collect())
}

/// Read the chat templates with their names; the one of `tokenizer.chat_template` is "default".
pub fn chat_templates(bytes: &[u8]) -> Result<Vec<(String, String)>, Error> {
    read_chat_templates(bytes)
}

/// Read the tokenizer.
///
/// A byte-level model needs the `pipeline` of the pre-tokenizer in its [`names`]. `lowercase` decides the letter case of a BERT
/// model; `None` takes that of the file, or infers it from the tokens.
pub fn read(
    bytes: &[u8],
    pipeline: Option<NamedPipeline>,
    lowercase: Option<bool>,
) -> Result<TokenizerSpec, Error> {
    let keys = Keys::read(bytes, |_| true)?;
    let model = TokenizerModel::read(&keys)?;
    let vocabulary = Vocabulary::read(&keys, model)?;
    match model {
        TokenizerModel::Gpt2 => {
            let pipeline = pipeline.ok_or_else(|| keys.missing(PRE, "the name of a pre-tokenizer"))?;
            read_byte_level(&keys, &vocabulary, pipeline)
        }
        TokenizerModel::Llama | TokenizerModel::T5 => read_sentencepiece(&keys, vocabulary, model),
        TokenizerModel::Bert => read_bert(&keys, &vocabulary, lowercase),
        TokenizerModel::Gemma4 => read_metaspace_bpe(&keys, &vocabulary),
    }
}
