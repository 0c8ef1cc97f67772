//! The chat templates of a file, by the names of transformers.

use piecework_core::error::Error;

use super::keys::Keys;

const KEY: &str = "tokenizer.chat_template";
/// The name of the template in [`KEY`]. The key of another one ends in a dot and its name.
const DEFAULT: &str = "default";

/// Read the chat templates with their names, in the order of their keys.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<(String, String)>, Error> {
    let keys = Keys::select(bytes, |key| name_of(key).is_some())?;
    let mut templates = Vec::new();
    for (key, name) in keys.names().into_iter().filter_map(|key| Some((key, name_of(key)?))) {
        let template = keys.text(key)?.unwrap_or_default();
        templates.push((name.to_owned(), template.to_owned()));
    }
    Ok(templates)
}

/// Return the name of the template in a key, or `None` for another key.
fn name_of(key: &str) -> Option<&str> {
    match key.strip_prefix(KEY)? {
        "" => Some(DEFAULT),
        rest => rest.strip_prefix('.'),
    }
}
