//! A merge that a trainer has learned.

/// A merge; ids are indices into `Learned::vocab`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The left entry.
    pub left: u32,
    /// The right entry.
    pub right: u32,
    /// The merged entry; it may have existed before.
    pub merged: u32,
    /// The count of the pair.
    pub count: u64,
    /// The score of the pair.
    pub score: f64,
}
