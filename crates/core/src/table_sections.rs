//! Tables taken apart into named arrays of numbers, which a file can hold as they are.
//!
//! A table that takes long to build puts its arrays here and can be made of them again. What was read from
//! a file is checked where it is put together, so that no index leads out of an array.

pub use piecework_kernels::array::{Array, Plain};

use crate::error::{Error, ErrorKind};

/// Named arrays in the order in which they were put in.
#[derive(Clone, Debug, Default)]
pub struct TableSections(Vec<(String, Array<u8>)>);

impl TableSections {
    /// Put in an array under a name that no other has.
    pub fn put<T: Plain>(&mut self, name: &str, values: &Array<T>) {
        self.0.push((name.to_owned(), values.bytes()));
    }

    /// Whether there is an array of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// The array of a name, which must be there and hold such numbers.
    pub fn get<T: Plain>(&self, name: &str) -> Result<Array<T>, Error> {
        let found = self.0.iter().find(|(known, _)| known == name);
        let (_, bytes) = found.ok_or_else(|| damaged(name, "nothing"))?;
        bytes.view(0..bytes.len()).ok_or_else(|| damaged(name, format!("{} bytes", bytes.len())))
    }

    /// All arrays with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array<u8>)> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes))
    }
}

/// The error for an array that cannot be what was put in.
pub fn damaged(name: &str, found: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format, name, found, "a table as it was written")
}
