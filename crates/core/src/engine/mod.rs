//! Encoding: the compiled tokenizer, and one row of ids or tokens at a time, or many texts.
//!
//! ```text
//! tokenizer              the compiled tokenizer: stages and a route, shared by all threads
//! stages                 the input of a call, and the compiled stages up to the words that reach the model
//! checks                 limits of ids, truncation and padding
//! definition             encoding stage by stage, without a cache
//! route                  the only place that chooses how a text is encoded
//! encode                 the loop of all routes, and the mutable state of one thread
//! words                  the words of each route
//! word_cache             words that were segmented before, and their ids
//! misses                 the queue of words that were not
//! sentencepiece_unigram  words whose ids depend on the text before them
//! excerpts               the part of a text that truncation keeps, and where a text can be cut
//! tokens                 one input with every field: truncated, with special tokens, padded
//! offsets                tokens from ids that are known: their spans and words
//! decoding               ids to text, at once or one id of each sequence at a time
//! inspect                what a tokenizer shows: its contents, first stages, segmentations, warnings
//! batch                  many texts, on several threads
//! ```

pub mod batch;
mod checks;
mod decoding;
mod definition;
mod encode;
mod excerpts;
mod inspect;
mod misses;
mod offsets;
mod route;
mod sentencepiece_unigram;
mod stages;
mod tokenizer;
mod tokens;
mod word_cache;
mod words;

pub use decoding::{decoding_chunks, text_of, DecodeStreams, DecodedRows};
pub use encode::Scratch;
pub use inspect::{offsets_in, Filling, Origin, ScoredSegmentation, Selection, SpannedPiece, SpannedWord};
pub(crate) use stages::estimated_tokens;
pub use stages::{Input, Options, ReadEntries};
pub use tokenizer::{Memory, Tokenizer};
