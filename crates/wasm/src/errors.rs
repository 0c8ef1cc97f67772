//! Core errors as JavaScript errors.

use js_sys::Reflect;
use piecework_core::error::{Error, ErrorKind};
use wasm_bindgen::prelude::*;

/// Make the JavaScript error for a core error.
pub(crate) fn thrown(error: Error) -> JsValue {
    let made = js_sys::Error::new(&error.to_string());
    made.set_name(name_of(error.kind));
    for (name, value) in [("place", error.place), ("found", error.found), ("expected", error.expected)] {
        // An object that was just made takes every property.
        let _ = Reflect::set(&made, &name.into(), &value.into());
    }
    made.into()
}

/// Return the name of the class that the Python package has for a kind of error.
fn name_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Argument => "ArgumentError",
        ErrorKind::Format => "FormatError",
        ErrorKind::SpecialToken => "SpecialTokenError",
        ErrorKind::Vocabulary => "VocabularyError",
        ErrorKind::Corpus => "CorpusError",
        ErrorKind::Utf8 => "InvalidUtf8Error",
        ErrorKind::Training => "TrainingError",
        ErrorKind::Memory => "MemoryLimitError",
        ErrorKind::File => "FileError",
        ErrorKind::Stage => "StageError",
        ErrorKind::Interrupted => "Interrupted",
    }
}
