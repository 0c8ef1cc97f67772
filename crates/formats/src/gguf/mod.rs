//! The tokenizer of a GGUF file, the model files of llama.cpp.
//!
//! Only the key-value section is read; the tensors follow it. The file states the tokens and, by name, the
//! algorithm and the pre-tokenizer; it does not contain a pattern or a normalizer. The specification gives the ids
//! of the library that made the vocabulary, with the special tokens that llama.cpp adds. Sources: the GGUF
//! specification of ggml, and `llama-vocab.cpp` of llama.cpp for names and defaults.

mod bert;
mod byte_level;
mod cursor;
mod framing;
mod keys;
mod section;
mod sentencepiece;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::io::{Read, Seek};

use piecework_core::error::Error;
use piecework_core::spec::{NormalizerSpec, PreTokenizerSpec, TokenizerSpec};

use keys::{Keys, MERGES, MODEL, PRE, SCORES};
use section::Section;
use vocabulary::{Role, Vocabulary};

/// The models that can be read.
const MODELS: [(&str, TokenizerModel); 4] = [
    ("gpt2", TokenizerModel::Gpt2),
    ("llama", TokenizerModel::Llama),
    ("bert", TokenizerModel::Bert),
    ("t5", TokenizerModel::T5),
];

/// A value of `tokenizer.ggml.model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenizerModel {
    /// Byte-level BPE.
    Gpt2,
    /// SentencePiece's BPE.
    Llama,
    /// WordPiece.
    Bert,
    /// SentencePiece's Unigram.
    T5,
}

impl TokenizerModel {
    fn read(keys: &Keys) -> Result<Self, Error> {
        let known = MODELS.map(|(name, _)| name).join(", ");
        let expected = format!("one of {known}");
        let name = keys.text(MODEL)?.ok_or_else(|| keys.missing(MODEL, &expected))?;
        let model = MODELS.iter().find(|(known, _)| *known == name).map(|(_, model)| *model);
        model.ok_or_else(|| keys.error(MODEL, format!("{name:?}"), expected))
    }

    /// The id that a role has in files that do not state it.
    fn default_id(self, role: Role) -> Option<u32> {
        let ids: &[(Role, u32)] = match self {
            Self::Gpt2 => &[],
            Self::Llama => &[(Role::Unknown, 0), (Role::Bos, 1), (Role::Eos, 2)],
            Self::Bert => &[
                (Role::Pad, 0),
                (Role::Unknown, 100),
                (Role::Cls, 101),
                (Role::Sep, 102),
                (Role::Mask, 103),
            ],
            Self::T5 => &[(Role::Pad, 0), (Role::Eos, 1), (Role::Unknown, 2)],
        };
        ids.iter().find(|(known, _)| *known == role).map(|&(_, id)| id)
    }
}

/// What the name in `tokenizer.ggml.pre` stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPipeline {
    /// The normalizer.
    pub normalizer: Option<NormalizerSpec>,
    /// The pre-tokenizer, which maps bytes to characters.
    pub pre_tokenizer: PreTokenizerSpec,
    /// A word in the vocabulary becomes its token without merging.
    pub ignore_merges: bool,
    /// The first token of a text is `bos`, unless the file states it.
    pub add_bos: bool,
    /// A separator is between the texts of a pair, unless the file states it.
    pub add_sep: bool,
    /// The mask token takes the spaces before it.
    pub strips_mask: bool,
}

/// The names in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The model: "gpt2" needs a [`NamedPipeline`], the others have a pipeline of their own.
    pub model: &'static str,
    /// The pre-tokenizer.
    pub pre: Option<String>,
}

/// Whether a file begins like a GGUF file: with its name and a small number, which no text contains.
#[must_use]
pub fn is_gguf(head: &[u8]) -> bool {
    head.starts_with(section::MAGIC) && head.get(4..8).is_none_or(|version| version.contains(&0))
}

/// The length in bytes of the key-value section, from the start of a file of `len` bytes.
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
            byte_level::read(&keys, &vocabulary, pipeline)
        }
        TokenizerModel::Llama | TokenizerModel::T5 => sentencepiece::read(&keys, vocabulary, model),
        TokenizerModel::Bert => bert::read(&keys, &vocabulary, lowercase),
    }
}
