//! The tokenizers of `piecework-core` for JavaScript.
//!
//! ```text
//! errors     core errors as JavaScript errors with the sentences of the Python package
//! files      files to specifications
//! tokenizer  the class `Tokenizer`
//! encode     texts, pairs and prompts to columns of a batch
//! stream     text from ids that arrive one by one
//! tokens     the tokens of a text as a page shows them
//! readable   tokens as text
//! explain    how each word of a text is segmented
//! training   vocabularies from a text, with the steps of the learner
//! ```
//!
//! The folder `npm` has what JavaScript imports: it checks arguments and calls these functions. The static page calls them
//! itself.
//!
//! WebAssembly has one thread. A panic stops the module for good: the caller makes a new one, and may ask the stopped
//! one for [`panic_message`].

#![forbid(unsafe_code)]

mod encode;
mod errors;
mod explain;
mod files;
mod json;
mod panics;
mod readable;
mod stream;
mod tokenizer;
mod tokens;
mod training;

pub use panics::panic_message;
pub use stream::DecodeStream;
pub use tokenizer::Tokenizer;
pub use tokens::Tokens;
pub use training::{train, Training};

use wasm_bindgen::prelude::*;

/// Return the version of piecework.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
