//! The message of a panic, which aborts the module.

use std::sync::{Mutex, PoisonError};

use wasm_bindgen::prelude::*;

static MESSAGE: Mutex<String> = Mutex::new(String::new());

/// Keep the message of a panic; runs when the module is loaded.
#[wasm_bindgen(start, skip_typescript)]
pub(crate) fn keep_panic_messages() {
    std::panic::set_hook(Box::new(|panic| {
        *MESSAGE.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
}

/// Return the message of the panic that stopped this module, "" without one: it ran out of memory.
#[wasm_bindgen(js_name = panicMessage)]
#[must_use]
pub fn panic_message() -> String {
    MESSAGE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
