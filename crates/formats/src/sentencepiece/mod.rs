//! SentencePiece's `.model` (a protobuf, `ModelProto` of its `sentencepiece_model.proto`) and `.vocab`.
//!
//! The settings that tokenization depends on become a specification. All others (training settings, names,
//! unknown fields) are kept as bytes and written again. So a file that is read and written is the same file if
//! its fields are in the order of their numbers, as SentencePiece writes them.

mod message;
mod read;
mod settings;
mod vocab;
mod write;

#[cfg(test)]
mod tests;

pub use read::{is_model, read, read_rules};
pub use settings::{settings, NamedSetting, Setting};
pub use vocab::{read_vocab, write_vocab};
pub use write::write;
