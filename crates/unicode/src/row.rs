//! The row of a code point in the generated tables.

/// The mappings of a code point. A mapping is a span (start, length) of `tables::MAPPED_CHARS`; an empty one maps
/// to the character itself.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) canonical: (u16, u8),
    pub(crate) compatible: (u16, u8),
    pub(crate) lower: (u16, u8),
    pub(crate) combining_class: u8,
    /// 1: a mark. 2 and 4: `FormTraits::joins` for canonical and compatibility forms. 8, 16, 32 and 64:
    /// `FormTraits::needs_work` for each `NormalForm`.
    pub(crate) flags: u8,
}

/// Return a row, for the generated tables.
pub(crate) const fn row(
    canonical: (u16, u8),
    compatible: (u16, u8),
    lower: (u16, u8),
    combining_class: u8,
    flags: u8,
) -> Row {
    Row { canonical, compatible, lower, combining_class, flags }
}
