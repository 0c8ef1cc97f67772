//! Text to token ids and back, with the vocabularies of published models.
//!
//! A [`Tokenizer`] is loaded from a file and encodes texts, batches and the segments of prompts. Its ids are those of the
//! library that owns the file: `tokenizers`, SentencePiece, tiktoken, or BERT's reference code. The crate has no algorithm:
//! `piecework-core` follows the needs of its engine and changes, and this interface over it stays.
//!
//! ```
//! use piecework::Tokenizer;
//!
//! // Usually Tokenizer::from_file("tokenizer.json")?
//! let tokenizer = Tokenizer::from_bytes(b"[UNK]\nhug\n##s\n")?;
//! let text = "Hugs \u{1F917}";
//! let encoding = tokenizer.encode(text)?;
//! assert_eq!(encoding.ids(), [1, 2, 0]);
//! assert_eq!(encoding.tokens(), ["hug", "##s", "[UNK]"]);
//! let (start, end) = encoding.offsets()[2];
//! assert_eq!(&text[start..end], "\u{1F917}");
//! # Ok::<(), piecework::Error>(())
//! ```
//!
//! ```text
//! Tokenizer                        loads, encodes, counts, decodes; cheap to clone, shared by threads
//! Encoding, Batch                  one text with every field; the ids of many texts in flat columns
//! SegmentedEncoding                a prompt, parts of which must not contain special tokens
//! DecodeStream                     text from ids that arrive one by one
//! LoadOptions, EncodeOptions, DecodeOptions
//! spec                             tokenizers as plain data
//! formats (feature `formats`)      tokenizer files as data
//! training (feature `training`)    word counts to vocabularies
//! ```
//!
//! # In a server
//!
//! A [`Tokenizer`] is `Send`, `Sync` and a handle: a clone costs the increment of a counter. Compiled tables never
//! change; each thread that encodes takes a scratch with its own cache of words, and no thread waits for another. A call
//! that encodes a short text takes microseconds, so it may run in an asynchronous task; a batch uses the threads that
//! [`EncodeOptions::num_threads`] names. [`Tokenizer::warm_up`] builds the tables that otherwise the first requests build.
//!
//! Text of users that contains `[SEP]` or `<|im_end|>` becomes that token, as with `tokenizers`, unless
//! [`EncodeOptions::parse_special`] or [`Tokenizer::with_parse_special`] says otherwise.
//! [`Tokenizer::encode_segments`] encodes prompts that are made of trusted and untrusted parts.
//!
//! # Files
//!
//! Feature `formats`, on by default, reads `tokenizer.json`, `vocab.txt`, `vocab.json` with `merges.txt`, SentencePiece
//! `.model`, tiktoken ranks, `tekken.json`, CLIP's merges, GGUF, and this library's `.piecework` and `.pwc`. The content
//! decides the format. What the Python package does beyond that is not in this crate: folders with their
//! `tokenizer_config.json`, names of models and of patterns, compressed files, the byte-level models of GGUF files, chat
//! templates, and random segmentations. A `tokenizer.json` that the Python package saves has the pipeline of any of them.
//!
//! There is no C code in the dependencies, and `unsafe` code only in `piecework-kernels`.

#![forbid(unsafe_code)]

/// The examples of the pages about this crate.
#[cfg(all(doctest, feature = "formats"))]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/how-to/use-from-rust.md")]
    struct HowTo;
}

mod batch;
mod decode;
mod decode_stream;
mod encode;
mod encode_input;
mod encoding;
#[cfg(feature = "formats")]
mod loading;
mod offsets;
mod options;
mod segments;
mod tokenizer;

pub use batch::Batch;
pub use decode_stream::DecodeStream;
pub use encode_input::EncodeInput;
pub use encoding::Encoding;
#[cfg(feature = "formats")]
pub use loading::LoadOptions;
pub use options::{DecodeOptions, EncodeOptions};
pub use segments::SegmentedEncoding;
pub use tokenizer::Tokenizer;

/// The engine. Its interface follows the needs of this library and changes with it.
pub use piecework_core as core;
pub use piecework_core::error::{Error, ErrorKind};
pub use piecework_core::spec;
pub use piecework_core::spec::ParseSpecial;
/// Tokenizer files as specifications, and back: what [`Tokenizer::from_bytes`] uses.
#[cfg(feature = "formats")]
pub use piecework_formats as formats;
/// Vocabularies from texts: count words, then learn entries. Settings are data; the result does not depend on threads.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use piecework::training::count::{GroupWeights, LineEnds, WordCounter};
/// use piecework::training::wordpiece::{learn, WordPieceTrainSpec};
/// use piecework::Tokenizer;
///
/// // BERT's normalizer and pre-tokenizer split the texts into words.
/// let splitter = Tokenizer::from_bytes(b"[UNK]\n")?.core().splitter().clone();
/// let mut counter = WordCounter::new(splitter, LineEnds::Strip, 1);
/// counter.add_texts(&["To be or not to be", "to be"], 0)?;
/// let counts = counter.finish(&GroupWeights::UNIT)?.into_counts()?;
///
/// let settings = WordPieceTrainSpec { vocab_size: 20, ..WordPieceTrainSpec::default() };
/// let learned = learn(&counts, &settings, &mut |_, _| ControlFlow::Continue(()))?;
/// let tokenizer = Tokenizer::from_bytes(learned.vocab.join("\n").as_bytes())?;
/// assert_eq!(tokenizer.encode("to be")?.tokens(), ["[CLS]", "to", "be", "[SEP]"]);
/// # Ok::<(), piecework::Error>(())
/// ```
#[cfg(feature = "training")]
pub use piecework_train as training;
