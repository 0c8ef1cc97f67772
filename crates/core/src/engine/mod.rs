//! Encoding: the compiled tokenizer, and one row of ids or tokens at a time, or many texts.
//!
//! ```text
//! tokenizer              the compiled tokenizer: stages and a route, shared by all threads
//! stages                 the compiled stages, and the text that reaches the model
//! model_source           the specification of the model, which a compiled cache reads at first use
//! scratch                the mutable state of one thread
//! input                  the texts of a call, and its options
//! checks                 limits of ids, truncation and padding
//! definition             encoding stage by stage, without a cache
//! route                  the only place that chooses how a text is encoded
//! encode                 the loop of all routes: find, look up, segment, splice
//! words                  the words of each route
//! word_cache             words that were segmented before, and their ids
//! misses                 the queue of words that were not
//! sentencepiece_unigram  words whose ids depend on the text before them
//! cuts                   where a text can be cut without changing ids
//! excerpts               the part of a text that truncation keeps
//! rows                   ids and tokens of a row: truncated, with special tokens, padded
//! offsets                tokens from ids that are known: their spans and words
//! token_lengths          the bytes of a word that each id covers
//! first_stages           normalized text and words, without the model
//! contents               tokens with their ids, and how rows are filled
//! given_texts            columns of an encoding that need its texts
//! sampling               several segmentations, n-best and drawn
//! decoding               ids to text
//! decode_streams         ids to text, one id of each sequence at a time
//! decode_tables          the decode tables, built when they pay for themselves
//! tiktoken               ids of byte sequences, for tiktoken's interface
//! warnings               settings that are probably mistakes
//! batch                  many texts, on several threads
//! ```

pub mod batch;
mod checks;
mod contents;
mod cuts;
mod decode_streams;
mod decode_tables;
mod decoding;
mod definition;
mod encode;
mod excerpts;
mod first_stages;
mod given_texts;
mod input;
mod misses;
mod model_source;
mod offsets;
mod route;
mod rows;
mod sampling;
mod scratch;
mod sentencepiece_unigram;
mod stages;
mod tiktoken;
mod token_lengths;
mod tokenizer;
mod warnings;
mod word_cache;
mod words;

pub use contents::Filling;
pub use decode_streams::DecodeStreams;
pub use decoding::{decoding_chunks, text_of, DecodedRows};
pub use first_stages::SpannedWord;
pub use given_texts::offsets_in;
pub use input::{estimated_tokens, Input, Options};
pub use model_source::ReadEntries;
pub use offsets::Row;
pub use sampling::{ScoredSegmentation, Selection, SpannedPiece};
pub use scratch::{Memory, Scratch};
pub use tokenizer::Tokenizer;
pub use warnings::Origin;
