//! Results as JavaScript objects.

use serde::Serialize;
use wasm_bindgen::JsValue;

/// Return a result as plain JavaScript data; the names of its fields are those of the Python package.
pub(crate) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let text = serde_json::to_string(value).map_err(|error| JsValue::from(error.to_string()))?;
    js_sys::JSON::parse(&text)
}
