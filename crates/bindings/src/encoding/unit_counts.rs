//! Positions in characters converted into bytes or UTF-16 code units.

use pyo3::prelude::*;

use super::column::Column;

/// Counts the units before each character of a text; caches the counts of the last text.
pub(super) struct UnitCounts {
    units: Column,
    last: Option<((usize, usize), Vec<usize>)>,
}

impl UnitCounts {
    /// Count the units of a column: bytes or UTF-16 code units.
    pub(super) fn of(units: Column) -> Self {
        Self { units, last: None }
    }

    /// Returns the number of units before each character of a text, and the number of all.
    ///
    /// `key` identifies the text among those of the encoding.
    pub(super) fn before_chars(
        &mut self,
        key: (usize, usize),
        text: impl FnOnce() -> PyResult<String>,
    ) -> PyResult<&[usize]> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != key) {
            let is_utf16 = self.units == Column::Utf16Offsets;
            let size = |c: char| if is_utf16 { c.len_utf16() } else { c.len_utf8() };
            let text = text()?;
            let ends = text.chars().scan(0, |end, c| {
                *end += size(c);
                Some(*end)
            });
            self.last = Some((key, std::iter::once(0).chain(ends).collect()));
        }
        Ok(self.last.as_ref().map_or(&[], |(_, counts)| counts.as_slice()))
    }
}
