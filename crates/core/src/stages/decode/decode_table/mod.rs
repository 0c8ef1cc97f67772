//! Decoding with one lookup for each token, in a table of the text that each id adds.
//!
//! A decoder has a table if each token adds the same text everywhere, except at the beginning or end of a
//! text and in runs of bytes. Other decoders run their stages.

mod build;
mod layout;
mod run;

pub use layout::DecodeTable;
pub use run::DecodeInput;
