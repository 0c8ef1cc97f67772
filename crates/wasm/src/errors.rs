//! Core errors as JavaScript errors.

use js_sys::Reflect;
use piecework_core::error::{Error, ErrorKind};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** What functions of this module throw: `message` is a sentence, made of the other fields. */
export interface PieceworkError extends Error {
  /** The class of the Python package: "FormatError", "ArgumentError", ... */
  name: string;
  /** The file, field or argument at fault. */
  place: string;
  found: string;
  /** May be empty. */
  expected: string;
}
"#;

/// Make the JavaScript error for a core error.
pub(crate) fn thrown(error: Error) -> JsValue {
    let made = js_sys::Error::new(&sentence(&error));
    made.set_name(error.kind.class_name());
    for (name, value) in [("place", error.place), ("found", error.found), ("expected", error.expected)] {
        // An object that was just made takes every property.
        let _ = Reflect::set(&made, &name.into(), &value.into());
    }
    made.into()
}

/// Return the sentence of the Python package about an error.
fn sentence(error: &Error) -> String {
    let Error { kind, place, found, expected, .. } = error;
    let is_argument = matches!(kind, ErrorKind::Argument | ErrorKind::Training);
    if !is_argument || found.is_empty() || expected.is_empty() {
        return error.to_string();
    }
    let hint = [": ", "; "].into_iter().filter_map(|mark| expected.find(mark)).min();
    let (expected, hint) = expected.split_at(hint.unwrap_or(expected.len()));
    format!("{place} must be {expected}, not {found}{hint}")
}
