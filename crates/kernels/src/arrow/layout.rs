//! The layouts of columns, and why a column cannot be read.

/// The reason why a column cannot be read: its format, or the message of its producer.
#[derive(Debug, PartialEq, Eq)]
pub struct ColumnError(pub String);

/// The layout of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnLayout {
    /// 32-bit offsets into one buffer.
    Short,
    /// 64-bit offsets.
    Long,
    /// Views into several buffers, short values within the view.
    Views,
    /// Nulls only, without buffers, as in an empty column.
    Nulls,
}
