//! The models of GGUF files, and the pipeline that a name stands for.

use piecework_core::error::Error;
use piecework_core::spec::{NormalizerSpec, PreTokenizerSpec};

use super::keys::{Keys, MODEL, PRE};
use super::roles::Role;

/// The models that can be read.
pub(super) const MODELS: [(&str, TokenizerModel); 5] = [
    ("gpt2", TokenizerModel::Gpt2),
    ("llama", TokenizerModel::Llama),
    ("bert", TokenizerModel::Bert),
    ("t5", TokenizerModel::T5),
    ("gemma4", TokenizerModel::Gemma4),
];

/// Names of pre-tokenizers with which a file of the model `gpt2` is one of `gemma4`.
const METASPACE_NAMES: [&str; 3] = ["gemma4", "granite-embed-multi-311m", "sarvam-moe"];

/// A value of `tokenizer.ggml.model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenizerModel {
    /// Byte-level BPE.
    Gpt2,
    /// SentencePiece's BPE.
    Llama,
    /// WordPiece.
    Bert,
    /// SentencePiece's Unigram.
    T5,
    /// BPE over characters, without a split.
    Gemma4,
}

impl TokenizerModel {
    /// Read the name of the model, and of the pre-tokenizer where that changes the model.
    pub(super) fn read(keys: &Keys) -> Result<Self, Error> {
        let known = MODELS.map(|(name, _)| name).join(", ");
        let expected = format!("one of {known}");
        let name = keys.text(MODEL)?.ok_or_else(|| keys.missing(MODEL, &expected))?;
        let is_metaspace = keys.text(PRE)?.is_some_and(|pre| METASPACE_NAMES.contains(&pre));
        let model = MODELS.iter().find(|(known, _)| *known == name).map(|(_, model)| *model);
        match model.ok_or_else(|| keys.error(MODEL, format!("{name:?}"), expected))? {
            Self::Gpt2 if is_metaspace => Ok(Self::Gemma4),
            model => Ok(model),
        }
    }

    /// Return the id that a role has in files that do not state it.
    pub(super) fn default_id(self, role: Role) -> Option<u32> {
        let ids: &[(Role, u32)] = match self {
            Self::Gpt2 | Self::Gemma4 => &[],
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
