//! The tokenizers of `piecework-core` for JavaScript.
//!
//! ```text
//! errors     core errors as JavaScript errors with the sentences of the Python package
//! files      files to specifications
//! tokenizer  the class `Tokenizer`
//! tokens     the tokens of a text as columns
//! readable   tokens as text
//! explain    how each word of a text is segmented
//! training   vocabularies from a text, with the steps of the learner
//! types      the TypeScript types of results (`types.d.ts`)
//! ```
//!
//! WebAssembly has one thread. A panic stops the module for good: the caller makes a new one, and may ask the stopped
//! one for [`panic_message`].

#![forbid(unsafe_code)]

mod errors;
mod explain;
mod files;
mod json;
mod panics;
mod readable;
mod tokenizer;
mod tokens;
mod training;

pub use panics::panic_message;
pub use tokenizer::Tokenizer;
pub use tokens::Tokens;
pub use training::{train, Training};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

/// Return the version of piecework.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
