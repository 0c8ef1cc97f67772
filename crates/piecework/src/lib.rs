//! Text to token ids and back, with the vocabularies of published models.
//!
//! A [`Tokenizer`] is loaded from a file and encodes texts, batches and the segments of prompts. Its ids are those of the
//! library that owns the file: `tokenizers`, SentencePiece, tiktoken, or BERT's reference code.
//!
//! ```
//! use piecework::Tokenizer;
//!
//! // Usually Tokenizer::from_file("tokenizer.json")?
//! let tokenizer = Tokenizer::from_bytes(b"[UNK]\nhug\n##s\n")?;
//! let text = "Hugs \u{1F917}";
//! let encoding = tokenizer.encode(text)?;
//! assert_eq!(encoding.ids(), [1, 2, 0]);
//! assert!(encoding.tokens().eq(["hug", "##s", "[UNK]"]));
//! let (start, end) = encoding.offsets()[2];
//! assert_eq!(&text[start..end], "\u{1F917}");
//! # Ok::<(), piecework::Error>(())
//! ```
//!
//! ```text
//! Tokenizer                        loads, encodes, counts, decodes; cheap to clone, shared by threads
//! Encoding, Batch                  one text with every field; the ids of many texts in flat columns
//! SegmentedEncoding                a prompt, parts of which must not contain special tokens
//! GrowingText                      the ids of a text that grows at its end
//! TextChunk, fit_messages          the parts of a text, and the messages, that fit a budget of tokens
//! DecodeStream                     text from ids that arrive one by one
//! cancellable                      ends long work early
//! Truncation, Padding, LoadOptions, EncodeOptions, DecodeOptions, ChunkOptions
//! WordPieceTrainer                 learns a tokenizer from texts (feature `training`)
//! ```
//!
//! All of these are public and follow semantic versioning. `piecework-core` and the other crates below this one follow
//! the needs of its engine: depend on this crate alone.
//!
//! # In a server
//!
//! A [`Tokenizer`] is `Send`, `Sync` and a handle: a clone costs the increment of a counter. Compiled tables never
//! change; each thread that encodes takes a scratch with its own cache of words, and no thread waits for another. A
//! sentence takes about a microsecond, so encode it in the asynchronous task; move texts of more than 10 KB and batches to
//! a thread that may block. A batch uses the threads that [`EncodeOptions::num_threads`] names. [`Tokenizer::warm_up`]
//! builds the tables that the first requests would build.
//!
//! Text of users that contains `[SEP]` or `<|im_end|>` becomes that token, as with `tokenizers`, unless
//! [`EncodeOptions::parse_special`] or [`Tokenizer::with_parse_special`] says otherwise.
//! [`Tokenizer::encode_segments`] encodes prompts that are made of trusted and untrusted parts.
//!
//! # Files
//!
//! The crate reads `tokenizer.json`, `vocab.txt`, `vocab.json` with `merges.txt`, SentencePiece `.model`, tiktoken ranks,
//! `tekken.json`, CLIP's merges, GGUF, and this library's `.piecework` and `.pwc`. The content decides the format.
//! [`Tokenizer::to_json`] writes a `tokenizer.json`.
//!
//! The Python package does more: it reads folders with their `tokenizer_config.json`, names of models and compressed
//! files, adds tokens, changes stages, saves every format, and trains other models. A `tokenizer.json` that it saves has
//! the pipeline of any of them.
//!
//! There is no C code in the dependencies, and `unsafe` code only in `piecework-kernels`.

#![forbid(unsafe_code)]

/// The examples of the pages about this crate.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../use-from-rust.md")]
    struct HowTo;
}

mod batch;
mod cancel;
mod chunks;
mod decode;
mod decode_stream;
mod encode;
mod encode_input;
mod encoding;
mod error;
mod fingerprint;
mod growing_text;
mod loading;
mod messages;
mod offsets;
mod options;
mod segments;
mod tokenizer;
#[cfg(feature = "training")]
mod training;

pub use batch::Batch;
pub use cancel::cancellable;
pub use chunks::{ChunkOptions, ChunkUnit, TextChunk};
pub use decode_stream::DecodeStream;
pub use encode_input::EncodeInput;
pub use encoding::Encoding;
pub use error::{Error, ErrorKind};
pub use growing_text::GrowingText;
pub use loading::LoadOptions;
pub use messages::{Message, Role, fit_messages};
pub use offsets::OffsetUnit;
pub use options::{DecodeOptions, EncodeOptions, Padding, ParseSpecial, Truncation};
pub use segments::SegmentedEncoding;
pub use tokenizer::Tokenizer;
#[cfg(feature = "training")]
pub use training::WordPieceTrainer;
