//! The kinds of files: how each is recognized by extension, damaged, read and written.

use std::collections::BTreeSet;
use std::path::Path;

use fastrand::Rng;
use piecework_core::error::Error;
use piecework_core::spec::{ByteLevelSpec, ParseSpecial, PreTokenizerSpec, TokenizerSpec};
use piecework_core::text::printable_of;
use piecework_formats::vocab_merges::Settings;
use piecework_formats::{
    detect, gguf, piecework_file, sentencepiece, tekken, tiktoken, tokenizer_json, vocab_merges, vocab_txt,
};

use crate::damage;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `tokenizer.json`.
    Json,
    /// A SentencePiece `.model`.
    Model,
    /// A GGUF file.
    Gguf,
    /// tiktoken ranks.
    Ranks,
    /// `vocab.txt`.
    Lines,
    /// `merges.txt`, with a vocabulary made from the merges.
    Merges,
    /// Mistral's `tekken.json`.
    Tekken,
    /// The file of `Tokenizer.save`.
    Piecework,
}

impl Kind {
    /// Return the kind of a file by its extension.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "json" => Some(Self::Json),
            "model" => Some(Self::Model),
            "gguf" => Some(Self::Gguf),
            "tiktoken" => Some(Self::Ranks),
            "merges" => Some(Self::Merges),
            "txt" => Some(Self::Lines),
            "tekken" => Some(Self::Tekken),
            "piecework" => Some(Self::Piecework),
            _ => None,
        }
    }

    /// Return the name of the file that stores a failing case.
    pub(crate) fn fault(self) -> &'static str {
        match self {
            Self::Json => "fault.json",
            Self::Model => "fault.model",
            Self::Gguf => "fault.gguf",
            Self::Ranks => "fault.tiktoken",
            Self::Merges => "fault.merges",
            Self::Lines => "fault.txt",
            Self::Tekken => "fault.tekken",
            Self::Piecework => "fault.piecework",
        }
    }

    /// Return a damaged copy of a file.
    pub(crate) fn damaged(self, file: &[u8], random: &mut Rng) -> Vec<u8> {
        match self {
            Self::Json | Self::Tekken | Self::Piecework => damage::json(file, random),
            Self::Model => damage::fields(file, random),
            Self::Gguf => damage::numbers(file, random),
            Self::Ranks | Self::Merges | Self::Lines => damage::lines(file, random),
        }
    }

    /// Read a file; panics if the specification cannot be written and read again.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<TokenizerSpec> {
        let _ = detect(bytes);
        let spec = match self {
            Self::Json => tokenizer_json::read(bytes),
            Self::Model => sentencepiece::read(bytes),
            Self::Gguf => read_gguf(bytes),
            Self::Ranks => tiktoken::read(bytes, byte_level(), &[]).map(TokenizerSpec::from),
            Self::Merges => merges(bytes),
            Self::Lines => vocab_txt::read(bytes, None),
            Self::Tekken => tekken::read(bytes).map(TokenizerSpec::from),
            Self::Piecework => piecework_file::read(bytes).map(|(spec, _)| spec),
        }
        .ok()?;
        let again = match self {
            Self::Model => sentencepiece::write(&spec).and_then(|bytes| sentencepiece::read(&bytes)),
            Self::Lines => {
                vocab_txt::write(&spec.model.vocab()).and_then(|bytes| vocab_txt::read(&bytes, None))
            }
            Self::Piecework => piecework_file::read(&piecework_file::write(&spec, ParseSpecial::Nothing))
                .map(|(spec, _)| spec),
            _ => tokenizer_json::read(tokenizer_json::write(&spec, true).as_bytes()),
        };
        assert!(again.is_ok(), "a written specification cannot be read: {again:?}");
        Some(spec)
    }
}

/// Read a GGUF file, with GPT-2's pipeline for every name.
fn read_gguf(bytes: &[u8]) -> Result<TokenizerSpec, Error> {
    let len = bytes.len() as u64;
    let section = gguf::section_len(std::io::Cursor::new(bytes), len)?;
    assert!(section <= len, "a section of {section} bytes in a file of {len}");
    let names = gguf::names(bytes)?;
    let roles = gguf::roles(bytes);
    let pipeline = gguf::NamedPipeline {
        normalizer: None,
        pre_tokenizer: byte_level(),
        ignore_merges: names.pre.as_deref() == Some("llama-bpe"),
        add_bos: false,
        add_sep: false,
        strips_mask: false,
    };
    let spec = gguf::read(bytes, Some(pipeline), None)?;
    let templates = gguf::chat_templates(bytes);
    roles.and(templates).map(|_| spec)
}

/// Return GPT-2's pre-tokenizer.
fn byte_level() -> PreTokenizerSpec {
    PreTokenizerSpec::ByteLevel(ByteLevelSpec {
        add_prefix_space: false,
        trim_offsets: true,
        use_regex: true,
    })
}

/// Read merges with a vocabulary of all bytes and of the tokens in the merges.
fn merges(bytes: &[u8]) -> Result<TokenizerSpec, Error> {
    let text = String::from_utf8_lossy(bytes);
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let mut entries: BTreeSet<String> = (0..=255).map(|byte| printable_of(byte).to_string()).collect();
    entries.extend(pairs.flat_map(|(left, right)| [left.into(), right.into(), format!("{left}{right}")]));
    let vocab: serde_json::Map<_, _> =
        (0u32..).zip(entries).map(|(id, entry)| (entry, id.into())).collect();
    let vocab = serde_json::Value::Object(vocab).to_string();
    let settings = Settings { pre_tokenizer: Some(byte_level()), special_tokens: None };
    vocab_merges::read(vocab.as_bytes(), bytes, ("vocab", "merges"), settings)
}
