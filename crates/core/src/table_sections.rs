//! Table sections: named arrays of numbers, as a compiled cache stores them.
//!
//! A table that is slow to build stores its arrays as sections and is restored from them. Restoring validates every
//! index in the arrays.

pub use piecework_kernels::array::{Array, Plain};

use crate::error::{Error, ErrorKind};

/// The name of the section with the ids of both tokens of each merge of a BPE model.
pub const MERGES: &str = "model.merges";
/// The name of the section, without content, of a BPE model whose merges are those of its ids as ranks.
pub const RANKS: &str = "model.ranks";

/// Named arrays in the order of insertion.
#[derive(Clone, Debug, Default)]
pub struct TableSections(Vec<(String, Array<u8>)>);

impl TableSections {
    /// Add an array; its name must be new.
    pub fn put<T: Plain>(&mut self, name: &str, values: &Array<T>) {
        self.0.push((name.to_owned(), values.bytes()));
    }

    /// Return whether there is an array with a name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    /// Return the arrays with some names, which share their memory.
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        Self(self.0.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect())
    }

    /// Return the array with a name. Fails if there is none, or if its length is no multiple of the item size.
    pub fn get<T: Plain>(&self, name: &str) -> Result<Array<T>, Error> {
        let found = self.0.iter().find(|(other, _)| other == name);
        let (_, bytes) = found.ok_or_else(|| damaged(name, "nothing"))?;
        bytes.view(0..bytes.len()).ok_or_else(|| damaged(name, format!("{} bytes", bytes.len())))
    }

    /// Iterate over names and arrays.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array<u8>)> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes))
    }
}

/// Return the error for a damaged array.
pub fn damaged(name: &str, found: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format, name, found, "a table as it was written")
}
