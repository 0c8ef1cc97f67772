//! The vocabulary of a model: tokens with their ids.

use piecework_core::error::Error;
use piecework_core::spec::VocabSpec;
use serde::{Serialize, Serializer};

use crate::json::{all, Field};

/// Read tokens with their ids.
pub(super) fn read_vocab(field: &Field) -> Result<VocabSpec, Error> {
    all(field.entries()?.map(|(token, id)| Ok((token.to_owned(), id.id()?))))
}

/// Entries in the order of their ids.
pub(super) struct VocabJson<'a>(pub(super) &'a [(String, u32)]);

impl Serialize for VocabJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut by_id: Vec<&(String, u32)> = self.0.iter().collect();
        by_id.sort_by_key(|(_, id)| *id);
        serializer.collect_map(by_id.into_iter().map(|(token, id)| (token, id)))
    }
}
