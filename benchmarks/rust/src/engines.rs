//! The crates that are compared, each with its fastest calls for ids without special tokens.

use std::error::Error;
use std::fs;
use std::path::Path;

use tokenizers_1::pipeline::{EncodeOptions as PipelineOptions, PipelineToken, PipelineTokenizer};

/// The names; the first is the one whose ids the others must have.
pub const ENGINES: [&str; 4] = ["piecework", "tokenizers 0.23.2", "tokenizers 1.0rc3", "fastokens 0.3.5"];

/// A loaded tokenizer of one crate.
pub enum Engine {
    Piecework(piecework::Tokenizer, piecework::EncodeOptions),
    Tokenizers(Box<tokenizers::Tokenizer>),
    Pipeline(Box<PipelineTokenizer>, PipelineOptions),
    Fastokens(Box<fastokens::Tokenizer>),
}

impl Engine {
    /// Load a file. Other crates load the `tokenizer.json` that `piecework` writes of it.
    pub fn load(name: &str, path: &str) -> Result<Self, Box<dyn Error>> {
        let tokenizer = piecework::Tokenizer::from_file(path)?;
        let json = tokenizer.to_json(false);
        Ok(match name {
            "piecework" => {
                let options = piecework::EncodeOptions::new().add_special_tokens(false);
                Self::Piecework(tokenizer, options)
            }
            "tokenizers 0.23.2" => {
                let tokenizer =
                    tokenizers::Tokenizer::from_bytes(json).map_err(|error| error.to_string())?;
                Self::Tokenizers(Box::new(tokenizer))
            }
            "tokenizers 1.0rc3" => {
                let json = tokenizers_1::canonicalize_str(&json)?;
                let tokenizer = tokenizers_1::from_json(&json).map_err(|error| error.to_string())?;
                Self::Pipeline(Box::new(tokenizer), PipelineOptions::no_specials())
            }
            _ => {
                let file = std::env::temp_dir().join(format!("tokenizer-{}.json", std::process::id()));
                fs::write(&file, json)?;
                let loaded = fastokens::Tokenizer::from_file(Path::new(&file));
                fs::remove_file(&file)?;
                Self::Fastokens(Box::new(loaded?))
            }
        })
    }

    /// Return the ids of each text.
    pub fn all_ids(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, Box<dyn Error>> {
        Ok(match self {
            Self::Piecework(tokenizer, options) => {
                let batch = tokenizer.encode_batch_with(texts, options)?;
                batch.iter().map(<[u32]>::to_vec).collect()
            }
            Self::Tokenizers(tokenizer) => {
                let encodings = tokenizer.encode_batch_fast(texts.to_vec(), false);
                let encodings = encodings.map_err(|error| error.to_string())?;
                encodings.iter().map(|encoding| encoding.get_ids().to_vec()).collect()
            }
            Self::Pipeline(tokenizer, options) => {
                let encodings = tokenizer.encode(texts, options).wait();
                let encodings = encodings.map_err(|error| error.to_string())?;
                encodings.iter().map(|encoding| PipelineToken::cast_slice(encoding.ids()).to_vec()).collect()
            }
            Self::Fastokens(tokenizer) => tokenizer.encode_batch(texts, false)?,
        })
    }

    /// Encode a batch on all processors; return the number of its rows.
    pub fn batch(&self, texts: &[&str]) -> usize {
        match self {
            Self::Piecework(tokenizer, options) => {
                tokenizer.encode_batch_with(texts, options).map_or(0, |batch| batch.len())
            }
            Self::Tokenizers(tokenizer) => {
                tokenizer.encode_batch_fast(texts.to_vec(), false).map_or(0, |rows| rows.len())
            }
            Self::Pipeline(tokenizer, options) => {
                tokenizer.encode(texts, options).wait().map_or(0, |rows| rows.len())
            }
            Self::Fastokens(tokenizer) => tokenizer.encode_batch(texts, false).map_or(0, |rows| rows.len()),
        }
    }

    /// Encode one text into ids of its own; return their number.
    pub fn count(&self, text: &str) -> usize {
        match self {
            Self::Piecework(tokenizer, options) => {
                tokenizer.encode_ids_with(text, options).map_or(0, |ids| ids.len())
            }
            Self::Tokenizers(tokenizer) => {
                tokenizer.encode_fast(text, false).map_or(0, |encoding| encoding.get_ids().len())
            }
            Self::Pipeline(tokenizer, options) => {
                let mut ids = Vec::new();
                tokenizer.encode_into(text, options, &mut ids).map_or(0, |()| ids.len())
            }
            Self::Fastokens(tokenizer) => {
                tokenizer.encode_with_special_tokens(text, false).map_or(0, |ids| ids.len())
            }
        }
    }
}
