//! SentencePiece's `.model` (a protobuf, `ModelProto` of its `sentencepiece_model.proto`) and `.vocab`.
//!
//! What tokenizing depends on becomes a specification; all else (how the model was trained, names, fields
//! of others) is kept as bytes and written again, so that a file that is read and written is the same file
//! if it was written in the order of its field numbers, as SentencePiece does.

mod message;
mod read;
mod schema;
mod settings;
mod vocab;
mod write;

#[cfg(test)]
mod tests;

pub use read::{is_model, read, read_rules};
pub use settings::{settings, NamedSetting, Setting};
pub use vocab::{read_vocab, write_vocab};
pub use write::write;
