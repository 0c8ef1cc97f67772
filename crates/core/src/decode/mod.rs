//! Decoders: tokens in, text out.
//!
//! Each decoder makes of a list of tokens another list; the last list is joined. Without a decoder the
//! tokens are joined by spaces.

mod bytes;
mod clean_up;
mod decode_table;
mod decoder;
mod edits;
mod markers;
mod sentencepiece;
mod stage;
mod stream;
#[cfg(test)]
mod tests;
mod token_texts;

pub use decode_table::{DecodeInput, DecodeTable};
pub use decoder::Decoder;
pub use stream::DecodeStream;
