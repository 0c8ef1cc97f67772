//! Decoders: tokens to text.
//!
//! Each decoder maps a list of tokens to another list; the last list is joined. Without a decoder, tokens
//! are joined by spaces.

mod decode_table;
mod decoder;
mod edits;
mod sentencepiece;
mod stream;
#[cfg(test)]
mod tests;

pub use decode_table::{DecodeInput, DecodeTable};
pub use decoder::Decoder;
pub(crate) use edits::{cleaned_up, CleanUpStream};
pub use stream::{DecodeStream, StreamState};
