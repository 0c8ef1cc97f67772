//! Decoders: tokens to text.
//!
//! Each decoder maps a list of tokens to another list; the last list is joined. Without a decoder, tokens
//! are joined by spaces.

mod bytes;
mod clean_up;
mod decode_table;
mod decoder;
mod edits;
mod sentencepiece;
mod stage;
mod stream;
#[cfg(test)]
mod tests;
mod token_texts;

pub use clean_up::{cleaned_up, CleanUpStream};
pub use decode_table::{DecodeInput, DecodeTable};
pub use decoder::Decoder;
pub use stream::{DecodeStream, StreamState};
