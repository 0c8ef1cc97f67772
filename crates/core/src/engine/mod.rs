//! Encoding: the compiled tokenizer, and one row of ids or tokens at a time, or many texts.
//!
//! tokenizer      the compiled tokenizer: stages and a route, shared by all threads
//! stages         the compiled stages, and the text that reaches the model
//! scratch        the mutable state of one thread
//! route          the only place that chooses how a text is encoded
//! plain          the definition: stage by stage, without a cache
//! byte_level     byte-level pipelines
//! bert           pipelines that decide character by character, as BERT's
//! metaspace      words that begin with `▁`
//! generic        all other pipelines
//! input          the texts of a call, and its options
//! checks         limits of ids, truncation and padding
//! rows           ids and tokens of a row: truncated, framed, padded
//! offsets        tokens from ids that are known: their spans and words
//! token_lengths  the bytes of a word that each id covers
//! sampling       several segmentations, n-best and drawn
//! decoding       ids to text
//! decode_tables  the decode tables, built when they pay for themselves
//! tiktoken       ids of byte sequences, for tiktoken's interface
//! warnings       settings that are probably mistakes
//! word_cache     words that were segmented before, and their ids
//! batch          many texts, on several threads

pub mod batch;
mod bert;
mod byte_level;
mod checks;
mod decode_tables;
mod decoding;
mod generic;
mod input;
mod metaspace;
mod offsets;
mod plain;
mod route;
mod rows;
mod sampling;
mod scratch;
mod stages;
mod tiktoken;
mod token_lengths;
mod tokenizer;
mod warnings;
mod word_cache;

pub use decoding::{text_of, DecodedRows};
pub use input::{estimated_tokens, Input, Options};
pub use offsets::Row;
pub use sampling::{ScoredSegmentation, Selection, SpannedPiece};
pub use scratch::{Memory, Scratch};
pub use tokenizer::Tokenizer;
pub use warnings::Origin;
