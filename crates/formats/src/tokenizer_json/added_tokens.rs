//! `added_tokens`.

use piecework_core::error::Error;
use piecework_core::spec::AddedToken;
use serde_json::{json, Value};

use crate::json::Field;

pub(super) fn read(root: &Field) -> Result<Vec<AddedToken>, Error> {
    match root.member("added_tokens")? {
        Some(tokens) => tokens.items()?.map(|token| read_one(&token)).collect(),
        None => Ok(Vec::new()),
    }
}

fn read_one(field: &Field) -> Result<AddedToken, Error> {
    field.fields(&["id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"])?;
    Ok(AddedToken {
        id: field.get("id")?.id()?,
        content: field.get("content")?.text()?.to_owned(),
        single_word: field.get("single_word")?.flag()?,
        lstrip: field.get("lstrip")?.flag()?,
        rstrip: field.get("rstrip")?.flag()?,
        normalized: field.get("normalized")?.flag()?,
        special: field.get("special")?.flag()?,
    })
}

/// In the order of their ids.
pub(super) fn write(tokens: &[AddedToken]) -> Vec<Value> {
    let mut by_id: Vec<&AddedToken> = tokens.iter().collect();
    by_id.sort_by_key(|token| token.id);
    by_id.into_iter().map(write_one).collect()
}

fn write_one(token: &AddedToken) -> Value {
    json!({
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    })
}
